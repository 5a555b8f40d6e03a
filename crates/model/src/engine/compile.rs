//! From the list of layers to steps over values.

use consort_kernel::conv::{Conv2d, ConvRunner};
use consort_kernel::evonorm::{self, EvoNorm};
use consort_kernel::group_norm::GroupNorm;
use consort_kernel::linear::Linear;
use consort_kernel::pool::Pool;
use consort_kernel::{Path, Shape};

use super::Value;
use super::step::{Kind, Step};
use crate::{EvoNormForm, Extent, Layer, ModelError, ModelSpec, Parameters};

/// The steps of a model and the values between them, the input first and the logits last.
pub(super) fn compile(
    spec: &ModelSpec,
    parameters: &Parameters,
    piece: usize,
    path: Path,
) -> Result<(Vec<Step>, Vec<Value>), ModelError> {
    let mut plan = Plan { parameters, steps: Vec::new(), shapes: Vec::new() };
    let input = plan.value(spec.input_extent());
    plan.row("", &spec.layers, input)?;
    plan.finish(piece, path)
}

/// A step without its kernels: shapes are not final until all borders are known.
struct PlannedStep {
    name: String,
    layer: Layer,
    input: usize,
    output: usize,
}

struct Plan<'a> {
    parameters: &'a Parameters,
    steps: Vec<(PlannedStep, Option<usize>)>,
    shapes: Vec<Shape>,
}

