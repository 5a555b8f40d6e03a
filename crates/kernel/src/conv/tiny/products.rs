//! The products of pairs of pixels.
//!
//! Register tiles are 6 images x 16 outputs, or 6 inputs x 16 outputs for the gradient; with
//! AVX-512 16 x 16. A pixel's sum runs over its taps and their inputs, a weight's over the images
//! and their pairs: neither depends on how images are grouped.

use super::Pair;
use super::rows::Rows;
use crate::Shape;
use crate::conv::packing::WIDE;
use crate::conv::squares::ROW;
use crate::conv::squares::all::{Squares, Toward};
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector};

/// Steps of a sum between two tests for its end.
const STEPS: usize = 4;

/// `target[n, p] = start + sum_q source[n, q] W[q - p]`, or added to the target.
pub(super) struct Products<'a> {
    pub(super) pairs: &'a [Pair],
    pub(super) weights: &'a Squares,
    pub(super) toward: Toward,
    /// For the weights of a block, in the backward pass.
    pub(super) room: &'a mut [f32],
    pub(super) count: usize,
    pub(super) source: Rows<'a>,
    pub(super) start: &'a [f32],
    pub(super) accumulate: bool,
    pub(super) shape: Shape,
    pub(super) target: &'a mut [f32],
}

impl Kernel for Products<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let (inputs, outputs) = self.weights.channels(self.toward);
        let (pixels, image) = (self.shape.height * self.shape.width, self.shape.image_stride());
        assert_eq!((self.source.channels, self.shape.channels), (inputs, outputs));
        assert!(self.start.len() >= outputs && self.target.len() >= self.count * image);
        assert!(self.pairs.iter().all(|pair| pair.input.max(pair.output) < pixels && pair.tap < 9));
        self.source.check(pixels, self.count);
        for first in (0..outputs).step_by(WIDE) {
            // SAFETY: the caller's promise.
            let weights = unsafe { self.weights.rows::<V::Eight>(self.toward, first, self.room) };
            let mut written = None;
            for pair in self.pairs {
                let begin = written.replace(pair.output) != Some(pair.output) && !self.accumulate;
                let (row, column) =
                    (pair.output / self.shape.width, pair.output % self.shape.width);
                let to = self.shape.offset(row, column);
                let mut tile = 0;
                while tile < self.count {
                    // SAFETY: there is a row of taps for each of the inputs, in sixteens; and as
                    // asserted, both operands have the pixels of all `count` images.
                    unsafe {
                        let from = pair.input * self.source.pixel + tile * self.source.row;
                        let operands = Tile {
                            weights: weights.as_ptr().add(pair.tap * WIDE),
                            inputs,
                            from: (self.source.values.as_ptr().add(from), self.source.row),
                            to: (self.target.as_mut_ptr().add(tile * image + to + first), image),
                            start: begin.then(|| self.start.as_ptr().add(first)),
                        };
                        tile += match self.count - tile {
                            16.. if V::WIDTH == WIDE => operands.run::<V, 16, 1>(),
                            8.. if V::WIDTH == WIDE => operands.run::<V, 8, 1>(),
                            4.. if V::WIDTH == WIDE => operands.run::<V, 4, 1>(),
                            _ if V::WIDTH == WIDE => operands.run::<V, 1, 1>(),
                            6.. => operands.run::<V, 6, 2>(),
                            4.. => operands.run::<V, 4, 2>(),
                            2.. => operands.run::<V, 2, 2>(),
                            _ => operands.run::<V, 1, 2>(),
                        };
                    }
                }
            }
        }
    }
}

/// Images x 16 outputs; operands with the floats from one image to the next.
struct Tile {
    weights: *const f32,
    inputs: usize,
    from: (*const f32, usize),
    to: (*mut f32, usize),
    /// What the sums begin with, if not with the target.
    start: Option<*const f32>,
}

impl Tile {
    /// Returns `IMAGES`.
    ///
    /// # Safety
    /// There are `inputs` rows, in [`STEPS`], of 16 weights at the stated place, `IMAGES` rows of
    /// `inputs` values to read, as many of 16 to write, and 16 to start with; the machine has the
    /// instructions of `V`.
    #[inline(always)]
    unsafe fn run<V: Vector, const IMAGES: usize, const VECTORS: usize>(self) -> usize {
        let ((from, row), (to, apart)) = (self.from, self.to);
        // SAFETY: the caller's promise.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; IMAGES];
            for t in 0..IMAGES {
                for v in 0..VECTORS {
                    let at = self.start.unwrap_or(to.add(t * apart).cast_const());
                    sum[t][v] = V::load(at.add(v * LANES));
                }
            }
            let (mut weights, mut from) = (self.weights, from);
            for _ in 0..self.inputs / STEPS {
                for i in 0..STEPS {
                    let mut w = [V::load(weights.add(i * ROW)); VECTORS];
                    for v in 1..VECTORS {
                        w[v] = V::load(weights.add(i * ROW + v * LANES));
                    }
                    for t in 0..IMAGES {
                        let value = *from.add(t * row + i);
                        for v in 0..VECTORS {
                            sum[t][v] = w[v].scale_add(value, sum[t][v]);
                        }
                    }
                }
                weights = weights.wrapping_add(STEPS * ROW);
                from = from.add(STEPS);
            }
            for t in 0..IMAGES {
                for v in 0..VECTORS {
                    sum[t][v].store(to.add(t * apart + v * LANES));
                }
            }
        }
        IMAGES
    }
}

