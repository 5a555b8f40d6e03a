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

use super::matrix::{Product, order};
use super::packing::{Packing, WIDE, lanes_at, of_vector, padded};
use super::scratch::Ahead;
use super::window::{Cursor, Window};
use crate::dispatch::{Instructions, Kernel};
use crate::vector::{LANES, Vector};
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
    unsafe fn run<V: Vector>(mut self) {
        let (outputs, wide) = (self.of.packing.outputs, V::WIDTH == WIDE);
        for from in (0..self.pixels).step_by(self.of.block) {
            let block = from..(from + self.of.block).min(self.pixels);
            let mut first = 0;
            while first < outputs {
                let lanes = lanes_at(first, outputs);
                // SAFETY: the caller's promise.
                first += unsafe {
                    match lanes {
                        WIDE if wide && outputs - first >= 2 * WIDE => {
                            self.strip::<V, 2>(block.clone(), first)
                        }
                        WIDE if wide => self.strip::<V, 1>(block.clone(), first),
                        WIDE => self.strip::<V, 2>(block.clone(), first),
                        _ => self.strip::<V::Eight, 1>(block.clone(), first),
                    }
                };
            }
        }
    }
}

impl Correlate<'_> {
    /// Some vectors of outputs of a block of pixels; returns the number of these outputs.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn strip<V: Vector, const VECTORS: usize>(
        &mut self,
        block: Range<usize>,
        first: usize,
    ) -> usize {
        let wide = V::WIDTH == WIDE;
        for (pass, chunk) in self.of.chunks.iter().enumerate() {
            let mut at = Position {
                cursor: self.of.window.cursor(block.start),
                chunk: *chunk,
                first,
                begin: pass == 0 && !self.accumulate,
            };
            let mut left = block.len();
            while left > 0 {
                // A tile of many pixels would need as many registers if it crossed into the next
                // row.
                let in_row = left.min(at.cursor.left_in_row(&self.of.window));
                // SAFETY: the caller's promise.
                left -= unsafe {
                    match if wide { in_row } else { left } {
                        16 | 24.. if wide && VECTORS == 1 => self.tile::<V, 16, VECTORS>(&mut at),
                        12..16 | 20.. if wide => self.tile::<V, 12, VECTORS>(&mut at),
                        10 if wide => self.tile::<V, 10, VECTORS>(&mut at),
                        8.. if wide || VECTORS == 1 => self.tile::<V, 8, VECTORS>(&mut at),
                        6.. => self.tile::<V, 6, VECTORS>(&mut at),
                        5 => self.tile::<V, 5, VECTORS>(&mut at),
                        4 => self.tile::<V, 4, VECTORS>(&mut at),
                        3 => self.tile::<V, 3, VECTORS>(&mut at),
                        2 => self.tile::<V, 2, VECTORS>(&mut at),
                        _ => self.tile::<V, 1, VECTORS>(&mut at),
                    }
                };
            }
        }
        VECTORS * V::WIDTH
    }

    /// The next `PIXELS` pixels; returns their number.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn tile<V: Vector, const PIXELS: usize, const VECTORS: usize>(
        &mut self,
        Position { cursor, chunk, first, begin }: &mut Position,
    ) -> usize {
        let of = self.of;
        let at: [(usize, usize); PIXELS] = cursor.advance_many(&of.window);
        let (inputs, step) = (of.packing.inputs.len(), of.window.source.pixel);
        // Blocks of 16 outputs have rows of 16 weights, also where two of them are a strip.
        let row = WIDE.min(VECTORS * V::WIDTH);
        let blocks = VECTORS * V::WIDTH / row;
        let weights = &of.weights[*first * inputs..][..blocks * inputs * row];
        let start = &of.start[*first..][..VECTORS * V::WIDTH];
        let outputs = (of.packing.outputs - *first).min(VECTORS * V::WIDTH);
        let length = chunk.inputs.1 - chunk.inputs.0;
        assert!(chunk.taps.1 * of.run <= inputs && chunk.inputs.1 <= of.run);
        let in_a_row = at[PIXELS - 1].0.wrapping_sub(at[0].0) == (PIXELS - 1) * step;
        // SAFETY: the caller's promise. `weights` has a row for each input of each tap, in each of
        // its blocks; slices are cut for what is read of the source, and of the target.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; PIXELS];
            for p in 0..PIXELS {
                let target = self.target[at[p].1 + *first..][..outputs].as_ptr();
                for v in 0..VECTORS {
                    let here = v * V::WIDTH;
                    sum[p][v] = match (*begin, outputs - here) {
                        (true, _) => V::load(start.as_ptr().add(here)),
                        (false, left) if left < V::WIDTH => V::load_first(target.add(here), left),
                        _ => V::load(target.add(here)),
                    };
                }
            }
            for tap in chunk.taps.0..chunk.taps.1 {
                let skip = of.taps[tap] + chunk.inputs.0;
                let weights = weights.as_ptr().add((tap * of.run + chunk.inputs.0) * row);
                let mut x = [self.source.as_ptr(); PIXELS];
                // Two calls: in the first, the compiler knows that one place tells all others.
                if in_a_row {
                    let source = &self.source[at[0].0 + skip..][..(PIXELS - 1) * step + length];
                    for p in 0..PIXELS {
                        x[p] = source.as_ptr().add(p * step);
                    }
                    add::<V, PIXELS, VECTORS>(&mut sum, x, (weights, row, inputs * row), length);
                } else {
                    for p in 0..PIXELS {
                        x[p] = self.source[at[p].0 + skip..][..length].as_ptr();
                    }
                    add::<V, PIXELS, VECTORS>(&mut sum, x, (weights, row, inputs * row), length);
                }
            }
            for p in 0..PIXELS {
                let target = self.target[at[p].1 + *first..][..outputs].as_mut_ptr();
                for v in 0..VECTORS {
                    match outputs - v * V::WIDTH {
                        left if left < V::WIDTH => {
                            sum[p][v].store_first(target.add(v * V::WIDTH), left);
                        }
                        _ => sum[p][v].store(target.add(v * V::WIDTH)),
                    }
                }
            }
        }
        PIXELS
    }
}

/// Adds the products of `length` inputs of a tap, which begin at `x` for each pixel.
///
/// # Safety
/// They may be read, and so may a row of weights for each of them, `row` floats after one another,
/// in blocks `apart` floats after one another; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn add<V: Vector, const PIXELS: usize, const VECTORS: usize>(
    sum: &mut [[V; VECTORS]; PIXELS],
    x: [*const f32; PIXELS],
    (mut weights, row, apart): (*const f32, usize, usize),
    length: usize,
) {
    // SAFETY: the caller's promise; after the last input nothing is read.
    unsafe {
        for j in 0..length {
            let mut w = [V::load(weights); VECTORS];
            for v in 1..VECTORS {
                w[v] = V::load(weights.add(of_vector::<V>(v, apart)));
            }
            for p in 0..PIXELS {
                let input = *x[p].add(j);
                for v in 0..VECTORS {
                    sum[p][v] = w[v].scale_add(input, sum[p][v]);
                }
            }
            weights = weights.wrapping_add(row);
        }
    }
}

/// Where the next tile begins.
struct Position {
    cursor: Cursor,
    chunk: Chunk,
    /// The first output.
    first: usize,
    /// The sums begin with `start`, not with what the target holds.
    begin: bool,
}
