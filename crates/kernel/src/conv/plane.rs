//! From one input channel, at stride 1: the forward pass, and the gradient of the weights
//! ([`gather`]).
//!
//! ```text
//! y[q, o] = start[o] + sum_{u, v} x[u, q + v] * w[o, u, v]        for a row of pixels q
//! ```
//!
//! The pixels of a plane lie side by side, so the lanes of a vector are neighbouring pixels: none
//! is empty, whatever the number of outputs. A tile is turned in registers before it is written.
//! The last vector of a row overlaps the one before, whose results it writes once more.

use super::Conv2d;
use super::packing::WIDE;
use crate::Shape;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::{LANES, Vector, Vector8};
use gather::Gather;

mod gather;

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
    /// The sums of their gradient, as `[output][row][column]`, each over every `tile`-th pixel.
    sum: Vec<f32>,
    /// Pixels whose products are summed side by side.
    tile: usize,
    /// An image's `dy`, as `[output][row][pixel]`.
    turned: Vec<f32>,
}

impl Plane {
    pub(super) fn fits(conv: &Conv2d, y: Shape) -> bool {
        let columns = (2..=7).contains(&conv.kernel.1);
        conv.in_channels == 1 && conv.stride == 1 && columns && y.width >= LANES
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape) -> Self {
        let outputs = conv.out_channels.next_multiple_of(LANES);
        let tile = if y.width >= WIDE { WIDE } else { LANES };
        let area = conv.kernel.0 * conv.kernel.1;
        Plane {
            conv: *conv,
            x,
            y,
            dy,
            weights: vec![0.0; outputs * area],
            start: vec![0.0; outputs],
            sum: vec![0.0; conv.out_channels * area * tile],
            turned: vec![0.0; outputs * y.height * y.width.next_multiple_of(tile)],
            tile,
        }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        let area = self.conv.kernel.0 * self.conv.kernel.1;
        for (plain, weight) in weights.iter().enumerate() {
            let (output, tap) = (plain / area, plain % area);
            self.weights[(output / LANES * area + tap) * LANES + output % LANES] = *weight;
        }
    }

    pub(super) fn weight_grad(&mut self, on: Instructions, images: usize, x: &[f32], dy: &[f32]) {
        on.run(Gather { into: self, images, x, dy });
    }

    /// Writes the sum into the caller's array and begins a new one.
    pub(super) fn take(&mut self, dw: &mut [f32]) {
        for (dw, lanes) in dw.iter_mut().zip(self.sum.chunks_exact_mut(self.tile)) {
            let mut half = lanes.len() / 2;
            while half > 0 {
                let (low, high) = lanes.split_at_mut(half);
                low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
                half /= 2;
            }
            *dw = lanes[0];
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
        self.weights.len() + self.start.len() + self.sum.len() + self.turned.len()
    }

    /// Where the window of the first pixel of a row begins.
    #[inline(always)]
    fn source(&self, image: usize, row: usize) -> usize {
        let corner = self.x.halo - self.conv.padding;
        image * self.x.image_stride() + (row + corner) * self.x.row_stride() + corner
    }
}

/// One pass of a [`Plane`] over a batch.
struct Slide<'a> {
    of: &'a Plane,
    images: usize,
    x: &'a [f32],
    y: &'a mut [f32],
}

/// Pixels of one output after those of the other.
#[repr(align(64))]
struct Turned([[f32; 2 * WIDE]; LANES]);

impl Kernel for Slide<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller's promise; a row has a vector of pixels.
        unsafe {
            match self.of.y.width >= V::WIDTH {
                true => self.rows::<V>(),
                false => self.rows::<V::Eight>(),
            }
        }
    }
}

