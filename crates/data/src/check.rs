//! Decodes all of a dataset once, and names everything that is damaged.
//!
//! Loading stops at the first file that is wrong, since nothing can be trained on it. Whoever has
//! to repair a dataset wants to know all of them; and an image in a folder is decoded only when it
//! is drawn, so a damaged one would end a run in its tenth epoch.

use std::fmt;
use std::path::Path;

use crate::catalogue::Entry;
use crate::formats::cifar::{self, Kind};
use crate::formats::idx;
use crate::load::{check_length, find_files, imagenette_root, names, read_file, require_synsets};
use crate::{CsvSource, DataDir, DataError, Dataset, Samples, Source, digits, folder, table};

/// What a dataset holds, as far as it can be read.
#[derive(Debug)]
pub struct Inspection {
    /// The names of the classes, or of the ranges of the target of a regression.
    pub classes: Vec<String>,
    /// The target of a regression.
    pub target: Option<String>,
    /// How many intact training samples there are of each class.
    pub train: Vec<usize>,
    /// How many intact test samples there are of each class.
    pub test: Vec<usize>,
    /// How many training and test samples the official dataset has, if it has a name.
    pub official: Option<[usize; 2]>,
    /// Everything that is not as it should be.
    pub damaged: Vec<Damage>,
}

/// Something that is damaged.
#[derive(Debug)]
pub struct Damage {
    /// The file, and what is wrong with it.
    pub error: DataError,
    /// Which record of the file, counted from 0, where that is known.
    pub record: Option<u64>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            Some(record) => write!(f, "{} (record {record}, counted from 0)", self.error),
            None => write!(f, "{}", self.error),
        }
    }
}

/// Reads and decodes all of a dataset, named as for [`load`](crate::load). `progress` is told how
/// many of how many files are done.
///
/// # Errors
/// If there is no such dataset, files of it are missing, or a folder is no dataset of images; what
/// is wrong inside files is told in the answer.
pub fn check(
    name_or_path: &str,
    data_dir: &DataDir,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    match Source::parse(name_or_path)? {
        Source::Folder(source) => check_folder(&source.path, progress),
        Source::Csv(source) => check_csv(&source, progress),
        Source::Named(entry) => {
            let found = check_entry(entry, data_dir, progress)?;
            Ok(Inspection { official: Some([entry.train, entry.test]), ..found })
        }
    }
}

fn check_entry(
    entry: &Entry,
    data_dir: &DataDir,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    match entry.name {
        "digits" => Ok(Inspection::whole(digits::load(entry)?)),
        "mnist" | "fashion-mnist" => check_idx(entry, data_dir, progress),
        "cifar10" => check_cifar(entry, Kind::Cifar10, data_dir, progress),
        "cifar100" => check_cifar(entry, Kind::Cifar100, data_dir, progress),
        _ => {
            let root = imagenette_root(entry, data_dir)?;
            let found = check_folder(&root, progress)?;
            require_synsets(&root, &found.classes)?;
            Ok(Inspection { classes: names(entry), ..found })
        }
    }
}

fn check_folder(
    root: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    let (classes, train, test) = folder::listed(root)?;
    let total = train.files.len() + test.files.len();
    let mut found = Inspection::of(classes.into_iter().collect());
    let mut done = 0;
    for (list, counts) in [(&train, &mut found.train), (&test, &mut found.test)] {
        for (path, &label) in list.files.iter().zip(&list.labels) {
            match folder::decode(path) {
                Ok(()) => counts[label as usize] += 1,
                Err(error) => found.damaged.push(Damage { error, record: None }),
            }
            done += 1;
            progress(done, total);
        }
    }
    Ok(found)
}

fn check_csv(
    source: &CsvSource,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    let found = match table::load(source) {
        Ok(table) => Inspection::whole(table),
        // A file that cannot be read at all is not there, rather than damaged.
        Err(error @ DataError::FileSystem { .. }) => return Err(error),
        Err(error) => Inspection {
            damaged: vec![Damage { error, record: None }],
            ..Inspection::of(Vec::new())
        },
    };
    progress(1, 1);
    Ok(found)
}

