//! Winograd's method for 3x3 windows of stride and padding 1.
//!
//! ```text
//! y  = A^T [ (G w G^T) . (B^T x B) ] A          per tile of M x M outputs, T = M + 2
//! dw = G^T [ sum over tiles of (B^T x B) . (A dy A^T) ] G
//! ```
//!
//! The products of all channels are `T * T` matrix products over tiles. Tiles are taken in
//! groups whose planes stay in cache. While the products of a group compute, and leave the way to
//! memory free, they fetch what the group writes and what the next one reads.

mod planes;
mod products;
mod sums;
mod transform;
mod weights;

use std::marker::PhantomData;

use self::planes::{FromPlanes, GROUP, Tiles, ToPlanes, planes_len};
use self::products::{Factors, Matrices, Products, room_len};
use self::sums::Sums;
use self::transform::{Inputs, OutputGrads, Outputs, Paired, TapGrads, Taps, Transform};
use self::weights::{PlanesToWeights, WeightsToPlanes};
use super::Conv2d;
use super::packing::WIDE;
use super::runner::Start;
use super::scratch::{Ahead, Scratch};
use super::squares::all::{ReadSquares, Squares, Toward};
use super::window::{Steps, Window};
use crate::Shape;
use crate::dispatch::Instructions;

/// A convolution by Winograd's method with tiles of 2 x 2 or 4 x 4 outputs.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    outputs: usize,
    weights: Weights,
    forward: Pass,
    backward: Pass,
    gradient: Gradient,
    /// Floats of the transformed tiles of a group.
    planes: usize,
    /// Floats of the factors, or sums, of a block.
    room: usize,
}

/// What the factors `G w G^T` are taken from.
#[derive(Clone, Debug)]
enum Weights {
    /// All of them, for each of the two passes.
    Planes { forward: Matrices, backward: Matrices },
    /// Windows, of which each group of tiles makes those that it needs. They are four times
    /// smaller; so where an image is a single tile, and a group therefore many images, this is
    /// faster than to write all factors to memory and to read them again.
    Windows(Squares),
}

impl Winograd {
    /// Whole tiles and whole blocks of channels; any other layer is left to the direct method.
    pub(super) fn fits(conv: &Conv2d, x: Shape, outputs: usize) -> bool {
        let one = conv.kernel == (3, 3) && (conv.stride, conv.padding, conv.groups) == (1, 1, 1);
        let tiles = x.height.is_multiple_of(outputs) && x.width.is_multiple_of(outputs);
        let whole = |channels: usize| channels.is_multiple_of(WIDE);
        one && tiles && whole(conv.in_channels) && whole(conv.out_channels)
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape, outputs: usize) -> Self {
        let planes = (outputs + 2) * (outputs + 2);
        let (inputs, to) = (conv.in_channels, conv.out_channels);
        let single = (x.height, x.width) == (outputs, outputs);
        Winograd {
            outputs,
            weights: match single {
                true => Weights::Windows(Squares::new(inputs, to)),
                false => Weights::Planes {
                    forward: Matrices::new(planes, inputs, to),
                    backward: Matrices::new(planes, to, inputs),
                },
            },
            forward: Pass::new(x, y, outputs),
            backward: Pass::new(dy, x, outputs),
            gradient: Gradient::new(x, dy, outputs),
            planes: planes_len(planes, inputs.max(to)),
            room: room_len(planes, inputs.max(to)),
        }
    }

    /// Floats that the passes need while they run.
    pub(super) fn scratch_len(&self) -> usize {
        2 * self.planes + self.room
    }

