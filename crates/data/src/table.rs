//! A table as a dataset: columns of numbers scaled by what the training rows show, an input for each
//! category.

use std::path::Path;

use crate::column::{Column, ColumnKind, scaled};
use crate::formats::csv::{self, Answer, CsvOptions, Missing, TableColumn};
use crate::formats::gzip;
use crate::load::read;
use crate::source::{CsvSource, stem};
use crate::target_ranges::TargetRanges;
use crate::{DataError, Dataset, Normalisation, Samples, Target, Task, split};

/// A file of more bytes than this is refused.
const LARGEST_FILE: usize = 1 << 30;

/// Loads a table, plain or gzipped.
pub(crate) fn load(source: &CsvSource) -> Result<Dataset, DataError> {
    let CsvSource { path, options } = source;
    let bytes = gzip::unpack(read(path, LARGEST_FILE)?, LARGEST_FILE, path)?;
    dataset(path, csv::parse(&bytes, path, options)?, options)
}

/// Splits the rows (one in five for testing, seed 0; of each class, or of each range of the target)
/// and scales each column of numbers to mean 0 and standard deviation 1 over the training rows; a column that
/// is constant there becomes 0. The target of a regression is scaled in the same way.
fn dataset(path: &Path, table: csv::Table, options: &CsvOptions) -> Result<Dataset, DataError> {
    let found = found(path, &table);
    let name = stem(path).map_or_else(String::new, |name| name.to_string_lossy().into());
    let rows = table.values.len() / table.columns.len().max(1);
    let split = |labels: &[u32], classes: usize| -> Result<_, DataError> {
        let (train, test) = split::stratified(labels, classes, 0);
        if train.is_empty() || test.is_empty() {
            let expected = "at least one row for training and one for testing";
            return Err(DataError::format(path, 0, expected, format!("{rows} rows")));
        }
        Ok((train, test))
    };
    match &table.answer {
        Answer::Classes { classes, labels, .. } => {
            let (train, test) = split(labels, classes.len())?;
            let columns = columns(&table, &train, options.missing);
            let samples = |part: &[usize]| {
                let labels = part.iter().map(|&i| labels[i]).collect();
                Samples::numbers(labels, inputs(&table, &columns, part))
            };
            let parts = (samples(&train), samples(&test));
            put_together(&name, classes.clone(), parts, columns, found)
        }
        Answer::Numbers { column, values } => {
            // Cheap and expensive ones in both parts.
            let all = TargetRanges::of(values);
            let places: Vec<u32> = values.iter().map(|&value| all.place(value)).collect();
            let (train, test) = split(&places, all.names().len())?;
            let columns = columns(&table, &train, options.missing);
            let known: Vec<f64> = train.iter().map(|&i| values[i]).collect();
            let (mean, std) = options.target_scale.map_or_else(|| moments(&known), Into::into);
            let target = Target { name: column.clone(), mean, std };
            let ranges = TargetRanges::of(&known);
            let samples = |part: &[usize]| {
                let labels = part.iter().map(|&i| ranges.place(values[i])).collect();
                let targets = part.iter().map(|&i| target.scaled(values[i])).collect();
                Samples::numbers(labels, inputs(&table, &columns, part)).with_targets(targets)
            };
            let parts = (samples(&train), samples(&test));
            let dataset = put_together(&name, ranges.names(), parts, columns, found)?;
            dataset.for_task(Task::Regression(target))
        }
    }
}

fn put_together(
    name: &str,
    classes: Vec<String>,
    parts: (Samples, Samples),
    columns: Vec<Column>,
    found: String,
) -> Result<Dataset, DataError> {
    let width = columns.iter().map(Column::width).sum();
    let (mut mean, mut std) = (Vec::new(), Vec::new());
    for column in &columns {
        let (own_mean, own_std) = match column.kind {
            ColumnKind::Number { mean, std } => (mean as f32, std as f32),
            ColumnKind::Category { .. } => (0.0, 1.0),
        };
        mean.extend(std::iter::repeat_n(own_mean, column.width()));
        std.extend(std::iter::repeat_n(own_std, column.width()));
    }
    let normalisation = Normalisation { mean, std, unit: 1.0 };
    let mut dataset = Dataset::new(name, classes, [1, 1, width], parts, normalisation)?;
    (dataset.columns, dataset.found) = (columns, Some(found));
    Ok(dataset)
}

/// The columns, with what the training rows show.
fn columns(table: &csv::Table, train: &[usize], missing: Missing) -> Vec<Column> {
    let width = table.columns.len();
    let column = |(k, column): (usize, &TableColumn)| {
        let kind = match &column.categories {
            Some(values) => ColumnKind::Category { values: values.clone() },
            None => {
                let values = train.iter().map(|&i| table.values[i * width + k]);
                let known: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
                let (mean, std) = moments(&known);
                ColumnKind::Number { mean, std }
            }
        };
        Column { name: column.name.clone(), kind, fills_missing: missing == Missing::Fill }
    };
    table.columns.iter().enumerate().map(column).collect()
}

/// Mean and standard deviation; 1 if there is none.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().fold(0.0, |sum, value| sum + value / count);
    let variance = values.iter().fold(0.0, |sum, value| sum + (value - mean).powi(2) / count);
    // A constant column deviates from its mean by rounding only.
    let std = if variance.sqrt() > 1e-9 * f64::abs(mean) { variance.sqrt() } else { 1.0 };
    (mean, std)
}

/// What a model sees of some rows. What is missing is 0: the mean, or no category.
fn inputs(table: &csv::Table, columns: &[Column], rows: &[usize]) -> Vec<f32> {
    let width = columns.len();
    let mut inputs = Vec::new();
    for &row in rows {
        for (column, &value) in columns.iter().zip(&table.values[row * width..]) {
            match &column.kind {
                ColumnKind::Number { .. } if value.is_nan() => inputs.push(0.0),
                ColumnKind::Number { mean, std } => inputs.push(scaled(value, *mean, *std)),
                ColumnKind::Category { values } => {
                    inputs.extend((0..values.len()).map(|k| f32::from(u8::from(k as f64 == value))))
                }
            }
        }
    }
    inputs
}

/// What was detected, in a line.
fn found(path: &Path, table: &csv::Table) -> String {
    let plural = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let categories = table.columns.iter().filter(|column| column.categories.is_some()).count();
    let numbers = table.columns.len() - categories;
    let mut parts = Vec::new();
    if numbers > 0 {
        parts.push(plural(numbers, "number", "numbers"));
    }
    if categories > 0 {
        parts.push(plural(categories, "category", "categories"));
    }
    parts.push(match &table.answer {
        Answer::Classes { column, classes, .. } => {
            format!("label \"{column}\" with {} classes", classes.len())
        }
        Answer::Numbers { column, values } => {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (least, most) = (csv::shortest(least), csv::shortest(most));
            format!("target \"{column}\" from {least} to {most}")
        }
    });
    let separator = match table.separator {
        b',' => "",
        b';' => ", separated by semicolons",
        b'\t' => ", separated by tabs",
        b'|' => ", separated by |",
        _ => ", separated by spaces",
    };
    let header = if table.has_header { "" } else { ", no header" };
    let dropped = match table.dropped {
        0 => String::new(),
        rows => format!("; {} with missing fields left out", plural(rows, "row", "rows")),
    };
    let rows = table.values.len() / table.columns.len().max(1);
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    format!(
        "{file}: {} of {}: {}{separator}{header}{dropped}",
        plural(rows, "row", "rows"),
        plural(table.columns.len() + 1, "column", "columns"),
        parts.join(", ")
    )
}
