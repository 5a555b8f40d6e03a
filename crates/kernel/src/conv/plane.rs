//! From one input channel, at stride 1: the forward pass, and the gradient of the weights
//! ([`gather`]).
//!
//! ```text
//! y[q, o] = start[o] + sum_{u, v} x[u, q + v] * w[o, u, v]        for a row of pixels q
//! ```
//!
//! Neighbouring pixels of a plane see the same inputs, so a tile of 8 pixels reads, for a row
//! of a window of 5 columns, 12 inputs for 40 products: it is bound by them, not by its loads.
//! The last tile of a row overlaps the one before, whose results it writes once more.

use super::Conv2d;
use super::instructions::{Instructions, Kernel};
use crate::Shape;
use crate::lanes::{LANES, Lanes, kernel_of_lanes};
use gather::Gather;

mod gather;

/// Pixels of a tile.
const PIXELS: usize = 8;

/// A convolution of one plane with its packed weights.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    conv: Conv2d,
    x: Shape,
    y: Shape,
    dy: Shape,
    /// The weights as `[block][row][column][lane]`.
    weights: Vec<f32>,
    start: Vec<f32>,
    /// The sum of their gradient, in the same order.
    sum: Vec<f32>,
}

impl Plane {
    pub(super) fn fits(conv: &Conv2d, y: Shape) -> bool {
        let columns = (2..=7).contains(&conv.kernel.1);
        conv.in_channels == 1 && conv.stride == 1 && columns && y.width >= PIXELS
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let outputs = conv.out_channels.next_multiple_of(LANES);
        let weights = vec![0.0; outputs * conv.kernel.0 * conv.kernel.1];
        let sum = weights.clone();
        Plane { conv: *conv, x, y, dy, weights, start: vec![0.0; outputs], sum }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        for (plain, packed) in places(&self.conv) {
            self.weights[packed] = weights[plain];
        }
    }

    pub(super) fn weight_grad(&mut self, on: Instructions, images: usize, x: &[f32], dy: &[f32]) {
        on.run(Gather { into: self, images, x, dy });
    }

    /// Writes the sum into the caller's array and begins a new one.
    pub(super) fn take(&mut self, dw: &mut [f32]) {
        for (plain, packed) in places(&self.conv) {
            dw[plain] = self.sum[packed];
        }
        self.sum.fill(0.0);
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
            Some(bias) => self.start[..bias.len()].copy_from_slice(bias),
            None => self.start.fill(0.0),
        }
        on.run(Slide { of: self, images, x, y });
    }

    pub(super) fn floats(&self) -> usize {
        self.weights.len() + self.start.len() + self.sum.len()
    }
}

/// Where every weight lies in the caller's array, and where in the packed order.
fn places(conv: &Conv2d) -> impl Iterator<Item = (usize, usize)> + use<> {
    let area = conv.kernel.0 * conv.kernel.1;
    (0..conv.out_channels * area).map(move |plain| {
        let (output, tap) = (plain / area, plain % area);
        (plain, (output / LANES * area + tap) * LANES + output % LANES)
    })
}

/// One pass of a [`Plane`] over a batch.
struct Slide<'a> {
    of: &'a Plane,
    images: usize,
    x: &'a [f32],
    y: &'a mut [f32],
}

kernel_of_lanes!(Slide);

impl Slide<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.of.conv.kernel.1 {
                2 => self.rows::<V, 2>(),
                3 => self.rows::<V, 3>(),
                4 => self.rows::<V, 4>(),
                5 => self.rows::<V, 5>(),
                6 => self.rows::<V, 6>(),
                _ => self.rows::<V, 7>(),
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn rows<V: Lanes, const COLUMNS: usize>(&mut self) {
        let Plane { x, y, conv, .. } = *self.of;
        let corner = x.halo - conv.padding;
        for image in 0..self.images {
            for row in 0..y.height {
                let from = image * x.image_stride() + (row + corner) * x.row_stride() + corner;
                let to = image * y.image_stride() + y.offset(row, 0);
                for first in (0..y.channels).step_by(LANES) {
                    for column in (0..y.width).step_by(PIXELS) {
                        let column = column.min(y.width - PIXELS);
                        let to = to + column * y.channels + first;
                        // SAFETY: the caller's promise.
                        unsafe { self.tile::<V, COLUMNS>(from + column, to, first) };
                    }
                }
            }
        }
    }

    /// Eight pixels that read from `from` on and write from `to` on.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn tile<V: Lanes, const COLUMNS: usize>(
        &mut self,
        from: usize,
        to: usize,
        first: usize,
    ) {
        let Plane { conv, x, y, .. } = *self.of;
        let weights = self.of.weights[first * conv.kernel.0 * COLUMNS..].as_chunks::<LANES>().0;
        let start = &self.of.start[first..][..LANES];
        let mut tile = [[0.0; LANES]; PIXELS];
        // SAFETY: the caller's promise; a slice of lanes may be read, an array of them written.
        unsafe {
            let mut sum = [V::load(start.as_ptr()); PIXELS];
            for (u, row) in weights.as_chunks::<COLUMNS>().0[..conv.kernel.0].iter().enumerate() {
                let x = &self.x[from + u * x.row_stride()..][..PIXELS + COLUMNS - 1];
                for v in 0..COLUMNS {
                    let weight = V::load(row[v].as_ptr());
                    for p in 0..PIXELS {
                        sum[p] = weight.scaled(x[p + v], sum[p]);
                    }
                }
            }
            for p in 0..PIXELS {
                sum[p].store(tile[p].as_mut_ptr());
            }
        }
        write(&mut self.y[to..], y.channels, first, &tile);
    }
}

/// Writes the lanes that are outputs. On its own: as a part of the tile it made that a tenth slower
/// with AVX2.
#[inline(never)]
fn write(to: &mut [f32], channels: usize, first: usize, tile: &[[f32; LANES]; PIXELS]) {
    match channels - first {
        1 => write_lanes::<1>(to, channels, tile),
        2 => write_lanes::<2>(to, channels, tile),
        3 => write_lanes::<3>(to, channels, tile),
        4 => write_lanes::<4>(to, channels, tile),
        5 => write_lanes::<5>(to, channels, tile),
        6 => write_lanes::<6>(to, channels, tile),
        7 => write_lanes::<7>(to, channels, tile),
        _ => write_lanes::<8>(to, channels, tile),
    }
}

/// A copy whose length is known is an instruction or two, else a call.
#[inline(always)]
fn write_lanes<const N: usize>(to: &mut [f32], channels: usize, tile: &[[f32; LANES]; PIXELS]) {
    for (p, lanes) in tile.iter().enumerate() {
        to[p * channels..][..N].copy_from_slice(&lanes[..N]);
    }
}
