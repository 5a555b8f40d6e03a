//! 3x3 windows of stride and padding 1 on images of at most 2 x 2 pixels.
//!
//! ```text
//! y[n, p, o] = b[o] + sum_{q, i} x[n, q, i] * w[o, i, q - p]       p, q pixels of the image
//! ```
//!
//! No more than four of an output's nine taps fall on such an image. So pairs of an input and
//! an output pixel are multiplied, each for all images together: with 16 pairs as few
//! multiplications as Winograd's F(2x2, 3x3), and nothing to transform.

mod products;
mod rows;

use self::products::{Products, Sums};
use self::rows::Rows;
use super::Conv2d;
use super::packing::WIDE;
use super::runner::Start;
use super::scratch::Scratch;
use super::squares::ROW;
use super::squares::all::{ReadSquares, Squares, Toward, WriteSquares};
use crate::Shape;
use crate::dispatch::Instructions;

/// Images that are multiplied together.
const GROUP: usize = 48;

/// An output pixel and one of the input pixels that it sees.
#[derive(Clone, Copy, Debug)]
struct Pair {
    tap: usize,
    input: usize,
    output: usize,
}

/// A convolution by the taps that fall on the image.
#[derive(Clone, Debug)]
pub(super) struct Tiny {
    x: Shape,
    y: Shape,
    dy: Shape,
    /// By output, then by tap.
    pairs: Vec<Pair>,
    weights: Squares,
    /// Gradients of `weights`.
    sums: Squares,
    /// Nothing has been summed yet; what the sums hold is old.
    empty: bool,
    start: Vec<f32>,
}

impl Tiny {
    pub(super) fn fits(conv: &Conv2d, x: Shape) -> bool {
        let one = conv.kernel == (3, 3) && (conv.stride, conv.padding, conv.groups) == (1, 1, 1);
        let whole = |channels: usize| channels.is_multiple_of(WIDE);
        let small = x.height <= 2 && x.width <= 2;
        one && small && whole(conv.in_channels) && whole(conv.out_channels)
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let weights = Squares::new(conv.in_channels, conv.out_channels);
        Tiny {
            pairs: pairs(x.height, x.width),
            sums: weights.clone(),
            weights,
            empty: true,
            start: vec![0.0; conv.out_channels.max(conv.in_channels)],
            x,
            y,
            dy,
        }
    }

    /// Floats that the passes need while they run.
    pub(super) fn scratch_len(&self) -> usize {
        let turned = ROW * self.dy.channels;
        Rows::len(self.dy, GROUP) + Rows::len(self.x, GROUP).max(turned)
    }

    pub(super) fn set_weights(&mut self, on: Instructions, weights: &[f32]) {
        on.run(ReadSquares { weights, squares: &mut self.weights });
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
        self.start.fill(0.0);
        if let Start::Bias(Some(bias)) = start {
            self.start[..bias.len()].copy_from_slice(bias);
        }
        let add = matches!(start, Start::Output);
        let toward = Toward::Outputs;
        self.apply(on, images, (self.x, x), toward, (self.y, y), add, &mut scratch.floats);
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
        self.start.fill(0.0);
        let toward = Toward::Inputs;
        self.apply(
            on,
            images,
            (self.dy, dy),
            toward,
            (self.x, dx),
            accumulate,
            &mut scratch.floats,
        );
    }

    fn apply(
        &self,
        on: Instructions,
        images: usize,
        (from, source): (Shape, &[f32]),
        toward: Toward,
        (to, target): (Shape, &mut [f32]),
        accumulate: bool,
        scratch: &mut [f32],
    ) {
        let (rows, room) = scratch.split_at_mut(Rows::len(from, GROUP));
        for first in (0..images).step_by(GROUP) {
            let count = GROUP.min(images - first);
            let source = Rows::gather(from, first, count, source, rows);
            on.run(Products {
                pairs: &self.pairs,
                weights: &self.weights,
                toward,
                room,
                count,
                source,
                start: &self.start,
                accumulate,
                shape: to,
                target: &mut target[to.batch_len(first)..],
            });
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
        let (of_x, of_dy) = scratch.floats.split_at_mut(Rows::len(self.x, GROUP));
        for first in (0..images).step_by(GROUP) {
            let count = GROUP.min(images - first);
            let x = Rows::gather(self.x, first, count, x, of_x);
            let dy = Rows::gather(self.dy, first, count, dy, of_dy);
            let begin = std::mem::replace(&mut self.empty, false);
            on.run(Sums { pairs: &self.pairs, begin, count, x, dy, sums: &mut self.sums });
        }
    }

    pub(super) fn take_weight_grad(&mut self, on: Instructions, dw: &mut [f32]) {
        if std::mem::replace(&mut self.empty, true) {
            return dw.fill(0.0);
        }
        on.run(WriteSquares { squares: &self.sums, weights: dw });
    }

    pub(super) fn floats(&self) -> usize {
        self.weights.len() + self.sums.len() + self.start.len()
    }
}

fn pairs(height: usize, width: usize) -> Vec<Pair> {
    let pixels = || (0..height * width).map(|at| (at / width, at % width));
    let mut pairs = vec![];
    for (output, (row, column)) in pixels().enumerate() {
        for (input, (from_row, from_column)) in pixels().enumerate() {
            let tap = 3 * (from_row + 1 - row) + (from_column + 1 - column);
            pairs.push(Pair { tap, input, output });
        }
    }
    pairs
}
