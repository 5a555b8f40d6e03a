//! The weight-gradient tile: inputs x outputs in registers, summed over pixels.
//!
//! ```text
//! dw[o, t, j] += sum_p source[p + taps[t] + j] * dy[p, o]
//! ```
//!
//! A sum runs over the pixels in their order, image after image. They are taken in blocks that
//! stay in the first-level cache while all tiles pass over them: the block's `dy` is copied for
//! that, since pixels that lie a power of two apart would evict each other.

use super::correlate::is_matrix;
use super::instructions::{Instructions, Kernel, load, vector};
use super::matrix::{COPIED, OuterProduct, order};
use super::packing::{NARROW, Packing, WIDE, lanes_at};
use super::scratch::Ahead;
use super::window::Window;
use crate::dispatch::multiply_add;

/// Floats between the first and the last pixel of a block, about.
const BLOCK_FLOATS: usize = 6 << 10;
/// Pixels of a block at the most; and always of a matrix, whose inputs are cut instead, since
/// fewer would not pay for loading the sums.
pub(super) const MOST_PIXELS: usize = 128;

/// A sum of outer products, held in the packed order of the forward weights.
#[derive(Clone, Debug)]
pub(super) struct OuterSum {
    pub(super) window: Window,
    taps: Vec<usize>,
    run: usize,
    pub(super) packing: Packing,
    pub(super) sum: Vec<f32>,
    /// Nothing has been added yet; what the sum holds is of no use.
    empty: bool,
    /// Where the pixels of a block read, and where their `dy` lies.
    places: Vec<(usize, usize)>,
    /// The block's `dy` of a tile, as `[pixel][lane]`.
    pub(super) dy: Vec<f32>,
    /// Source and `dy` are matrices.
    matrix: bool,
}

impl OuterSum {
    pub(super) fn new(window: Window, taps: Vec<usize>, run: usize, packing: Packing) -> Self {
        let matrix = is_matrix(&window, &taps, &packing);
        let block = match matrix {
            true => MOST_PIXELS,
            false => (BLOCK_FLOATS / window.source.pixel).clamp(24, MOST_PIXELS),
        };
        OuterSum {
            sum: vec![0.0; packing.len()],
            empty: true,
            places: vec![(0, 0); block],
            dy: vec![0.0; block * COPIED],
            matrix,
            window,
            taps,
            run,
            packing,
        }
    }

    /// Adds the products of all images.
    pub(super) fn add(
        &mut self,
        on: Instructions,
        images: usize,
        source: &[f32],
        dy: &[f32],
        ahead: &mut Ahead,
    ) {
        let pixels = self.window.pixels(images);
        if pixels == 0 {
            return;
        }
        let begin = std::mem::replace(&mut self.empty, false);
        if self.matrix {
            return on.run(OuterProduct { into: self, pixels, source, dy, begin, ahead });
        }
        if begin {
            self.sum.fill(0.0);
        }
        on.run(Accumulate { into: self, pixels, source, dy });
    }

    /// Writes the sum into the caller's array and begins a new one.
    pub(super) fn take(&mut self, on: Instructions, dw: &mut [f32]) {
        if std::mem::replace(&mut self.empty, true) {
            self.sum.fill(0.0);
        }
        order::unpack(on, &self.packing, &self.sum, dw);
    }

    pub(super) fn floats(&self) -> usize {
        self.sum.len() + self.dy.len()
    }
}

/// One pass of an [`OuterSum`] over a batch.
struct Accumulate<'a> {
    into: &'a mut OuterSum,
    pixels: usize,
    source: &'a [f32],
    dy: &'a [f32],
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

/// Runs tiles over all inputs: of two taps with their whole `short` runs, then of `inputs` of
/// one tap for the number that is left of its run.
macro_rules! tiles {
    ($self:ident, $fma:ident, $lanes:ident, $pixels:ident, $first:ident,
        two: $($short:literal)*, one: $($left:pat => $inputs:literal),*) => {
        let (run, taps) = ($self.into.run, $self.into.taps.len());
        let mut tap = 0;
        while tap + 1 < taps {
            match run {
                $($short => $self.two_taps::<$fma, $lanes, $short>($pixels, $first, tap),)*
                _ => break,
            }
            tap += 2;
        }
        for tap in tap..taps {
            let mut j = 0;
            while j < run {
                match run - j {
                    $($left => j += $self.one_tap::<$fma, $lanes, $inputs>($pixels, $first, tap, j),)*
                }
            }
        }
    };
}

impl Accumulate<'_> {
    /// Small tiles wait for their own sums, so 7 and 8 are cut in halves, and short runs joined.
    #[inline(always)]
    fn wide<const FMA: bool>(&mut self, pixels: usize, first: usize) {
        self.copy_dy::<WIDE>(pixels, first);
        tiles!(self, FMA, WIDE, pixels, first, two: 2 3,
            one: 1 => 1, 2 => 2, 3 => 3, 4 | 7 | 8 => 4, 5 => 5, _ => 6);
    }

    #[inline(always)]
    fn narrow<const FMA: bool>(&mut self, pixels: usize, first: usize) {
        self.copy_dy::<NARROW>(pixels, first);
        tiles!(self, FMA, NARROW, pixels, first, two: 2 3 4 5 6,
            one: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 5 | 9 | 10 => 5, 6 | 7 | 11..16 => 6, _ => 8);
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
    fn one_tap<const FMA: bool, const LANES: usize, const INPUTS: usize>(
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
            add_product::<FMA, LANES, INPUTS>(&mut sum, vector(x, place.0), output);
        }
        *sums = sum;
        INPUTS
    }

    /// The runs of `INPUTS` inputs of tap `tap` and the next x `LANES` outputs.
    #[inline(always)]
    fn two_taps<const FMA: bool, const LANES: usize, const INPUTS: usize>(
        &mut self,
        pixels: usize,
        first: usize,
        tap: usize,
    ) {
        let into = &mut *self.into;
        let (sums, _) = into.sum[first * into.packing.inputs.len()..].as_chunks_mut::<LANES>();
        let (runs, _) = sums.as_chunks_mut::<INPUTS>();
        let Some(sums) = runs[tap..].first_chunk_mut::<2>() else { return };
        let [mut sum, mut sum_next] = *sums;
        let x = &self.source[into.taps[tap]..];
        let x_next = &self.source[into.taps[tap + 1]..];
        let (dy, _) = into.dy.as_chunks::<LANES>();
        for (place, output) in into.places[..pixels].iter().zip(dy) {
            add_product::<FMA, LANES, INPUTS>(&mut sum, vector(x, place.0), output);
            add_product::<FMA, LANES, INPUTS>(&mut sum_next, vector(x_next, place.0), output);
        }
        *sums = [sum, sum_next];
    }
}

/// Adds the outer product of one pixel.
#[inline(always)]
fn add_product<const FMA: bool, const LANES: usize, const INPUTS: usize>(
    sum: &mut [[f32; LANES]; INPUTS],
    input: [f32; INPUTS],
    output: &[f32; LANES],
) {
    for i in 0..INPUTS {
        for lane in 0..LANES {
            sum[i][lane] = multiply_add::<FMA>(input[i], output[lane], sum[i][lane]);
        }
    }
}