fn check_idx(
    entry: &Entry,
    data_dir: &DataDir,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    let paths = find_files(entry, data_dir)?;
    let mut found = Inspection::of(names(entry));
    // Images, labels; first for training, then for testing.
    for (part, at) in [0, 2].into_iter().enumerate() {
        let (file, path) = (&entry.files[at], &paths[at]);
        let images = read_file(file, path).and_then(|bytes| {
            let images = idx::images(&bytes, path)?;
            check_length(file, &bytes, path)?;
            Ok(images.count)
        });
        progress(2 * part + 1, 4);
        let (file, path) = (&entry.files[at + 1], &paths[at + 1]);
        let labels = read_file(file, path).and_then(|bytes| {
            let labels = idx::labels(&bytes, entry.classes.len(), path)?.to_vec();
            check_length(file, &bytes, path)?;
            Ok(labels)
        });
        progress(2 * part + 2, 4);
        let counts = if part == 0 { &mut found.train } else { &mut found.test };
        match (images, labels) {
            (Ok(images), Ok(labels)) if images == labels.len() => {
                labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
            }
            (Ok(images), Ok(labels)) => found.damaged.push(Damage {
                error: DataError::Counts {
                    image_file: paths[at].clone(),
                    images,
                    label_file: path.clone(),
                    labels: labels.len(),
                },
                record: None,
            }),
            (images, labels) => {
                found.damaged.extend(images.err().map(|error| Damage { error, record: None }));
                let record = |error: &DataError| record_of(error, "a label", 8, 1);
                found.damaged.extend(labels.err().map(|error| {
                    let record = record(&error);
                    Damage { error, record }
                }));
            }
        }
    }
    Ok(found)
}

fn check_cifar(
    entry: &Entry,
    kind: Kind,
    data_dir: &DataDir,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection, DataError> {
    let paths = find_files(entry, data_dir)?;
    let mut found = Inspection::of(names(entry));
    let total = paths.len();
    for (i, (file, path)) in entry.files.iter().zip(&paths).enumerate() {
        let (mut labels, mut pixels) = (Vec::new(), Vec::new());
        let read = read_file(file, path).and_then(|bytes| {
            cifar::append(kind, &bytes, path, &mut labels, &mut pixels)?;
            check_length(file, &bytes, path)
        });
        match read {
            Ok(()) => {
                // All but the last file are for training.
                let counts = if i + 1 < total { &mut found.train } else { &mut found.test };
                labels.iter().for_each(|&label| counts[label as usize] += 1);
            }
            Err(error) => {
                let record = record_of(&error, "a ", 0, kind.record());
                found.damaged.push(Damage { error, record });
            }
        }
        progress(i + 1, total);
    }
    Ok(found)
}

impl Inspection {
    /// Nothing found yet.
    fn of(classes: Vec<String>) -> Self {
        let none = vec![0; classes.len()];
        let damaged = Vec::new();
        let train = none.clone();
        Inspection { classes, target: None, train, test: none, official: None, damaged }
    }

    /// All of a dataset that could be loaded.
    fn whole(dataset: Dataset) -> Self {
        let count = |samples: &Samples| samples.histogram(dataset.classes.len());
        let (train, test) = (count(&dataset.train), count(&dataset.test));
        let target = dataset.task.target().map(|target| target.name.clone());
        Inspection { target, train, test, ..Inspection::of(dataset.classes) }
    }
}

/// The record in which an error stands, if what was expected begins with `what`: a label or a
/// record, not a whole file. Records of `size` bytes follow a header of `head` bytes.
fn record_of(error: &DataError, what: &str, head: usize, size: usize) -> Option<u64> {
    match error {
        DataError::Format { offset, expected, .. } if expected.starts_with(what) => {
            Some(offset.checked_sub(head as u64)? / size as u64)
        }
        _ => None,
    }
}
