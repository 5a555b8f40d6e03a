//! Where the operands of an output pixel lie, in floats.
//!
//! Pixels are numbered through the whole batch, row by row and image after image, so that a
//! register tile may hold pixels of two rows or of two images.

use crate::Shape;
use std::ops::Range;

/// How an operand advances from pixel to pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Where the first pixel lies.
    pub(super) start: usize,
    pub(super) image: usize,
    pub(super) row: usize,
    pub(super) pixel: usize,
}

impl Steps {
    /// Every `stride`-th pixel of `shape`, from (row, column) of the inside, which may lie in
    /// the halo, and from `channel` on.
    pub(super) fn new(
        shape: Shape,
        (row, column): (isize, isize),
        channel: usize,
        stride: usize,
    ) -> Self {
        let from_halo = |at: isize| (at + shape.halo as isize) as usize;
        Steps {
            start: from_halo(row) * shape.row_stride()
                + from_halo(column) * shape.channels
                + channel,
            image: shape.image_stride(),
            row: stride * shape.row_stride(),
            pixel: stride * shape.channels,
        }
    }
}

/// Output pixels of an image, with where each reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) source: Steps,
    pub(super) target: Steps,
}

impl Window {
    pub(super) fn pixels(&self, images: usize) -> usize {
        images * self.height * self.width
    }

    /// Whether the pixels of source and target follow each other evenly through the batch.
    pub(super) fn is_even(&self) -> bool {
        let even = |s: &Steps| s.row == self.width * s.pixel && s.image == self.height * s.row;
        even(&self.source) && even(&self.target)
    }

    /// From where the first of these pixels reads to where the one after them does, in an
    /// operand of `len` floats: all of what they read, if a pixel reads no more than its step.
    pub(super) fn sources(&self, pixels: Range<usize>, images: usize, len: usize) -> Range<usize> {
        self.span(pixels, images, len, |cursor| cursor.source)
    }

    /// [`sources`](Self::sources) of where they write.
    pub(super) fn targets(&self, pixels: Range<usize>, images: usize, len: usize) -> Range<usize> {
        self.span(pixels, images, len, |cursor| cursor.target)
    }

    fn span(
        &self,
        pixels: Range<usize>,
        images: usize,
        len: usize,
        place: fn(Cursor) -> usize,
    ) -> Range<usize> {
        let all = self.pixels(images);
        let at = |pixel| if pixel < all { place(self.cursor(pixel)) } else { len };
        at(pixels.start)..at(pixels.end)
    }

    /// A cursor on pixel `index` of the batch.
    #[inline(always)]
    pub(super) fn cursor(&self, index: usize) -> Cursor {
        let (line, column) = (index / self.width, index % self.width);
        let (image, row) = (line / self.height, line % self.height);
        let at = |s: &Steps| s.start + image * s.image + row * s.row;
        Cursor {
            row,
            column,
            source_row: at(&self.source),
            target_row: at(&self.target),
            source: at(&self.source) + column * self.source.pixel,
            target: at(&self.target) + column * self.target.pixel,
        }
    }
}

/// Walks the pixels of a batch without a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    row: usize,
    column: usize,
    source_row: usize,
    target_row: usize,
    source: usize,
    target: usize,
}

impl Cursor {
    /// Pixels from this one to the end of its row.
    #[inline(always)]
    pub(super) fn left_in_row(&self, window: &Window) -> usize {
        window.width - self.column
    }

    /// Where the pixel reads and where it writes; moves on to the next pixel.
    #[inline(always)]
    pub(super) fn advance(&mut self, window: &Window) -> (usize, usize) {
        let here = (self.source, self.target);
        self.column += 1;
        self.source += window.source.pixel;
        self.target += window.target.pixel;
        if self.column == window.width {
            self.next_row(window);
        }
        here
    }

    /// The next `N` pixels; within a row this takes one test.
    #[inline(always)]
    pub(super) fn advance_many<const N: usize>(&mut self, window: &Window) -> [(usize, usize); N] {
        let mut all = [(self.source, self.target); N];
        if self.column + N < window.width {
            for n in 1..N {
                all[n].0 += n * window.source.pixel;
                all[n].1 += n * window.target.pixel;
            }
            self.column += N;
            self.source += N * window.source.pixel;
            self.target += N * window.target.pixel;
        } else {
            for n in 0..N {
                all[n] = self.advance(window);
            }
        }
        all
    }

    /// Where the row under the cursor reads and writes; moves on to the next row.
    #[inline(always)]
    pub(super) fn advance_row(&mut self, window: &Window) -> (usize, usize) {
        let here = (self.source, self.target);
        self.next_row(window);
        here
    }

    #[inline(always)]
    fn next_row(&mut self, window: &Window) {
        self.column = 0;
        self.row += 1;
        self.source_row += window.source.row;
        self.target_row += window.target.row;
        if self.row == window.height {
            self.row = 0;
            // A stride beyond the window may step over the image's end, and back.
            let next = |s: &Steps| s.image.wrapping_sub(window.height * s.row);
            self.source_row = self.source_row.wrapping_add(next(&window.source));
            self.target_row = self.target_row.wrapping_add(next(&window.target));
        }
        self.source = self.source_row;
        self.target = self.target_row;
    }
}
