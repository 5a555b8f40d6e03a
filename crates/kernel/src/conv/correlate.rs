//! The forward tile: pixels x outputs in registers.
//!
//! ```text
//! target[p, o] = start[o] + sum_{t, j} source[p + taps[t] + j] * weights[o, t, j]
//! ```
//!
//! With channels innermost and a border in memory, the inputs of one row of the window are
//! contiguous, so a convolution is a few matrix products read in place. 6 pixels x 16 outputs
//! take 12 of AVX2's 16 registers. Weights that would leave the first-level cache are taken in
//! chunks, pixels that would leave the second in blocks; neither changes the order of a sum.

use super::instructions::{Instructions, Kernel, load, store, vector};
use super::matrix::{Product, order};
use super::packing::{NARROW, Packing, WIDE, lanes_at, padded};
use super::scratch::Ahead;
use super::window::{Cursor, Window};
use crate::dispatch::multiply_add;
use crate::lanes::LANES;
use std::ops::Range;

/// Rows of 16 weights that stay in the first-level cache beside the pixels.
const CHUNK_ROWS: usize = 320;
/// Floats of weights that stay in the second-level cache.
const SMALL_WEIGHTS: usize = 32 << 10;
/// Floats of input and output of a block, where the weights are small and where they are not.
const BLOCK_FLOATS: (usize, usize) = (8 << 10, 64 << 10);

/// Taps and inputs of a pass over the pixels.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    taps: (usize, usize),
    inputs: (usize, usize),
}

/// A sum over windows with its packed weights.
#[derive(Clone, Debug)]
pub(super) struct Correlation {
    pub(super) window: Window,
    /// Where the runs of inputs begin, from the pixel's first input.
    taps: Vec<usize>,
    /// Inputs per tap.
    run: usize,
    pub(super) packing: Packing,
    pub(super) weights: Vec<f32>,
    pub(super) start: Vec<f32>,
    chunks: Vec<Chunk>,
    /// Pixels that stay in cache.
    pub(super) block: usize,
    /// Source and target are matrices, and the sum a product.
    matrix: bool,
}

impl Correlation {
    pub(super) fn new(window: Window, taps: Vec<usize>, run: usize, packing: Packing) -> Self {
        let per_pixel = window.source.pixel + window.target.pixel;
        let block = match packing.len() {
            0..SMALL_WEIGHTS => (BLOCK_FLOATS.0 / per_pixel).max(24),
            _ => (BLOCK_FLOATS.1 / per_pixel).max(96),
        };
        Correlation {
            chunks: chunks(taps.len(), run),
            block: block / 24 * 24,
            weights: vec![0.0; packing.len()],
            start: vec![0.0; padded(packing.outputs)],
            matrix: is_matrix(&window, &taps, &packing),
            window,
            taps,
            run,
            packing,
        }
    }

    pub(super) fn set_weights(&mut self, on: Instructions, plain: &[f32]) {
        order::pack(on, &self.packing, plain, &mut self.weights);
    }

    /// What every sum starts with.
    pub(super) fn set_start(&mut self, start: Option<&[f32]>) {
        match start {
            Some(start) => self.start[..start.len()].copy_from_slice(start),
            None => self.start.fill(0.0),
        }
    }

    /// The sums of all images, or added to what the target holds.
    pub(super) fn apply(
        &self,
        on: Instructions,
        images: usize,
        source: &[f32],
        target: &mut [f32],
        accumulate: bool,
        ahead: &mut Ahead,
    ) {
        let (of, pixels) = (self, self.window.pixels(images));
        match self.matrix {
            true => on.run(Product { of, pixels, source, target, accumulate, ahead }),
            false => on.run(Correlate { of, pixels, source, target, accumulate }),
        }
    }

    /// The inputs of a tap, as many at a time as stay in cache.
    #[inline(always)]
    pub(super) fn input_chunks(&self) -> impl Iterator<Item = Range<usize>> + use<'_> {
        self.chunks.iter().map(|chunk| chunk.inputs.0..chunk.inputs.1)
    }

    /// No tap reaches these pixels: they are all `start`.
    pub(super) fn is_empty(&self) -> bool {
        self.taps.is_empty()
    }

    pub(super) fn floats(&self) -> usize {
        self.weights.len() + self.start.len()
    }
}

/// Whether a sum is a product of matrices, with outputs in whole vectors.
pub(super) fn is_matrix(window: &Window, taps: &[usize], packing: &Packing) -> bool {
    taps == [0] && packing.outputs.is_multiple_of(LANES) && window.is_even()
}

fn chunks(taps: usize, run: usize) -> Vec<Chunk> {
    if taps == 0 || run <= CHUNK_ROWS {
        let together = (CHUNK_ROWS / run.max(1)).max(1);
        let first = (0..taps.max(1)).step_by(together);
        return first
            .map(|t| Chunk { taps: (t, (t + together).min(taps)), inputs: (0, run) })
            .collect();
    }
    let length = run.div_ceil(run.div_ceil(CHUNK_ROWS));
    (0..taps)
        .flat_map(|t| {
            (0..run)
                .step_by(length)
                .map(move |j| Chunk { taps: (t, t + 1), inputs: (j, (j + length).min(run)) })
        })
        .collect()
}

