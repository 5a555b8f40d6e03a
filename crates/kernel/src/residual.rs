//! The residual connection: sums and copies of batches with different borders.
//!
//! ```text
//! forward    y += x
//! backward   dx += dy  (or dx = dy, where nothing has been added yet)
//! ```
//!
//! Nothing is rounded differently from one instruction set to the next, so there is no
//! isa to choose.

use crate::Shape;
use crate::batch::{Batch, BatchMut, assert_same_inside, lines};

/// y += x: the forward sum, and the gradient that joins a branch's own.
///
/// # Panics
/// If a length does not fit, or the images differ in more than the border.
pub fn add(images: usize, x: &[f32], x_shape: Shape, y: &mut [f32], y_shape: Shape) {
    assert_same_inside(&[x_shape, y_shape]);
    let x = Batch::new("x", images, x, x_shape);
    let mut y = BatchMut::new("y", images, y, y_shape);
    let (lines, pixels) = lines(&[x_shape, y_shape]);
    for image in 0..images {
        let (x, mut y) = (x.image(image), y.image(image));
        for line in 0..lines {
            for (y, x) in y.line(line, pixels).iter_mut().zip(x.line(line, pixels)) {
                *y += x;
            }
        }
    }
}

/// y = x: the gradient that goes both ways, or images that move into another border.
///
/// # Panics
/// If a length does not fit, or the images differ in more than the border.
pub fn copy(images: usize, x: &[f32], x_shape: Shape, y: &mut [f32], y_shape: Shape) {
    assert_same_inside(&[x_shape, y_shape]);
    let x = Batch::new("x", images, x, x_shape);
    let mut y = BatchMut::new("y", images, y, y_shape);
    let (lines, pixels) = lines(&[x_shape, y_shape]);
    for image in 0..images {
        let (x, mut y) = (x.image(image), y.image(image));
        for line in 0..lines {
            y.line(line, pixels).copy_from_slice(x.line(line, pixels));
        }
    }
}
