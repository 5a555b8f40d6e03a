//! The pixels of a group of images without their borders, as `[pixel][image][channel]`.
//!
//! A border makes an image of 2 x 2 pixels four times as large, and images that lie a power of
//! two apart evict each other; rows that are a cache line longer than a pixel do not.

use crate::Shape;
use crate::conv::packing::WIDE;

/// Rows of channels, one for each image.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) values: &'a [f32],
    pub(super) channels: usize,
    /// Floats from one image to the next.
    pub(super) row: usize,
    /// Floats from one pixel to the next.
    pub(super) pixel: usize,
}

impl<'a> Rows<'a> {
    /// Floats of the rows of `images` images.
    pub(super) fn len(shape: Shape, images: usize) -> usize {
        shape.height * shape.width * images * (shape.channels + WIDE)
    }

    /// Copies `count` images, from number `first` on.
    pub(super) fn gather(
        shape: Shape,
        first: usize,
        count: usize,
        images: &[f32],
        into: &'a mut [f32],
    ) -> Self {
        let channels = shape.channels;
        let row = channels + WIDE;
        for at in 0..shape.height * shape.width {
            let from = shape.offset(at / shape.width, at % shape.width);
            for image in 0..count {
                let from = &images[shape.batch_len(first + image) + from..][..channels];
                into[(at * count + image) * row..][..channels].copy_from_slice(from);
            }
        }
        Rows { values: into, channels, row, pixel: count * row }
    }

    /// Panics unless `pixels` pixels of `images` images are there.
    pub(super) fn check(&self, pixels: usize, images: usize) {
        assert!(self.pixel >= images * self.row && self.row >= self.channels);
        assert!(self.values.len() >= pixels * self.pixel, "tiny: {pixels} pixels of rows");
    }
}
