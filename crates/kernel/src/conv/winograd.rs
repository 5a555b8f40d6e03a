//! Winograd's method for 3x3 windows of stride and padding 1.
//!
//! ```text
//! y  = A^T [ (G w G^T) . (B^T x B) ] A          per tile of M x M outputs, T = M + 2
//! dw = G^T [ sum over tiles of (B^T x B) . (A dy A^T) ] G
//! ```
//!
//! The products of all channels are `T * T` matrix products over tiles, done by the register
//! tiles of the direct method. Tiles are taken in groups whose planes stay in cache; planes
//! are skewed by a cache line, since planes 4 KiB apart would evict each other.

mod planes;
mod transform;

use std::marker::PhantomData;

use self::planes::{FromPlanes, Tiles, ToPlanes};
use self::transform::{Inputs, OutputGrads, Outputs, Transform, taps};
use super::Conv2d;
use super::correlate::{Correlate, Correlation};
use super::instructions::Instructions;
use super::outer::{Accumulate, OuterSum};
use super::packing::{Packing, WIDE};
use super::window::{Steps, Window};
use crate::Shape;

/// Weights of which all taps and all products stay in cache while they are transformed.
const CACHED: usize = 512;

/// A convolution by Winograd's method with tiles of 2 x 2 or 4 x 4 outputs.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    outputs: usize,
    forward: Pass,
    backward: Pass,
    gradient: Gradient,
    /// Transformed tiles of the source, and of the target.
    planes: [Vec<f32>; 2],
    /// One packed array per tap.
    taps: Vec<f32>,
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
        let (inside, outside) = (conv.in_channels, conv.out_channels);
        let group = if outputs == 2 && inside.max(outside) <= 32 { 96 } else { 48 };
        let coefficients = (outputs + 2) * (outputs + 2);
        let area = |tap: usize| Packing {
            inputs: (0..inside).map(|i| i * 9 + tap).collect(),
            output_step: inside * 9,
            outputs: outside,
        };
        let flipped = |tap: usize| Packing {
            inputs: (0..outside).map(|o| o * inside * 9 + 8 - tap).collect(),
            output_step: 9,
            outputs: inside,
        };
        let most = group * inside.max(outside) + WIDE;
        Winograd {
            outputs,
            forward: Pass::new(x, y, outputs, group, (0..9).map(area).collect()),
            backward: Pass::new(dy, x, outputs, group, (0..9).map(flipped).collect()),
            gradient: Gradient::new(x, dy, outputs, group, (0..9).map(area).collect()),
            planes: [vec![0.0; coefficients * most], vec![0.0; coefficients * most]],
            taps: vec![0.0; 9 * inside * outside],
        }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.forward.set_weights(self.outputs, weights, &mut self.taps);
        self.backward.set_weights(self.outputs, weights, &mut self.taps);
    }

    pub(super) fn forward(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        bias: Option<&[f32]>,
        y: &mut [f32],
    ) {
        match bias {
            Some(bias) => self.forward.start.copy_from_slice(bias),
            None => self.forward.start.fill(0.0),
        }
        match self.outputs {
            2 => self.forward.run::<2, 4>(on, images, x, y, false, &mut self.planes),
            _ => self.forward.run::<4, 6>(on, images, x, y, false, &mut self.planes),
        }
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
    ) {
        match self.outputs {
            2 => self.backward.run::<2, 4>(on, images, dy, dx, accumulate, &mut self.planes),
            _ => self.backward.run::<4, 6>(on, images, dy, dx, accumulate, &mut self.planes),
        }
    }

    pub(super) fn weight_grad(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
    ) {
        match self.outputs {
            2 => self.gradient.run::<2, 4>(on, images, x, dy, &mut self.planes),
            _ => self.gradient.run::<4, 6>(on, images, x, dy, &mut self.planes),
        }
    }

    pub(super) fn take_weight_grad(&mut self, dw: &mut [f32]) {
        self.gradient.take(self.outputs, dw, &mut self.taps);
    }

    pub(super) fn floats(&self) -> usize {
        let products = [&self.forward, &self.backward].into_iter().flat_map(|p| &p.products);
        products.map(Correlation::floats).sum::<usize>()
            + self.gradient.sums.iter().map(OuterSum::floats).sum::<usize>()
            + self.planes.iter().map(Vec::len).sum::<usize>()
            + self.taps.len()
    }
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

/// Tiles of two planes, as the pixels of a matrix product.
fn product_window(plane: usize, group: usize, from: (usize, usize), to: (usize, usize)) -> Window {
    let steps = |(channels, stride): (usize, usize)| Steps {
        start: plane * stride,
        image: 0,
        row: 0,
        pixel: channels,
    };
    Window { height: 1, width: group, source: steps(from), target: steps(to) }
}

/// Forward, or the input gradient, which is the same with exchanged and flipped weights.
#[derive(Clone, Debug)]
struct Pass {
    window: Window,
    source: Shape,
    target: Shape,
    group: usize,
    packings: Vec<Packing>,
    products: Vec<Correlation>,
    start: Vec<f32>,
}

