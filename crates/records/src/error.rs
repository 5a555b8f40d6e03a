//! The error type of this crate. Each message names the file or curve, what was expected and what
//! to do.

use std::io;
use std::path::PathBuf;

/// Why something could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The output folder is not empty.
    #[error(
        "the output folder {} is not empty (it contains {example:?}, for example); nothing was \
         overwritten. Choose another folder with --out, or pass --overwrite",
        path.display()
    )]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
        /// One of the files in it.
        example: String,
    },

    /// The output path exists and is not a folder.
    #[error("{} exists and is not a folder; choose another folder with --out", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },

    /// A file or folder name that would point outside its folder.
    #[error(
        "{name:?} is not a plain file name: expected one path component, without separators or '..'"
    )]
    BadName {
        /// The name.
        name: String,
    },

    /// The file system returned an error.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(action, source))]
    FileSystem {
        /// What failed, for example "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },

    /// A curve whose counts of runs, positions and seeds do not match.
    #[error(
        "curve {label:?} in panel {panel:?}: expected {expected} {what}, got {got}; \
         every run needs one seed and one value per position"
    )]
    UnevenCurve {
        /// The panel's title.
        panel: String,
        /// The curve's label.
        label: String,
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },

    /// A line of a record file that is not valid.
    #[error(
        "{}, line {line}: {reason}; restore the file, or delete this line and all lines after it",
        path.display()
    )]
    BadLine {
        /// The record file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// Text that is not the JSON of a curve set.
    #[error("not a curve set in JSON: {0}; expected what json::to_json writes")]
    Json(#[from] serde_json::Error),
}

/// Advice for common errors of the file system.
fn remedy(action: &str, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound if action == "read" => "",
        io::ErrorKind::NotFound => "; create its folder first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or choose a folder on another disk with --out"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder you can write to with --out"
        }
        _ => "",
    }
}