/// One pass of a [`Correlation`] over a batch.
struct Correlate<'a> {
    of: &'a Correlation,
    pixels: usize,
    source: &'a [f32],
    target: &'a mut [f32],
    /// Add to the target instead of beginning with `start`.
    accumulate: bool,
}

impl Kernel for Correlate<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let outputs = self.of.packing.outputs;
        let pixels = self.pixels;
        for from in (0..pixels).step_by(self.of.block) {
            let block = from..(from + self.of.block).min(pixels);
            for first in (0..outputs).step_by(WIDE) {
                if lanes_at(first, outputs) == WIDE {
                    self.wide::<FMA>(block.clone(), first);
                } else {
                    self.narrow::<FMA>(block.clone(), first);
                }
            }
        }
    }
}

/// Runs tiles of `$most` pixels, then smaller ones, down to the last pixel.
macro_rules! tiles {
    ($self:ident, $fma:ident, $lanes:ident, $block:ident, $first:ident, $most:literal, $($less:literal),*) => {
        for (pass, chunk) in $self.of.chunks.iter().enumerate() {
            let begin = pass == 0 && !$self.accumulate;
            let mut cursor = $self.of.window.cursor($block.start);
            let mut left = $block.len();
            while left >= $most {
                $self.tile::<$fma, $lanes, $most>(&mut cursor, chunk, $first, begin);
                left -= $most;
            }
            match left {
                $($less => $self.tile::<$fma, $lanes, $less>(&mut cursor, chunk, $first, begin),)*
                _ => {}
            }
        }
    };
}

impl Correlate<'_> {
    #[inline(always)]
    fn wide<const FMA: bool>(&mut self, block: Range<usize>, first: usize) {
        tiles!(self, FMA, WIDE, block, first, 6, 5, 4, 3, 2, 1);
    }

    #[inline(always)]
    fn narrow<const FMA: bool>(&mut self, block: Range<usize>, first: usize) {
        tiles!(self, FMA, NARROW, block, first, 8, 7, 6, 5, 4, 3, 2, 1);
    }

    /// The next `PIXELS` pixels x `LANES` outputs.
    #[inline(always)]
    fn tile<const FMA: bool, const LANES: usize, const PIXELS: usize>(
        &mut self,
        cursor: &mut Cursor,
        chunk: &Chunk,
        first: usize,
        begin: bool,
    ) {
        let of = self.of;
        let at: [(usize, usize); PIXELS] = cursor.advance_many(&of.window);
        let (weights, _) = of.weights[first * of.packing.inputs.len()..].as_chunks::<LANES>();
        let outputs = of.packing.outputs - first;
        let mut sum = [vector::<LANES>(&of.start, first); PIXELS];
        if !begin {
            for p in 0..PIXELS {
                sum[p] = match outputs < LANES {
                    true => load(self.target, at[p].1 + first),
                    false => vector(self.target, at[p].1 + first),
                };
            }
        }
        let length = chunk.inputs.1 - chunk.inputs.0;
        let step = of.window.source.pixel;
        let in_a_row = at[PIXELS - 1].0.wrapping_sub(at[0].0) == (PIXELS - 1) * step;
        for tap in chunk.taps.0..chunk.taps.1 {
            let skip = of.taps[tap] + chunk.inputs.0;
            if in_a_row {
                let x = &self.source[at[0].0 + skip..][..(PIXELS - 1) * step + length];
                let w = &weights[tap * of.run + chunk.inputs.0..][..length];
                for j in 0..length {
                    let row = w[j];
                    for p in 0..PIXELS {
                        // SAFETY: p < PIXELS and j < length, and `x` reaches to
                        // (PIXELS - 1) * step + length. One test for the tile in place of one
                        // for each pixel is worth 3 % of long sums and more of short ones.
                        let input = unsafe { *x.get_unchecked(p * step + j) };
                        for lane in 0..LANES {
                            sum[p][lane] = multiply_add::<FMA>(input, row[lane], sum[p][lane]);
                        }
                    }
                }
                continue;
            }
            // A loop: `array::from_fn` would be a call, and not for this instruction set.
            let mut x: [&[f32]; PIXELS] = [&[]; PIXELS];
            for p in 0..PIXELS {
                x[p] = &self.source[at[p].0 + skip..][..length];
            }
            let w = &weights[tap * of.run + chunk.inputs.0..][..length];
            for j in 0..length {
                let row = w[j];
                for p in 0..PIXELS {
                    let input = x[p][j];
                    for lane in 0..LANES {
                        sum[p][lane] = multiply_add::<FMA>(input, row[lane], sum[p][lane]);
                    }
                }
            }
        }
        for p in 0..PIXELS {
            store(self.target, at[p].1 + first, sum[p], outputs);
        }
    }
}
