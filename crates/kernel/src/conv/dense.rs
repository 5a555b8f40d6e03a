//! Convolution of coupled channels, in one group or several, by register tiles.
//!
//! In one group, a row of the window is one contiguous run of `columns * channels` inputs. In
//! several, every tap is a run of its own, of the group's channels. The input gradient is the
//! same sum over `dy`, with the taps reversed and the channels exchanged, once per residue of
//! the stride.

use super::Conv2d;
use super::correlate::Correlation;
use super::few::Few;
use super::outer::OuterSum;
use super::packing::Packing;
use super::plane::Plane;
use super::residue::residues;
use super::runner::Start;
use super::scatter::Scatter;
use super::scratch::Scratch;
use super::window::{Steps, Window};
use crate::Shape;
use crate::dispatch::Instructions;

/// A convolution by register tiles; `[group]`, and `[group * residue]` for the input gradient.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    outputs: usize,
    forward: Vec<Correlation>,
    backward: Vec<Correlation>,
    weights: Vec<OuterSum>,
    /// In place of `forward` and `weights`, for one input channel.
    plane: Option<Plane>,
    /// In place of `forward` and `weights`, for few input channels and many outputs.
    few: Option<Few>,
    /// In place of `backward`, for few input channels.
    scatter: Option<Scatter>,
}

/// Where the weights of the outputs begin in the caller's array.
#[derive(Clone, Copy)]
struct Rows {
    first: usize,
    step: usize,
}

impl Dense {
    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let row = conv.weights_len() / conv.out_channels;
        let mut dense = Self::with_rows(conv, x, y, dy, Rows { first: 0, step: row });
        if Plane::fits(conv, y) {
            dense.plane = Some(Plane::new(conv, x, y, dy));
            dense.weights.clear();
        }
        if Few::fits(conv) && dense.plane.is_none() {
            let (_, _, packing) = forward_taps(conv, x, 0, Rows { first: 0, step: row });
            dense.few = Some(Few::new(conv, x, y, dy, packing));
            dense.forward.clear();
            dense.weights.clear();
        }
        if Scatter::fits(conv) {
            dense.backward.clear();
            dense.scatter = Some(Scatter::new(conv, x, dy));
        }
        dense
    }

    /// A 1x1 convolution of some of `inputs` channels, from `first` on.
    pub(super) fn for_inputs(
        conv: &Conv2d,
        x: Shape,
        y: Shape,
        dy: Shape,
        first: usize,
        inputs: usize,
    ) -> Self {
        Self::with_rows(conv, x, y, dy, Rows { first, step: inputs })
    }

    /// By register tiles alone.
    fn with_rows(conv: &Conv2d, x: Shape, y: Shape, dy: Shape, rows: Rows) -> Self {
        let mut dense = Dense {
            outputs: conv.group_outputs(),
            forward: vec![],
            backward: vec![],
            weights: vec![],
            plane: None,
            few: None,
            scatter: None,
        };
        for group in 0..conv.groups {
            let (taps, run, packing) = forward_taps(conv, x, group, rows);
            let onto = |target: Shape| {
                let corner = (-(conv.padding as isize), -(conv.padding as isize));
                Window {
                    height: y.height,
                    width: y.width,
                    source: Steps::new(x, corner, group * conv.group_inputs(), conv.stride),
                    target: Steps::new(target, (0, 0), group * conv.group_outputs(), 1),
                }
            };
            let forward = Correlation::new(onto(y), taps.clone(), run, packing.clone());
            dense.forward.push(forward);
            dense.weights.push(OuterSum::new(onto(dy), taps, run, packing));
            dense.backward.extend(backward(conv, x, dy, group, rows));
        }
        dense
    }

    pub(super) fn set_weights(&mut self, on: Instructions, weights: &[f32]) {
        for part in self.forward.iter_mut().chain(&mut self.backward) {
            part.set_weights(on, weights);
        }
        if let Some(plane) = &mut self.plane {
            plane.set_weights(weights);
        }
        if let Some(few) = &mut self.few {
            few.set_weights(weights);
        }
        if let Some(scatter) = &mut self.scatter {
            scatter.set_weights(weights);
        }
    }

    pub(super) fn forward(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        start: Start<'_>,
        y: &mut [f32],
        scratch: &mut Scratch,
    ) {
        // Tiles of a plane overlap, so they cannot add.
        if let (Some(plane), Start::Bias(bias)) = (&mut self.plane, start) {
            return plane.forward(on, images, x, bias, y);
        }
        if let Some(few) = &mut self.few {
            few.forward(on, images, x, start, y);
        }
        let outputs = self.outputs;
        for (group, of) in self.forward.iter_mut().enumerate() {
            let accumulate = match start {
                Start::Bias(bias) => {
                    of.set_start(bias.map(|b| &b[group * outputs..][..outputs]));
                    false
                }
                Start::Output => true,
            };
            of.apply(on, images, x, y, accumulate, &mut scratch.ahead);
        }
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
        scratch: &mut Scratch,
    ) {
        if let Some(scatter) = &mut self.scatter {
            scatter.input_grad(on, images, dy, dx, accumulate);
        }
        for of in &self.backward {
            if !(accumulate && of.is_empty()) {
                of.apply(on, images, dy, dx, accumulate, &mut scratch.ahead);
            }
        }
    }

    pub(super) fn weight_grad(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
        scratch: &mut Scratch,
    ) {
        if let Some(plane) = &mut self.plane {
            plane.weight_grad(on, images, x, dy);
        }
        if let Some(few) = &mut self.few {
            few.weight_grad(on, images, x, dy);
        }
        for into in &mut self.weights {
            into.add(on, images, x, dy, &mut scratch.ahead);
        }
    }

    pub(super) fn take_weight_grad(&mut self, on: Instructions, dw: &mut [f32]) {
        if let Some(plane) = &mut self.plane {
            plane.take(dw);
        }
        if let Some(few) = &mut self.few {
            few.take(dw);
        }
        self.weights.iter_mut().for_each(|sum| sum.take(on, dw));
    }

    pub(super) fn floats(&self) -> usize {
        let weights: usize = self.weights.iter().map(OuterSum::floats).sum();
        let plane = self.plane.as_ref().map_or(0, Plane::floats);
        let few = self.few.as_ref().map_or(0, Few::floats);
        let scatter = self.scatter.as_ref().map_or(0, Scatter::floats);
        weights
            + plane
            + few
            + scatter
            + self.forward.iter().chain(&self.backward).map(Correlation::floats).sum::<usize>()
    }
}

