//! What can be wrong with a model or its file.

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
    #[error("unknown model '{got}'; built in are {known}")]
    Unknown {
        /// What was asked for.
        got: String,
        /// The names, separated by commas.
        known: String,
    },
    /// The machine lacks the instructions that the model was to use.
    #[error(transparent)]
    Isa(#[from] UnavailableIsa),
    /// A model file that is not TOML of a model.
    #[error("not a model: {0}")]
    Toml(#[from] toml::de::Error),
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
