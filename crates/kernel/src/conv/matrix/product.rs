//! Pixels x outputs in registers, summed over the inputs.
//!
//! 6 pixels x 2 vectors take 12 of AVX2's 16 registers; 4 x 3 would leave too few for the
//! operands, so three vectors go with 3 pixels.

use super::super::correlate::Correlation;
use super::super::instructions::Kernel;
use super::super::packing::{NARROW, WIDE};
use super::super::scratch::Ahead;
use super::{Strip, covers, strips};
use crate::lanes::{Fused, LANES, Lanes, Plain, kernel_of_lanes};
use std::ops::Range;

/// Steps of a sum between two tests for its end.
const STEPS: usize = 4;
/// Lines of memory to fetch with each tile for whoever comes later.
const LINES_AHEAD: usize = 8;
/// Steps between the tile that fetches its targets and the one that writes them, about, and
/// pixels at the least and at the most: memory takes so long to answer.
const STEPS_AHEAD: usize = 128;
const PIXELS_AHEAD: (usize, usize) = (12, 48);

/// One pass of a [`Correlation`] whose operands are matrices.
pub(in crate::conv) struct Product<'a> {
    pub(in crate::conv) of: &'a Correlation,
    pub(in crate::conv) pixels: usize,
    pub(in crate::conv) source: &'a [f32],
    pub(in crate::conv) target: &'a mut [f32],
    /// Add to the target instead of beginning with `start`.
    pub(in crate::conv) accumulate: bool,
    pub(in crate::conv) ahead: &'a mut Ahead,
}

kernel_of_lanes!(Product);

impl Product<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(mut self) {
        let of = self.of;
        let (inputs, outputs) = (of.packing.inputs.len(), of.packing.outputs);
        let (source, target) = (&of.window.source, &of.window.target);
        assert!(covers(self.source.len(), source, self.pixels, inputs), "images too short");
        assert!(covers(self.target.len(), target, self.pixels, outputs), "images too short");
        assert!(of.weights.len() == inputs * outputs && of.start.len() >= outputs);
        for from in (0..self.pixels).step_by(of.block) {
            let block = from..(from + of.block).min(self.pixels);
            for strip in strips(outputs, LANES) {
                for (pass, chunk) in of.input_chunks().enumerate() {
                    assert!(chunk.start < chunk.end && chunk.end <= inputs);
                    let begin = pass == 0 && !self.accumulate;
                    // SAFETY: the caller's promise; pixels, inputs and outputs are there, as
                    // asserted.
                    unsafe {
                        match strip.vectors {
                            1 => self.tiles::<V, 8, 1>(block.clone(), strip, chunk, begin),
                            2 => self.tiles::<V, 6, 2>(block.clone(), strip, chunk, begin),
                            _ => self.tiles::<V, 3, 3>(block.clone(), strip, chunk, begin),
                        }
                    }
                }
            }
        }
    }

    /// A strip of all pixels of a block.
    ///
    /// # Safety
    /// They are there, and so are the inputs; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn tiles<V: Lanes, const MOST: usize, const VECTORS: usize>(
        &mut self,
        block: Range<usize>,
        strip: Strip,
        chunk: Range<usize>,
        begin: bool,
    ) {
        let of = self.of;
        let (source, target) = (&of.window.source, &of.window.target);
        let all = of.packing.inputs.len();
        let narrow = strip.first + (VECTORS - 1) * LANES;
        let mut left = block.len();
        // SAFETY: the caller's promise. A block of 16 outputs has `all` rows of 16 weights, one
        // of 8 outputs, which begins with the last of an odd number of vectors, rows of 8.
        unsafe {
            let weights = of.weights.as_ptr();
            let from = self.source.as_ptr();
            let to = self.target.as_mut_ptr();
            let mut tile = Tile {
                wide: weights.wrapping_add(strip.first * all + chunk.start * WIDE),
                narrow: weights.wrapping_add(narrow * all + chunk.start * NARROW),
                inputs: chunk.len(),
                from: from.add(source.start + block.start * source.pixel + chunk.start),
                from_step: source.pixel,
                to: to.add(target.start + block.start * target.pixel + strip.first),
                to_step: target.pixel,
                start: begin.then(|| of.start.as_ptr().add(strip.first)),
                ahead: (STEPS_AHEAD / chunk.len() * 6).clamp(PIXELS_AHEAD.0, PIXELS_AHEAD.1),
            };
            while left > 0 {
                self.ahead.fetch::<V>(LINES_AHEAD);
                left -= match left {
                    6 | 9.. if MOST == 6 => tile.run::<V, 6, VECTORS>(),
                    8.. if MOST == 8 => tile.run::<V, 8, VECTORS>(),
                    4.. if MOST > 4 => tile.run::<V, 4, VECTORS>(),
                    3.. => tile.run::<V, 3, VECTORS>(),
                    2 => tile.run::<V, 2, VECTORS>(),
                    _ => tile.run::<V, 1, VECTORS>(),
                };
            }
        }
    }
}

