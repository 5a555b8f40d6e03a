//! What can be wrong with a configuration.

use thiserror::Error;

/// Why a configuration cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Text that is no TOML, or a value of another kind.
    #[error("{message}")]
    Toml {
        /// What the parser says: the place, and what it expected.
        message: String,
    },
    /// A key that nobody knows.
    #[error("unknown key `{key}`{}; known here: {known}", meant(suggestion))]
    UnknownKey {
        /// The whole key.
        key: String,
        /// What was probably meant.
        suggestion: Option<String>,
        /// The keys that are known at this place.
        known: String,
    },
    /// An override that is no `key=value`.
    #[error("--set {got}: expected key=value, such as --set eta=0.05 or --set schedule.factor=0.1")]
    Override {
        /// What was given.
        got: String,
    },
    /// A value of another kind, or out of range.
    #[error("{key}: expected {expected}, got {got}")]
    Range {
        /// The key.
        key: String,
        /// What would do.
        expected: String,
        /// What came.
        got: String,
    },
    /// A flag that is no `key=value,value`.
    #[error("--sweep {got}: expected key=value,value,..., such as --sweep eta=0.03,0.1,0.3")]
    SweepFlag {
        /// What was given.
        got: String,
    },
    /// A key or a value that cannot be swept.
    #[error("sweep of {key}: {reason}")]
    Sweep {
        /// The key, or the key and its value.
        key: String,
        /// Why not.
        reason: String,
    },
    /// Two keys that exclude each other.
    #[error("`{first}` and `{second}` exclude each other; give one of them")]
    Both {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Where in the file something is wrong.
    #[error("line {line}: {error}")]
    OnLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        error: Box<ConfigError>,
    },
    /// A configuration that TOML cannot express.
    #[error("cannot write the configuration as TOML: {reason}")]
    Written {
        /// What the writer says.
        reason: String,
    },
}

impl ConfigError {
    /// The key that it is about.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            ConfigError::UnknownKey { key, .. } | ConfigError::Range { key, .. } => Some(key),
            ConfigError::Both { second, .. } => Some(second),
            _ => None,
        }
    }

    pub(super) fn toml(error: toml::de::Error) -> Self {
        ConfigError::Toml { message: error.to_string().trim_end().to_string() }
    }
}

fn meant(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or(String::new(), |key| format!(", did you mean `{key}`?"))
}
