//! From a name or a path to a dataset.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::catalogue::{Entry, File, IMAGENETTE_SYNSETS};
use crate::formats::cifar::{self, Kind};
use crate::formats::{gzip, idx};
use crate::{
    Augmentation, DataDir, DataError, Dataset, Normalisation, Samples, Source, digits, folder,
    table,
};

/// Loads a dataset: a name of the catalogue, whose files are looked for in `data_dir`, or
/// `folder:PATH` or `csv:PATH` with options as in [`Source`], or a path to either.
///
/// # Errors
/// If there is no such dataset, files of it are missing, or a file is not what it should be; the
/// message says which, where, and what to do.
pub fn load(name_or_path: &str, data_dir: &DataDir) -> Result<Dataset, DataError> {
    match Source::parse(name_or_path)? {
        Source::Folder(source) => folder::load(&source),
        Source::Csv(source) => table::load(&source),
        Source::Named(entry) => load_entry(entry, data_dir),
    }
}

fn load_entry(entry: &Entry, data_dir: &DataDir) -> Result<Dataset, DataError> {
    // MNIST's usual statistics; the others are those of the paper's experiments.
    let grey = |mean, std| Normalisation::bytes(&[mean], &[std]);
    let dataset = match entry.name {
        "digits" => digits::load(entry)?,
        "mnist" => load_idx(entry, data_dir, grey(0.1307, 0.3081))?,
        "fashion-mnist" => load_idx(entry, data_dir, grey(0.5, 0.5))?,
        "cifar10" => {
            let normalisation =
                Normalisation::bytes(&[0.4914, 0.4822, 0.4465], &[0.2023, 0.1994, 0.2010]);
            load_cifar(entry, Kind::Cifar10, data_dir, normalisation)?
        }
        "cifar100" => {
            let normalisation =
                Normalisation::bytes(&[0.5071, 0.4867, 0.4408], &[0.2675, 0.2565, 0.2761]);
            load_cifar(entry, Kind::Cifar100, data_dir, normalisation)?
        }
        _ => load_imagenette(entry, data_dir)?,
    };
    Ok(dataset)
}

fn load_idx(
    entry: &Entry,
    data_dir: &DataDir,
    normalisation: Normalisation,
) -> Result<Dataset, DataError> {
    let paths = find_files(entry, data_dir)?;
    let part = |images: usize, labels: usize| {
        let (image_file, label_file) = (&paths[images], &paths[labels]);
        let bytes = read_file(&entry.files[labels], label_file)?;
        let labels = idx::labels(&bytes, entry.classes.len(), label_file)?;
        let mut pixels = read_file(&entry.files[images], image_file)?;
        let read = idx::images(&pixels, image_file)?;
        if [read.rows, read.columns, 1] != entry.input {
            let got = format!("{} x {}", read.rows, read.columns);
            return Err(DataError::format(image_file, 8, "images of 28 x 28", got));
        }
        if read.count != labels.len() {
            let (image_file, label_file) = (image_file.clone(), label_file.clone());
            let (images, labels) = (read.count, labels.len());
            return Err(DataError::Counts { image_file, images, label_file, labels });
        }
        let head = pixels.len() - read.pixels.len();
        check_length(&entry.files[images], &pixels, image_file)?;
        pixels.drain(..head);
        Ok(Samples::bytes(labels.iter().copied().map(u32::from).collect(), pixels))
    };
    Dataset::new(entry.name, names(entry), entry.input, (part(0, 1)?, part(2, 3)?), normalisation)
}

fn load_cifar(
    entry: &Entry,
    kind: Kind,
    data_dir: &DataDir,
    normalisation: Normalisation,
) -> Result<Dataset, DataError> {
    let paths = find_files(entry, data_dir)?;
    // All but the last file are for training.
    let tests = entry.files.len() - 1;
    let part = |range: std::ops::Range<usize>| {
        let (mut labels, mut pixels) = (Vec::new(), Vec::new());
        for (file, path) in entry.files[range.clone()].iter().zip(&paths[range]) {
            let bytes = read_file(file, path)?;
            cifar::append(kind, &bytes, path, &mut labels, &mut pixels)?;
            check_length(file, &bytes, path)?;
        }
        Ok(Samples::bytes(labels, pixels))
    };
    let parts = (part(0..tests)?, part(tests..tests + 1)?);
    let dataset = Dataset::new(entry.name, names(entry), entry.input, parts, normalisation)?;
    Ok(dataset.augmented(Augmentation::FlipAndShift { pad: 4 }))
}

