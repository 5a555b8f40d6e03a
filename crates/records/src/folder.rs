//! The folder of a run's results. It is never another run's folder, and its files are complete.
//!
//! A result that silently replaces an older one, or a figure cut short by a full disk, is worse
//! than no result. So a folder is claimed before the run starts, and an error comes before hours of
//! work. Every file is written completely or not at all: it is written under a temporary name in
//! the same folder, flushed to the disk, then renamed.

use crate::error::RecordsError;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// A folder that belongs to this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFolder {
    path: PathBuf,
}

impl OutputFolder {
    /// Takes `path` for this run. Creates it and its parents if they do not exist.
    ///
    /// With `overwrite`, existing files stay until a file of the same name is written.
    ///
    /// # Errors
    /// If the folder is not empty and `overwrite` is false, if `path` is not a folder, or if the
    /// file system returns an error. Nothing in the folder has changed then.
    pub fn claim(path: impl AsRef<Path>, overwrite: bool) -> Result<Self, RecordsError> {
        let path = path.as_ref();
        if path.exists() && !path.is_dir() {
            return Err(RecordsError::NotAFolder { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(refused("create the folder", path))?;
        let first = fs::read_dir(path).map_err(refused("list the folder", path))?.next();
        match first.transpose().map_err(refused("list the folder", path))? {
            Some(entry) if !overwrite => Err(RecordsError::FolderNotEmpty {
                path: path.to_owned(),
                example: entry.file_name().to_string_lossy().into_owned(),
            }),
            _ => Ok(Self { path: path.to_owned() }),
        }
    }

    /// Creates the first of `parent/stem`, `parent/stem-2`, `parent/stem-3`… that does not exist.
    ///
    /// Two runs that start at the same moment get two folders.
    ///
    /// # Errors
    /// If `stem` is not a plain name or the file system returns an error.
    pub fn fresh(parent: impl AsRef<Path>, stem: &str) -> Result<Self, RecordsError> {
        let parent = parent.as_ref();
        plain_name(stem)?;
        fs::create_dir_all(parent).map_err(refused("create the folder", parent))?;
        let mut number = 1u64;
        loop {
            let path = match number {
                1 => parent.join(stem),
                n => parent.join(format!("{stem}-{n}")),
            };
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(e) => return Err(refused("create the folder", &path)(e)),
            }
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file `name`, completely or not at all, and returns its path.
    ///
    /// Replaces an existing file of this name: the folder belongs to this run.
    ///
    /// # Errors
    /// If `name` is not a plain name or the file system returns an error (full disk, no permission,
    /// a folder of this name). An existing file is unchanged then, and no partial file is left.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf, RecordsError> {
        plain_name(name)?;
        let target = self.path.join(name);
        write_file(&target, bytes)?;
        Ok(target)
    }
}

/// Writes one file, completely or not at all. Replaces an existing file of this name.
///
/// # Errors
/// If the file system returns an error. An existing file is unchanged then, and no partial file is
/// left.
pub fn write_file(target: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), RecordsError> {
    write_file_with(target, |file| file.write_all(bytes.as_ref()))
}

/// Like [`write_file`], for contents that do not fit into memory at once.
///
/// # Errors
/// If the file system returns an error. An existing file is unchanged then, and no partial file is
/// left.
pub fn write_file_with(
    target: impl AsRef<Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), RecordsError> {
    let target = target.as_ref();
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (mut file, part) = part_file(folder).map_err(refused("write", target))?;
    let written =
        fill(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, target));
    if let Err(e) = written {
        // Report the first error; if the partial file cannot be removed, the cause is the same.
        let _ = fs::remove_file(&part);
        return Err(refused("write", target)(e));
    }
    // Flushing the folder makes the rename durable. Not every system supports it, and the file is
    // complete either way.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Opens a new hidden file in the folder of the target: a rename is atomic only within a folder.
fn part_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let process = std::process::id();
    let mut number = 0u64;
    loop {
        let part = folder.join(format!(".part-{process}-{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Ok(file) => return Ok((file, part)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(e),
        }
    }
}

/// Returns an error for names that point outside the folder.
fn plain_name(name: &str) -> Result<(), RecordsError> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        // Compare with the whole text, because "a/" has one component too.
        (Some(Component::Normal(only)), None) if only == OsStr::new(name) => Ok(()),
        _ => Err(RecordsError::BadName { name: name.to_owned() }),
    }
}

/// Adds the action and the path to an error of the file system.
pub(crate) fn refused(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordsError {
    let path = path.to_owned();
    move |source| RecordsError::FileSystem { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_with_files_is_refused_and_untouched() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("deep/run");
        OutputFolder::claim(&path, false).unwrap().write("a.csv", "old").unwrap();
        let message = OutputFolder::claim(&path, false).unwrap_err().to_string();
        for part in ["deep/run", "nothing was overwritten", "--out", "--overwrite", "a.csv"] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(fs::read_to_string(path.join("a.csv")).unwrap(), "old");
        OutputFolder::claim(&path, true).unwrap().write("a.csv", "new").unwrap();
        assert_eq!(fs::read_to_string(path.join("a.csv")).unwrap(), "new");
    }

    #[test]
    fn an_empty_folder_may_be_claimed_and_a_file_may_not() {
        let temp = tempfile::tempdir().unwrap();
        OutputFolder::claim(temp.path(), false).unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = OutputFolder::claim(&file, true).unwrap_err();
        assert!(matches!(error, RecordsError::NotAFolder { .. }), "{error}");
    }

    #[test]
    fn fresh_folders_count_up_even_in_a_race() {
        let temp = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| OutputFolder::fresh(temp.path().join("runs"), "ring").unwrap());
            }
        });
        let expected: Vec<String> =
            std::iter::once("ring".into()).chain((2..=8).map(|n| format!("ring-{n}"))).collect();
        assert_eq!(names(&temp.path().join("runs")), expected);
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let temp = tempfile::tempdir().unwrap();
        let folder = OutputFolder::claim(temp.path(), false).unwrap();
        fs::create_dir(temp.path().join("chart.svg")).unwrap();
        let message = folder.write("chart.svg", "x").unwrap_err().to_string();
        assert!(message.contains("chart.svg"), "{message}");
        assert_eq!(names(temp.path()), ["chart.svg"]);
    }

    #[test]
    fn a_vanished_folder_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let folder = OutputFolder::fresh(temp.path(), "run").unwrap();
        fs::remove_dir(folder.path()).unwrap();
        let message = folder.write("a.csv", "x").unwrap_err().to_string();
        assert!(message.contains("run") && message.contains("a.csv"), "{message}");
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let folder = OutputFolder::claim(temp.path(), false).unwrap();
        for name in ["", "..", ".", "a/b", "a/", "/etc"] {
            let error = folder.write(name, "x").unwrap_err();
            assert!(matches!(error, RecordsError::BadName { .. }), "{name}: {error}");
            assert!(OutputFolder::fresh(temp.path(), name).is_err(), "{name}");
        }
    }
}
