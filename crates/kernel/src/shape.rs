//! How a batch of images lies in memory.

/// Images of `height x width x channels`, channels innermost, inside a border of `halo`
/// pixels of zeros. Images of a batch follow each other.
///
/// The border makes padding free: for one row of a convolution's window the inputs of an
/// output pixel are contiguous, at the edge as in the middle. Kernels write the inside
/// only; whoever allocates a buffer fills it with zeros once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the image.
    pub height: usize,
    /// Columns of the image.
    pub width: usize,
    /// Floats per pixel.
    pub channels: usize,
    /// Pixels of border on each side.
    pub halo: usize,
}

impl Shape {
    /// A shape without a border.
    pub fn plain(height: usize, width: usize, channels: usize) -> Self {
        Shape { height, width, channels, halo: 0 }
    }

    /// The same images inside a border.
    pub fn with_halo(self, halo: usize) -> Self {
        Shape { halo, ..self }
    }

    /// Floats from one row to the next.
    pub fn row_stride(&self) -> usize {
        (self.width + 2 * self.halo) * self.channels
    }

    /// Floats from one image to the next.
    pub fn image_stride(&self) -> usize {
        (self.height + 2 * self.halo) * self.row_stride()
    }

    /// Where pixel (row, column) of the image begins, counted from the image's first float.
    pub fn offset(&self, row: usize, column: usize) -> usize {
        (row + self.halo) * self.row_stride() + (column + self.halo) * self.channels
    }

    /// Floats of an image without its border.
    pub fn inside(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Floats of a batch, borders included.
    pub fn batch_len(&self, images: usize) -> usize {
        images * self.image_stride()
    }
}
