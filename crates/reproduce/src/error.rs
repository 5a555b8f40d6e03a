//! What can go wrong with presets and the ledger.

use std::path::PathBuf;

use consort_records::RecordsError;
use consort_train::ConfigError;
use thiserror::Error;

/// Why a preset or the ledger cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no such experiment.
    #[error("there is no experiment '{got}'{hint}; known are: {known}")]
    NoExperiment {
        /// What was asked for.
        got: String,
        /// What was probably meant, in words, or nothing.
        hint: String,
        /// The names there are.
        known: String,
    },
    /// A preset is not what it should be.
    #[error("experiment {experiment}: {reason}")]
    Preset {
        /// The preset.
        experiment: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A preset's settings make no configuration.
    #[error("experiment {experiment}, {cell}: {source}")]
    Config {
        /// The preset.
        experiment: String,
        /// Which of its cells.
        cell: String,
        /// Why.
        source: Box<ConfigError>,
    },
    /// A pattern of rows fits none.
    #[error("no row of {experiment} is called '{got}'; it has: {known}")]
    NoRow {
        /// The preset.
        experiment: String,
        /// What was asked for.
        got: String,
        /// The names there are.
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
    /// The file system refuses.
    #[error(transparent)]
    Files(#[from] RecordsError),
}