impl Plan<'_> {
    fn value(&mut self, extent: Extent) -> usize {
        self.shapes.push(match extent {
            Extent::Image { height, width, channels } => Shape::plain(height, width, channels),
            Extent::Row { len } => Shape::plain(1, 1, len),
        });
        self.shapes.len() - 1
    }

    /// Plans layers in a row; returns the value that comes out.
    fn row(&mut self, prefix: &str, layers: &[Layer], input: usize) -> Result<usize, ModelError> {
        let mut value = input;
        for (i, layer) in layers.iter().enumerate() {
            let name = format!("{prefix}{i}");
            value = match layer {
                Layer::Block { body, skip } => {
                    let out = self.row(&format!("{name}.body."), body, value)?;
                    match skip {
                        None => out,
                        Some(skip) => {
                            let added = self.row(&format!("{name}.skip."), skip, value)?;
                            let sum = self.same_as(out);
                            self.push(&name, layer, out, sum, Some(added));
                            sum
                        }
                    }
                }
                simple => {
                    let extent = self.extent_after(simple, value)?;
                    let out = self.value(extent);
                    self.push(&name, simple, value, out, None);
                    out
                }
            };
        }
        Ok(value)
    }

    fn same_as(&mut self, value: usize) -> usize {
        self.shapes.push(self.shapes[value]);
        self.shapes.len() - 1
    }

    fn push(
        &mut self,
        name: &str,
        layer: &Layer,
        input: usize,
        output: usize,
        added: Option<usize>,
    ) {
        let (name, layer) = (name.to_string(), layer.clone());
        self.steps.push((PlannedStep { name, layer, input, output }, added));
    }

    fn extent_after(&self, layer: &Layer, value: usize) -> Result<Extent, ModelError> {
        let Shape { height, width, channels, .. } = self.shapes[value];
        let spec = ModelSpec {
            name: String::new(),
            input: [height, width, channels],
            classes: 0,
            layers: match layer {
                // A row is kept as an image of one pixel.
                Layer::Linear { .. } => vec![Layer::Flatten, layer.clone()],
                other => vec![other.clone()],
            },
        };
        spec.visit(&mut |_, _, _, _| {})
    }

    /// Gives every value the widest border that a convolution beside it asks for, then
    /// builds the kernels.
    fn finish(mut self, piece: usize, path: Path) -> Result<(Vec<Step>, Vec<Value>), ModelError> {
        for (step, _) in &self.steps {
            if let Some(conv) = conv_of(&step.layer, self.shapes[step.input].channels) {
                let (input, output) = (step.input, step.output);
                let (x, dy) = (conv.padding, ConvRunner::dy_halo(&conv));
                self.shapes[input].halo = self.shapes[input].halo.max(x);
                self.shapes[output].halo = self.shapes[output].halo.max(dy);
            }
        }
        let value = |shape: &Shape| Value {
            shape: *shape,
            data: vec![0.0; shape.batch_len(piece)],
            gradient: vec![0.0; shape.batch_len(piece)],
            written: false,
        };
        let values = self.shapes.iter().map(value).collect();
        let steps = std::mem::take(&mut self.steps);
        let steps = steps.iter().map(|(step, added)| self.build(step, *added, piece, path));
        Ok((steps.collect::<Result<_, _>>()?, values))
    }

    fn build(
        &self,
        step: &PlannedStep,
        added: Option<usize>,
        piece: usize,
        path: Path,
    ) -> Result<Step, ModelError> {
        let (x, y) = (self.shapes[step.input], self.shapes[step.output]);
        let wrong = |problem: String| ModelError::Layer { layer: step.name.clone(), problem };
        let range = |what: &str| {
            let parameter = self.parameters.get(&format!("{}.{what}", step.name));
            parameter.map_or(0..0, |p| p.offset..p.offset + p.len())
        };
        let kind = match &step.layer {
            Layer::Conv { .. } | Layer::Depthwise { .. } => {
                let conv = conv_of(&step.layer, x.channels)
                    .ok_or_else(|| wrong("is no convolution".into()))?;
                let runner = ConvRunner::new(conv, x, y, y, path);
                let runner = Box::new(runner.map_err(|error| wrong(error.to_string()))?);
                Kind::Conv { runner, weight: range("weight"), bias: range("bias") }
            }
            Layer::Evonorm { groups, form } => {
                let form = match form {
                    EvoNormForm::HardSigmoid => evonorm::EvoNormForm::HardSigmoid,
                    EvoNormForm::S0 => evonorm::EvoNormForm::S0,
                };
                let norm = EvoNorm::new(x.channels, *groups, form);
                let norm = norm.map_err(|error| wrong(error.to_string()))?;
                let stats = vec![0.0; norm.stats_len(piece)];
                let (gamma, beta, v) = (range("gamma"), range("beta"), range("v"));
                Kind::EvoNorm { norm, stats, gamma, beta, v }
            }
            Layer::GroupNorm { groups } => {
                let norm = GroupNorm::new(x.channels, *groups);
                let norm = norm.map_err(|error| wrong(error.to_string()))?;
                let stats = vec![0.0; norm.stats_len(piece)];
                Kind::GroupNorm { norm, stats, gamma: range("weight"), beta: range("bias") }
            }
            Layer::Relu => Kind::Relu,
            Layer::MaxPool { size } => {
                let pool = Pool::square(*size, *size);
                Kind::MaxPool { argmax: vec![0; pool.argmax_len(piece, x)], pool }
            }
            Layer::AveragePool { size } => Kind::AveragePool { pool: Pool::square(*size, *size) },
            Layer::Flatten => Kind::Flatten,
            Layer::Linear { out } => {
                let linear = Linear { inputs: x.channels, outputs: *out };
                Kind::Linear { linear, weight: range("weight"), bias: range("bias") }
            }
            Layer::Block { .. } => Kind::Add { added: added.unwrap_or(step.input) },
        };
        let scratch = vec![0.0; x.batch_len(piece)];
        Ok(Step { input: step.input, output: step.output, kind, scratch })
    }
}

/// The convolution of a layer, if it is one.
fn conv_of(layer: &Layer, in_channels: usize) -> Option<Conv2d> {
    let square = |kernel: usize| (kernel, kernel);
    match *layer {
        Layer::Conv { out, kernel, stride, padding, groups, .. } => Some(Conv2d {
            in_channels,
            out_channels: out,
            kernel: square(kernel),
            stride,
            padding,
            groups,
        }),
        Layer::Depthwise { kernel, stride, padding } => Some(Conv2d {
            in_channels,
            out_channels: in_channels,
            kernel: square(kernel),
            stride,
            padding,
            groups: in_channels,
        }),
        _ => None,
    }
}
