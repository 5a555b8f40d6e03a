//! Convolution of each channel alone, in vectors of channels.
//!
//! ```text
//! target[p, c] = start[c] + sum_t source[p + t, c] * weights[t, c]     ([`scale`])
//! dw[t, c]    += sum_p source[p + t, c] * dy[p, c]                     ([`correlate`])
//! ```
//!
//! Both walk over the pixels in the same way ([`grid`]); the input gradient is the first sum
//! over `dy`, once per residue of the stride.

use super::Conv2d;
use super::residue::residues;
use super::runner::Start;
use super::scratch::Scratch;
use super::window::{Steps, Window};
use crate::Shape;
use crate::dispatch::Instructions;
use correlate::Correlate;
use grid::Grid;
use scale::Scale;
use taps::Taps;

mod correlate;
mod grid;
mod scale;
mod taps;

/// A depthwise convolution; the input gradient has one part per residue of the stride.
#[derive(Clone, Debug)]
pub(super) struct Depthwise {
    forward: Taps,
    backward: Vec<Taps>,
    gradient: Taps,
}

impl Depthwise {
    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let corner = (-(conv.padding as isize), -(conv.padding as isize));
        let onto = |target: Shape| Window {
            height: y.height,
            width: y.width,
            source: Steps::new(x, corner, 0, conv.stride),
            target: Steps::new(target, (0, 0), 0, 1),
        };
        let rows: Vec<usize> = (0..conv.kernel.0).collect();
        let columns: Vec<usize> = (0..conv.kernel.1).collect();
        let all = |target| {
            let grid = Grid::new(onto(target), x, conv.kernel, conv.stride);
            Taps::new(conv, grid, &rows, &columns)
        };
        let mut backward = vec![];
        for high in residues(x.height, conv.kernel.0, conv.stride, conv.padding) {
            for wide in residues(x.width, conv.kernel.1, conv.stride, conv.padding) {
                let empty = high.taps.is_empty() || wide.taps.is_empty();
                let corner = if empty { (0, 0) } else { (high.output, wide.output) };
                let inside = (high.first as isize, wide.first as isize);
                let window = Window {
                    height: high.count,
                    width: wide.count,
                    source: Steps::new(dy, corner, 0, 1),
                    target: Steps::new(x, inside, 0, conv.stride),
                };
                let grid = Grid::new(window, dy, (high.taps.len(), wide.taps.len()), 1);
                backward.push(Taps::new(conv, grid, &high.taps, &wide.taps));
            }
        }
        Depthwise { forward: all(y), backward, gradient: all(dy) }
    }

    pub(super) fn set_weights(&mut self, _: Instructions, weights: &[f32]) {
        self.forward.pack(weights);
        for part in &mut self.backward {
            part.pack(weights);
        }
    }

    pub(super) fn forward(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        start: Start<'_>,
        y: &mut [f32],
        _: &mut Scratch,
    ) {
        let accumulate = match start {
            Start::Bias(bias) => {
                self.forward.set_start(bias);
                false
            }
            Start::Output => true,
        };
        let parts = std::slice::from_ref(&self.forward);
        on.run(Scale { parts, images, source: x, target: y, accumulate });
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
        _: &mut Scratch,
    ) {
        on.run(Scale { parts: &self.backward, images, source: dy, target: dx, accumulate });
    }

    pub(super) fn weight_grad(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
        _: &mut Scratch,
    ) {
        on.run(Correlate { into: &mut self.gradient, images, source: x, dy });
    }

    pub(super) fn take_weight_grad(&mut self, _: Instructions, dw: &mut [f32]) {
        self.gradient.unpack(dw);
        self.gradient.weights.fill(0.0);
    }

    pub(super) fn floats(&self) -> usize {
        let all = [&self.forward, &self.gradient].into_iter().chain(&self.backward);
        all.map(|taps| taps.weights.len() + taps.start.len()).sum()
    }
}
