//! The weight-gradient tile: inputs x outputs in registers, summed over pixels.
//!
//! ```text
//! dw[o, t, j] += sum_p source[p + taps[t] + j] * dy[p, o]
//! ```
//!
//! A sum runs over the pixels in their order, image after image. They are taken in blocks that
//! stay in the first-level cache while all tiles pass over them: the block's `dy` is copied for
//! that, since pixels that lie a power of two apart would evict each other.

use super::instructions::{Kernel, load, vector};
use super::packing::{NARROW, Packing, WIDE, lanes_at};
use super::window::Window;
use crate::dispatch::multiply_add;

/// Floats between the first and the last pixel of a block, about.
const BLOCK_FLOATS: usize = 6 << 10;

/// A sum of outer products, held in the packed order of the forward weights.
#[derive(Clone, Debug)]
pub(super) struct OuterSum {
    pub(super) window: Window,
    taps: Vec<usize>,
    run: usize,
    packing: Packing,
    sum: Vec<f32>,
    /// Where the pixels of a block read, and where their `dy` lies.
    places: Vec<(usize, usize)>,
    /// The block's `dy`, as `[pixel][lane]`.
    dy: Vec<f32>,
}

impl OuterSum {
    pub(super) fn new(window: Window, taps: Vec<usize>, run: usize, packing: Packing) -> Self {
        let block = (BLOCK_FLOATS / window.source.pixel).clamp(24, 128);
        OuterSum {
            sum: vec![0.0; packing.len()],
            places: vec![(0, 0); block],
            dy: vec![0.0; block * WIDE],
            window,
            taps,
            run,
            packing,
        }
    }

    /// Writes the sum into the caller's array and begins a new one.
    pub(super) fn take(&mut self, dw: &mut [f32]) {
        self.packing.unpack(&self.sum, dw);
        self.sum.fill(0.0);
    }

    pub(super) fn floats(&self) -> usize {
        self.sum.len() + self.dy.len()
    }
}

/// One pass of an [`OuterSum`] over a batch.
pub(super) struct Accumulate<'a> {
    pub(super) into: &'a mut OuterSum,
    pub(super) pixels: usize,
    pub(super) source: &'a [f32],
    pub(super) dy: &'a [f32],
}

impl Kernel for Accumulate<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let outputs = self.into.packing.outputs;
        let mut left = self.pixels;
        let mut cursor = self.into.window.cursor(0);
        while left > 0 {
            let pixels = left.min(self.into.places.len());
            for place in &mut self.into.places[..pixels] {
                *place = cursor.advance(&self.into.window);
            }
            for first in (0..outputs).step_by(WIDE) {
                if lanes_at(first, outputs) == WIDE {
                    self.wide::<FMA>(pixels, first);
                } else {
                    self.narrow::<FMA>(pixels, first);
                }
            }
            left -= pixels;
        }
    }
}

impl Accumulate<'_> {
    #[inline(always)]
    fn wide<const FMA: bool>(&mut self, pixels: usize, first: usize) {
        self.copy_dy::<WIDE>(pixels, first);
        let run = self.into.run;
        for tap in 0..self.into.taps.len() {
            let mut j = 0;
            // Small tiles wait for their own sums, so 7 and 8 are cut in halves.
            while j < run {
                match run - j {
                    1 => j += self.tile::<FMA, WIDE, 1>(pixels, first, tap, j),
                    2 => j += self.tile::<FMA, WIDE, 2>(pixels, first, tap, j),
                    3 => j += self.tile::<FMA, WIDE, 3>(pixels, first, tap, j),
                    4 | 7 | 8 => j += self.tile::<FMA, WIDE, 4>(pixels, first, tap, j),
                    5 => j += self.tile::<FMA, WIDE, 5>(pixels, first, tap, j),
                    _ => j += self.tile::<FMA, WIDE, 6>(pixels, first, tap, j),
                }
            }
        }
    }

    #[inline(always)]
    fn narrow<const FMA: bool>(&mut self, pixels: usize, first: usize) {
        self.copy_dy::<NARROW>(pixels, first);
        let run = self.into.run;
        for tap in 0..self.into.taps.len() {
            let mut j = 0;
            while j < run {
                match run - j {
                    1 => j += self.tile::<FMA, NARROW, 1>(pixels, first, tap, j),
                    2 => j += self.tile::<FMA, NARROW, 2>(pixels, first, tap, j),
                    3 => j += self.tile::<FMA, NARROW, 3>(pixels, first, tap, j),
                    4 => j += self.tile::<FMA, NARROW, 4>(pixels, first, tap, j),
                    5 | 9 | 10 => j += self.tile::<FMA, NARROW, 5>(pixels, first, tap, j),
                    6 | 7 | 11..16 => j += self.tile::<FMA, NARROW, 6>(pixels, first, tap, j),
                    _ => j += self.tile::<FMA, NARROW, 8>(pixels, first, tap, j),
                }
            }
        }
    }

    /// Lanes without an output take what lies there: nobody reads their sums.
    #[inline(always)]
    fn copy_dy<const LANES: usize>(&mut self, pixels: usize, first: usize) {
        let (rows, _) = self.into.dy.as_chunks_mut::<LANES>();
        for (row, place) in rows.iter_mut().zip(&self.into.places[..pixels]) {
            *row = load(self.dy, place.1 + first);
        }
    }

    /// `INPUTS` inputs of a tap x `LANES` outputs, over the pixels; returns `INPUTS`.
    #[inline(always)]
    fn tile<const FMA: bool, const LANES: usize, const INPUTS: usize>(
        &mut self,
        pixels: usize,
        first: usize,
        tap: usize,
        j: usize,
    ) -> usize {
        let into = &mut *self.into;
        let (sums, _) = into.sum[first * into.packing.inputs.len()..].as_chunks_mut::<LANES>();
        let Some(sums) = sums[tap * into.run + j..].first_chunk_mut::<INPUTS>() else {
            return INPUTS;
        };
        let mut sum = *sums;
        let x = &self.source[into.taps[tap] + j..];
        let (dy, _) = into.dy.as_chunks::<LANES>();
        for (place, output) in into.places[..pixels].iter().zip(dy) {
            let input: [f32; INPUTS] = vector(x, place.0);
            for i in 0..INPUTS {
                for lane in 0..LANES {
                    sum[i][lane] = multiply_add::<FMA>(input[i], output[lane], sum[i][lane]);
                }
            }
        }
        *sums = sum;
        INPUTS
    }
}
