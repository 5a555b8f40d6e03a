//! The walk over the pixels: a few vectors of channels, a few rows of pixels.
//!
//! A vector of channels stays for a few rows, which share the inputs of their windows. A few
//! neighbours follow, then the next rows: what both see is still in the first-level cache,
//! which may not hold all channels of it.

use super::super::packing::WIDE;
use super::super::partial::load;
use super::super::window::{Steps, Window};
use crate::Shape;
use crate::vector::{LANES, Vector, Vector8};
use std::ops::Range;

/// Floats of a few rows that stay in the first-level cache.
const CACHED: usize = 8 << 10;

/// Target pixels, and the window of source pixels that each of them meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    window: Window,
    rows: usize,
    pub(super) columns: usize,
    /// Source pixels from one target pixel to the next.
    stride: usize,
    /// Floats from one row of the source to the next.
    pub(super) source_row: usize,
    pub(super) channels: usize,
}

/// Some rows of pixels: where the first one reads and writes, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) count: usize,
}

/// What is done with a few rows for each vector of channels.
pub(super) trait Pass {
    /// Rows that are visited together.
    const ROWS: usize;

    /// A window of `R x C` taps at stride `S`, of which a whole vector of channels is there, from
    /// `first` on.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn unrolled<V: Vector, const R: usize, const C: usize, const S: usize>(
        &mut self,
        rows: Rows,
        first: usize,
    );

    /// Any window, any number of channels, by a loop over taps: one pixel, which reads from
    /// `source` and writes to `target`.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn plain<V: Vector8>(&mut self, source: usize, target: usize, first: usize);
}

impl Grid {
    pub(super) fn new(
        window: Window,
        source: Shape,
        (rows, columns): (usize, usize),
        stride: usize,
    ) -> Self {
        let (source_row, channels) = (source.row_stride(), source.channels);
        Grid { window, rows, columns, stride, source_row, channels }
    }

    /// Pixels of a row.
    pub(super) fn width(&self) -> usize {
        self.window.width
    }

    /// Rows of an image; none if they are empty.
    pub(super) fn height(&self) -> usize {
        self.window.height.min(self.window.height * self.window.width)
    }

    /// Floats from one target row to the next, and from one target pixel to the next.
    #[inline(always)]
    pub(super) fn target_steps(&self) -> (usize, usize) {
        (self.window.target.row, self.window.target.pixel)
    }

    /// Floats from a tap's input to that of the first tap.
    #[inline(always)]
    pub(super) fn tap(&self, tap: usize) -> usize {
        tap / self.columns * self.source_row + tap % self.columns * self.channels
    }

    /// The channels, a few vectors at a time, by whole cache lines.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let channels = self.channels;
        let rows = (self.rows + self.stride) * self.source_row / channels.max(1);
        let few = (CACHED / rows.max(1)).max(WIDE) / WIDE * WIDE;
        (0..channels).step_by(few).map(move |first| first..(first + few).min(channels))
    }

    /// Panics unless all that some rows read and write lies in slices of these lengths, for one
    /// vector of channels.
    #[inline(always)]
    pub(super) fn check<V: Vector>(&self, rows: Rows, first: usize, source: usize, target: usize) {
        let (high, wide) = (rows.count - 1, self.width() - 1);
        let from = rows.source
            + (high * self.stride + self.rows - 1) * self.source_row
            + (wide * self.stride + self.columns - 1) * self.channels;
        let (row, pixel) = self.target_steps();
        let to = rows.target + high * row + wide * pixel;
        let end = first + V::WIDTH;
        assert!(from + end <= source && to + end <= target, "rows outside of the image");
    }

    /// Some rows of an image, from `first` on, for some channels.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn rows<V: Vector, P: Pass>(
        &self,
        image: usize,
        first: usize,
        channels: Range<usize>,
        pass: &mut P,
    ) {
        let at = |steps: &Steps| steps.start + image * steps.image + first * steps.row;
        let count = P::ROWS.min(self.height() - first);
        let (source, target) = (at(&self.window.source), at(&self.window.target));
        let rows = Rows { source, target, count };
        // SAFETY: the caller's promise.
        unsafe {
            match (self.rows, self.columns, self.stride) {
                (3, 3, 1) => self.blocks::<V, P, 3, 3, 1>(rows, channels, pass),
                (3, 3, 2) => self.blocks::<V, P, 3, 3, 2>(rows, channels, pass),
                (2, 2, 1) => self.blocks::<V, P, 2, 2, 1>(rows, channels, pass),
                (2, 1, 1) => self.blocks::<V, P, 2, 1, 1>(rows, channels, pass),
                (1, 2, 1) => self.blocks::<V, P, 1, 2, 1>(rows, channels, pass),
                (1, 1, 1) => self.blocks::<V, P, 1, 1, 1>(rows, channels, pass),
                _ => channels
                    .step_by(LANES)
                    .for_each(|first| self.plain::<V::Eight, P>(rows, first, pass)),
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn blocks<V: Vector, P: Pass, const R: usize, const C: usize, const S: usize>(
        &self,
        rows: Rows,
        channels: Range<usize>,
        pass: &mut P,
    ) {
        let mut first = channels.start;
        while first < channels.end {
            // SAFETY: the caller's promise.
            unsafe {
                let left = channels.end - first;
                if left >= V::WIDTH {
                    pass.unrolled::<V, R, C, S>(rows, first);
                    first += V::WIDTH;
                    continue;
                }
                match left {
                    LANES.. => pass.unrolled::<V::Eight, R, C, S>(rows, first),
                    _ => self.plain::<V::Eight, P>(rows, first, pass),
                }
                first += LANES;
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn plain<V: Vector8, P: Pass>(&self, rows: Rows, first: usize, pass: &mut P) {
        let Window { source, target, .. } = self.window;
        for row in 0..rows.count {
            for p in 0..self.width() {
                let from = rows.source + row * source.row + p * source.pixel;
                let to = rows.target + row * target.row + p * target.pixel;
                // SAFETY: the caller's promise.
                unsafe { pass.plain::<V>(from, to, first) };
            }
        }
    }
}

/// The vector at `at`, or what is left of the slice, followed by zeros.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lanes<V: Vector8>(from: &[f32], at: usize) -> V {
    let lanes: [f32; LANES] = load(from, at);
    // SAFETY: the array has as many floats; the caller's promise.
    unsafe { V::load(lanes.as_ptr()) }
}
