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
use super::matrix::{COPIED, OuterProduct, order};
use super::packing::{NARROW, Packing, WIDE, lanes_at, of_vector};
use super::scratch::Ahead;
use super::window::Window;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::Vector;
use std::marker::PhantomData;

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

/// Runs tiles over all inputs: of two taps with their whole `short` runs, then of `inputs` of
/// one tap for the number that is left of its run.
macro_rules! tiles {
    ($self:ident, $v:ty, $vectors:literal, $pixels:ident, $first:ident,
        two: $($short:literal)*, one: $($left:pat => $inputs:literal),*) => {
        let (run, taps) = ($self.into.run, $self.into.taps.len());
        let mut tap = 0;
        while tap + 1 < taps {
            match run {
                $($short => $self.two_taps::<$v, $short, $vectors>($pixels, $first, tap),)*
                _ => break,
            }
            tap += 2;
        }
        for tap in tap..taps {
            let mut j = 0;
            while j < run {
                j += match run - j {
                    $($left => $self.one_tap::<$v, $inputs, $vectors>($pixels, $first, tap, j),)*
                }
            }
        }
    };
}

impl Kernel for Accumulate<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let OuterSum { run, ref taps, ref packing, ref sum, .. } = *self.into;
        let (outputs, wide) = (packing.outputs, V::WIDTH == WIDE);
        assert!(taps.len() * run == packing.inputs.len() && sum.len() == packing.len());
        // From a pixel's first input to beyond its last.
        let reach = taps.iter().max().map_or(0, |tap| tap + run);
        let mut left = self.pixels;
        let mut cursor = self.into.window.cursor(0);
        while left > 0 {
            let pixels = left.min(self.into.places.len());
            for place in &mut self.into.places[..pixels] {
                *place = cursor.advance(&self.into.window);
                assert!(place.0 + reach <= self.source.len(), "images too short");
            }
            let mut first = 0;
            while first < outputs {
                // SAFETY: the caller's promise; all inputs of these pixels are there.
                first += unsafe {
                    match lanes_at(first, outputs) {
                        WIDE if wide && outputs - first >= 2 * WIDE => {
                            self.pair::<V>(pixels, first)
                        }
                        WIDE if wide => self.single::<V>(pixels, first),
                        WIDE => self.halves::<V>(pixels, first),
                        _ => self.narrow::<V::Eight>(pixels, first),
                    }
                };
            }
            left -= pixels;
        }
    }
}

impl Accumulate<'_> {
    /// 32 outputs; returns their number, as the following ones do.
    ///
    /// # Safety
    /// The machine has the instructions of `V`; all inputs of the pixels are there. So it is for
    /// the following ones.
    #[inline(always)]
    unsafe fn pair<V: Vector>(&mut self, pixels: usize, first: usize) -> usize {
        self.copy_dy(pixels, first, 2 * WIDE);
        // SAFETY: the caller's promise.
        unsafe {
            tiles!(self, V, 2, pixels, first, two: 2 3 4 5 6,
                one: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 5 => 5, 6 | 7 => 6, 12 | 24 => 12, _ => 8);
        }
        2 * WIDE
    }

    /// 16 outputs in one vector.
    #[inline(always)]
    unsafe fn single<V: Vector>(&mut self, pixels: usize, first: usize) -> usize {
        self.copy_dy(pixels, first, WIDE);
        // SAFETY: the caller's promise.
        unsafe {
            tiles!(self, V, 1, pixels, first, two: 2 3 4 5 6,
                one: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 5 => 5, 6 | 7 => 6, 8 | 9 | 13 | 14 => 8,
                    10 | 11 | 20 => 10, 12 | 24 => 12, 15 | 30 => 15, _ => 16);
        }
        WIDE
    }

    /// 16 outputs in two vectors. Small tiles wait for their own sums, so 7 and 8 are cut in
    /// halves, and short runs joined.
    #[inline(always)]
    unsafe fn halves<V: Vector>(&mut self, pixels: usize, first: usize) -> usize {
        self.copy_dy(pixels, first, WIDE);
        // SAFETY: the caller's promise.
        unsafe {
            tiles!(self, V, 2, pixels, first, two: 2 3,
                one: 1 => 1, 2 => 2, 3 => 3, 4 | 7 | 8 => 4, 5 => 5, _ => 6);
        }
        WIDE
    }

    /// 8 outputs.
    #[inline(always)]
    unsafe fn narrow<V: Vector>(&mut self, pixels: usize, first: usize) -> usize {
        self.copy_dy(pixels, first, NARROW);
        // SAFETY: the caller's promise.
        unsafe {
            tiles!(self, V, 1, pixels, first, two: 2 3 4 5 6,
                one: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 5 | 9 | 10 => 5, 6 | 7 | 11..16 => 6, _ => 8);
        }
        NARROW
    }

    /// Vector8 without an output take what lies there: nobody reads their sums.
    #[inline(always)]
    fn copy_dy(&mut self, pixels: usize, first: usize, lanes: usize) {
        let rows = self.into.dy.chunks_exact_mut(lanes);
        for (row, place) in rows.zip(&self.into.places[..pixels]) {
            let from = &self.dy[place.1 + first..];
            match from.get(..lanes) {
                Some(from) => row.copy_from_slice(from),
                None => row[..from.len()].copy_from_slice(from),
            }
        }
    }

    /// `INPUTS` inputs of a tap, over the pixels; returns `INPUTS`.
    ///
    /// # Safety
    /// They are there, from input `j` of the tap on; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn one_tap<V: Vector, const INPUTS: usize, const VECTORS: usize>(
        &mut self,
        pixels: usize,
        first: usize,
        tap: usize,
        j: usize,
    ) -> usize {
        let into = &mut *self.into;
        let dy = into.dy[..pixels * VECTORS * V::WIDTH].as_ptr();
        let mut sums = Sums::<V, INPUTS, VECTORS>::new(into, first, tap * into.run + j);
        // SAFETY: the caller's promise; `dy` has as many rows as there are pixels.
        unsafe {
            let mut sum = sums.load();
            let x = self.source.as_ptr().add(into.taps[tap] + j);
            for (p, place) in into.places[..pixels].iter().enumerate() {
                let z = outputs::<V, VECTORS>(dy.add(p * VECTORS * V::WIDTH));
                add_product(&mut sum, x.add(place.0), z);
            }
            sums.store(sum);
        }
        INPUTS
    }

    /// The runs of `INPUTS` inputs of tap `tap` and the next, over the pixels.
    ///
    /// # Safety
    /// As [`one_tap`](Self::one_tap).
    #[inline(always)]
    unsafe fn two_taps<V: Vector, const INPUTS: usize, const VECTORS: usize>(
        &mut self,
        pixels: usize,
        first: usize,
        tap: usize,
    ) {
        let into = &mut *self.into;
        let dy = into.dy[..pixels * VECTORS * V::WIDTH].as_ptr();
        let mut sums = Sums::<V, INPUTS, VECTORS>::new(into, first, tap * into.run);
        let mut sums_next = Sums::<V, INPUTS, VECTORS>::new(into, first, (tap + 1) * into.run);
        // SAFETY: the caller's promise; `dy` has as many rows as there are pixels.
        unsafe {
            let (mut sum, mut sum_next) = (sums.load(), sums_next.load());
            let x = self.source.as_ptr().add(into.taps[tap]);
            let x_next = self.source.as_ptr().add(into.taps[tap + 1]);
            for (p, place) in into.places[..pixels].iter().enumerate() {
                let z = outputs::<V, VECTORS>(dy.add(p * VECTORS * V::WIDTH));
                add_product(&mut sum, x.add(place.0), z);
                add_product(&mut sum_next, x_next.add(place.0), z);
            }
            sums.store(sum);
            sums_next.store(sum_next);
        }
    }
}

