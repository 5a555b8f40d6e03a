//! How the weights of a model start.

use serde::{Deserialize, Serialize};

use crate::parameters::Initial;

/// How convolutions start, and their biases. Linear layers always start as PyTorch's do:
/// weights and biases uniform in ±1/sqrt(fan_in). Normalisations start as the identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// PyTorch's default: weights and biases uniform in ±1/sqrt(fan_in), where fan_in counts
    /// the inputs of one output. The paper's LeNet-5 and MobileNet-V2 start so.
    #[default]
    Torch,
    /// Weights normal with variance 2/(kernel² · outputs) (He et al., 2015, over the outputs of
    /// a window), biases 0. The paper's ResNets and VGG-11 start so.
    HeFanOut,
}

impl Init {
    /// How the weights of a convolution start: `kernel`² numbers for each of `inputs` channels
    /// that one output sees, and `out` outputs.
    pub(crate) fn conv_weight(self, kernel: usize, inputs: usize, out: usize) -> Initial {
        match self {
            Init::Torch => uniform(kernel * kernel * inputs),
            Init::HeFanOut => Initial::Normal((2.0 / (kernel * kernel * out) as f64).sqrt()),
        }
    }

    /// How its biases start.
    pub(crate) fn conv_bias(self, kernel: usize, inputs: usize) -> Initial {
        match self {
            Init::Torch => uniform(kernel * kernel * inputs),
            Init::HeFanOut => Initial::Constant(0.0),
        }
    }
}

/// PyTorch's default, for weights and biases alike.
pub(crate) fn uniform(fan_in: usize) -> Initial {
    Initial::Uniform(1.0 / (fan_in as f64).sqrt())
}
