//! Small models, for small data and for tests in milliseconds.

use super::{conv, evonorm};
use crate::{Init, Layer, ModelSpec};

/// Linear layers with ReLU between them, on images of `input` = [height, width, channels].
pub fn mlp(input: [usize; 3], hidden: &[usize], classes: usize) -> ModelSpec {
    let mut layers = vec![Layer::Flatten];
    for &out in hidden {
        layers.extend([Layer::Linear { out }, Layer::Relu]);
    }
    layers.push(Layer::Linear { out: classes });
    ModelSpec { name: "mlp".into(), input, classes, init: Init::Torch, layers }
}

/// One linear layer.
pub fn softmax_regression(input: [usize; 3], classes: usize) -> ModelSpec {
    ModelSpec { name: "softmax".into(), ..mlp(input, &[], classes) }
}

/// A small convolutional network for 8x8 grey digits.
pub fn digits_cnn(classes: usize) -> ModelSpec {
    let layers = vec![
        conv(16, 3, 1),
        evonorm(),
        Layer::MaxPool { size: 2 },
        conv(32, 3, 1),
        evonorm(),
        Layer::MaxPool { size: 2 },
        Layer::Flatten,
        Layer::Linear { out: classes },
    ];
    ModelSpec { name: "digits-cnn".into(), input: [8, 8, 1], classes, init: Init::HeFanOut, layers }
}