/// Where the sums of a tile lie: rows of 16 floats, or of 8, in blocks `apart` floats after one
/// another.
struct Sums<V, const INPUTS: usize, const VECTORS: usize> {
    place: *mut f32,
    row: usize,
    apart: usize,
    of: PhantomData<V>,
}

impl<V: Vector, const INPUTS: usize, const VECTORS: usize> Sums<V, INPUTS, VECTORS> {
    /// Those of `INPUTS` inputs from `input` on, for the outputs from `first` on. Panics if they
    /// are not there.
    #[inline(always)]
    fn new(into: &mut OuterSum, first: usize, input: usize) -> Self {
        let inputs = into.packing.inputs.len();
        let row = WIDE.min(VECTORS * V::WIDTH);
        let blocks = VECTORS * V::WIDTH / row;
        assert!(input + INPUTS <= inputs, "a tile of {INPUTS} from {input} on, of {inputs}");
        let sums = &mut into.sum[first * inputs..][..blocks * inputs * row];
        let place = sums[input * row..].as_mut_ptr();
        Sums { place, row, apart: inputs * row, of: PhantomData }
    }

    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn load(&self) -> [[V; VECTORS]; INPUTS] {
        // SAFETY: the sums are there, as `of` has seen; the caller's promise.
        unsafe {
            let mut sum = [[V::zero(); VECTORS]; INPUTS];
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    let at = i * self.row + of_vector::<V>(v, self.apart);
                    sum[i][v] = V::load(self.place.add(at));
                }
            }
            sum
        }
    }

    /// # Safety
    /// The [`OuterSum`] is still there.
    #[inline(always)]
    unsafe fn store(&mut self, sum: [[V; VECTORS]; INPUTS]) {
        for i in 0..INPUTS {
            for v in 0..VECTORS {
                let at = i * self.row + of_vector::<V>(v, self.apart);
                // SAFETY: the sums are there, as `of` has seen.
                unsafe { sum[i][v].store(self.place.add(at)) };
            }
        }
    }
}

/// The outputs of a pixel.
///
/// # Safety
/// They may be read; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn outputs<V: Vector, const VECTORS: usize>(from: *const f32) -> [V; VECTORS] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut outputs = [V::load(from); VECTORS];
        for v in 1..VECTORS {
            outputs[v] = V::load(from.add(v * V::WIDTH));
        }
        outputs
    }
}

/// Adds the outer product of one pixel.
///
/// # Safety
/// Its inputs may be read.
#[inline(always)]
unsafe fn add_product<V: Vector, const INPUTS: usize, const VECTORS: usize>(
    sum: &mut [[V; VECTORS]; INPUTS],
    inputs: *const f32,
    outputs: [V; VECTORS],
) {
    for i in 0..INPUTS {
        // SAFETY: the caller's promise.
        let input = unsafe { *inputs.add(i) };
        for v in 0..VECTORS {
            sum[i][v] = outputs[v].scale_add(input, sum[i][v]);
        }
    }
}