    pub(super) fn set_weights(&mut self, on: Instructions, weights: &[f32]) {
        match (&mut self.weights, self.outputs) {
            (Weights::Windows(squares), _) => on.run(ReadSquares { weights, squares }),
            (Weights::Planes { forward, backward }, 2) => {
                on.run(WeightsToPlanes::<4> { weights, forward, backward });
            }
            (Weights::Planes { forward, backward }, _) => {
                on.run(WeightsToPlanes::<6> { weights, forward, backward });
            }
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
        let Scratch { floats, ahead } = scratch;
        let room = rooms(floats, self.planes);
        match start {
            Start::Bias(Some(bias)) => self.forward.start.copy_from_slice(bias),
            Start::Bias(None) => self.forward.start.fill(0.0),
            Start::Output => {}
        }
        let add = matches!(start, Start::Output);
        let factors = self.weights.factors(Toward::Outputs);
        match self.outputs {
            2 => self.forward.run::<2, 4>(on, images, factors, x, y, add, room, ahead),
            _ => self.forward.run::<4, 6>(on, images, factors, x, y, add, room, ahead),
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
        let Scratch { floats, ahead } = scratch;
        let room = rooms(floats, self.planes);
        let factors = self.weights.factors(Toward::Inputs);
        match self.outputs {
            2 => self.backward.run::<2, 4>(on, images, factors, dy, dx, accumulate, room, ahead),
            _ => self.backward.run::<4, 6>(on, images, factors, dy, dx, accumulate, room, ahead),
        }
    }

    /// With the last images the gradient is written, as `take_weight_grad` does.
    pub(super) fn weight_grad(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
        last: Option<&mut [f32]>,
        scratch: &mut Scratch,
    ) {
        let Scratch { floats, ahead } = scratch;
        let room = rooms(floats, self.planes);
        match self.outputs {
            2 => self.gradient.run::<2, 4>(on, images, x, dy, last, room, ahead),
            _ => self.gradient.run::<4, 6>(on, images, x, dy, last, room, ahead),
        }
    }

    pub(super) fn take_weight_grad(&mut self, on: Instructions, dw: &mut [f32]) {
        let Gradient { sums: from, empty, .. } = &mut self.gradient;
        if std::mem::replace(empty, true) {
            return dw.fill(0.0);
        }
        match self.outputs {
            2 => on.run(PlanesToWeights::<4> { from, dw }),
            _ => on.run(PlanesToWeights::<6> { from, dw }),
        }
    }

    pub(super) fn floats(&self) -> usize {
        let weights = match &self.weights {
            Weights::Planes { forward, backward } => forward.values.len() + backward.values.len(),
            Weights::Windows(squares) => squares.len(),
        };
        let starts = self.forward.start.len() + self.backward.start.len();
        weights + starts + self.gradient.sums.values.len()
    }
}

impl Weights {
    fn factors(&self, toward: Toward) -> Factors<'_> {
        match (self, toward) {
            (Weights::Planes { forward, .. }, Toward::Outputs) => Factors::Planes(forward),
            (Weights::Planes { backward, .. }, Toward::Inputs) => Factors::Planes(backward),
            (Weights::Windows(squares), _) => Factors::Windows(squares, toward),
        }
    }
}

/// Room for the planes of values, for those of products or gradients, and for a block's.
fn rooms(floats: &mut [f32], planes: usize) -> [&mut [f32]; 3] {
    let (values, rest) = floats.split_at_mut(planes);
    let (products, block) = rest.split_at_mut(planes);
    [values, products, block]
}

/// Tiles of an operand that a window of `outputs` reads with, or writes without, its border.
fn tiling(source: Shape, target: Shape, outputs: usize, border: isize) -> Window {
    Window {
        height: target.height / outputs,
        width: target.width / outputs,
        source: Steps::new(source, (-border, -border), 0, outputs),
        target: Steps::new(target, (0, 0), 0, outputs),
    }
}

/// Forward, or the input gradient, which is the same with exchanged and turned weights.
#[derive(Clone, Debug)]
struct Pass {
    window: Window,
    source: Shape,
    target: Shape,
    start: Vec<f32>,
}

impl Pass {
    fn new(source: Shape, target: Shape, outputs: usize) -> Self {
        Pass {
            window: tiling(source, target, outputs, 1),
            start: vec![0.0; target.channels],
            source,
            target,
        }
    }

