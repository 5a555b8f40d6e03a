//! Models for other programs: an ONNX file, or PyTorch source that loads the safetensors file.
//!
//! ```text
//!   ModelSpec, parameters, scaling ─► onnx(): bytes ─► onnxruntime, browsers, phones
//!                                  └► torch(): text ─► nn.Module with the same parameter names
//! ```
//!
//! Both take *raw* input, so that nobody has to know how the training data were scaled: images as
//! `[batch, channels, height, width]` with pixels from 0 to 1, tables as `[batch, columns]` in the
//! units of the file. The scaling is the first step of the exported model. Where it is not known,
//! the input is what the model saw in training, scaled already.

mod onnx;
mod protobuf;
mod torch;

pub use onnx::{Batch, onnx};
pub use torch::torch;

use consort_model::{ModelError, ModelSpec};
use thiserror::Error;

/// A trained model, and what other programs want to know about it.
#[derive(Clone, Debug)]
pub struct Exported<'a> {
    /// Its layers.
    pub spec: &'a ModelSpec,
    /// Its parameters.
    pub flat: &'a [f32],
    /// How raw input becomes what the model sees; none if that is not known.
    pub scaling: Option<Scaling>,
    /// What comes in.
    pub input: InputKind,
    /// What the outputs are.
    pub output: OutputKind,
    /// Texts that go with the model, such as the names of the classes.
    pub about: Vec<(String, String)>,
}

/// `(x - mean) / std`, with a number for each channel or column.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// What is subtracted.
    pub mean: Vec<f32>,
    /// What is divided by.
    pub std: Vec<f32>,
}

/// What a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// An image, which comes in as `[batch, channels, height, width]`.
    Image,
    /// A row of a table, which comes in as `[batch, columns]`.
    Table,
}

/// What the outputs are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutputKind {
    /// One number per class, before the softmax.
    Classes,
    /// A number that was scaled for training: the exported model gives `output * std + mean`.
    Number {
        /// The mean of the target.
        mean: f64,
        /// Its standard deviation.
        std: f64,
    },
}

/// Why a model cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The model itself.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A scaling of another length than the input.
    #[error("the scaling has {got} numbers, expected {expected}, one per channel or column")]
    Scaling {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A table whose model takes images.
    #[error("the model takes {height}x{width} images, not rows of a table")]
    NotATable {
        /// Rows of the image.
        height: usize,
        /// Columns of the image.
        width: usize,
    },
    /// A layer that has no counterpart.
    #[error("layer {layer} cannot be exported: {problem}")]
    Layer {
        /// Where it stands.
        layer: String,
        /// What is wrong.
        problem: String,
    },
}

impl Exported<'_> {
    /// Whether all parts fit each other.
    fn check(&self) -> Result<consort_model::Parameters, ExportError> {
        let parameters = consort_model::Parameters::new(self.spec)?;
        let (expected, got) = (parameters.len(), self.flat.len());
        if expected != got {
            return Err(ModelError::Length { expected, got }.into());
        }
        let [height, width, channels] = self.spec.input;
        if self.input == InputKind::Table && (height, width) != (1, 1) {
            return Err(ExportError::NotATable { height, width });
        }
        for numbers in self.scaling.iter().flat_map(|scaling| [&scaling.mean, &scaling.std]) {
            if numbers.len() != channels {
                return Err(ExportError::Scaling { expected: channels, got: numbers.len() });
            }
        }
        Ok(parameters)
    }

    /// What comes in, in words.
    fn input_text(&self) -> String {
        let [height, width, channels] = self.spec.input;
        let scaled = "scaled as in training";
        match (self.input, &self.scaling) {
            (InputKind::Image, Some(_)) => {
                format!("float32 [batch, {channels}, {height}, {width}]: pixels from 0 to 1")
            }
            (InputKind::Image, None) => {
                format!("float32 [batch, {channels}, {height}, {width}]: pixels {scaled}")
            }
            (InputKind::Table, Some(_)) => {
                format!("float32 [batch, {channels}]: the columns, in their own units")
            }
            (InputKind::Table, None) => {
                format!("float32 [batch, {channels}]: the columns, {scaled}")
            }
        }
    }
}
