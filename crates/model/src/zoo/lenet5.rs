//! LeNet-5 (LeCun et al., 1998) with ReLU and max-pooling: 61,706 parameters.

use super::conv_with_bias;
use crate::{Init, Layer, ModelSpec};

/// LeNet-5 for 28x28 grey images and 10 classes.
pub fn lenet5() -> ModelSpec {
    let mut layers = Vec::new();
    for (channels, padding) in [(6, 2), (16, 0)] {
        layers.extend([
            conv_with_bias(channels, 5, padding),
            Layer::Relu,
            Layer::MaxPool { size: 2 },
        ]);
    }
    layers.push(Layer::Flatten);
    layers.extend([Layer::Linear { out: 120 }, Layer::Relu]);
    layers.extend([Layer::Linear { out: 84 }, Layer::Relu]);
    layers.push(Layer::Linear { out: 10 });
    ModelSpec { name: "lenet5".into(), input: [28, 28, 1], classes: 10, init: Init::Torch, layers }
}
