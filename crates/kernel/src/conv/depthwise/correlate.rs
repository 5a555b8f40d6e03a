//! The sum over pixels, the gradient of the weights: `dw[t, c] += sum_p source[p + t, c] * dy[p, c]`.
//!
//! The sums of a window stay in registers over a few rows; they run over the pixels in their
//! order. Four neighbouring pixels share their inputs, each of which is loaded once.

use super::super::packing::WIDE;
use super::super::partial::store;
use super::grid::{Pass, Rows, lanes};
use super::taps::Taps;
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector, Vector8};

/// Neighbouring pixels in registers.
const PIXELS: usize = 4;

/// One pass over a batch.
pub(super) struct Correlate<'a> {
    pub(super) into: &'a mut Taps,
    pub(super) images: usize,
    pub(super) source: &'a [f32],
    pub(super) dy: &'a [f32],
}

impl Kernel for Correlate<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let grid = self.into.grid;
        for image in 0..self.images {
            for run in grid.runs() {
                for row in (0..grid.height()).step_by(Self::ROWS) {
                    // SAFETY: the caller's promise.
                    unsafe { grid.rows::<V, _>(image, row, run.clone(), &mut self) };
                }
            }
        }
    }
}

impl Pass for Correlate<'_> {
    const ROWS: usize = 4;

    #[inline(always)]
    unsafe fn unrolled<V: Vector, const R: usize, const C: usize, const S: usize>(
        &mut self,
        rows: Rows,
        first: usize,
    ) {
        let grid = self.into.grid;
        grid.check::<V>(rows, first, self.source.len(), self.dy.len());
        let sums = self.into.place(first);
        let sums = &mut self.into.weights[sums..][..(R * C - 1) * WIDE + V::WIDTH];
        let (dy_row, dy_pixel) = grid.target_steps();
        // SAFETY: the caller's promise; what the rows read is there, as checked.
        unsafe {
            let mut sum = [[V::zero(); C]; R];
            for r in 0..R {
                for c in 0..C {
                    sum[r][c] = V::load(sums.as_ptr().add((r * C + c) * WIDE));
                }
            }
            for row in 0..rows.count {
                let from = rows.source + first + row * S * grid.source_row;
                let mut tile = Tile {
                    from: self.source.as_ptr().add(from),
                    from_row: grid.source_row,
                    from_pixel: grid.channels,
                    dy: self.dy.as_ptr().add(rows.target + first + row * dy_row),
                    dy_pixel,
                };
                let mut left = grid.width();
                while left > 0 {
                    left -= match left {
                        PIXELS.. => tile.add::<V, PIXELS, R, C, S>(&mut sum),
                        _ => tile.add::<V, 1, R, C, S>(&mut sum),
                    };
                }
            }
            for r in 0..R {
                for c in 0..C {
                    sum[r][c].store(sums.as_mut_ptr().add((r * C + c) * WIDE));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn plain<V: Vector8>(&mut self, source: usize, target: usize, first: usize) {
        let grid = self.into.grid;
        // SAFETY: the caller's promise; an array of lanes may be written.
        unsafe {
            let dy: V = lanes(self.dy, target + first);
            for tap in 0..self.into.count() {
                let at = self.into.place(first) + tap * WIDE;
                let x: V = lanes(self.source, source + grid.tap(tap) + first);
                let mut new = [0.0; LANES];
                x.mul_add(dy, lanes(&self.into.weights, at)).store(new.as_mut_ptr());
                store(&mut self.into.weights, at, new, LANES);
            }
        }
    }
}

/// Neighbouring pixels of a row, for a vector of channels.
struct Tile {
    from: *const f32,
    from_row: usize,
    from_pixel: usize,
    dy: *const f32,
    dy_pixel: usize,
}

impl Tile {
    /// Adds the next `P` pixels to the sums; returns P.
    ///
    /// # Safety
    /// All operands may be read; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add<V: Vector, const P: usize, const R: usize, const C: usize, const S: usize>(
        &mut self,
        sum: &mut [[V; C]; R],
    ) -> usize {
        // SAFETY: the caller's promise; after the last pixel nothing is read.
        unsafe {
            let mut output = [V::zero(); P];
            for q in 0..P {
                output[q] = V::load(self.dy.add(q * self.dy_pixel));
            }
            for r in 0..R {
                let from = self.from.add(r * self.from_row);
                for column in 0..(P - 1) * S + C {
                    let input = V::load(from.add(column * self.from_pixel));
                    for q in 0..P {
                        if column >= q * S && column - q * S < C {
                            let c = column - q * S;
                            sum[r][c] = input.mul_add(output[q], sum[r][c]);
                        }
                    }
                }
            }
        }
        self.from = self.from.wrapping_add(P * S * self.from_pixel);
        self.dy = self.dy.wrapping_add(P * self.dy_pixel);
        P
    }
}
