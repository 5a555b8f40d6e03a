//! The walk over the pixels: rows, strips of a row, vectors of channels.
//!
//! A vector of channels stays for the whole strip, so that its weights stay in registers; a
//! strip is short, so that all channels of its pixels are read while they are in cache.

use super::super::window::{Steps, Window};
use super::LANES;
use super::columns::Columns;
use crate::Shape;
use crate::dispatch::multiply_add;

/// Pixels of a strip.
const STRIP: usize = 16;

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
    /// Floats from one target pixel to the next, in the target.
    pub(super) target_step: usize,
    /// Floats from one target pixel to the next, in the source.
    pub(super) source_step: usize,
    pub(super) channels: usize,
}

/// Neighbouring pixels of a row: where the first one reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) count: usize,
}

/// What is done with a strip for each vector of channels.
pub(super) trait Pass {
    /// A window of `R x C` taps at stride `S`, of which a whole vector of channels is there.
    fn unrolled<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        strip: Strip,
        block: usize,
    );

    /// Any window, any number of channels, by a loop over taps.
    fn plain<const FMA: bool>(&mut self, strip: Strip, block: usize);
}

impl Grid {
    pub(super) fn new(
        window: Window,
        source: Shape,
        (rows, columns): (usize, usize),
        stride: usize,
    ) -> Self {
        Grid {
            window,
            rows,
            columns,
            stride,
            source_row: source.row_stride(),
            target_step: window.target.pixel,
            source_step: window.source.pixel,
            channels: source.channels,
        }
    }

    pub(super) fn height(&self) -> usize {
        self.window.height
    }

    /// The rows of the source that a strip of pixels meets, for one vector of channels.
    #[inline(always)]
    pub(super) fn columns<'a, const R: usize>(
        &self,
        source: &'a [f32],
        strip: Strip,
        first: usize,
    ) -> [Columns<'a>; R] {
        let count = (strip.count - 1) * self.stride + self.columns;
        let row = |r| {
            let at = strip.source + first + r * self.source_row;
            Columns::new(source, at, self.channels, count)
        };
        let mut rows = [row(0); R];
        for r in 1..R {
            rows[r] = row(r);
        }
        rows
    }

    /// One row of an image.
    #[inline(always)]
    pub(super) fn row<const FMA: bool>(&self, image: usize, row: usize, pass: &mut impl Pass) {
        let at = |steps: &Steps| steps.start + image * steps.image + row * steps.row;
        let (source, target) = (at(&self.window.source), at(&self.window.target));
        for first in (0..self.window.width).step_by(STRIP) {
            let strip = Strip {
                source: source + first * self.source_step,
                target: target + first * self.target_step,
                count: STRIP.min(self.window.width - first),
            };
            match (self.rows, self.columns, self.stride) {
                (3, 3, 1) => self.strip::<FMA, 3, 3, 1>(strip, pass),
                (3, 3, 2) => self.strip::<FMA, 3, 3, 2>(strip, pass),
                (2, 2, 1) => self.strip::<FMA, 2, 2, 1>(strip, pass),
                (2, 1, 1) => self.strip::<FMA, 2, 1, 1>(strip, pass),
                (1, 2, 1) => self.strip::<FMA, 1, 2, 1>(strip, pass),
                (1, 1, 1) => self.strip::<FMA, 1, 1, 1>(strip, pass),
                _ => {
                    for block in 0..self.channels.div_ceil(LANES) {
                        pass.plain::<FMA>(strip, block);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn strip<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &self,
        strip: Strip,
        pass: &mut impl Pass,
    ) {
        let whole = self.channels / LANES;
        for block in 0..whole {
            pass.unrolled::<FMA, R, C, S>(strip, block);
        }
        if !self.channels.is_multiple_of(LANES) {
            pass.plain::<FMA>(strip, whole);
        }
    }
}

/// `sum += a * b`, lane by lane.
#[inline(always)]
pub(super) fn add_product<const FMA: bool>(
    sum: &mut [f32; LANES],
    a: [f32; LANES],
    b: [f32; LANES],
) {
    for l in 0..LANES {
        sum[l] = multiply_add::<FMA>(a[l], b[l], sum[l]);
    }
}
