//! From files to what a model sees, as in training.

use std::fs;
use std::path::{Path, PathBuf};

use consort_data::formats::{csv, image};
use consort_data::{Column, Fit, ImageReader};
use consort_train::{CardInput, ModelCard};

use crate::failure::{Blame, Failure};

/// Folders within folders are followed no deeper than this.
const DEEPEST: usize = 8;

/// One sample.
pub(super) struct Sample {
    /// Its file.
    pub(super) name: String,
    /// The line of a table.
    pub(super) line: Option<u64>,
    /// Height and width of an image that was scaled.
    pub(super) scaled_from: Option<[usize; 2]>,
    /// What the model sees.
    pub(super) inputs: Vec<f32>,
}

/// All samples, not read yet.
pub(super) enum Source {
    Images { files: Vec<PathBuf>, reader: ImageReader, size: [usize; 2] },
    Rows { columns: Vec<Column>, rows: Vec<Row> },
}

/// A row of a table, with the fields of the model's columns.
pub(super) struct Row {
    name: String,
    line: u64,
    fields: Vec<String>,
}

impl Source {
    /// The samples in `files`. What is no file or folder is an error before anything is predicted.
    pub(super) fn of(card: &ModelCard, files: &[PathBuf]) -> Result<Self, Failure> {
        match &card.input {
            CardInput::Image { fit, normalisation } => {
                let reader = ImageReader::new(card.model.input, *fit, normalisation);
                let [height, width, _] = card.model.input;
                Ok(Source::Images { files: images(files)?, reader, size: [height, width] })
            }
            CardInput::Table { columns } => {
                let mut rows = Vec::new();
                for path in files {
                    rows.extend(rows_of(path, columns)?);
                }
                Ok(Source::Rows { columns: columns.clone(), rows })
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Source::Images { files, .. } => files.len(),
            Source::Rows { rows, .. } => rows.len(),
        }
    }

    /// Reads a sample, or says what is wrong with it.
    pub(super) fn sample(&self, index: usize) -> Result<Sample, String> {
        match self {
            Source::Images { files, reader, size } => image_sample(&files[index], reader, *size),
            Source::Rows { columns, rows } => row_sample(&rows[index], columns),
        }
    }
}

/// How images of another size are scaled, for a person.
pub(super) fn fit_text(card: &ModelCard) -> &'static str {
    match card.input {
        CardInput::Image { fit: Fit::Centre, .. } => "their middle, seven eighths of it",
        _ => "whole, whatever their shape",
    }
}

fn image_sample(path: &Path, reader: &ImageReader, size: [usize; 2]) -> Result<Sample, String> {
    let bytes =
        fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let own = image::size(&bytes, path).map_err(|error| error.to_string())?;
    let mut inputs = vec![0.0; reader.input_len()];
    reader.read(&bytes, path, &mut inputs).map_err(|error| error.to_string())?;
    let scaled_from = (own != size).then_some(own);
    Ok(Sample { name: path.display().to_string(), line: None, scaled_from, inputs })
}

fn row_sample(row: &Row, columns: &[Column]) -> Result<Sample, String> {
    let mut inputs = Vec::new();
    let mut problems = Vec::new();
    for (column, field) in columns.iter().zip(&row.fields) {
        if let Err(problem) = column.append(field, &mut inputs) {
            problems.push(format!("`{}`: {problem}", column.name));
        }
    }
    let Row { name, line, .. } = row;
    if !problems.is_empty() {
        return Err(format!("{name}, line {line}: {}", problems.join("; ")));
    }
    Ok(Sample { name: name.clone(), line: Some(*line), scaled_from: None, inputs })
}

