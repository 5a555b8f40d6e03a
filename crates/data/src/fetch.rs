//! Fetching the datasets of the catalogue from where their authors put them.
//!
//! ```text
//!   address ─► .fetch/NAME/FILE.part ─► right size and digest? ─► unpacked ─► renamed into place
//!                    ▲ resumed after a cut
//! ```
//!
//! A file is whole, or it is not there under its name; two processes that fetch the same dataset
//! wait for each other.

mod digest;
mod transfer;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalogue::{Download, Entry};
use crate::formats::archive;
use crate::{DataDir, DataError, load};

/// How to fetch.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Where to get the files instead of their official addresses: an address to which the name
    /// of a file is appended, such as `http://mirror.example.org/datasets/cifar10/`.
    pub base: Option<String>,
    /// Whether to fetch what is there already, in place of it.
    pub again: bool,
    /// How often a file is tried again after a fault that may pass.
    pub retries: u32,
    /// How long to wait before the first retry; each further one waits twice as long.
    pub pause: Duration,
    /// How long a server may be silent.
    pub timeout: Duration,
}

impl Default for FetchOptions {
    fn default() -> Self {
        let (pause, timeout) = (Duration::from_secs(1), Duration::from_secs(30));
        Self { base: None, again: false, retries: 4, pause, timeout }
    }
}

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Which file.
    pub file: &'a str,
    /// How much of it is there.
    pub bytes: u64,
    /// How large it is.
    pub total: u64,
}

/// Fetches a dataset into `data_dir`, unless it is there, and says in which folder it is.
///
/// # Errors
/// If a file cannot be had from any address, or not written. What was fetched of a file is kept,
/// and the next attempt goes on from there.
pub fn fetch(
    entry: &Entry,
    data_dir: &DataDir,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<PathBuf, DataError> {
    let root = data_dir.path();
    if entry.downloads.is_empty() {
        return Ok(root.to_owned());
    }
    let staging = root.join(".fetch").join(entry.name);
    let lock = lock(&staging)?;
    if !options.again
        && let Some(folder) = present(entry, data_dir)
    {
        return Ok(folder);
    }
    let folder = root.join(entry.folders[0]);
    for download in entry.downloads {
        let target = folder.join(download.file);
        if download.unpacked.is_none() && digest::check(&target, download).is_ok() {
            continue;
        }
        let part = staging.join(format!("{}.part", download.file));
        transfer::transfer(download, &part, options, progress)
            .map_err(|problem| failure(download, &folder, options, problem))?;
        match download.unpacked {
            None => {
                make_folder(&folder)?;
                fs::rename(&part, &target).map_err(DataError::io("write", &target))?;
            }
            Some(limit) => {
                unpack(&part, limit, &staging.join("unpacked"), &folder)?;
                fs::remove_file(&part).map_err(DataError::io("remove", &part))?;
            }
        }
    }
    // While the lock is held; `.fetch` stays if another dataset is being fetched.
    let _ = fs::remove_dir_all(&staging);
    let _ = fs::remove_dir(root.join(".fetch"));
    drop(lock);
    Ok(folder)
}

/// What [`fetch`] would get from where, and what to do without a network.
pub fn plan(entry: &Entry, data_dir: &DataDir, options: &FetchOptions) -> String {
    let folder = data_dir.path().join(entry.folders.first().unwrap_or(&entry.name));
    let mut text = format!("{} goes into {}:", entry.name, folder.display());
    for download in entry.downloads {
        let addresses = transfer::addresses(download, options).join(" or ");
        let megabytes = download.bytes as f64 / 1e6;
        text += &format!("\n  {} ({megabytes:.1} MB) from {addresses}", download.file);
    }
    let unpacked = entry.downloads.iter().any(|download| download.unpacked.is_some());
    let place = match unpacked {
        false => format!("put it into {}, unpacked or not", folder.display()),
        true => format!("unpack it so that {} is there", folder.display()),
    };
    text + &format!("\n  without a network: get it elsewhere and {place}")
}

/// Waits until nobody else works in `staging`, which it makes.
fn lock(staging: &Path) -> Result<fs::File, DataError> {
    let path = staging.join("lock");
    loop {
        make_folder(staging)?;
        match fs::File::create(&path) {
            // Whoever was done just now took the folder away.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(DataError::io("write", &path)(error)),
            Ok(file) => {
                file.lock().map_err(DataError::io("lock", &path))?;
                return Ok(file);
            }
        }
    }
}

/// Where a dataset lies already.
fn present(entry: &Entry, data_dir: &DataDir) -> Option<PathBuf> {
    if entry.files.is_empty() {
        let mut places = load::places(entry, data_dir).into_iter();
        places.find(|folder| folder.join("train").is_dir())
    } else {
        let files = load::find_files(entry, data_dir).ok()?;
        files.first()?.parent().map(Path::to_owned)
    }
}

/// Unpacks an archive beside its place, then moves the whole folder there at once.
fn unpack(archive: &Path, limit: u64, staging: &Path, folder: &Path) -> Result<(), DataError> {
    if staging.exists() {
        fs::remove_dir_all(staging).map_err(DataError::io("remove", staging))?;
    }
    make_folder(staging)?;
    let file = fs::File::open(archive).map_err(DataError::io("read", archive))?;
    archive::unpack(file, limit, archive, &mut |path, bytes| {
        let path = staging.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        std::io::copy(bytes, &mut fs::File::create_new(path)?).map(drop)
    })?;
    let unpacked = staging.join(folder.file_name().unwrap_or_default());
    if !unpacked.is_dir() {
        return Err(DataError::Folder {
            path: archive.to_owned(),
            expected: format!("a folder `{}`", folder.file_name().unwrap_or_default().display()),
            got: "others".to_owned(),
        });
    }
    // What stands there is no whole dataset, or is to be replaced.
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(DataError::io("remove", folder))?;
    }
    fs::rename(&unpacked, folder).map_err(DataError::io("write", folder))?;
    fs::remove_dir_all(staging).map_err(DataError::io("remove", staging))
}

fn make_folder(path: &Path) -> Result<(), DataError> {
    fs::create_dir_all(path).map_err(DataError::io("write", path))
}

fn failure(
    download: &Download,
    folder: &Path,
    options: &FetchOptions,
    problem: transfer::Problem,
) -> DataError {
    let problem = match problem {
        transfer::Problem::Here(error) => return error,
        transfer::Problem::There(text) => text,
    };
    let addresses = transfer::addresses(download, options).join(" or ");
    let place = match download.unpacked {
        None => format!("put it into {}", folder.display()),
        Some(_) => format!("unpack it so that {} is there", folder.display()),
    };
    let remedy = format!("without a network: get {addresses} elsewhere and {place}");
    DataError::Download { file: download.file.to_owned(), problem, remedy }
}
