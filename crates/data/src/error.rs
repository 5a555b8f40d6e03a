//! What can be wrong with data: always which file, where in it, and what was expected.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why data cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file that cannot be read.
    #[error("cannot {action} {}: {source}", path.display())]
    FileSystem {
        /// What was tried: `read`, `list`, `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file whose bytes are not what its format says.
    #[error("{}, byte {offset}: expected {expected}, got {got}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Where in the (unpacked) file.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What stands there.
        got: String,
    },
    /// A dataset whose files are not where they are looked for.
    #[error("{dataset}: missing {}\n  looked in {}\n  {remedy}", files.join(", "), listed(looked_in))]
    Missing {
        /// Its name in the catalogue.
        dataset: String,
        /// What was not found.
        files: Vec<String>,
        /// Every folder in which it would have been found.
        looked_in: Vec<PathBuf>,
        /// What to do.
        remedy: String,
    },
    /// Samples of a regression that are to be set apart.
    #[error(
        "{dataset}: samples are set apart for validation, by `validation` or for a sweep, only where \
         classes are told apart; here the number `{target}` is predicted. Leave `validation` and the \
         sweep out"
    )]
    ValidationOfRegression {
        /// The dataset.
        dataset: String,
        /// What is predicted.
        target: String,
    },
    /// Too few training samples to set some apart.
    #[error(
        "{dataset}: no training sample can be set apart for validation, because no class has two \
         (there are {samples}); leave `validation` out"
    )]
    NoValidation {
        /// The dataset.
        dataset: String,
        /// How many training samples it has.
        samples: usize,
    },
    /// A name that is neither in the catalogue nor a path.
    #[error(
        "no dataset `{name}`{}; known are {known}, `folder:PATH` (images, a folder a class) \
         and `csv:PATH`",
        suggestion.as_ref().map(|s| format!(", did you mean `{s}`?")).unwrap_or_default()
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<String>,
        /// All names of the catalogue.
        known: String,
    },
    /// A folder that does not hold what a dataset of images holds.
    #[error("{}: expected {expected}, got {got}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What it should hold.
        expected: String,
        /// What it holds.
        got: String,
    },
    /// An option of a folder or a table that does not exist, or has no such value.
    #[error("{text}: {problem}; options stand behind the path as `:key=value`: {known}")]
    Option {
        /// The whole text.
        text: String,
        /// What is wrong.
        problem: String,
        /// The keys that exist.
        known: String,
    },
    /// A column of a table that cannot be used as asked, or not without being asked.
    #[error("{}: {problem}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Images of different sizes, or too large ones, and no word about the size that models see.
    #[error(
        "{}: {problem} (height x width); say what size models shall see, as in `folder:{}:size={}`",
        path.display(), path.display(), example
    )]
    Sizes {
        /// The folder.
        path: PathBuf,
        /// Which sizes there are.
        problem: String,
        /// A size that would suit.
        example: usize,
    },
    /// Files of one dataset that contradict each other.
    #[error("{} holds {images} images, but {} holds {labels} labels",
        image_file.display(), label_file.display())]
    Counts {
        /// The file of images.
        image_file: PathBuf,
        /// How many there are.
        images: usize,
        /// The file of labels.
        label_file: PathBuf,
        /// How many there are.
        labels: usize,
    },
    /// A sample that does not exist.
    #[error("sample {index} of {len}: there is none")]
    Index {
        /// Which was asked for.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// Numbers that do not fit the shape of a sample.
    #[error("{what}: expected {expected} numbers, got {got}")]
    Length {
        /// What they are for.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// No folder for data is known on this machine.
    #[error("no folder for data is known: give --data-dir, or set CONSORT_DATA or HOME")]
    NoDataDir,
    /// A download that did not succeed, after every address and retry.
    #[error("cannot fetch {file}: {problem}\n  {remedy}")]
    Download {
        /// The file.
        file: String,
        /// What happened at each address.
        problem: String,
        /// What to do without a network.
        remedy: String,
    },
}

impl DataError {
    /// A [`DataError::Format`].
    pub(crate) fn format(
        path: &Path,
        offset: usize,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Self {
        DataError::Format {
            path: path.to_owned(),
            offset: offset as u64,
            expected: expected.into(),
            got: got.into(),
        }
    }

    /// A [`DataError::FileSystem`], for `map_err`.
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> DataError + use<> {
        let path = path.to_owned();
        move |source| DataError::FileSystem { action, path, source }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
