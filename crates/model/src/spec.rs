//! A model as a list of layers, and the sizes that follow from it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Init, Layer, ModelError, description};

/// A model, built in or written in TOML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// What it is called.
    pub name: String,
    /// The input image: height, width, channels.
    pub input: [usize; 3],
    /// How many classes it tells apart; 1 for a model that predicts a number.
    pub classes: usize,
    /// How its convolutions start: `torch` or `he-fan-out`.
    #[serde(default)]
    pub init: Init,
    /// Its layers, first to last.
    pub layers: Vec<Layer>,
}

/// What flows from one layer to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// An image.
    Image {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// Numbers per pixel.
        channels: usize,
    },
    /// A row of numbers.
    Row {
        /// How many.
        len: usize,
    },
}

impl Extent {
    /// How many numbers a sample has here.
    pub fn len(&self) -> usize {
        match *self {
            Extent::Image { height, width, channels } => height * width * channels,
            Extent::Row { len } => len,
        }
    }

    /// True if nothing flows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Image { height, width, channels } => {
                write!(f, "an image of {height}x{width} with {channels} channels")
            }
            Extent::Row { len } => write!(f, "a row of {len} numbers"),
        }
    }
}

impl ModelSpec {
    /// Reads a model from TOML and checks that its layers fit.
    ///
    /// # Errors
    /// Names every key that is missing, unknown or wrong, with the number and kind of its layer.
    pub fn from_toml(text: &str) -> Result<Self, ModelError> {
        description::read(text)
    }

    /// Reads a model from a file in TOML.
    ///
    /// # Errors
    /// If there is no such file, with the names of those that are there; else as
    /// [`from_toml`](Self::from_toml).
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::from_toml(&text),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(ModelError::NoFile { path: path.into(), nearby: toml_files_beside(path) })
            }
            Err(source) => Err(ModelError::File { path: path.into(), source }),
        }
    }

    /// The model as TOML, which [`from_toml`](Self::from_toml) reads.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn to_toml(&self) -> Result<String, ModelError> {
        Ok(toml::to_string(self)?)
    }

    /// The input as it flows into the first layer.
    pub fn input_extent(&self) -> Extent {
        let [height, width, channels] = self.input;
        Extent::Image { height, width, channels }
    }

    /// What comes out: one number per class, or an error that names the layer.
    pub fn output(&self) -> Result<Extent, ModelError> {
        let out = self.visit(&mut |_, _, _, _| {})?;
        if out == (Extent::Row { len: self.classes }) {
            return Ok(out);
        }
        let (model, classes) = (self.name.clone(), self.classes);
        Err(ModelError::Classes { model, classes, got: out.to_string() })
    }

    /// True if a layer normalises: the scale of what comes before it does not matter then.
    pub fn normalises(&self) -> bool {
        let mut found = false;
        // Layers that do not fit are found by `output`.
        let _ = self.visit(&mut |_, layer, _, _| {
            found |= matches!(layer, Layer::Evonorm { .. } | Layer::GroupNorm { .. });
        });
        found
    }

    /// Goes through all layers in the order of computation and tells each one's name, what
    /// comes in and what goes out. Blocks are told after their contents.
    pub fn visit(
        &self,
        tell: &mut dyn FnMut(&str, &Layer, Extent, Extent),
    ) -> Result<Extent, ModelError> {
        visit_row("", &self.layers, self.input_extent(), tell)
    }
}

/// The names of a few files in TOML in the folder of `path`.
fn toml_files_beside(path: &Path) -> Vec<String> {
    const MOST: usize = 8;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    names.truncate(MOST);
    names
}

fn visit_row(
    prefix: &str,
    layers: &[Layer],
    input: Extent,
    tell: &mut dyn FnMut(&str, &Layer, Extent, Extent),
) -> Result<Extent, ModelError> {
    let mut extent = input;
    for (i, layer) in layers.iter().enumerate() {
        let name = format!("{prefix}{i}");
        let out = match layer {
            Layer::Block { body, skip } => {
                let out = visit_row(&format!("{name}.body."), body, extent, tell)?;
                if let Some(skip) = skip {
                    let added = visit_row(&format!("{name}.skip."), skip, extent, tell)?;
                    if added != out {
                        let problem = format!("the skip gives {added}, the body {out}");
                        return Err(ModelError::Layer { layer: name, problem });
                    }
                }
                out
            }
            simple => out_of(simple, extent)
                .map_err(|problem| ModelError::Layer { layer: name.clone(), problem })?,
        };
        tell(&name, layer, extent, out);
        extent = out;
    }
    Ok(extent)
}

impl Layer {
    /// What the layer makes of what comes in.
    ///
    /// # Errors
    /// Says why it cannot.
    pub fn output(&self, input: Extent) -> Result<Extent, String> {
        match self {
            Layer::Block { body, .. } => {
                body.iter().try_fold(input, |extent, layer| layer.output(extent))
            }
            simple => out_of(simple, input),
        }
    }
}

fn out_of(layer: &Layer, input: Extent) -> Result<Extent, String> {
    match (layer, input) {
        (Layer::Linear { out }, Extent::Row { .. }) if *out > 0 => Ok(Extent::Row { len: *out }),
        (Layer::Linear { .. }, Extent::Image { .. }) => Err(format!(
            "a linear layer takes a row of numbers, got {input}; put flatten before it"
        )),
        (Layer::Relu, any) => Ok(any),
        (Layer::Flatten, any) => Ok(Extent::Row { len: any.len() }),
        (_, Extent::Row { .. }) => Err(format!("takes an image, got {input}")),
        (_, Extent::Image { height, width, channels }) => image_out(layer, height, width, channels),
    }
}

fn image_out(
    layer: &Layer,
    height: usize,
    width: usize,
    channels: usize,
) -> Result<Extent, String> {
    let slide = |kernel: usize, stride: usize, padding: usize, channels: usize| {
        if kernel == 0 || stride == 0 {
            return Err("kernel and stride have to be above 0".to_string());
        }
        let side = |size: usize| (size + 2 * padding).checked_sub(kernel).map(|n| n / stride + 1);
        match (side(height), side(width)) {
            (Some(height), Some(width)) => Ok(Extent::Image { height, width, channels }),
            _ => Err(format!(
                "a window of {kernel}x{kernel} does not fit {height}x{width} with padding {padding}"
            )),
        }
    };
    let divides = |groups: usize, what: &str, channels: usize| {
        if groups > 0 && channels.is_multiple_of(groups) {
            return Ok(());
        }
        Err(format!("{groups} groups do not divide {channels} {what} channels"))
    };
    match *layer {
        Layer::Conv { out, kernel, stride, padding, groups, .. } => {
            divides(groups, "input", channels)?;
            divides(groups, "output", out)?;
            if out == 0 {
                return Err("a convolution needs at least 1 output channel".into());
            }
            slide(kernel, stride, padding, out)
        }
        Layer::Depthwise { kernel, stride, padding } => slide(kernel, stride, padding, channels),
        Layer::Evonorm { groups, .. } | Layer::GroupNorm { groups } => {
            divides(groups, "input", channels)?;
            Ok(Extent::Image { height, width, channels })
        }
        Layer::MaxPool { size } | Layer::AveragePool { size } => slide(size, size, 0, channels),
        _ => Err("does not take an image".into()),
    }
}
