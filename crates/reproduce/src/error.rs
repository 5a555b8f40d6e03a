//! The errors of presets and of the ledger.

use std::path::PathBuf;

use consort_records::RecordsError;
use consort_train::ConfigError;
use thiserror::Error;

/// Why a preset or the ledger cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no such experiment.
    #[error("there is no experiment '{got}'{hint}; the experiments are: {known}")]
    NoExperiment {
        /// The unknown name.
        got: String,
        /// A hint at a similar name; may be empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// A preset is not valid.
    #[error("experiment {experiment}: {reason}")]
    Preset {
        /// The preset.
        experiment: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The settings of a preset are not a valid configuration.
    #[error("experiment {experiment}, {cell}: {source}")]
    Config {
        /// The preset.
        experiment: String,
        /// The cell.
        cell: String,
        /// The reason.
        source: Box<ConfigError>,
    },
    /// A pattern matches no row.
    #[error("no row of {experiment} matches '{got}'; its rows are: {known}")]
    NoRow {
        /// The preset.
        experiment: String,
        /// The pattern.
        got: String,
        /// All rows.
        known: String,
    },
    /// A file of the ledger cannot be read.
    #[error("{path}: {reason}")]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system returned an error.
    #[error(transparent)]
    Files(#[from] RecordsError),
}
