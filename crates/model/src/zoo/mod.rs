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

use std::path::Path;

use crate::{EvoNormForm, Layer, ModelError, ModelSpec, description};

/// A built-in model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZooEntry {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
}

/// The built-in models, with `resnet20` standing for every depth 6k+2 and `mlp` for any widths.
pub const CATALOGUE: [ZooEntry; 8] = [
    ZooEntry { name: "lenet5", what: "LeNet-5 with ReLU and max-pooling" },
    ZooEntry { name: "vgg11", what: "VGG-11 with a quarter of the filters, EvoNorm" },
    ZooEntry { name: "resnet20", what: "ResNet for CIFAR, EvoNorm; any depth 6k+2: resnet8, ..." },
    ZooEntry { name: "mobilenet-v2", what: "MobileNet-V2 for small images, EvoNorm" },
    ZooEntry { name: "mobilenet-v2-224", what: "MobileNet-V2 for images of 224x224, EvoNorm" },
    ZooEntry { name: "mlp", what: "linear layers with ReLU: 64 hidden, or mlp:128x64" },
    ZooEntry { name: "softmax", what: "softmax regression: one linear layer" },
    ZooEntry { name: "digits-cnn", what: "a small convolutional network, EvoNorm" },
];

/// The names of the built-in models.
pub const NAMES: [&str; CATALOGUE.len()] = {
    let mut names = [""; CATALOGUE.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = CATALOGUE[i].name;
        i += 1;
    }
    names
};

/// A built-in model by its name, for this many classes.
pub fn by_name(name: &str, classes: usize) -> Result<ModelSpec, ModelError> {
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
            resnet(depth.ok_or_else(|| unknown(name))?, classes)?
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
            let widths: Option<Vec<usize>> = widths.collect();
            mlp(input, &widths.ok_or_else(|| unknown(name))?, classes)
        }
        None => ModelSpec { input, ..by_name(name, classes)? },
    };
    spec.output()?;
    Ok(spec)
}

/// A built-in model for this many classes, or one from a TOML file, which has its own number.
///
/// # Errors
/// If there is no such model, or the file cannot be used.
pub fn by_name_or_file(name: &str, classes: usize) -> Result<ModelSpec, ModelError> {
    if is_file(name) { ModelSpec::read(Path::new(name)) } else { by_name(name, classes) }
}

/// Whether a model is a file and not a name: it ends in `.toml`, or names a folder.
pub fn is_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

fn unknown(name: &str) -> ModelError {
    let suggestion = description::nearest(name, &NAMES).map(str::to_string);
    ModelError::Unknown { got: name.into(), suggestion, known: NAMES.join(", ") }
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
