//! The gradient of the weights from one input channel, at stride 1.
//!
//! ```text
//! dw[o, u, v] = sum_q x[u, q + v] * dy[q, o]        over all pixels q
//! ```
//!
//! Vector8 are neighbouring pixels, for which an image's `dy` is turned first. Each lane has a sum of
//! its own, over every 16th pixel of a row (every 8th of a short one); they are added up at the end
//! of a batch. The last tile of a row overlaps the one before: there its `dy` are zeros.

use super::super::partial::load;
use super::Plane;
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector, Vector8};

/// One pass over a batch, which adds to the plane's sums.
pub(super) struct Gather<'a> {
    pub(super) into: &'a mut Plane,
    pub(super) images: usize,
    pub(super) x: &'a [f32],
    pub(super) dy: &'a [f32],
}

impl Kernel for Gather<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        for image in 0..self.images {
            // SAFETY: the caller's promise.
            unsafe {
                self.turn::<V::Eight>(image);
                match self.into.tile >= V::WIDTH {
                    true => self.image::<V>(image),
                    false => self.image::<V::Eight>(image),
                }
            }
        }
    }
}

impl Gather<'_> {
    /// Where the pixels of each tile of a row begin, and how many of them the tile before has.
    #[inline(always)]
    fn tiles(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (width, tile) = (self.into.dy.width, self.into.tile);
        (0..width).step_by(tile).map(move |q| {
            let at = q.min(width - tile);
            (at, q - at)
        })
    }

    /// `dy` of an image as rows of pixels.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn turn<V: Vector8>(&mut self, image: usize) {
        let (dy, tile) = (self.into.dy, self.into.tile);
        let line = dy.width.next_multiple_of(tile);
        let plane = dy.height * line;
        for row in 0..dy.height {
            let from = image * dy.image_stride() + dy.offset(row, 0);
            for (number, (at, before)) in self.tiles().enumerate() {
                for first in (0..dy.channels).step_by(LANES) {
                    for eight in (0..tile).step_by(LANES) {
                        let grads = &self.dy[from + (at + eight) * dy.channels + first..];
                        let place = first * plane + row * line + number * tile + eight;
                        let to = &mut self.into.turned[place..][..(LANES - 1) * plane + LANES];
                        // SAFETY: the caller's promise; a slice is cut for all that is written.
                        unsafe {
                            let skip = before.saturating_sub(eight);
                            let outputs = V::transposed(pixels::<V>(grads, dy.channels, skip));
                            for o in 0..LANES {
                                outputs[o].store(to.as_mut_ptr().add(o * plane));
                            }
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn image<V: Vector>(&mut self, image: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.into.conv.kernel.1 {
                2 => self.taps::<V, 2>(image),
                3 => self.taps::<V, 3>(image),
                4 => self.taps::<V, 4>(image),
                5 => self.taps::<V, 5>(image),
                6 => self.taps::<V, 6>(image),
                _ => self.taps::<V, 7>(image),
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`, and the window has `COLUMNS` columns.
    #[inline(always)]
    unsafe fn taps<V: Vector, const COLUMNS: usize>(&mut self, image: usize) {
        let outputs = self.into.conv.out_channels;
        for u in 0..self.into.conv.kernel.0 {
            for lane in (0..self.into.tile).step_by(V::WIDTH) {
                let mut first = 0;
                while first < outputs {
                    // SAFETY: the caller's promise. As many outputs as leave registers for inputs.
                    first += unsafe {
                        match outputs - first {
                            3.. if V::WIDTH > LANES => {
                                self.row::<V, COLUMNS, 3>(image, u, lane, first)
                            }
                            2.. => self.row::<V, COLUMNS, 2>(image, u, lane, first),
                            _ => self.row::<V, COLUMNS, 1>(image, u, lane, first),
                        }
                    };
                }
            }
        }
    }

    /// Row `u` of the window for `OUTPUTS` outputs, and a vector of each tile from `lane` on; returns
    /// `OUTPUTS`.
    ///
    /// # Safety
    /// The machine has the instructions of `V`, and the window has `COLUMNS` columns.
    #[inline(always)]
    unsafe fn row<V: Vector, const COLUMNS: usize, const OUTPUTS: usize>(
        &mut self,
        image: usize,
        u: usize,
        lane: usize,
        first: usize,
    ) -> usize {
        let (dy, tile, rows) = (self.into.dy, self.into.tile, self.into.conv.kernel.0);
        let line = dy.width.next_multiple_of(tile);
        let turned = &self.into.turned[first * dy.height * line..][..OUTPUTS * dy.height * line];
        let place = |o: usize, v: usize| (((first + o) * rows + u) * COLUMNS + v) * tile + lane;
        let sums = &self.into.sum[..place(OUTPUTS - 1, COLUMNS - 1) + V::WIDTH];
        let last = (dy.height - 1) * self.into.x.row_stride() + dy.width + COLUMNS - 1;
        let inputs = &self.x[self.into.source(image, u)..][..last];
        // SAFETY: the caller's promise; a vector from `lane` on ends within a tile, inputs are cut for
        // all pixels of all rows, and the last sums were seen to be there.
        unsafe {
            let mut sum = [[V::zero(); COLUMNS]; OUTPUTS];
            for o in 0..OUTPUTS {
                for v in 0..COLUMNS {
                    sum[o][v] = V::load(sums.as_ptr().add(place(o, v)));
                }
            }
            for (number, (at, _)) in self.tiles().enumerate() {
                let mut x = inputs.as_ptr().add(at + lane);
                let mut z = turned.as_ptr().add(number * tile + lane);
                for _ in 0..dy.height {
                    let mut grads = [V::load(z); OUTPUTS];
                    for o in 1..OUTPUTS {
                        grads[o] = V::load(z.add(o * dy.height * line));
                    }
                    for v in 0..COLUMNS {
                        let input = V::load(x.add(v));
                        for o in 0..OUTPUTS {
                            sum[o][v] = input.mul_add(grads[o], sum[o][v]);
                        }
                    }
                    x = x.wrapping_add(self.into.x.row_stride());
                    z = z.wrapping_add(line);
                }
            }
            for o in 0..OUTPUTS {
                for v in 0..COLUMNS {
                    sum[o][v].store(self.into.sum.as_mut_ptr().add(place(o, v)));
                }
            }
        }
        OUTPUTS
    }
}

/// A vector of each of eight pixels, `step` floats after one another; zeros for the first `skip`.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn pixels<V: Vector8>(grads: &[f32], step: usize, skip: usize) -> [V; LANES] {
    // SAFETY: the caller's promise; vectors are read where they end within the slice, or from an
    // array.
    unsafe {
        let mut vectors = [V::zero(); LANES];
        if skip == 0 && grads.len() >= (LANES - 1) * step + LANES {
            for p in 0..LANES {
                vectors[p] = V::load(grads.as_ptr().add(p * step));
            }
            return vectors;
        }
        for p in skip.min(LANES)..LANES {
            vectors[p] = V::load(load::<LANES>(grads, p * step).as_ptr());
        }
        vectors
    }
}
