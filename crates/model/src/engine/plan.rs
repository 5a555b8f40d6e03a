//! From the list of layers to steps over values, without kernels yet.

use std::ops::Range;

use consort_kernel::Shape;
use consort_kernel::conv::{Conv2d, ConvRunner};

use super::cut;
use crate::{Extent, Init, Layer, ModelError, ModelSpec};

/// The steps of a model in the order of the forward pass, and the shapes of its values: the
/// input is the first value, the logits are what the last step puts out.
pub(super) struct Plan {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) shapes: Vec<Shape>,
    /// One per value.
    pub(super) held: Vec<Held>,
    pub(super) runs: Vec<Run>,
}

/// For how many images there is room at a time: those of a micro-batch unless a number is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) value: Option<usize>,
    pub(super) gradient: Option<usize>,
}

/// Steps that a few images pass together, then the next few. Runs follow each other and
/// cover all steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) steps: Range<usize>,
    /// The most images at a time.
    pub(super) images: usize,
}

impl Run {
    /// The images of a micro-batch, a few at a time.
    pub(super) fn parts(&self, count: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let images = self.images.min(count);
        (0..count).step_by(images).map(move |from| from..(from + images).min(count))
    }
}

/// Which channels of its layer a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    Whole,
    /// Of so many output channels those from `first` on that its output value has.
    Outputs { first: usize, of: usize },
    /// What the input channels from `first` on, of so many, bring to all outputs.
    Inputs { first: usize, of: usize },
}

/// A layer between two values.
#[derive(Clone, Debug)]
pub(super) struct PlannedStep {
    /// Where the layer stands, as in `2.body.0`.
    pub(super) name: String,
    pub(super) layer: Layer,
    pub(super) input: usize,
    /// Another value than the input, except for a sum in place. Several parts of a layer may
    /// put out one value, each adding to it.
    pub(super) output: usize,
    /// What is added to the input, for the sum that ends a block.
    pub(super) added: Option<usize>,
    pub(super) part: Part,
}

impl PlannedStep {
    /// It adds to what an earlier step has put out.
    pub(super) fn adds(&self) -> bool {
        matches!(self.part, Part::Inputs { first: 1.., .. })
    }

    /// The sum of a block, written over what its body put out.
    pub(super) fn in_place(&self) -> bool {
        self.input == self.output
    }
}

pub(super) fn plan(spec: &ModelSpec) -> Result<Plan, ModelError> {
    let mut plan =
        Plan { steps: Vec::new(), shapes: Vec::new(), held: Vec::new(), runs: Vec::new() };
    let input = plan.value(spec.input_extent());
    plan.row("", &spec.layers, input)?;
    plan.held = vec![Held::default(); plan.shapes.len()];
    cut::cut(&mut plan);
    plan.widen_borders();
    Ok(plan)
}

impl Plan {
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
        for (i, layer) in in_running_order(layers) {
            let name = format!("{prefix}{i}");
            value = match layer {
                Layer::Block { body, skip } => {
                    let out = self.row(&format!("{name}.body."), body, value)?;
                    match skip {
                        None => out,
                        Some(skip) => {
                            let added = self.row(&format!("{name}.skip."), skip, value)?;
                            let sum = if out != value && self.may_be_overwritten(out) {
                                out
                            } else {
                                self.shapes.push(self.shapes[out]);
                                self.shapes.len() - 1
                            };
                            self.push(name, layer, out, sum, Some(added));
                            sum
                        }
                    }
                }
                simple => {
                    let extent = self.extent_after(simple, value)?;
                    let out = self.value(extent);
                    self.push(name, simple, value, out, None);
                    out
                }
            };
        }
        Ok(value)
    }

    /// Of all layers only the rectifier's backward pass looks at what it put out.
    fn may_be_overwritten(&self, value: usize) -> bool {
        let producer = self.steps.iter().find(|step| step.output == value);
        producer.is_some_and(|step| step.layer != Layer::Relu)
    }

    fn push(
        &mut self,
        name: String,
        layer: &Layer,
        input: usize,
        output: usize,
        added: Option<usize>,
    ) {
        self.steps.push(PlannedStep {
            name,
            layer: layer.clone(),
            input,
            output,
            added,
            part: Part::Whole,
        });
    }

    fn extent_after(&self, layer: &Layer, value: usize) -> Result<Extent, ModelError> {
        let Shape { height, width, channels, .. } = self.shapes[value];
        let spec = ModelSpec {
            name: String::new(),
            input: [height, width, channels],
            classes: 0,
            init: Init::default(),
            layers: match layer {
                // A row is kept as an image of one pixel.
                Layer::Linear { .. } => vec![Layer::Flatten, layer.clone()],
                other => vec![other.clone()],
            },
        };
        spec.visit(&mut |_, _, _, _| {})
    }

    /// Gives every value the widest border that a convolution beside it asks for.
    fn widen_borders(&mut self) {
        for step in &self.steps {
            if let Some(conv) = conv_of(&step.layer, self.shapes[step.input].channels) {
                let (x, dy) = (conv.padding, ConvRunner::dy_halo(&conv));
                let shapes = &mut self.shapes;
                shapes[step.input].halo = shapes[step.input].halo.max(x);
                shapes[step.output].halo = shapes[step.output].halo.max(dy);
            }
        }
    }
}

/// The layers, numbered, in the order in which they run: a rectifier after the max-pooling that
/// follows it, which leaves it less to do. The maximum of rectified numbers is the rectified
/// maximum, and the gradient goes to the same place, or is zero.
fn in_running_order(layers: &[Layer]) -> Vec<(usize, &Layer)> {
    let mut order: Vec<(usize, &Layer)> = layers.iter().enumerate().collect();
    for at in 1..order.len() {
        if let (Layer::Relu, Layer::MaxPool { .. }) = (order[at - 1].1, order[at].1) {
            order.swap(at - 1, at);
        }
    }
    order
}

/// The convolution of a layer, if it is one.
pub(super) fn conv_of(layer: &Layer, in_channels: usize) -> Option<Conv2d> {
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
