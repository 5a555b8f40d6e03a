//! One layer, as data.

use serde::{Deserialize, Serialize};

/// A layer of a model. Sizes of what comes in follow from the layers before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layer {
    /// 2-D convolution over all input channels.
    Conv {
        /// Output channels.
        out: usize,
        /// Side of the square window.
        kernel: usize,
        /// Step of the window.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros around the image.
        #[serde(default)]
        padding: usize,
        /// Groups of channels that do not mix.
        #[serde(default = "one")]
        groups: usize,
        /// Adds a learned number per output channel.
        #[serde(default)]
        bias: bool,
    },
    /// 2-D convolution of every channel by itself.
    Depthwise {
        /// Side of the square window.
        kernel: usize,
        /// Step of the window.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros around the image.
        #[serde(default)]
        padding: usize,
    },
    /// EvoNorm: activation and normalisation in one, per sample and group of channels.
    Evonorm {
        /// Groups of channels that share a variance.
        #[serde(default = "eight")]
        groups: usize,
        /// Which activation.
        #[serde(default)]
        form: EvoNormForm,
    },
    /// Group normalisation.
    GroupNorm {
        /// Groups of channels that share mean and variance.
        groups: usize,
    },
    /// max(x, 0).
    Relu,
    /// The largest of every window.
    MaxPool {
        /// Side of the window, which is also its step.
        size: usize,
    },
    /// The mean of every window.
    AveragePool {
        /// Side of the window, which is also its step.
        size: usize,
    },
    /// From an image to a row of numbers, in PyTorch's order: channel, row, column.
    Flatten,
    /// A linear layer with bias.
    Linear {
        /// How many numbers come out.
        out: usize,
    },
    /// Layers in a row and, if `skip` is given, what came in (through the skip's own
    /// layers) added to what comes out. `skip = []` adds it as it is.
    Block {
        /// The layers.
        body: Vec<Layer>,
        /// The layers of the shortcut.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skip: Option<Vec<Layer>>,
    },
}

impl Layer {
    /// What it is, as in TOML.
    pub fn kind(&self) -> &'static str {
        match self {
            Layer::Conv { .. } => "conv",
            Layer::Depthwise { .. } => "depthwise",
            Layer::Evonorm { .. } => "evonorm",
            Layer::GroupNorm { .. } => "group-norm",
            Layer::Relu => "relu",
            Layer::MaxPool { .. } => "max-pool",
            Layer::AveragePool { .. } => "average-pool",
            Layer::Flatten => "flatten",
            Layer::Linear { .. } => "linear",
            Layer::Block { .. } => "block",
        }
    }
}

/// The activation inside EvoNorm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvoNormForm {
    /// x · clamp(x/6 + 1/2, 0, 1): what the paper's runs used; nothing more is learned.
    #[default]
    HardSigmoid,
    /// x · sigmoid(v x) with a learned v per channel: EvoNorm-S0 as published.
    S0,
}

fn one() -> usize {
    1
}

fn eight() -> usize {
    8
}