/// The runs of inputs of an output pixel, and which weights they meet.
fn forward_taps(conv: &Conv2d, x: Shape, group: usize, of: Rows) -> (Vec<usize>, usize, Packing) {
    let (rows, columns) = conv.kernel;
    let inputs = conv.group_inputs();
    let area = rows * columns;
    let first = of.first + group * conv.group_outputs() * of.step;
    let (mut taps, mut weights) = (vec![], vec![]);
    for row in 0..rows {
        for column in 0..columns {
            if column == 0 || conv.groups > 1 {
                taps.push(row * x.row_stride() + column * x.channels);
            }
            weights.extend((0..inputs).map(|i| first + i * area + row * columns + column));
        }
    }
    let run = weights.len() / taps.len();
    let packing = Packing { inputs: weights, output_step: of.step, outputs: conv.group_outputs() };
    (taps, run, packing)
}

/// The input gradient of a group: one sum per residue of rows and columns.
fn backward(conv: &Conv2d, x: Shape, dy: Shape, group: usize, of: Rows) -> Vec<Correlation> {
    let (rows, columns) = conv.kernel;
    let (inputs, outputs) = (conv.group_inputs(), conv.group_outputs());
    let area = rows * columns;
    let first = of.first + group * outputs * of.step;
    let mut parts = vec![];
    for high in residues(x.height, rows, conv.stride, conv.padding) {
        for wide in residues(x.width, columns, conv.stride, conv.padding) {
            let (mut taps, mut weights) = (vec![], vec![]);
            for (r, row) in high.taps.iter().enumerate() {
                for (c, column) in wide.taps.iter().enumerate() {
                    if c == 0 || conv.groups > 1 {
                        taps.push(r * dy.row_stride() + c * dy.channels);
                    }
                    let tap = row * columns + column;
                    weights.extend((0..outputs).map(|o| first + o * of.step + tap));
                }
            }
            let run = weights.len() / taps.len().max(1);
            // Without a tap nothing is read, and the place may lie anywhere.
            let corner = if run == 0 { (0, 0) } else { (high.output, wide.output) };
            let inside = (high.first as isize, wide.first as isize);
            let window = Window {
                height: high.count,
                width: wide.count,
                source: Steps::new(dy, corner, group * outputs, 1),
                target: Steps::new(x, inside, group * inputs, conv.stride),
            };
            let packing = Packing { inputs: weights, output_step: area, outputs: inputs };
            parts.push(Correlation::new(window, taps, run, packing));
        }
    }
    parts
}
