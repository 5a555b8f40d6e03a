//! VGG-11 (Simonyan & Zisserman, 2015) with a quarter of the filters, EvoNorm and one
//! linear layer: 579,786 parameters.

use super::{conv_with_bias, evonorm};
use crate::{Init, Layer, ModelSpec};

/// VGG-11 for 32x32 colour images.
pub fn vgg11(classes: usize) -> ModelSpec {
    let mut layers = Vec::new();
    for stage in [&[16][..], &[32], &[64, 64], &[128, 128], &[128, 128]] {
        for &channels in stage {
            layers.extend([conv_with_bias(channels, 3, 1), evonorm()]);
        }
        layers.push(Layer::MaxPool { size: 2 });
    }
    layers.extend([Layer::Flatten, Layer::Linear { out: classes }]);
    ModelSpec { name: "vgg11".into(), input: [32, 32, 3], classes, init: Init::HeFanOut, layers }
}