impl Slide<'_> {
    /// # Safety
    /// The machine has the instructions of `V`, and a row has a vector of pixels.
    #[inline(always)]
    unsafe fn rows<V: Vector>(mut self) {
        let y = self.of.y;
        let mut room = Turned([[0.0; 2 * WIDE]; LANES]);
        for image in 0..self.images {
            for row in 0..y.height {
                let from = self.of.source(image, row);
                let to = image * y.image_stride() + y.offset(row, 0);
                for first in (0..y.channels).step_by(LANES) {
                    let outputs = (y.channels - first).min(LANES);
                    let mut q = 0;
                    while q < y.width {
                        let at = Place { from, to, first, q };
                        let room = &mut room;
                        // SAFETY: the caller's promise.
                        q += unsafe {
                            match (y.width - q > V::WIDTH, outputs) {
                                (true, 1 | 2) => self.tile::<V, 2, 2>(at, room),
                                (true, 3 | 4) => self.tile::<V, 4, 2>(at, room),
                                (true, 5 | 6) => self.tile::<V, 6, 2>(at, room),
                                (true, _) if V::WIDTH == WIDE => self.tile::<V, 8, 2>(at, room),
                                _ => self.tile::<V, 8, 1>(at, room),
                            }
                        };
                    }
                }
            }
        }
    }

    /// The next vectors of pixels; returns how many pixels they are, counted twice where they
    /// overlap.
    ///
    /// # Safety
    /// The machine has the instructions of `V`, and a row has a vector of pixels.
    #[inline(always)]
    unsafe fn tile<V: Vector, const OUTPUTS: usize, const VECTORS: usize>(
        &mut self,
        Place { from, to, first, q }: Place,
        room: &mut Turned,
    ) -> usize {
        let Plane { conv, x, y, .. } = *self.of;
        let (rows, columns) = conv.kernel;
        let mut at = [0; VECTORS];
        for t in 0..VECTORS {
            at[t] = (q + t * V::WIDTH).min(y.width - V::WIDTH);
        }
        let weights = &self.of.weights[first * rows * columns..][..LANES * rows * columns];
        let start = &self.of.start[first..][..LANES];
        // SAFETY: the caller's promise. A row of inputs is cut for all pixels of a row, and a vector
        // of them ends within it; `room` has the pixels of two vectors.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; OUTPUTS];
            for o in 0..OUTPUTS {
                sum[o] = [V::zero().splat(start[o]); VECTORS];
            }
            for (u, weights) in weights.chunks_exact(LANES * columns).enumerate() {
                let x = &self.x[from + u * x.row_stride()..][..y.width + columns - 1];
                for (v, weights) in weights.as_chunks::<LANES>().0.iter().enumerate() {
                    let mut input = [V::zero(); VECTORS];
                    for t in 0..VECTORS {
                        input[t] = V::load(x.as_ptr().add(at[t] + v));
                    }
                    for o in 0..OUTPUTS {
                        for t in 0..VECTORS {
                            sum[o][t] = input[t].scale_add(weights[o], sum[o][t]);
                        }
                    }
                }
            }
            for o in 0..OUTPUTS {
                for t in 0..VECTORS {
                    sum[o][t].store(room.0[o].as_mut_ptr().add(t * V::WIDTH));
                }
            }
            let to = &mut self.y[to..][..y.width * y.channels];
            for t in 0..VECTORS {
                for eight in (0..V::WIDTH).step_by(LANES) {
                    let from = t * V::WIDTH + eight;
                    write::<V::Eight>(room, from, to, y.channels, first, at[t] + eight);
                }
            }
        }
        VECTORS * V::WIDTH
    }
}

/// Where a tile begins: its window, its row of the output, its first output and pixel.
#[derive(Clone, Copy)]
struct Place {
    from: usize,
    to: usize,
    first: usize,
    q: usize,
}

/// Eight pixels of a row, from number `q` on, with up to eight outputs each.
///
/// # Safety
/// The machine has the instructions of `V`, and there are eight pixels.
#[inline(always)]
unsafe fn write<V: Vector8>(
    room: &Turned,
    from: usize,
    to: &mut [f32],
    channels: usize,
    first: usize,
    q: usize,
) {
    // SAFETY: the caller's promise. A vector is only written where it ends within the row.
    unsafe {
        let mut rows = [V::zero(); LANES];
        for o in 0..LANES {
            rows[o] = V::load(room.0[o][from..][..LANES].as_ptr());
        }
        let pixels = V::transposed(rows);
        let outputs = (channels - first).min(LANES);
        for p in 0..LANES {
            let at = (q + p) * channels + first;
            let to = &mut to[at..];
            // Beyond the outputs of a pixel lie those of the next ones, which are written later.
            match outputs == LANES || (first == 0 && to.len() >= LANES) {
                true => pixels[p].store(to[..LANES].as_mut_ptr()),
                false => pixels[p].store_first(to[..outputs].as_mut_ptr(), outputs),
            }
        }
    }
}
