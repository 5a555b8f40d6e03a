//! Inputs x outputs in registers, summed over the pixels.
//!
//! Pixels, and inputs if there are many, are taken in blocks that stay in the first-level cache
//! while all tiles pass over them. Where pixels of `dy` lie so far apart that they would evict
//! each other, the first tile of a strip of outputs copies them on its way, for the others.

use super::super::outer::{MOST_PIXELS, OuterSum};
use super::super::packing::{NARROW, WIDE, of_vector};
use super::super::scratch::Ahead;
use super::{Strip, covers, next_tile, of_strip, strips};
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector};
use std::ops::Range;

/// Pixels of `dy` so many floats apart, or a multiple of it, share a few sets of the first-level
/// cache.
const FAR_APART: usize = 128;
/// Floats of a pixel's copy: those of the widest strip.
pub(in crate::conv) const COPIED: usize = 3 * WIDE;
/// Pixels of a sum between two tests for its end.
const STEPS: usize = 2;
/// Lines of memory to fetch for whoever comes later, with each tile; with one of wide vectors,
/// which takes longer, one with every few pixels.
const LINES_AHEAD: usize = 16;
/// Inputs of a block.
const MOST_INPUTS: usize = 96;

/// One pass of an [`OuterSum`] whose operands are matrices.
pub(in crate::conv) struct OuterProduct<'a> {
    pub(in crate::conv) into: &'a mut OuterSum,
    pub(in crate::conv) pixels: usize,
    pub(in crate::conv) source: &'a [f32],
    pub(in crate::conv) dy: &'a [f32],
    /// Begin with zeros instead of adding to the sum.
    pub(in crate::conv) begin: bool,
    pub(in crate::conv) ahead: &'a mut Ahead,
}

impl Kernel for OuterProduct<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let OuterSum { packing, window, .. } = &*self.into;
        let (inputs, outputs) = (packing.inputs.len(), packing.outputs);
        assert!(covers(self.source.len(), &window.source, self.pixels, inputs), "images too short");
        assert!(covers(self.dy.len(), &window.target, self.pixels, outputs), "images too short");
        assert!(self.into.sum.len() == inputs * outputs);
        assert!(self.into.dy.len() >= MOST_PIXELS * COPIED);
        for from in (0..self.pixels).step_by(MOST_PIXELS) {
            let block = from..(from + MOST_PIXELS).min(self.pixels);
            for first in (0..inputs).step_by(MOST_INPUTS) {
                let chunk = first..(first + MOST_INPUTS).min(inputs);
                for strip in strips::<V>(outputs) {
                    let (block, chunk) = (block.clone(), chunk.clone());
                    // SAFETY: the caller's promise; pixels, inputs and outputs are there, as
                    // asserted, and a block has no more pixels than the copy.
                    unsafe {
                        of_strip!(self.tiles::<V>(strip, block, chunk));
                    }
                }
            }
        }
    }
}

impl OuterProduct<'_> {
    /// A strip of some inputs, over the pixels of a block.
    ///
    /// # Safety
    /// They are there, the copy has room for the block, and the machine has the instructions
    /// of `V`.
    #[inline(always)]
    unsafe fn tiles<V: Vector, const MOST: usize, const VECTORS: usize, const LAST: bool>(
        &mut self,
        strip: Strip,
        block: Range<usize>,
        chunk: Range<usize>,
    ) {
        let into = &mut *self.into;
        let (source, target) = (into.window.source, into.window.target);
        let inputs = into.packing.inputs.len();
        let narrow = strip.first + (VECTORS - 1) * V::WIDTH;
        // SAFETY: the caller's promise. A block of 16 outputs has a row of 16 sums per input,
        // one of 8 outputs, which begins with the last of an odd number of vectors, one of 8.
        unsafe {
            let at = source.start + block.start * source.pixel + chunk.start;
            let dy = target.start + block.start * target.pixel + strip.first;
            let sum = into.sum.as_mut_ptr();
            let mut tile = Tile {
                wide: sum.wrapping_add(strip.first * inputs + chunk.start * WIDE),
                apart: inputs * WIDE,
                narrow: sum.wrapping_add(narrow * inputs + chunk.start * NARROW),
                pixels: block.len(),
                from: self.source.as_ptr().add(at),
                from_step: source.pixel,
                dy: self.dy.as_ptr().add(dy),
                dy_step: target.pixel,
                copy: target.pixel.is_multiple_of(FAR_APART).then_some(into.dy.as_mut_ptr()),
                begin: self.begin && block.start == 0,
            };
            let mut left = chunk.len();
            while left > 0 {
                if V::WIDTH == LANES {
                    self.ahead.fetch::<V>(LINES_AHEAD);
                }
                left -= next_tile!(tile.run::<V, MOST, VECTORS, LAST>(self.ahead), left);
            }
        }
    }
}