    fn run<const M: usize, const T: usize>(
        &self,
        on: Instructions,
        images: usize,
        factors: Factors<'_>,
        source: &[f32],
        target: &mut [f32],
        accumulate: bool,
        [values, products, room]: [&mut [f32]; 3],
        later: &mut Ahead,
    ) where
        Inputs: Paired<T, T>,
        Outputs: Paired<T, M>,
        Taps: Paired<3, T>,
    {
        let all = self.window.pixels(images);
        for first in (0..all).step_by(GROUP) {
            let count = GROUP.min(all - first);
            let tiles = Tiles { window: &self.window, from: first, count };
            on.run(ToPlanes {
                tiles,
                image: source,
                row: self.source.row_stride(),
                channels: self.source.channels,
                planes: values,
                by: PhantomData::<Inputs>,
            });
            let (now, next) = (first..first + GROUP, first + GROUP..first + 2 * GROUP);
            let mut written = Ahead::new(&target[self.window.targets(now, images, target.len())]);
            let mut read = Ahead::new(&source[self.window.sources(next, images, source.len())]);
            let ahead = [&mut written, &mut read, &mut *later];
            on.run(Products::<T> { factors, count, values, products, room, ahead });
            on.run(FromPlanes {
                tiles,
                planes: products,
                image: target,
                row: self.target.row_stride(),
                start: &self.start,
                accumulate,
                by: PhantomData::<Outputs>,
            });
        }
    }
}

/// The gradient of the weights.
#[derive(Clone, Debug)]
struct Gradient {
    x_window: Window,
    dy_window: Window,
    x: Shape,
    dy: Shape,
    sums: Matrices,
    /// Nothing has been summed yet; what the sums hold is old.
    empty: bool,
}

impl Gradient {
    fn new(x: Shape, dy: Shape, outputs: usize) -> Self {
        let planes = (outputs + 2) * (outputs + 2);
        Gradient {
            x_window: tiling(x, dy, outputs, 1),
            dy_window: tiling(dy, dy, outputs, 0),
            sums: Matrices::new(planes, x.channels, dy.channels),
            empty: true,
            x,
            dy,
        }
    }

    fn run<const M: usize, const T: usize>(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
        mut last: Option<&mut [f32]>,
        [values, grads, room]: [&mut [f32]; 3],
        later: &mut Ahead,
    ) where
        Inputs: Paired<T, T>,
        OutputGrads: Paired<M, T>,
        TapGrads: Transform<T, 3>,
    {
        let all = self.x_window.pixels(images);
        for first in (0..all).step_by(GROUP) {
            let count = GROUP.min(all - first);
            on.run(ToPlanes {
                tiles: Tiles { window: &self.x_window, from: first, count },
                image: x,
                row: self.x.row_stride(),
                channels: self.x.channels,
                planes: values,
                by: PhantomData::<Inputs>,
            });
            on.run(ToPlanes {
                tiles: Tiles { window: &self.dy_window, from: first, count },
                image: dy,
                row: self.dy.row_stride(),
                channels: self.dy.channels,
                planes: grads,
                by: PhantomData::<OutputGrads>,
            });
            let next = first + GROUP..first + 2 * GROUP;
            let of_x = self.x_window.sources(next.clone(), images, x.len());
            let of_dy = self.dy_window.sources(next, images, dy.len());
            let (mut of_x, mut of_dy) = (Ahead::new(&x[of_x]), Ahead::new(&dy[of_dy]));
            let ahead = [&mut of_x, &mut of_dy, &mut *later];
            let last = if first + GROUP < all { None } else { last.take() };
            let begin = std::mem::replace(&mut self.empty, last.is_some());
            let (sums, last) = (&mut self.sums, last.map(|dw| (dw, &mut *room)));
            on.run(Sums::<T> { begin, sums, count, values, grads, last, ahead });
        }
    }
}
