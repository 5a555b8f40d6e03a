//! The built-in models: the paper's four and small ones for small data.

mod lenet5;
mod mobilenet_v2;
mod resnet;
mod small;
mod vgg11;

pub use lenet5::lenet5;
pub use mobilenet_v2::{mobilenet_v2, mobilenet_v2_224};
pub use resnet::resnet;
pub use small::{digits_cnn, mlp, softmax_regression};
pub use vgg11::vgg11;

use crate::{EvoNormForm, Layer, ModelError, ModelSpec};

/// The built-in names, with `resnet20` standing for every depth 6k+2.
pub const NAMES: [&str; 8] = [
    "lenet5",
    "vgg11",
    "resnet20",
    "mobilenet-v2",
    "mobilenet-v2-224",
    "mlp",
    "softmax",
    "digits-cnn",
];

/// A built-in model by its name, for this many classes.
pub fn by_name(name: &str, classes: usize) -> Result<ModelSpec, ModelError> {
    let unknown = || ModelError::Unknown { got: name.into(), known: NAMES.join(", ") };
    let mut spec = match name {
        "lenet5" => lenet5(),
        "vgg11" => vgg11(classes),
        "mobilenet-v2" => mobilenet_v2(classes),
        "mobilenet-v2-224" => mobilenet_v2_224(classes),
        "mlp" => mlp([8, 8, 1], &[64], classes),
        "softmax" => softmax_regression([8, 8, 1], classes),
        "digits-cnn" => digits_cnn(classes),
        _ => {
            let depth = name.strip_prefix("resnet").and_then(|depth| depth.parse().ok());
            resnet(depth.ok_or_else(unknown)?, classes)?
        }
    };
    if let Some(Layer::Linear { out }) = spec.layers.last_mut() {
        *out = classes;
    }
    spec.classes = classes;
    Ok(spec)
}

/// A built-in model for images of another shape than its usual one. `mlp:128x64` is one with
/// hidden layers of 128 and 64.
///
/// ```
/// let spec = consort_model::zoo::for_input("mlp:128x64", [28, 28, 1], 10)?;
/// assert_eq!(consort_model::Parameters::new(&spec)?.len(), 784 * 128 + 128 + 129 * 64 + 65 * 10);
/// assert!(consort_model::zoo::for_input("lenet5", [8, 8, 1], 10).is_err()); // too small
/// # Ok::<(), consort_model::ModelError>(())
/// ```
pub fn for_input(name: &str, input: [usize; 3], classes: usize) -> Result<ModelSpec, ModelError> {
    let spec = match name.strip_prefix("mlp:") {
        Some(hidden) => {
            let widths = hidden.split('x').map(|width| width.parse().ok().filter(|&w| w > 0));
            let unknown = || ModelError::Unknown { got: name.into(), known: NAMES.join(", ") };
            let widths: Option<Vec<usize>> = widths.collect();
            mlp(input, &widths.ok_or_else(unknown)?, classes)
        }
        None => ModelSpec { input, ..by_name(name, classes)? },
    };
    spec.output()?;
    Ok(spec)
}

fn conv(out: usize, kernel: usize, stride: usize) -> Layer {
    Layer::Conv { out, kernel, stride, padding: kernel / 2, groups: 1, bias: false }
}

fn conv_with_bias(out: usize, kernel: usize, padding: usize) -> Layer {
    Layer::Conv { out, kernel, stride: 1, padding, groups: 1, bias: true }
}

fn evonorm() -> Layer {
    Layer::Evonorm { groups: 8, form: EvoNormForm::HardSigmoid }
}
