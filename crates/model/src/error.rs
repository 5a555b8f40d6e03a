//! What can be wrong with a model or its file.

use std::path::PathBuf;

use consort_kernel::UnavailableIsa;
use thiserror::Error;

/// Why a model cannot be built, loaded or saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A layer that does not fit what comes into it.
    #[error("layer {layer}: {problem}")]
    Layer {
        /// Where it stands, as in `2.body.0`.
        layer: String,
        /// What does not fit, and what would.
        problem: String,
    },
    /// The last layer does not give one number per class.
    #[error(
        "{model} ends in {got}, expected a row of {classes} numbers, one per class; end it with a \
         linear layer"
    )]
    Classes {
        /// The model.
        model: String,
        /// How many classes there are.
        classes: usize,
        /// What comes out, in words.
        got: String,
    },
    /// A model of this name is not built in.
    #[error(
        "unknown model '{got}'{}; built in are {known} (`consort model list`)",
        suggested(suggestion)
    )]
    Unknown {
        /// What was asked for.
        got: String,
        /// The nearest name.
        suggestion: Option<String>,
        /// The names, separated by commas.
        known: String,
    },
    /// A model file that is not there.
    #[error(
        "model file {}: there is no such file{}; `consort model template > {}` writes one to \
         start from",
        path.display(), nearby_files(nearby), path.display()
    )]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The names of the files in TOML beside it.
        nearby: Vec<String>,
    },
    /// A model file that cannot be read.
    #[error("cannot read the model file {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A description with missing, unknown or wrong keys: all of them.
    #[error("not a model:\n  {}", problems.join("\n  "))]
    Description {
        /// Each says where, what is wrong, and what is expected.
        problems: Vec<String>,
    },
    /// The machine lacks the instructions that the model was to use.
    #[error(transparent)]
    Isa(#[from] UnavailableIsa),
    /// A model file that is not TOML of a model.
    #[error("not a model: {0}")]
    Toml(#[from] toml::de::Error),
    /// A description that cannot be written as TOML.
    #[error("cannot be written as TOML: {0}")]
    ToToml(#[from] toml::ser::Error),
    /// Texts that cannot be written as JSON.
    #[error("cannot be written as JSON: {0}")]
    ToJson(#[from] serde_json::Error),
    /// A file of weights that cannot be read.
    #[error("not a safetensors file: {0}")]
    Safetensors(#[from] safetensors::SafeTensorError),
    /// A tensor that the model needs is not in the file.
    #[error("the file has no tensor '{name}'; it holds {found}")]
    MissingTensor {
        /// Its name.
        name: String,
        /// The first names that are there.
        found: String,
    },
    /// A tensor that the model does not know.
    #[error("the file holds a tensor '{name}' that the model does not have")]
    ForeignTensor {
        /// Its name.
        name: String,
    },
    /// A tensor of the wrong shape or type.
    #[error("tensor '{name}' is {got}, expected {expected}")]
    TensorShape {
        /// Its name.
        name: String,
        /// What the model needs.
        expected: String,
        /// What is in the file.
        got: String,
    },
    /// A tensor with a number that no model can use.
    #[error("tensor '{name}' holds a number that is not finite, at {index}")]
    NonFinite {
        /// Its name.
        name: String,
        /// Which of its numbers.
        index: usize,
    },
    /// A flat vector of the wrong length.
    #[error("expected {expected} parameters, got {got}")]
    Length {
        /// How many the model has.
        expected: usize,
        /// How many came.
        got: usize,
    },
}

fn suggested(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or(String::new(), |name| format!(", did you mean '{name}'?"))
}

fn nearby_files(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; TOML files there: {}", names.join(", ")),
    }
}
