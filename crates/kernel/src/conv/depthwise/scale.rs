//! The sum over taps: `target[p, c] = start[c] + sum_t source[p + t, c] * weights[t, c]`.
//!
//! Along a row the weights of a vector of channels stay in registers, so that a product is
//! one instruction with its input from memory. Pixels do not share loads: two loads and two
//! products fit a cycle, and a tile of pixels has no room for the weights. But a few are
//! summed side by side, since a sum waits for itself at every tap.

use super::super::instructions::{Kernel, load, store, vector};
use super::LANES;
use super::grid::{Pass, Row, add_product};
use super::taps::Taps;
use crate::columns::{Columns, ColumnsMut};

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
    fn run<const FMA: bool>(self) {
        let Some(most) = self.parts.iter().max_by_key(|of| of.grid.height()) else { return };
        for image in 0..self.images {
            for run in most.grid.runs() {
                for row in 0..most.grid.height() {
                    for of in self.parts {
                        if row < of.grid.height() && !(self.accumulate && of.is_empty()) {
                            let (source, target) = (self.source, &mut *self.target);
                            let mut part = Part { of, source, target, accumulate: self.accumulate };
                            of.grid.row::<FMA>(image, row, run.clone(), &mut part);
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
    #[inline(always)]
    fn unrolled<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        row: Row,
        block: usize,
    ) {
        let grid = &self.of.grid;
        let first = block * LANES;
        let weights = self.of.weights.as_chunks::<LANES>().0.as_chunks::<C>().0;
        let weights = weights.as_chunks::<R>().0[block];
        let start = vector(&self.of.start, first);
        let x = grid.columns::<R>(self.source, row, first);
        let step = grid.target_step;
        let mut y = ColumnsMut::new(self.target, row.target + first, step, grid.width());
        let mut p = 0;
        while p < grid.width() {
            p += match (self.accumulate, grid.width() - p) {
                (false, PIXELS..) => {
                    write::<FMA, PIXELS, R, C, S>(&x, p, &weights, Some(start), &mut y)
                }
                (false, _) => write::<FMA, 1, R, C, S>(&x, p, &weights, Some(start), &mut y),
                (true, _) => write::<FMA, 1, R, C, S>(&x, p, &weights, None, &mut y),
            };
        }
    }

    #[inline(always)]
    fn plain<const FMA: bool>(&mut self, row: Row, block: usize) {
        let (of, grid) = (self.of, &self.of.grid);
        let first = block * LANES;
        let taps = of.weights.len() / of.start.len().max(1);
        for p in 0..grid.width() {
            let from = row.source + p * grid.source_step;
            let to = row.target + p * grid.target_step;
            let mut sum: [f32; LANES] = match self.accumulate {
                true => load(self.target, to + first),
                false => load(&of.start, first),
            };
            for tap in 0..taps {
                let (r, c) = (tap / grid.columns, tap % grid.columns);
                let x = from + r * grid.source_row + c * grid.channels + first;
                let weights = vector(&of.weights, (block * taps + tap) * LANES);
                add_product::<FMA>(&mut sum, load(self.source, x), weights);
            }
            store(self.target, to + first, sum, grid.channels - first);
        }
    }
}

/// Pixels `p` to `p + P`: the sums from `start` on, or added to what is there. Returns P.
#[inline(always)]
fn write<const FMA: bool, const P: usize, const R: usize, const C: usize, const S: usize>(
    x: &[Columns<'_>; R],
    p: usize,
    weights: &[[[f32; LANES]; C]; R],
    start: Option<[f32; LANES]>,
    y: &mut ColumnsMut<'_>,
) -> usize {
    let mut sum = [start.unwrap_or_default(); P];
    if start.is_none() {
        for q in 0..P {
            sum[q] = y.read().get(p + q);
        }
    }
    for r in 0..R {
        let x = x[r].tile(p * S, (P - 1) * S + C);
        for c in 0..C {
            for q in 0..P {
                add_product::<FMA>(&mut sum[q], x.get(q * S + c), weights[r][c]);
            }
        }
    }
    for q in 0..P {
        y.write(p + q, sum[q]);
    }
    P
}
