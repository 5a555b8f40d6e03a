//! The walk over the pixels: a few vectors of channels, rows of pixels.
//!
//! A vector of channels stays for a whole row, so that its weights stay in registers. A few
//! neighbours follow, then the next row: what both rows see is still in the first-level cache,
//! which may not hold all channels of it.

use super::super::window::{Steps, Window};
use super::LANES;
use crate::Shape;
use crate::columns::Columns;
use crate::dispatch::multiply_add;
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
    /// Floats from one target pixel to the next, in the target.
    pub(super) target_step: usize,
    /// Floats from one target pixel to the next, in the source.
    pub(super) source_step: usize,
    pub(super) channels: usize,
}

/// A row of pixels: where the first one reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) source: usize,
    pub(super) target: usize,
}

/// What is done with a row for each vector of channels.
pub(super) trait Pass {
    /// A window of `R x C` taps at stride `S`, of which a whole vector of channels is there.
    fn unrolled<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &mut self,
        row: Row,
        block: usize,
    );

    /// Any window, any number of channels, by a loop over taps.
    fn plain<const FMA: bool>(&mut self, row: Row, block: usize);
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

    /// Pixels of a row.
    pub(super) fn width(&self) -> usize {
        self.window.width
    }

    /// Rows of an image; none if they are empty.
    pub(super) fn height(&self) -> usize {
        self.window.height.min(self.window.height * self.window.width)
    }

    /// The vectors of channels, a few at a time.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let blocks = self.channels.div_ceil(LANES);
        let rows = (self.rows + self.stride) * self.source_row / self.channels.max(1);
        let few = (CACHED / (LANES * rows).max(1)).max(2);
        (0..blocks).step_by(few).map(move |first| first..(first + few).min(blocks))
    }

    /// The rows of the source that a row of pixels meets, for one vector of channels.
    #[inline(always)]
    pub(super) fn columns<'a, const R: usize>(
        &self,
        source: &'a [f32],
        row: Row,
        first: usize,
    ) -> [Columns<'a>; R] {
        let count = (self.width() - 1) * self.stride + self.columns;
        let columns = |r| {
            let at = row.source + first + r * self.source_row;
            Columns::new(source, at, self.channels, count)
        };
        let mut rows = [columns(0); R];
        for r in 1..R {
            rows[r] = columns(r);
        }
        rows
    }

    /// One row of an image, for some vectors of channels.
    #[inline(always)]
    pub(super) fn row<const FMA: bool>(
        &self,
        image: usize,
        row: usize,
        blocks: Range<usize>,
        pass: &mut impl Pass,
    ) {
        let at = |steps: &Steps| steps.start + image * steps.image + row * steps.row;
        let row = Row { source: at(&self.window.source), target: at(&self.window.target) };
        match (self.rows, self.columns, self.stride) {
            (3, 3, 1) => self.blocks::<FMA, 3, 3, 1>(row, blocks, pass),
            (3, 3, 2) => self.blocks::<FMA, 3, 3, 2>(row, blocks, pass),
            (2, 2, 1) => self.blocks::<FMA, 2, 2, 1>(row, blocks, pass),
            (2, 1, 1) => self.blocks::<FMA, 2, 1, 1>(row, blocks, pass),
            (1, 2, 1) => self.blocks::<FMA, 1, 2, 1>(row, blocks, pass),
            (1, 1, 1) => self.blocks::<FMA, 1, 1, 1>(row, blocks, pass),
            _ => {
                for block in blocks {
                    pass.plain::<FMA>(row, block);
                }
            }
        }
    }

    #[inline(always)]
    fn blocks<const FMA: bool, const R: usize, const C: usize, const S: usize>(
        &self,
        row: Row,
        blocks: Range<usize>,
        pass: &mut impl Pass,
    ) {
        for block in blocks {
            if (block + 1) * LANES <= self.channels {
                pass.unrolled::<FMA, R, C, S>(row, block);
            } else {
                pass.plain::<FMA>(row, block);
            }
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