/// `S[tap, i, o] += sum_n sum_{pairs of the tap} x[n, q, i] dy[n, p, o]`, or from zero.
pub(super) struct Sums<'a> {
    pub(super) pairs: &'a [Pair],
    /// Begin with zeros, whatever the sums hold.
    pub(super) begin: bool,
    pub(super) count: usize,
    pub(super) x: Rows<'a>,
    pub(super) dy: Rows<'a>,
    pub(super) sums: &'a mut Squares,
}

impl Kernel for Sums<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let (inputs, outputs) = self.sums.channels(Toward::Outputs);
        assert_eq!((self.x.channels, self.dy.channels), (inputs, outputs));
        let pixels =
            1 + self.pairs.iter().map(|pair| pair.input.max(pair.output)).max().unwrap_or(0);
        self.x.check(pixels, self.count);
        self.dy.check(pixels, self.count);
        for first in (0..outputs).step_by(WIDE) {
            let sums = self.sums.block_mut(first).as_mut_ptr();
            for tap in 0..9 {
                // A tap meets at most as many pairs as an image has pixels.
                let mut places = [(0, 0); 4];
                let mut count = 0;
                for pair in self.pairs.iter().filter(|pair| pair.tap == tap) {
                    places[count] = (pair.input * self.x.pixel, pair.output * self.dy.pixel);
                    count += 1;
                }
                let mut input = 0;
                while input < inputs {
                    // SAFETY: sixteens leave 4 or 8 after the last six, so a tile ends within
                    // `inputs`; `check` has seen all images of both operands' pixels.
                    unsafe {
                        let operands = Outer {
                            places: &places[..count],
                            count: self.count,
                            x: (self.x.values.as_ptr().add(input), self.x.row),
                            dy: (self.dy.values.as_ptr().add(first), self.dy.row),
                            sums: sums.add(input * ROW + tap * WIDE),
                        };
                        input += match inputs - input {
                            _ if V::WIDTH == WIDE => operands.run::<V, 16, 1>(self.begin),
                            4 | 8 => operands.run::<V, 4, 2>(self.begin),
                            _ => operands.run::<V, 6, 2>(self.begin),
                        };
                    }
                }
            }
        }
    }
}

/// Inputs x 16 outputs; operands with the floats from one image to the next.
struct Outer<'a> {
    /// Where the pixels of a pair begin.
    places: &'a [(usize, usize)],
    count: usize,
    x: (*const f32, usize),
    dy: (*const f32, usize),
    sums: *mut f32,
}

impl Outer<'_> {
    /// Returns `INPUTS`.
    ///
    /// # Safety
    /// There are `count` rows of `INPUTS` values of `x` and of 16 of `dy` at each place, and
    /// `INPUTS` rows of sums; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run<V: Vector, const INPUTS: usize, const VECTORS: usize>(
        self,
        begin: bool,
    ) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; INPUTS];
            if !begin {
                for i in 0..INPUTS {
                    for v in 0..VECTORS {
                        sum[i][v] = V::load(self.sums.add(i * ROW + v * LANES));
                    }
                }
            }
            let ((mut x, row), (mut dy, dy_row)) = (self.x, self.dy);
            for _ in 0..self.count {
                for &(of_x, of_dy) in self.places {
                    let mut z = [V::load(dy.add(of_dy)); VECTORS];
                    for v in 1..VECTORS {
                        z[v] = V::load(dy.add(of_dy + v * LANES));
                    }
                    let x = x.add(of_x);
                    for i in 0..INPUTS {
                        let value = *x.add(i);
                        for v in 0..VECTORS {
                            sum[i][v] = z[v].scale_add(value, sum[i][v]);
                        }
                    }
                }
                x = x.wrapping_add(row);
                dy = dy.wrapping_add(dy_row);
            }
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    sum[i][v].store(self.sums.add(i * ROW + v * LANES));
                }
            }
        }
        INPUTS
    }
}
