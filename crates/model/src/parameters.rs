//! The parameters of a model: one flat vector with named views.
//!
//! Names and layouts are those of the same list of layers as a `torch.nn.Sequential`:
//! `0.weight`, `2.body.0.weight`, `2.skip.1.gamma`; convolutions are [out][in][row][column],
//! linear layers [out][in].

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::init::uniform;
use crate::normal::normal;
use crate::{EvoNormForm, Extent, Init, Layer, ModelError, ModelSpec};

/// All parameters of a model, in the order of the flat vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    all: Vec<Parameter>,
    len: usize,
}

/// One named part of the flat vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// PyTorch's name.
    pub name: String,
    /// PyTorch's shape.
    pub shape: Vec<usize>,
    /// Where it begins in the flat vector.
    pub offset: usize,
    /// How it starts.
    pub initial: Initial,
}

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// The same number everywhere.
    Constant(f32),
    /// Normal around 0 with this standard deviation.
    Normal(f64),
    /// Uniform from minus to plus this number.
    Uniform(f64),
}

impl Parameter {
    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True if it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its part of the flat vector.
    pub fn slice<'a>(&self, flat: &'a [f32]) -> &'a [f32] {
        &flat[self.offset..self.offset + self.len()]
    }
}

impl Parameters {
    /// The parameters of a model whose layers fit.
    pub fn new(spec: &ModelSpec) -> Result<Self, ModelError> {
        spec.output()?;
        let mut parameters = Parameters { all: Vec::new(), len: 0 };
        spec.visit(&mut |name, layer, input, _| {
            parameters.add_layer(name, layer, input, spec.init);
        })?;
        Ok(parameters)
    }

    /// The length of the flat vector.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a model that learns nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Parameter> {
        self.all.iter()
    }

    /// The one with this name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.all.iter().find(|parameter| parameter.name == name)
    }

    /// Fresh parameters. Every one has a generator of its own, seeded by the model's seed
    /// and its place, so the numbers are the same on every machine.
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        let mut flat = vec![0.0; self.len];
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        for parameter in &self.all {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seeds.random());
            let values = &mut flat[parameter.offset..][..parameter.len()];
            for value in values {
                *value = match parameter.initial {
                    Initial::Constant(constant) => constant,
                    Initial::Normal(deviation) => (deviation * normal(&mut random)) as f32,
                    Initial::Uniform(most) => ((random.random::<f64>() * 2.0 - 1.0) * most) as f32,
                };
            }
        }
        flat
    }

    fn add_layer(&mut self, name: &str, layer: &Layer, input: Extent, init: Init) {
        let channels = match input {
            Extent::Image { channels, .. } => channels,
            Extent::Row { len } => len,
        };
        let mut add = |what: &str, shape: Vec<usize>, initial: Initial| {
            let len: usize = shape.iter().product();
            let (name, offset) = (format!("{name}.{what}"), self.len);
            self.all.push(Parameter { name, shape, offset, initial });
            self.len += len;
        };
        match *layer {
            Layer::Conv { out, kernel, groups, bias, .. } => {
                let inputs = channels / groups;
                let weight = init.conv_weight(kernel, inputs, out);
                add("weight", vec![out, inputs, kernel, kernel], weight);
                if bias {
                    add("bias", vec![out], init.conv_bias(kernel, inputs));
                }
            }
            Layer::Depthwise { kernel, .. } => {
                let weight = init.conv_weight(kernel, 1, channels);
                add("weight", vec![channels, 1, kernel, kernel], weight);
            }
            Layer::Evonorm { form, .. } => {
                add("gamma", vec![1, channels, 1, 1], Initial::Constant(1.0));
                add("beta", vec![1, channels, 1, 1], Initial::Constant(0.0));
                if form == EvoNormForm::S0 {
                    add("v", vec![1, channels, 1, 1], Initial::Constant(1.0));
                }
            }
            Layer::GroupNorm { .. } => {
                add("weight", vec![channels], Initial::Constant(1.0));
                add("bias", vec![channels], Initial::Constant(0.0));
            }
            Layer::Linear { out } => {
                add("weight", vec![out, channels], uniform(channels));
                add("bias", vec![out], uniform(channels));
            }
            _ => {}
        }
    }
}
