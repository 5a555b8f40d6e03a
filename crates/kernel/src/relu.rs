//! The rectifier.
//!
//! ```text
//! forward    y  = max(x, 0)              NaN stays NaN
//! backward   dx = dy where y > 0, else 0
//! ```
//!
//! The gradient needs y alone, so the forward pass may overwrite its input. A vector is an
//! image of one pixel: `Shape::plain(1, 1, n)`. The bits are the same on every isa.

use crate::Shape;
use crate::batch::{Batch, BatchMut, assert_same_inside, lines};

/// y = max(x, 0).
///
/// # Panics
/// If a length does not fit, or the images differ in more than the border.
pub fn forward(images: usize, x: &[f32], x_shape: Shape, y: &mut [f32], y_shape: Shape) {
    assert_same_inside(&[x_shape, y_shape]);
    let x = Batch::new("x", images, x, x_shape);
    let mut y = BatchMut::new("y", images, y, y_shape);
    let (lines, pixels) = lines(&[x_shape, y_shape]);
    for image in 0..images {
        let (x, mut y) = (x.image(image), y.image(image));
        for line in 0..lines {
            for (y, &x) in y.line(line, pixels).iter_mut().zip(x.line(line, pixels)) {
                *y = rectify(x);
            }
        }
    }
}

/// x = max(x, 0) for every float of a buffer; a border of zeros stays one.
pub fn forward_in_place(x: &mut [f32]) {
    for x in x {
        *x = rectify(*x);
    }
}

/// dx = dy where y > 0, else 0.
///
/// # Panics
/// If a length does not fit, or the images differ in more than the border.
pub fn backward(
    images: usize,
    y: &[f32],
    y_shape: Shape,
    dy: &[f32],
    dy_shape: Shape,
    dx: &mut [f32],
    dx_shape: Shape,
) {
    assert_same_inside(&[y_shape, dy_shape, dx_shape]);
    let y = Batch::new("y", images, y, y_shape);
    let dy = Batch::new("dy", images, dy, dy_shape);
    let mut dx = BatchMut::new("dx", images, dx, dx_shape);
    let (lines, pixels) = lines(&[y_shape, dy_shape, dx_shape]);
    for image in 0..images {
        let (y, dy, mut dx) = (y.image(image), dy.image(image), dx.image(image));
        for line in 0..lines {
            let given = y.line(line, pixels).iter().zip(dy.line(line, pixels));
            for (dx, (&y, &dy)) in dx.line(line, pixels).iter_mut().zip(given) {
                *dx = pass(y, dy);
            }
        }
    }
}

/// dy = 0 where y <= 0.
///
/// # Panics
/// If a length does not fit, or the images differ in more than the border.
pub fn backward_in_place(
    images: usize,
    y: &[f32],
    y_shape: Shape,
    dy: &mut [f32],
    dy_shape: Shape,
) {
    assert_same_inside(&[y_shape, dy_shape]);
    let y = Batch::new("y", images, y, y_shape);
    let mut dy = BatchMut::new("dy", images, dy, dy_shape);
    let (lines, pixels) = lines(&[y_shape, dy_shape]);
    for image in 0..images {
        let (y, mut dy) = (y.image(image), dy.image(image));
        for line in 0..lines {
            for (dy, &y) in dy.line(line, pixels).iter_mut().zip(y.line(line, pixels)) {
                *dy = pass(y, *dy);
            }
        }
    }
}

#[inline(always)]
fn rectify(x: f32) -> f32 {
    // Not `max`, which would turn a NaN into 0.
    if x < 0.0 { 0.0 } else { x }
}

#[inline(always)]
fn pass(y: f32, dy: f32) -> f32 {
    if y <= 0.0 { 0.0 } else { dy }
}
