//! What is there of a dataset, by looks that take no time: sizes in heads against lengths of files,
//! and counts of files. What is inside is for [`check`](crate::check()).

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::catalogue::{self, Entry};
use crate::formats::cifar::Kind;
use crate::load::{find_file, places};
use crate::{DataDir, folder};

/// What is there of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Where it lies; none if nothing of it is there, or it is part of the program.
    pub folder: Option<PathBuf>,
    /// How many training and test samples are there, as far as heads and file names tell.
    pub samples: [usize; 2],
    /// What is missing or cut off.
    pub problems: Vec<String>,
    /// Whether all of it is there.
    pub is_complete: bool,
}

/// Looks for a dataset of the catalogue.
pub fn presence(entry: &Entry, data_dir: &DataDir) -> Presence {
    let built_in = entry.folders.is_empty();
    if built_in {
        let samples = [entry.train, entry.test];
        return Presence { folder: None, samples, problems: Vec::new(), is_complete: true };
    }
    let found = places(entry, data_dir).into_iter().filter_map(|folder| match entry.files {
        [] => tree(entry, folder),
        files => some_files(entry, files, folder),
    });
    // The loader takes the first place where no file is missing, whatever is in them. Otherwise it is
    // the one with the most samples.
    let best = found.reduce(|best, next| {
        let all = |presence: &Presence| presence.samples.iter().sum::<usize>();
        let (taken, other) = (best.is_taken(), next.is_taken());
        let later = if taken || other { !taken } else { all(&next) > all(&best) };
        if later { next } else { best }
    });
    best.unwrap_or(Presence {
        folder: None,
        samples: [0, 0],
        problems: Vec::new(),
        is_complete: false,
    })
}

impl Presence {
    /// Whether the loader would read it: no file is missing.
    fn is_taken(&self) -> bool {
        !self.problems.iter().any(|problem| problem.ends_with(MISSING))
    }
}

/// How the problem of a file that is not there ends.
const MISSING: &str = " is missing";

/// A folder of files, if one of them is there.
fn some_files(entry: &Entry, files: &[catalogue::File], folder: PathBuf) -> Option<Presence> {
    let paths: Vec<Option<PathBuf>> = files.iter().map(|file| find_file(&folder, file)).collect();
    if paths.iter().all(Option::is_none) {
        return None;
    }
    let (mut samples, mut problems) = ([0, 0], Vec::new());
    let last = files.len() - 1;
    for (k, (file, path)) in files.iter().zip(&paths).enumerate() {
        let Some(path) = path else {
            problems.push(format!("{}{MISSING}", file.name));
            continue;
        };
        let name = path.file_name().map_or(file.name.into(), |name| name.to_string_lossy());
        match unpacked_length(path) {
            Ok(length) if length == file.bytes as u64 => {}
            Ok(length) => {
                problems.push(format!("{name} has {length} of {} bytes", file.bytes));
                continue;
            }
            Err(error) => {
                problems.push(format!("{name} cannot be read: {error}"));
                continue;
            }
        }
        let is_test = if is_idx(file) { k >= files.len() / 2 } else { k == last };
        if let Some(count) = count_in(entry, file) {
            samples[usize::from(is_test)] += count;
        }
    }
    let is_complete = problems.is_empty();
    Some(Presence { folder: Some(folder), samples, problems, is_complete })
}

fn is_idx(file: &catalogue::File) -> bool {
    file.name.contains("-idx")
}

/// How many samples a whole file has; none for one of labels, which are counted with their images.
fn count_in(entry: &Entry, file: &catalogue::File) -> Option<usize> {
    if is_idx(file) {
        let [height, width, _] = entry.input;
        return file.name.contains("images").then(|| (file.bytes - 16) / (height * width));
    }
    let kind = if entry.classes.len() == 100 { Kind::Cifar100 } else { Kind::Cifar10 };
    Some(file.bytes / kind.record())
}

/// The length of a file when unpacked. Of a gzipped one its last four bytes tell, and those of a
/// file that was cut tell something else.
fn unpacked_length(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut magic = [0; 2];
    if length < 18 || file.read_exact(&mut magic).is_err() || magic != [0x1f, 0x8b] {
        return Ok(length);
    }
    file.seek(SeekFrom::End(-4))?;
    let mut size = [0; 4];
    file.read_exact(&mut size)?;
    Ok(u64::from(u32::from_le_bytes(size)))
}

/// A folder of images, if it has a folder `train`.
fn tree(entry: &Entry, root: PathBuf) -> Option<Presence> {
    if !root.join("train").is_dir() {
        return None;
    }
    let mut problems = Vec::new();
    let samples = match folder::listed(&root) {
        Ok((_, train, test)) => [train, test].map(|list| {
            let is_empty = |path: &&PathBuf| fs::metadata(path).is_ok_and(|file| file.len() == 0);
            let empty = list.files.iter().filter(is_empty).count();
            if empty > 0 {
                problems.push(format!("{empty} images are empty files"));
            }
            list.files.len() - empty
        }),
        Err(error) => {
            problems.push(error.to_string());
            [0, 0]
        }
    };
    let parts = [("training", entry.train), ("test", entry.test)];
    for ((what, all), there) in parts.into_iter().zip(samples) {
        if there < all {
            problems.push(format!("{there} of {all} {what} images are there"));
        }
    }
    let is_complete = problems.is_empty();
    Some(Presence { folder: Some(root), samples, problems, is_complete })
}
