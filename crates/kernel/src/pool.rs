//! Pooling over windows of pixels, each channel by itself, without padding.
//!
//! ```text
//! max      y = max over the window of x        dx at the first maximum += dy
//! average  y = sum over the window of x / size  dx everywhere in it    += dy / size
//! ```
//!
//! Windows may overlap (stride < size) and rows or columns that fill no window are left
//! out, as in PyTorch's default. The bits are the same on every isa.

use crate::Shape;
use crate::batch::BatchMut;

mod average;
mod max;
mod pairs;

/// The windows of a pooling layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Rows of a window.
    pub height: usize,
    /// Columns of a window.
    pub width: usize,
    /// Pixels from one window to the next, down and across.
    pub stride: usize,
}

impl Pool {
    /// Windows of `kernel x kernel` pixels.
    pub fn square(kernel: usize, stride: usize) -> Self {
        Pool { height: kernel, width: kernel, stride }
    }

    /// One window: the whole image.
    pub fn global(shape: Shape) -> Self {
        Pool { height: shape.height, width: shape.width, stride: 1 }
    }

    /// The images that come out, without a border.
    ///
    /// # Panics
    /// If the window is empty or larger than the image, or the stride is 0.
    pub fn output_shape(&self, x: Shape) -> Shape {
        let Pool { height, width, stride } = *self;
        assert!(height > 0 && width > 0 && stride > 0, "an empty window: {self:?}");
        assert!(height <= x.height && width <= x.width, "{self:?} is larger than {x:?}");
        Shape::plain((x.height - height) / stride + 1, (x.width - width) / stride + 1, x.channels)
    }

    fn check(&self, x: Shape, y: Shape) {
        assert_eq!(self.output_shape(x), y.with_halo(0), "the images that come out");
    }
}

fn fill_inside(mut images: BatchMut<'_>) {
    for row in 0..images.shape.height {
        let width = images.shape.width;
        images.line(row, width).fill(0.0);
    }
}
