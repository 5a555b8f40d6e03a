//! The sum over taps: `target[p, c] = start[c] + sum_t source[p + t, c] * weights[t, c]`.
//!
//! 4 pixels of two rows are summed side by side. They share their inputs, each of which is
//! loaded once, and their weights, which are loaded anew for every row of the window: so 42
//! loads make 72 products, and the sums wait neither for loads nor for themselves.

use super::super::packing::WIDE;
use super::super::partial::store;
use super::grid::{Pass, Rows, lanes};
use super::taps::Taps;
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector, Vector8};

/// Neighbouring pixels in registers.
const PIXELS: usize = 4;

/// One pass over a batch. Parts are residues of a stride, which write to the same rows.
pub(super) struct Scale<'a> {
    pub(super) parts: &'a [Taps],
    pub(super) images: usize,
    pub(super) source: &'a [f32],
    pub(super) target: &'a mut [f32],
    /// Add to the target instead of beginning with `start`.
    pub(super) accumulate: bool,
}

impl Kernel for Scale<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Some(most) = self.parts.iter().max_by_key(|of| of.grid.height()) else { return };
        for image in 0..self.images {
            for run in most.grid.runs() {
                for row in (0..most.grid.height()).step_by(Part::ROWS) {
                    for of in self.parts {
                        if row < of.grid.height() && !(self.accumulate && of.is_empty()) {
                            let (source, target) = (self.source, &mut *self.target);
                            let mut part = Part { of, source, target, accumulate: self.accumulate };
                            // SAFETY: the caller's promise.
                            unsafe { of.grid.rows::<V, _>(image, row, run.clone(), &mut part) };
                        }
                    }
                }
            }
        }
    }
}

/// The pixels of one residue.
struct Part<'a> {
    of: &'a Taps,
    source: &'a [f32],
    target: &'a mut [f32],
    accumulate: bool,
}

impl Pass for Part<'_> {
    const ROWS: usize = 2;

    #[inline(always)]
    unsafe fn unrolled<V: Vector, const R: usize, const C: usize, const S: usize>(
        &mut self,
        rows: Rows,
        first: usize,
    ) {
        let grid = &self.of.grid;
        grid.check::<V>(rows, first, self.source.len(), self.target.len());
        let weights = &self.of.weights[self.of.place(first)..][..(R * C - 1) * WIDE + V::WIDTH];
        let start = &self.of.start[first..][..V::WIDTH];
        // SAFETY: the caller's promise; what the rows read and write is there, as checked.
        unsafe {
            let mut tile = Tile {
                from: self.source.as_ptr().add(rows.source + first),
                from_row: grid.source_row,
                from_pixel: grid.channels,
                weights: weights.as_ptr(),
                to: self.target.as_mut_ptr().add(rows.target + first),
                to_steps: grid.target_steps(),
                start: (!self.accumulate).then_some(start.as_ptr()),
            };
            let mut left = grid.width();
            while left > 0 {
                left -= match (rows.count, left) {
                    (1, PIXELS..) => tile.run::<V, PIXELS, 1, R, C, S>(),
                    (1, _) => tile.run::<V, 1, 1, R, C, S>(),
                    (_, PIXELS..) => tile.run::<V, PIXELS, 2, R, C, S>(),
                    _ => tile.run::<V, 1, 2, R, C, S>(),
                };
            }
        }
    }

    #[inline(always)]
    unsafe fn plain<V: Vector8>(&mut self, source: usize, target: usize, first: usize) {
        let (of, grid) = (self.of, &self.of.grid);
        // SAFETY: the caller's promise; an array of lanes may be written.
        unsafe {
            let mut sum: V = match self.accumulate {
                true => lanes(self.target, target + first),
                false => lanes(&of.start, first),
            };
            for tap in 0..of.count() {
                let x: V = lanes(self.source, source + grid.tap(tap) + first);
                sum = x.mul_add(lanes(&of.weights, of.place(first) + tap * WIDE), sum);
            }
            let mut new = [0.0; LANES];
            sum.store(new.as_mut_ptr());
            store(self.target, target + first, new, grid.channels - first);
        }
    }
}

/// Neighbouring pixels of one or two rows, for a vector of channels.
struct Tile {
    from: *const f32,
    from_row: usize,
    from_pixel: usize,
    /// `[row][column]`, each [`WIDE`] floats after the other.
    weights: *const f32,
    to: *mut f32,
    /// From row to row, from pixel to pixel.
    to_steps: (usize, usize),
    /// What the sums begin with; what the target holds if nothing.
    start: Option<*const f32>,
}

impl Tile {
    /// The next `P` pixels of `Q` rows; returns P.
    ///
    /// # Safety
    /// All operands may be read, and the target written; the machine has the instructions of
    /// `V`.
    #[inline(always)]
    unsafe fn run<
        V: Vector,
        const P: usize,
        const Q: usize,
        const R: usize,
        const C: usize,
        const S: usize,
    >(
        &mut self,
    ) -> usize {
        let to = |q: usize, p: usize| {
            self.to.wrapping_add(q * self.to_steps.0).wrapping_add(p * self.to_steps.1)
        };
        // SAFETY: the caller's promise; after the last pixel nothing is read.
        unsafe {
            let mut sum = [[V::zero(); P]; Q];
            for q in 0..Q {
                for p in 0..P {
                    sum[q][p] = V::load(self.start.unwrap_or(to(q, p)));
                }
            }
            for r in 0..(Q - 1) * S + R {
                let from = self.from.add(r * self.from_row);
                for q in 0..Q {
                    if r < q * S || r - q * S >= R {
                        continue;
                    }
                    for c in 0..C {
                        let weight = V::load(self.weights.add(((r - q * S) * C + c) * WIDE));
                        for p in 0..P {
                            let input = V::load(from.add((p * S + c) * self.from_pixel));
                            sum[q][p] = input.mul_add(weight, sum[q][p]);
                        }
                    }
                }
            }
            for q in 0..Q {
                for p in 0..P {
                    sum[q][p].store(to(q, p));
                }
            }
        }
        self.from = self.from.wrapping_add(P * S * self.from_pixel);
        self.to = self.to.wrapping_add(P * self.to_steps.1);
        P
    }
}
