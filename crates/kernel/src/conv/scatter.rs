//! The input gradient of layers with few input channels, by scattering.
//!
//! ```text
//! part[r, c, v, i] = sum_{u, o} dy[(r - u) / stride, c, o] * w[o, i, u, v]
//! dx[r, c * stride + v, i] += part[r, c, v, i]        r and columns counted from the padding
//! ```
//!
//! With few inputs the gathering sum of `dense` leaves most lanes of a vector empty; here all
//! inputs of a row of the window stand side by side in them. The sum over the rows of the window
//! stays in registers. The parts of a row of `dy` are written side by side and added up afterwards:
//! to add each to the row of the image at once would be to wait for the one before, with which it
//! overlaps.

use super::Conv2d;
use super::packing::{Packing, WIDE, lanes_at, padded};
use crate::Shape;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::Vector;

/// Below this the lanes of a vector are mostly empty.
const FEW: usize = 16;

/// The input gradient of a convolution in one group.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    conv: Conv2d,
    x: Shape,
    dy: Shape,
    packing: Packing,
    /// The weights as `[out][row][column][in]`.
    turned: Vec<f32>,
    /// The same, packed: for a row of the window and an output, all columns and inputs.
    weights: Vec<f32>,
    /// For each row of the image: the rows of the window that reach it, and where the row of
    /// `dy` lies that each of them meets.
    reach: Vec<Vec<(usize, usize)>>,
    /// For each column of the image: where its parts lie, in the order of the columns of `dy`.
    meet: Vec<Vec<usize>>,
    /// The parts of each column of `dy`, and a vector of room.
    parts: Vec<f32>,
    /// A row of the image, and a vector of room.
    line: Vec<f32>,
}

impl Scatter {
    pub(super) fn fits(conv: &Conv2d) -> bool {
        let full = conv.in_channels.is_multiple_of(8) || conv.in_channels > FEW;
        conv.groups == 1 && conv.kernel != (1, 1) && !full
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, dy: Shape) -> Self {
        let run = conv.kernel.1 * conv.in_channels;
        let taps = conv.kernel.0 * run;
        let at = |row| (0..conv.out_channels).map(move |o| o * taps + row * run);
        let inputs = (0..conv.kernel.0).flat_map(at).collect();
        let packing = Packing { inputs, output_step: 1, outputs: run };
        Scatter {
            conv: *conv,
            x,
            dy,
            turned: vec![0.0; conv.weights_len()],
            weights: vec![0.0; packing.len()],
            packing,
            reach: (0..x.height).map(|row| reach(conv, dy, row)).collect(),
            meet: (0..x.width).map(|column| meet(conv, dy, column)).collect(),
            parts: vec![0.0; dy.width * padded(run) + WIDE],
            line: vec![0.0; x.width * x.channels + WIDE],
        }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        let (inputs, area) = (self.conv.in_channels, self.conv.kernel.0 * self.conv.kernel.1);
        let turned = self.turned.chunks_exact_mut(inputs * area);
        for (to, from) in turned.zip(weights.chunks_exact(inputs * area)) {
            for i in 0..inputs {
                for tap in 0..area {
                    to[tap * inputs + i] = from[i * area + tap];
                }
            }
        }
        self.packing.pack(&self.turned, &mut self.weights);
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
    ) {
        on.run(Spread { of: self, images, dy, dx, accumulate });
    }

    pub(super) fn floats(&self) -> usize {
        self.turned.len() + self.weights.len() + self.parts.len() + self.line.len()
    }
}

/// The rows of the window that reach row `row` of the image, and the rows of `dy` they meet.
fn reach(conv: &Conv2d, dy: Shape, row: usize) -> Vec<(usize, usize)> {
    let row = row + conv.padding;
    let rows = 0..conv.kernel.0.min(row + 1);
    rows.filter_map(|u| {
        let meets = (row - u).is_multiple_of(conv.stride) && (row - u) / conv.stride < dy.height;
        meets.then(|| (u, dy.offset((row - u) / conv.stride, 0)))
    })
    .collect()
}

/// Where the parts of column `column` of the image lie.
fn meet(conv: &Conv2d, dy: Shape, column: usize) -> Vec<usize> {
    let column = column + conv.padding;
    let row = padded(conv.kernel.1 * conv.in_channels);
    let columns = (0..conv.kernel.1.min(column + 1)).rev();
    columns
        .filter(|v| (column - v).is_multiple_of(conv.stride))
        .map(|v| ((column - v) / conv.stride, v * conv.in_channels))
        .filter(|&(from, _)| from < dy.width)
        .map(|(from, lane)| from * row + lane)
        .collect()
}

