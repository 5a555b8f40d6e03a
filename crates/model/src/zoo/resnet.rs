//! Residual networks for CIFAR (He et al., 2016), depth 6k+2, EvoNorm in place of batch
//! normalisation and ReLU, no activation after the addition, 1x1 shortcuts with EvoNorm
//! where the size changes. ResNet-20 has 272,474 parameters.

use super::{conv, evonorm};
use crate::{Init, Layer, ModelError, ModelSpec};

/// A residual network for 32x32 colour images.
pub fn resnet(depth: usize, classes: usize) -> Result<ModelSpec, ModelError> {
    let name = format!("resnet{depth}");
    if depth < 8 || depth % 6 != 2 {
        let known = "resnet8, resnet14, resnet20, resnet26, ... (depth 6k+2)".into();
        return Err(ModelError::Unknown { got: name, suggestion: None, known });
    }
    let blocks = (depth - 2) / 6;
    let mut layers = vec![conv(16, 3, 1), evonorm()];
    let mut channels = 16;
    for (out, first_stride) in [(16, 1), (32, 2), (64, 2)] {
        for k in 0..blocks {
            let stride = if k == 0 { first_stride } else { 1 };
            let body = vec![conv(out, 3, stride), evonorm(), conv(out, 3, 1), evonorm()];
            let same = stride == 1 && channels == out;
            let skip = if same { Vec::new() } else { vec![conv(out, 1, stride), evonorm()] };
            layers.push(Layer::Block { body, skip: Some(skip) });
            channels = out;
        }
    }
    layers.extend([Layer::AveragePool { size: 8 }, Layer::Flatten, Layer::Linear { out: classes }]);
    Ok(ModelSpec { name, input: [32, 32, 3], classes, init: Init::HeFanOut, layers })
}
