//! The sum over taps: `target[p, c] = start[c] + sum_t source[p + t, c] * weights[t, c]`.
//!
//! Four neighbouring pixels of a vector of channels share their inputs, each of which is
//! loaded once.

use super::super::instructions::{Kernel, load, store, vector};
use super::LANES;
use super::columns::{Columns, ColumnsMut};
use super::grid::{Pass, Strip, add_product};
use super::taps::Taps;

/// Neighbouring pixels in registers.
const PIXELS: usize = 1;

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
        let height = self.parts.iter().map(|of| of.grid.height()).max().unwrap_or(0);
        for image in 0..self.images {
            for row in 0..height {
                for of in self.parts {
                    if row < of.grid.height() && !(self.accumulate && of.is_empty()) {
                        let (source, target) = (self.source, &mut *self.target);
                        let mut part = Part { of, source, target, accumulate: self.accumulate };
                        of.grid.row::<FMA>(image, row, &mut part);
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
        strip: Strip,
        block: usize,
    ) {
        let grid = &self.of.grid;
        let first = block * LANES;
        let weights = self.of.weights.as_chunks::<LANES>().0.as_chunks::<C>().0;
        let weights = weights.as_chunks::<R>().0[block];
        let start = match self.accumulate {
            true => None,
            false => Some(vector(&self.of.start, first)),
        };
        let x = grid.columns::<R>(self.source, strip, first);
        let step = grid.target_step;
        let mut y = ColumnsMut::new(self.target, strip.target + first, step, strip.count);
        let mut p = 0;
        while strip.count - p >= PIXELS {
            write::<FMA, PIXELS, R, C, S>(&x, p, &weights, start, &mut y);
            p += PIXELS;
        }
        while p < strip.count {
            write::<FMA, 1, R, C, S>(&x, p, &weights, start, &mut y);
            p += 1;
        }
    }

    #[inline(always)]
    fn plain<const FMA: bool>(&mut self, strip: Strip, block: usize) {
        let (of, grid) = (self.of, &self.of.grid);
        let first = block * LANES;
        let taps = of.weights.len() / of.start.len().max(1);
        for p in 0..strip.count {
            let from = strip.source + p * grid.source_step;
            let to = strip.target + p * grid.target_step;
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

/// Pixels `p` to `p + P`: the sums from `start` on, or added to what is there.
#[inline(always)]
fn write<const FMA: bool, const P: usize, const R: usize, const C: usize, const S: usize>(
    x: &[Columns<'_>; R],
    p: usize,
    weights: &[[[f32; LANES]; C]; R],
    start: Option<[f32; LANES]>,
    y: &mut ColumnsMut<'_>,
) {
    let mut sum = [start.unwrap_or_default(); P];
    if start.is_none() {
        let y = y.read().tile(p, P);
        for q in 0..P {
            sum[q] = y.get(q);
        }
    }
    for r in 0..R {
        let width = (P - 1) * S + C;
        let x = x[r].tile(p * S, width);
        for column in 0..width {
            let input = x.get(column);
            for q in 0..P {
                if column >= q * S && column - q * S < C {
                    add_product::<FMA>(&mut sum[q], input, weights[r][column - q * S]);
                }
            }
        }
    }
    y.write(p, sum);
}
