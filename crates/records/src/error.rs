//! The one error type of this crate: each message says which file or curve, what was expected and what to do.

use std::io;
use std::path::PathBuf;

/// Why something could not be written down or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The output folder already holds something.
    #[error(
        "the output folder {} already holds files (for example {example:?}); nothing was overwritten. \
         Choose another folder with --out, or pass --overwrite",
        path.display()
    )]
    FolderNotEmpty {
        /// The folder that was asked for.
        path: PathBuf,
        /// One of the entries found in it.
        example: String,
    },

    /// The output path exists and is not a folder.
    #[error("{} exists and is not a folder; choose another folder with --out", path.display())]
    NotAFolder {
        /// The path that was asked for.
        path: PathBuf,
    },

    /// A file or folder name that would leave its folder.
    #[error(
        "{name:?} is not a plain name: expected one path component, without separators or '..'"
    )]
    BadName {
        /// The name that was given.
        name: String,
    },

    /// The file system refused.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(action, source))]
    FileSystem {
        /// What was being done, e.g. "write".
        action: &'static str,
        /// The file or folder it was done to.
        path: PathBuf,
        /// What the file system answered.
        source: io::Error,
    },

    /// A curve whose runs do not fit its positions or its seeds.
    #[error(
        "curve {label:?} in panel {panel:?}: expected {expected} {what}, got {got}; \
         every run needs one value per position and every run one seed"
    )]
    UnevenCurve {
        /// The panel's title.
        panel: String,
        /// The curve's label.
        label: String,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there were.
        got: usize,
    },

    /// A line of a record file that is not what stands there.
    #[error(
        "{}, line {line}: {reason}; restore the file or delete it and what follows from that line",
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

/// The advice that goes with the common refusals; the rest speak for themselves.
fn remedy(action: &str, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound if action == "read" => "",
        io::ErrorKind::NotFound => "; create its folder first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space or choose another disk with --out"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder you may write to with --out"
        }
        _ => "",
    }
}