/// One pass of a [`Scatter`] over a batch.
struct Spread<'a> {
    of: &'a mut Scatter,
    images: usize,
    dy: &'a [f32],
    dx: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for Spread<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let (x, outputs, wide) = (self.of.x, self.of.packing.outputs, V::WIDTH == WIDE);
        for image in 0..self.images {
            for row in 0..x.height {
                for first in (0..outputs).step_by(WIDE) {
                    // SAFETY: the caller's promise.
                    unsafe {
                        match lanes_at(first, outputs) {
                            WIDE if wide => self.block::<V, 1>(image, row, first),
                            WIDE => self.block::<V, 2>(image, row, first),
                            _ => self.block::<V::Eight, 1>(image, row, first),
                        }
                    }
                }
                // SAFETY: the caller's promise.
                unsafe { self.add_parts::<V::Eight>() };
                self.line_into(image * x.image_stride() + x.offset(row, 0));
            }
        }
    }
}

impl Spread<'_> {
    /// A block of lanes of all columns.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn block<V: Vector, const VECTORS: usize>(
        &mut self,
        image: usize,
        row: usize,
        first: usize,
    ) {
        let (width, wide) = (self.of.dy.width, V::WIDTH == WIDE);
        let mut column = 0;
        while column < width {
            // SAFETY: the caller's promise.
            column += unsafe {
                match width - column {
                    12.. if wide => self.tile::<V, 12, VECTORS>(image, row, first, column),
                    10 | 11 if wide => self.tile::<V, 10, VECTORS>(image, row, first, column),
                    8.. if wide => self.tile::<V, 8, VECTORS>(image, row, first, column),
                    6.. => self.tile::<V, 6, VECTORS>(image, row, first, column),
                    5 => self.tile::<V, 5, VECTORS>(image, row, first, column),
                    4 => self.tile::<V, 4, VECTORS>(image, row, first, column),
                    3 => self.tile::<V, 3, VECTORS>(image, row, first, column),
                    2 => self.tile::<V, 2, VECTORS>(image, row, first, column),
                    _ => self.tile::<V, 1, VECTORS>(image, row, first, column),
                }
            };
        }
    }

    /// The parts of `PIXELS` columns; returns `PIXELS`. Vector8 without a weight are zeros.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn tile<V: Vector, const PIXELS: usize, const VECTORS: usize>(
        &mut self,
        image: usize,
        row: usize,
        first: usize,
        column: usize,
    ) -> usize {
        let of = &mut *self.of;
        let (outputs, lanes) = (of.conv.out_channels, VECTORS * V::WIDTH);
        let all = of.packing.inputs.len();
        let weights = &of.weights[first * all..][..all * lanes];
        let skip = image * of.dy.image_stride() + column * outputs;
        // SAFETY: the caller's promise; slices are cut for all that is read and written.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; PIXELS];
            for &(u, at) in &of.reach[row] {
                let dy = self.dy[skip + at..][..PIXELS * outputs].as_ptr();
                let weights = weights[u * outputs * lanes..][..outputs * lanes].as_ptr();
                for o in 0..outputs {
                    let mut w = [V::load(weights.add(o * lanes)); VECTORS];
                    for v in 1..VECTORS {
                        w[v] = V::load(weights.add(o * lanes + v * V::WIDTH));
                    }
                    for p in 0..PIXELS {
                        let dy = *dy.add(p * outputs + o);
                        for v in 0..VECTORS {
                            sum[p][v] = w[v].scale_add(dy, sum[p][v]);
                        }
                    }
                }
            }
            let row = padded(of.packing.outputs);
            for p in 0..PIXELS {
                let parts = of.parts[(column + p) * row + first..][..lanes].as_mut_ptr();
                for v in 0..VECTORS {
                    sum[p][v].store(parts.add(v * V::WIDTH));
                }
            }
        }
        PIXELS
    }

    /// Adds up the parts that reach each pixel of the line, in the order of their columns.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add_parts<V: Vector>(&mut self) {
        let of = &mut *self.of;
        let inputs = of.conv.in_channels;
        for (column, parts) in of.meet.iter().enumerate() {
            for first in (0..inputs).step_by(V::WIDTH) {
                // SAFETY: the caller's promise; a slice is cut for what is read and written. What
                // lies beyond a pixel's channels belongs to the next one, which is written later.
                unsafe {
                    let mut sum = V::zero();
                    for part in parts {
                        sum = sum + V::load(of.parts[part + first..][..V::WIDTH].as_ptr());
                    }
                    sum.store(of.line[column * inputs + first..][..V::WIDTH].as_mut_ptr());
                }
            }
        }
    }

    /// The line goes to a row of `dx`.
    #[inline(always)]
    fn line_into(&mut self, at: usize) {
        let of = &*self.of;
        let length = of.x.width * of.x.channels;
        let line = &of.line[..length];
        let dx = &mut self.dx[at..][..length];
        if self.accumulate {
            dx.iter_mut().zip(line).for_each(|(dx, part)| *dx += part);
        } else {
            dx.copy_from_slice(line);
        }
    }
}