/// Inputs x outputs; operands with the floats from one pixel to the next.
struct Tile {
    /// Rows of 16 sums.
    wide: *mut f32,
    /// Floats from one block of such rows to the next.
    apart: usize,
    /// Rows of 8 sums, for the last vector if it is narrow.
    narrow: *mut f32,
    pixels: usize,
    from: *const f32,
    from_step: usize,
    dy: *const f32,
    dy_step: usize,
    /// Where the first tile copies `dy`, for the others.
    copy: Option<*mut f32>,
    /// The sums begin with zeros, not with what they hold.
    begin: bool,
}

impl Tile {
    /// The next `INPUTS` inputs; returns their number.
    ///
    /// # Safety
    /// All operands may be read, and the sums and the copy written; the machine has the
    /// instructions of `V`.
    #[inline(always)]
    unsafe fn run<V: Vector, const INPUTS: usize, const VECTORS: usize, const LAST: bool>(
        &mut self,
        ahead: &mut Ahead,
    ) -> usize {
        // SAFETY: the caller's promise; after the last input nothing is read.
        unsafe {
            match self.copy.take() {
                Some(copy) => {
                    self.sum::<V, INPUTS, VECTORS, LAST, true>(copy, ahead);
                    (self.dy, self.dy_step) = (copy, VECTORS * V::WIDTH);
                }
                None => {
                    self.sum::<V, INPUTS, VECTORS, LAST, false>(std::ptr::null_mut(), ahead);
                }
            }
        }
        self.wide = self.wide.wrapping_add(INPUTS * WIDE);
        self.narrow = self.narrow.wrapping_add(INPUTS * NARROW);
        self.from = self.from.wrapping_add(INPUTS);
        INPUTS
    }

    /// # Safety
    /// As [`run`](Self::run); the copy is written with `COPY` alone.
    #[inline(always)]
    unsafe fn sum<
        V: Vector,
        const INPUTS: usize,
        const VECTORS: usize,
        const LAST: bool,
        const COPY: bool,
    >(
        &self,
        mut copy: *mut f32,
        ahead: &mut Ahead,
    ) {
        let last = |v: usize| LAST && v + 1 == VECTORS;
        let place = |i: usize, v: usize| match last(v) {
            true => self.narrow.wrapping_add(i * NARROW),
            false => self.wide.wrapping_add(i * WIDE + of_vector::<V>(v, self.apart)),
        };
        // SAFETY: the caller's promise; after the last pixel nothing is read.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; INPUTS];
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    if v == 0 || V::WIDTH == WIDE {
                        V::prefetch(place(INPUTS + i, v)); // of the next tile, perhaps far away
                    }
                    if !self.begin {
                        sum[i][v] = match last(v) {
                            true => V::load_first(place(i, v), NARROW),
                            false => V::load(place(i, v)),
                        };
                    }
                }
            }
            let (mut from, mut dy) = (self.from, self.dy);
            for _ in 0..self.pixels / STEPS {
                if V::WIDTH == WIDE {
                    ahead.fetch::<V>(1);
                }
                for _ in 0..STEPS {
                    add(&mut sum, from, outputs::<V, VECTORS, LAST, COPY>(dy, &mut copy));
                    from = from.wrapping_add(self.from_step);
                    dy = dy.wrapping_add(self.dy_step);
                }
            }
            for _ in 0..self.pixels % STEPS {
                add(&mut sum, from, outputs::<V, VECTORS, LAST, COPY>(dy, &mut copy));
                from = from.wrapping_add(self.from_step);
                dy = dy.wrapping_add(self.dy_step);
            }
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    match last(v) {
                        true => sum[i][v].store_first(place(i, v), NARROW),
                        false => sum[i][v].store(place(i, v)),
                    }
                }
            }
        }
    }
}

/// The outputs of one pixel; with `COPY`, they are written to `copy`, too, which moves on.
///
/// # Safety
/// They are there, and so is the room of a copy; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn outputs<V: Vector, const VECTORS: usize, const LAST: bool, const COPY: bool>(
    dy: *const f32,
    copy: &mut *mut f32,
) -> [V; VECTORS] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut outputs = [V::zero(); VECTORS];
        for v in 0..VECTORS {
            outputs[v] = match LAST && v + 1 == VECTORS {
                true => V::load_first(dy.add(v * V::WIDTH), NARROW),
                false => V::load(dy.add(v * V::WIDTH)),
            };
            if COPY {
                outputs[v].store(copy.add(v * V::WIDTH));
            }
        }
        if COPY {
            *copy = copy.wrapping_add(VECTORS * V::WIDTH);
        }
        outputs
    }
}

/// Adds the products of one pixel.
///
/// # Safety
/// Its inputs are there.
#[inline(always)]
unsafe fn add<V: Vector, const INPUTS: usize, const VECTORS: usize>(
    sum: &mut [[V; VECTORS]; INPUTS],
    input: *const f32,
    outputs: [V; VECTORS],
) {
    for i in 0..INPUTS {
        // SAFETY: the caller's promise.
        let input = unsafe { *input.add(i) };
        for v in 0..VECTORS {
            sum[i][v] = outputs[v].scale_add(input, sum[i][v]);
        }
    }
}
