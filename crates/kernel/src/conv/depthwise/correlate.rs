//! The sum over pixels, the gradient of the weights: `dw[t, c] += sum_p source[p + t, c] * dy[p, c]`.
//!
//! The sums of a window stay in registers along a row; they run over the pixels in their
//! order. Four neighbouring pixels share their inputs, each of which is loaded once.

use super::super::instructions::{Kernel, load, store, vector};
use super::LANES;
use super::grid::{Pass, Row, add_product};
use super::taps::Taps;
use crate::columns::Columns;

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
    fn run<const FMA: bool>(mut self) {
        let grid = self.into.grid;
        for image in 0..self.images {
            for run in grid.runs() {
                for row in 0..grid.height() {
                    grid.row::<FMA>(image, row, run.clone(), &mut self);
                }
            }
        }
    }
}

impl Pass for Correlate<'_> {
    #[inline(always)]
    fn unrolled<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        row: Row,
        block: usize,
    ) {
        let grid = self.into.grid;
        let first = block * LANES;
        let x = grid.columns::<R>(self.source, row, first);
        let dy = Columns::new(self.dy, row.target + first, grid.target_step, grid.width());
        let sums = self.into.weights.as_chunks_mut::<LANES>().0.as_chunks_mut::<C>().0;
        let sums = &mut sums.as_chunks_mut::<R>().0[block];
        let mut sum = *sums;
        let mut p = 0;
        while grid.width() - p >= PIXELS {
            add_tile::<FMA, PIXELS, R, C, S>(&x, dy, p, &mut sum);
            p += PIXELS;
        }
        while p < grid.width() {
            add_tile::<FMA, 1, R, C, S>(&x, dy, p, &mut sum);
            p += 1;
        }
        *sums = sum;
    }

    #[inline(always)]
    fn plain<const FMA: bool>(&mut self, row: Row, block: usize) {
        let grid = self.into.grid;
        let first = block * LANES;
        let taps = self.into.weights.len() / self.into.start.len().max(1);
        for p in 0..grid.width() {
            let from = row.source + p * grid.source_step;
            let dy: [f32; LANES] = load(self.dy, row.target + p * grid.target_step + first);
            for tap in 0..taps {
                let (r, c) = (tap / grid.columns, tap % grid.columns);
                let x = from + r * grid.source_row + c * grid.channels + first;
                let at = (block * taps + tap) * LANES;
                let mut sum = vector(&self.into.weights, at);
                add_product::<FMA>(&mut sum, load(self.source, x), dy);
                store(&mut self.into.weights, at, sum, LANES);
            }
        }
    }
}

/// Adds pixels `p` to `p + P` to the sums of a vector of channels.
#[inline(always)]
fn add_tile<const FMA: bool, const P: usize, const R: usize, const C: usize, const S: usize>(
    x: &[Columns<'_>; R],
    dy: Columns<'_>,
    p: usize,
    sum: &mut [[[f32; LANES]; C]; R],
) {
    let dy = dy.tile(p, P);
    let mut output = [[0.0; LANES]; P];
    for q in 0..P {
        output[q] = dy.get(q);
    }
    for r in 0..R {
        let width = (P - 1) * S + C;
        let x = x[r].tile(p * S, width);
        for column in 0..width {
            let input = x.get(column);
            for q in 0..P {
                if column >= q * S && column - q * S < C {
                    add_product::<FMA>(&mut sum[r][column - q * S], input, output[q]);
                }
            }
        }
    }
}