fn load_imagenette(entry: &Entry, data_dir: &DataDir) -> Result<Dataset, DataError> {
    let root = &imagenette_root(entry, data_dir)?;
    let mut dataset = folder::load_scaled(root, entry.input[0])?;
    require_synsets(root, &dataset.classes)?;
    dataset.name = entry.name.to_owned();
    dataset.classes = names(entry);
    Ok(dataset)
}

/// Where the folders of Imagenette are.
pub(crate) fn imagenette_root(entry: &Entry, data_dir: &DataDir) -> Result<PathBuf, DataError> {
    let found = places(entry, data_dir).into_iter().find(|folder| folder.join("train").is_dir());
    found.ok_or_else(|| missing(entry, data_dir, vec![format!("{}/train", entry.folders[0])]))
}

/// Refuses other classes than those of Imagenette.
pub(crate) fn require_synsets(root: &Path, classes: &[String]) -> Result<(), DataError> {
    if classes == IMAGENETTE_SYNSETS {
        return Ok(());
    }
    Err(DataError::Folder {
        path: root.join("train"),
        expected: format!("the classes {}", IMAGENETTE_SYNSETS.join(", ")),
        got: classes.join(", "),
    })
}

pub(crate) fn names(entry: &Entry) -> Vec<String> {
    entry.classes.iter().map(|&name| name.to_owned()).collect()
}

/// The folders in which `entry` may lie: its places below the data folder, and the data folder
/// itself if it is called like one of them.
pub(crate) fn places(entry: &Entry, data_dir: &DataDir) -> Vec<PathBuf> {
    let root = data_dir.path();
    // Joining an absolute path gives that path.
    let below = entry.folders.iter().map(|folder| root.join(folder));
    let itself = entry.folders.iter().any(|folder| root.ends_with(folder));
    below.chain(itself.then(|| root.to_owned())).collect()
}

/// Where each file of `entry` is: all in one folder.
pub(crate) fn find_files(entry: &Entry, data_dir: &DataDir) -> Result<Vec<PathBuf>, DataError> {
    let mut fewest: Option<Vec<String>> = None;
    for folder in places(entry, data_dir) {
        let found: Vec<_> = entry.files.iter().map(|file| find_file(&folder, file)).collect();
        let absent: Vec<_> = entry
            .files
            .iter()
            .zip(&found)
            .filter(|(_, path)| path.is_none())
            .map(|(file, _)| file.name.to_owned())
            .collect();
        if absent.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        if fewest.as_ref().is_none_or(|fewest| absent.len() < fewest.len()) {
            fewest = Some(absent);
        }
    }
    Err(missing(entry, data_dir, fewest.unwrap_or_default()))
}

/// A file as it is officially called, or gzipped, or as some collections write it
/// (`train-images.idx3-ubyte`).
pub(crate) fn find_file(folder: &Path, file: &File) -> Option<PathBuf> {
    let dotted = file.name.replace("-idx", ".idx");
    [file.name, &dotted]
        .into_iter()
        .flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))])
        .find(|path| path.is_file())
}

fn missing(entry: &Entry, data_dir: &DataDir, files: Vec<String>) -> DataError {
    let remedy = format!(
        "`consort data get {}` fetches it ({:.0} MB), or put it into {}",
        entry.name,
        entry.download_bytes() as f64 / 1e6,
        data_dir.path().join(entry.folders[0]).display()
    );
    let looked_in = places(entry, data_dir);
    DataError::Missing { dataset: entry.name.to_owned(), files, looked_in, remedy }
}

pub(crate) fn read_file(file: &File, path: &Path) -> Result<Vec<u8>, DataError> {
    // Gzipped noise is a little longer than noise.
    let bytes = read(path, file.bytes + file.bytes / 1000 + 1024)?;
    gzip::unpack(bytes, file.bytes, path)
}

/// The last check, since the ones before it say more about what is wrong.
pub(crate) fn check_length(file: &File, bytes: &[u8], path: &Path) -> Result<(), DataError> {
    if bytes.len() == file.bytes {
        return Ok(());
    }
    let expected = format!("{} bytes in all", file.bytes);
    Err(DataError::format(path, bytes.len(), expected, format!("{}", bytes.len())))
}

/// A whole file, if it has at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, DataError> {
    let unreadable = DataError::io("read", path);
    let attempt = || -> std::io::Result<Vec<u8>> {
        let file = fs::File::open(path)?;
        let mut bytes = Vec::with_capacity((file.metadata()?.len() as usize).min(limit));
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = attempt().map_err(unreadable)?;
    if bytes.len() > limit {
        let expected = format!("at most {limit} bytes");
        return Err(DataError::format(path, limit, expected, "a longer file"));
    }
    Ok(bytes)
}
