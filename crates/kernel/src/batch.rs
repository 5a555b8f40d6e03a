//! Views of batches that know their shape, so that kernels index lines, not floats.

use crate::Shape;

/// Images to read.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    values: &'a [f32],
    pub(crate) shape: Shape,
}

/// Images to write.
pub(crate) struct BatchMut<'a> {
    values: &'a mut [f32],
    pub(crate) shape: Shape,
}

impl<'a> Batch<'a> {
    /// Asserts that `values` holds `images` images.
    pub(crate) fn new(name: &str, images: usize, values: &'a [f32], shape: Shape) -> Self {
        check(name, images, values.len(), &shape);
        Batch { values, shape }
    }

    /// Image `index` as a batch of its own.
    #[inline(always)]
    pub(crate) fn image(&self, index: usize) -> Batch<'a> {
        let stride = self.shape.image_stride();
        Batch { values: &self.values[index * stride..(index + 1) * stride], shape: self.shape }
    }

    /// `pixels` pixels of the first image, from the beginning of row `row` on.
    #[inline(always)]
    pub(crate) fn line(&self, row: usize, pixels: usize) -> &'a [f32] {
        &self.values[self.shape.offset(row, 0)..][..pixels * self.shape.channels]
    }

    /// The channels of one pixel of the first image.
    #[inline(always)]
    pub(crate) fn pixel(&self, row: usize, column: usize) -> &'a [f32] {
        &self.values[self.shape.offset(row, column)..][..self.shape.channels]
    }
}

impl<'a> BatchMut<'a> {
    /// Asserts that `values` holds `images` images.
    pub(crate) fn new(name: &str, images: usize, values: &'a mut [f32], shape: Shape) -> Self {
        check(name, images, values.len(), &shape);
        BatchMut { values, shape }
    }

    /// Image `index` as a batch of its own.
    #[inline(always)]
    pub(crate) fn image(&mut self, index: usize) -> BatchMut<'_> {
        let stride = self.shape.image_stride();
        let values = &mut self.values[index * stride..(index + 1) * stride];
        BatchMut { values, shape: self.shape }
    }

    /// `pixels` pixels of the first image, from the beginning of row `row` on.
    #[inline(always)]
    pub(crate) fn line(&mut self, row: usize, pixels: usize) -> &mut [f32] {
        let start = self.shape.offset(row, 0);
        &mut self.values[start..][..pixels * self.shape.channels]
    }

    /// The channels of one pixel of the first image.
    #[inline(always)]
    pub(crate) fn pixel(&mut self, row: usize, column: usize) -> &mut [f32] {
        let start = self.shape.offset(row, column);
        &mut self.values[start..][..self.shape.channels]
    }
}

/// How to walk over images of equal size: (lines, pixels per line). An image without a
/// border is one long line.
#[inline(always)]
pub(crate) fn lines(shapes: &[Shape]) -> (usize, usize) {
    let Shape { height, width, .. } = shapes[0];
    if shapes.iter().all(|shape| shape.halo == 0) { (1, height * width) } else { (height, width) }
}

/// Asserts that all shapes are those of `shapes[0]` but for the border.
pub(crate) fn assert_same_inside(shapes: &[Shape]) {
    for shape in shapes {
        assert_eq!(shape.with_halo(0), shapes[0].with_halo(0), "images of different sizes");
    }
}

fn check(name: &str, images: usize, len: usize, shape: &Shape) {
    let needed = shape.batch_len(images);
    assert!(len >= needed, "{name}: {len} floats for {images} images of {needed} in all");
}