impl Pass {
    fn new(
        source: Shape,
        target: Shape,
        outputs: usize,
        group: usize,
        packings: Vec<Packing>,
    ) -> Self {
        let from = (source.channels, group * source.channels + WIDE);
        let to = (target.channels, group * target.channels + WIDE);
        let product = |plane| {
            let window = product_window(plane, group, from, to);
            Correlation::new(window, vec![0], source.channels, packings[0].clone())
        };
        Pass {
            window: tiling(source, target, outputs, 1),
            products: (0..(outputs + 2) * (outputs + 2)).map(product).collect(),
            start: vec![0.0; target.channels],
            source,
            target,
            group,
            packings,
        }
    }

    /// `G w G^T`, element by element in the packed order.
    fn set_weights(&mut self, outputs: usize, weights: &[f32], scratch: &mut [f32]) {
        let length = self.packings[0].len();
        for (packing, tap) in self.packings.iter().zip(scratch.chunks_exact_mut(length)) {
            packing.pack(weights, tap);
        }
        let g = taps(outputs);
        for from in (0..length).step_by(CACHED) {
            let block = from..(from + CACHED).min(length);
            for (plane, product) in self.products.iter_mut().enumerate() {
                let (row, column) = (&g[plane / g.len()], &g[plane % g.len()]);
                let into = &mut product.weights_mut()[block.clone()];
                into.fill(0.0);
                for (tap, values) in scratch.chunks_exact(length).enumerate() {
                    add_scaled(row[tap / 3] * column[tap % 3], &values[block.clone()], into);
                }
            }
        }
    }

    fn run<const M: usize, const T: usize>(
        &self,
        on: Instructions,
        images: usize,
        source: &[f32],
        target: &mut [f32],
        accumulate: bool,
        [values, products]: &mut [Vec<f32>; 2],
    ) where
        Inputs: Transform<T, T>,
        Outputs: Transform<T, M>,
    {
        let all = self.window.pixels(images);
        for from in (0..all).step_by(self.group) {
            let count = self.group.min(all - from);
            on.run(ToPlanes {
                tiles: tiles(&self.window, from, count, self.source, self.group),
                image: source,
                planes: values,
                by: PhantomData::<Inputs>,
            });
            for of in &self.products {
                let target = products.as_mut_slice();
                on.run(Correlate { of, pixels: count, source: values, target, accumulate: false });
            }
            on.run(FromPlanes {
                tiles: tiles(&self.window, from, count, self.target, self.group),
                planes: products,
                image: target,
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
    group: usize,
    packings: Vec<Packing>,
    sums: Vec<OuterSum>,
}

impl Gradient {
    fn new(x: Shape, dy: Shape, outputs: usize, group: usize, packings: Vec<Packing>) -> Self {
        let from = (x.channels, group * x.channels + WIDE);
        let to = (dy.channels, group * dy.channels + WIDE);
        let sum = |plane| {
            let window = product_window(plane, group, from, to);
            OuterSum::new(window, vec![0], x.channels, packings[0].clone())
        };
        Gradient {
            x_window: tiling(x, dy, outputs, 1),
            dy_window: tiling(dy, dy, outputs, 0),
            sums: (0..(outputs + 2) * (outputs + 2)).map(sum).collect(),
            x,
            dy,
            group,
            packings,
        }
    }

    fn run<const M: usize, const T: usize>(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        dy: &[f32],
        [values, grads]: &mut [Vec<f32>; 2],
    ) where
        Inputs: Transform<T, T>,
        OutputGrads: Transform<M, T>,
    {
        let all = self.x_window.pixels(images);
        for from in (0..all).step_by(self.group) {
            let count = self.group.min(all - from);
            on.run(ToPlanes {
                tiles: tiles(&self.x_window, from, count, self.x, self.group),
                image: x,
                planes: values,
                by: PhantomData::<Inputs>,
            });
            on.run(ToPlanes {
                tiles: tiles(&self.dy_window, from, count, self.dy, self.group),
                image: dy,
                planes: grads,
                by: PhantomData::<OutputGrads>,
            });
            for into in &mut self.sums {
                on.run(Accumulate { into, pixels: count, source: values, dy: grads });
            }
        }
    }

    /// `G^T [sums] G` into `dw`; the sums begin anew.
    fn take(&mut self, outputs: usize, dw: &mut [f32], scratch: &mut [f32]) {
        let length = self.packings[0].len();
        let g = taps(outputs);
        scratch.fill(0.0);
        for from in (0..length).step_by(CACHED) {
            let block = from..(from + CACHED).min(length);
            for (tap, into) in scratch.chunks_exact_mut(length).enumerate() {
                let into = &mut into[block.clone()];
                for (plane, sum) in self.sums.iter_mut().enumerate() {
                    let factor = g[plane / g.len()][tap / 3] * g[plane % g.len()][tap % 3];
                    add_scaled(factor, &sum.sums_mut()[block.clone()], into);
                }
            }
        }
        for (packing, values) in self.packings.iter().zip(scratch.chunks_exact(length)) {
            packing.unpack(values, dw);
        }
        self.sums.iter_mut().for_each(|sum| sum.sums_mut().fill(0.0));
    }
}

fn tiles(window: &Window, from: usize, count: usize, image: Shape, group: usize) -> Tiles<'_> {
    Tiles {
        window,
        from,
        count,
        channels: image.channels,
        row: image.row_stride(),
        plane: group * image.channels + WIDE,
    }
}

/// `into += factor * values`; nothing for the many factors that are zero.
fn add_scaled(factor: f32, values: &[f32], into: &mut [f32]) {
    if factor != 0.0 {
        for (sum, value) in into.iter_mut().zip(values) {
            *sum += factor * value;
        }
    }
}