/// The images among the files and in the folders, folders sorted.
fn images(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            collect(path, DEEPEST, &mut files)?;
            if files.len() == before {
                let words = format!("{}: there is no image (.jpg, .jpeg, .png)", path.display());
                return Err(Failure::input(words));
            }
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(no_such(path));
        }
    }
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
    };
    let mut paths = list()
        .map_err(|error| Failure::input(format!("cannot list {}: {error}", folder.display())))?;
    paths.sort_unstable();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_image = path.extension().is_some_and(|extension| {
            ["jpg", "jpeg", "png"].iter().any(|known| extension.eq_ignore_ascii_case(known))
        });
        if !hidden && path.is_dir() && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if !hidden && is_image && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn no_such(path: &Path) -> Failure {
    Failure::input(format!("{}: there is no such file or folder", path.display()))
}

/// The rows of a table, with the fields of the model's columns in their order.
fn rows_of(path: &Path, columns: &[Column]) -> Result<Vec<Row>, Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{} is a folder, but the model takes rows of a table: give a CSV file",
            path.display()
        )));
    }
    if !path.exists() {
        return Err(no_such(path));
    }
    let bytes = fs::read(path)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
    let known: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let mut records = csv::records(&bytes, path, None, None, &known).or_input()?;
    if records.header.is_none() && is_header(&records.rows[0], columns) {
        records.header = Some(records.rows.remove(0));
        records.lines.remove(0);
    }
    let places = places(path, columns, &records)?;
    let name = path.display().to_string();
    let row = |(fields, &line): (&Vec<String>, &u64)| Row {
        name: name.clone(),
        line,
        fields: places.iter().map(|&place| fields[place].clone()).collect(),
    };
    Ok(records.rows.iter().zip(&records.lines).map(row).collect())
}

/// Whether a first row without any of the model's columns is a header of other names: words that are no
/// values of the columns.
fn is_header(first: &[String], columns: &[Column]) -> bool {
    let words = first.iter().all(|field| field.parse::<f64>().is_err());
    let fits = first.len() == columns.len()
        && columns
            .iter()
            .zip(first)
            .all(|(column, field)| column.append(field, &mut Vec::new()).is_ok());
    words && !fits
}

/// Where each of the model's columns stands in a table.
fn places(path: &Path, columns: &[Column], records: &csv::Records) -> Result<Vec<usize>, Failure> {
    let width = records.rows.first().map_or(0, Vec::len);
    let Some(header) = &records.header else {
        // Without a header there are only places: those of the training data, or just the columns.
        if width == columns.len() || width == 0 {
            return Ok((0..columns.len()).collect());
        }
        let place = |column: &Column| {
            let number: usize = column.name.strip_prefix("column ")?.parse().ok()?;
            number.checked_sub(1).filter(|&place| place < width)
        };
        let places: Option<Vec<usize>> = columns.iter().map(place).collect();
        return places.ok_or_else(|| {
            Failure::input(format!(
                "{} has no header and {width} columns; the model takes {}: {}",
                path.display(),
                columns.len(),
                names(columns.iter().map(|column| &*column.name))
            ))
        });
    };
    let place = |column: &Column| header.iter().position(|name| *name == column.name);
    let missing: Vec<String> = columns
        .iter()
        .filter(|column| place(column).is_none())
        .map(|column| match nearest(&column.name, header) {
            Some(near) => format!("`{}` (is it `{near}`?)", column.name),
            None => format!("`{}`", column.name),
        })
        .collect();
    if !missing.is_empty() {
        return Err(Failure::input(format!(
            "{} lacks columns that the model takes: {}; it has {}",
            path.display(),
            missing.join(", "),
            names(header.iter().map(String::as_str))
        )));
    }
    Ok(columns.iter().filter_map(place).collect())
}

/// The name in the header that was probably meant.
fn nearest<'a>(name: &str, header: &'a [String]) -> Option<&'a String> {
    let slips =
        |other: &String| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let near = header.iter().map(|other| (slips(other), other)).min()?;
    let length = name.chars().count();
    (near.0 < length && near.0 <= 1.max(length / 3)).then_some(near.1)
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