/// Pixels x outputs; operands with the floats from one pixel to the next.
struct Tile {
    /// Rows of 16 weights, for two vectors.
    wide: *const f32,
    /// Rows of 8 weights, for the last one of an odd number.
    narrow: *const f32,
    inputs: usize,
    from: *const f32,
    from_step: usize,
    to: *mut f32,
    to_step: usize,
    /// What the sums are added to; what the target holds if nothing.
    start: Option<*const f32>,
    /// Pixels from the first one of a tile to that whose target it fetches.
    ahead: usize,
}

impl Tile {
    /// The next `PIXELS` pixels; returns their number.
    ///
    /// # Safety
    /// All operands may be read, and the target written; the machine has the instructions of
    /// `V`.
    #[inline(always)]
    unsafe fn run<V: Lanes, const PIXELS: usize, const VECTORS: usize>(&mut self) -> usize {
        // SAFETY: the caller's promise; one step after the last pixel nothing is read.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; PIXELS];
            for p in 0..PIXELS {
                V::fetch(self.to.wrapping_add((self.ahead + p) * self.to_step));
            }
            let mut at = Input { wide: self.wide, narrow: self.narrow, from: self.from };
            at.add::<V, PIXELS, VECTORS, true>(&mut sum, self.from_step);
            let mut left = self.inputs - 1;
            if self.inputs >= STEPS {
                for _ in 1..STEPS {
                    at.add::<V, PIXELS, VECTORS, false>(&mut sum, self.from_step);
                }
                for _ in 1..self.inputs / STEPS {
                    for _ in 0..STEPS {
                        at.add::<V, PIXELS, VECTORS, false>(&mut sum, self.from_step);
                    }
                }
                left = self.inputs % STEPS;
            }
            for _ in 0..left {
                at.add::<V, PIXELS, VECTORS, false>(&mut sum, self.from_step);
            }
            for p in 0..PIXELS {
                for v in 0..VECTORS {
                    let to = self.to.add(p * self.to_step + v * LANES);
                    let before = match self.start {
                        Some(start) => start.add(v * LANES),
                        None => to.cast_const(),
                    };
                    (sum[p][v] + V::load(before)).store(to);
                }
            }
            self.from = self.from.wrapping_add(PIXELS * self.from_step);
            self.to = self.to.wrapping_add(PIXELS * self.to_step);
        }
        PIXELS
    }
}

/// Where the weights of an input and its first pixel lie.
struct Input {
    wide: *const f32,
    narrow: *const f32,
    from: *const f32,
}

impl Input {
    /// Adds the products of this input, or begins with them, and moves on to the next one.
    ///
    /// A sum begins with a product, and what it is added to comes last: while the sums of the
    /// tile before are being stored, multiplications run at full speed, multiplications with an
    /// addition do not.
    ///
    /// # Safety
    /// The input is there for all pixels, `step` floats apart, and its weights for all vectors:
    /// two in `wide`, an odd one in `narrow`; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add<V: Lanes, const PIXELS: usize, const VECTORS: usize, const BEGIN: bool>(
        &mut self,
        sum: &mut [[V; VECTORS]; PIXELS],
        step: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut weights = [V::zero(); VECTORS];
            for v in 0..VECTORS {
                let odd = v + 1 == VECTORS && VECTORS % 2 == 1;
                weights[v] = V::load(if odd { self.narrow } else { self.wide.add(v * LANES) });
            }
            for p in 0..PIXELS {
                let input = *self.from.add(p * step);
                for v in 0..VECTORS {
                    let w = weights[v];
                    sum[p][v] = if BEGIN { w * input } else { w.scaled(input, sum[p][v]) };
                }
            }
        }
        self.wide = self.wide.wrapping_add(WIDE);
        self.narrow = self.narrow.wrapping_add(NARROW);
        self.from = self.from.wrapping_add(1);
    }
}
