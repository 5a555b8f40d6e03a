//! Pixels x outputs in registers, summed over the inputs.
//!
//! 6 pixels x 2 vectors take 12 of AVX2's 16 registers; 4 x 3 would leave too few for the
//! operands, so three vectors go with 3 pixels. AVX-512 has 32 registers, of which 12 x 2, 8 x 3 or
//! 16 x 1 are sums.

use super::super::correlate::Correlation;
use super::super::packing::{NARROW, WIDE, of_vector};
use super::super::scratch::Ahead;
use super::{Strip, covers, next_tile, of_strip, strips};
use crate::dispatch::Kernel;
use crate::vector::Vector;
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

impl Kernel for Product<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let of = self.of;
        let (inputs, outputs) = (of.packing.inputs.len(), of.packing.outputs);
        let (source, target) = (&of.window.source, &of.window.target);
        assert!(covers(self.source.len(), source, self.pixels, inputs), "images too short");
        assert!(covers(self.target.len(), target, self.pixels, outputs), "images too short");
        assert!(of.weights.len() == inputs * outputs && of.start.len() >= outputs);
        for from in (0..self.pixels).step_by(of.block) {
            let block = from..(from + of.block).min(self.pixels);
            for strip in strips::<V>(outputs) {
                for (pass, chunk) in of.input_chunks().enumerate() {
                    assert!(chunk.start < chunk.end && chunk.end <= inputs);
                    let begin = pass == 0 && !self.accumulate;
                    // SAFETY: the caller's promise; pixels, inputs and outputs are there, as
                    // asserted.
                    unsafe {
                        of_strip!(self.tiles::<V>(strip, block.clone(), chunk, begin));
                    }
                }
            }
        }
    }
}

impl Product<'_> {
    /// A strip of all pixels of a block.
    ///
    /// # Safety
    /// They are there, and so are the inputs; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn tiles<V: Vector, const MOST: usize, const VECTORS: usize, const LAST: bool>(
        &mut self,
        strip: Strip,
        block: Range<usize>,
        chunk: Range<usize>,
        begin: bool,
    ) {
        let of = self.of;
        let (source, target) = (&of.window.source, &of.window.target);
        let all = of.packing.inputs.len();
        let narrow = strip.first + (VECTORS - 1) * V::WIDTH;
        let mut left = block.len();
        // SAFETY: the caller's promise. A block of 16 outputs has `all` rows of 16 weights, one
        // of 8 outputs, which begins with the last of an odd number of vectors, rows of 8.
        unsafe {
            let weights = of.weights.as_ptr();
            let from = self.source.as_ptr();
            let to = self.target.as_mut_ptr();
            let mut tile = Tile {
                wide: weights.wrapping_add(strip.first * all + chunk.start * WIDE),
                apart: all * WIDE,
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
                left -= next_tile!(tile.run::<V, MOST, VECTORS, LAST>(), left);
            }
        }
    }
}

/// Pixels x outputs; operands with the floats from one pixel to the next.
struct Tile {
    /// Rows of 16 weights.
    wide: *const f32,
    /// Floats from one block of such rows to the next.
    apart: usize,
    /// Rows of 8 weights, for the last vector if it is narrow.
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
    unsafe fn run<V: Vector, const PIXELS: usize, const VECTORS: usize, const LAST: bool>(
        &mut self,
    ) -> usize {
        // SAFETY: the caller's promise; one step after the last pixel nothing is read.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; PIXELS];
            for p in 0..PIXELS {
                V::prefetch(self.to.wrapping_add((self.ahead + p) * self.to_step));
            }
            let Tile { wide, apart, narrow, from, .. } = *self;
            let mut at = Input { wide, apart, narrow, from };
            at.add::<V, PIXELS, VECTORS, LAST, true>(&mut sum, self.from_step);
            let mut left = self.inputs - 1;
            if V::WIDTH < WIDE && self.inputs >= STEPS {
                for _ in 1..STEPS {
                    at.add::<V, PIXELS, VECTORS, LAST, false>(&mut sum, self.from_step);
                }
                for _ in 1..self.inputs / STEPS {
                    for _ in 0..STEPS {
                        at.add::<V, PIXELS, VECTORS, LAST, false>(&mut sum, self.from_step);
                    }
                }
                left = self.inputs % STEPS;
            }
            for _ in 0..left {
                at.add::<V, PIXELS, VECTORS, LAST, false>(&mut sum, self.from_step);
            }
            for p in 0..PIXELS {
                for v in 0..VECTORS {
                    let to = self.to.add(p * self.to_step + v * V::WIDTH);
                    let before = match self.start {
                        Some(start) => start.add(v * V::WIDTH),
                        None => to.cast_const(),
                    };
                    if LAST && v + 1 == VECTORS {
                        (sum[p][v] + V::load_first(before, NARROW)).store_first(to, NARROW);
                    } else {
                        (sum[p][v] + V::load(before)).store(to);
                    }
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
    apart: usize,
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
    /// in `wide`, with `LAST` the last one in `narrow`; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add<
        V: Vector,
        const PIXELS: usize,
        const VECTORS: usize,
        const LAST: bool,
        const BEGIN: bool,
    >(
        &mut self,
        sum: &mut [[V; VECTORS]; PIXELS],
        step: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut weights = [V::zero(); VECTORS];
            for v in 0..VECTORS {
                weights[v] = match LAST && v + 1 == VECTORS {
                    true => V::load_first(self.narrow, NARROW),
                    false => V::load(self.wide.wrapping_add(of_vector::<V>(v, self.apart))),
                };
            }
            for p in 0..PIXELS {
                let input = *self.from.add(p * step);
                for v in 0..VECTORS {
                    let w = weights[v];
                    sum[p][v] = if BEGIN { w * input } else { w.scale_add(input, sum[p][v]) };
                }
            }
        }
        self.wide = self.wide.wrapping_add(WIDE);
        self.narrow = self.narrow.wrapping_add(NARROW);
        self.from = self.from.wrapping_add(1);
    }
}
