//! MobileNet-V2 (Sandler et al., 2018) with EvoNorm: the CIFAR form (2,296,922 parameters)
//! and the form for 224x224 images, which strides more (2,296,490). Blocks that stride have
//! no shortcut, and no parameters for one.

use super::{conv, evonorm};
use crate::{Init, Layer, ModelSpec};

/// MobileNet-V2 for 32x32 colour images.
pub fn mobilenet_v2(classes: usize) -> ModelSpec {
    build("mobilenet-v2", 32, 1, 1, classes)
}

/// MobileNet-V2 for 224x224 colour images.
pub fn mobilenet_v2_224(classes: usize) -> ModelSpec {
    build("mobilenet-v2-224", 224, 2, 2, classes)
}

/// Expansion, output channels, repeats, stride of the first.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 1),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

fn build(name: &str, size: usize, stem: usize, second: usize, classes: usize) -> ModelSpec {
    let mut layers = vec![conv(32, 3, stem), evonorm()];
    let mut channels = 32;
    let mut side = size / stem;
    for (stage, (expansion, out, repeats, stride)) in STAGES.into_iter().enumerate() {
        let stride = if stage == 1 { second } else { stride };
        for k in 0..repeats {
            let stride = if k == 0 { stride } else { 1 };
            layers.push(inverted_residual(channels, expansion, out, stride));
            channels = out;
            side /= stride;
        }
    }
    layers.extend([conv(1280, 1, 1), evonorm()]);
    layers.extend([Layer::AveragePool { size: side }, Layer::Flatten]);
    layers.push(Layer::Linear { out: classes });
    ModelSpec { name: name.into(), input: [size, size, 3], classes, init: Init::Torch, layers }
}

/// Widen, filter every channel by itself, narrow; with a shortcut if the size stays.
fn inverted_residual(channels: usize, expansion: usize, out: usize, stride: usize) -> Layer {
    let body = vec![
        conv(channels * expansion, 1, 1),
        evonorm(),
        Layer::Depthwise { kernel: 3, stride, padding: 1 },
        evonorm(),
        conv(out, 1, 1),
        evonorm(),
    ];
    let shortcut = || if channels == out { Vec::new() } else { vec![conv(out, 1, 1), evonorm()] };
    Layer::Block { body, skip: (stride == 1).then(shortcut) }
}
