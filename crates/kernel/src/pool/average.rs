//! Average pooling.

use super::{Pool, fill_inside};
use crate::Shape;
use crate::batch::{Batch, BatchMut};

impl Pool {
    /// y = the mean of each window.
    ///
    /// # Panics
    /// If a length or shape does not fit.
    pub fn average_forward(
        &self,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        y: &mut [f32],
        y_shape: Shape,
    ) {
        self.check(x_shape, y_shape);
        let x = Batch::new("x", images, x, x_shape);
        let mut y = BatchMut::new("y", images, y, y_shape);
        let share = 1.0 / (self.height * self.width) as f32;
        for image in 0..images {
            let (x, mut y) = (x.image(image), y.image(image));
            for row in 0..y_shape.height {
                for column in 0..y_shape.width {
                    let y = y.pixel(row, column);
                    let (row, column) = (row * self.stride, column * self.stride);
                    y.fill(0.0);
                    for row in row..row + self.height {
                        for column in column..column + self.width {
                            for (y, x) in y.iter_mut().zip(x.pixel(row, column)) {
                                *y += x;
                            }
                        }
                    }
                    for y in y {
                        *y *= share;
                    }
                }
            }
        }
    }

    /// Writes dx: every dy is shared by the pixels of its window.
    ///
    /// # Panics
    /// If a length or shape does not fit.
    pub fn average_backward(
        &self,
        images: usize,
        dy: &[f32],
        dy_shape: Shape,
        dx: &mut [f32],
        dx_shape: Shape,
    ) {
        self.check(dx_shape, dy_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let mut dx = BatchMut::new("dx", images, dx, dx_shape);
        let share = 1.0 / (self.height * self.width) as f32;
        for image in 0..images {
            let dy = dy.image(image);
            fill_inside(dx.image(image));
            let mut dx = dx.image(image);
            for row in 0..dy_shape.height {
                for column in 0..dy_shape.width {
                    let dy = dy.pixel(row, column);
                    let (row, column) = (row * self.stride, column * self.stride);
                    for row in row..row + self.height {
                        for column in column..column + self.width {
                            for (dx, dy) in dx.pixel(row, column).iter_mut().zip(dy) {
                                *dx += share * dy;
                            }
                        }
                    }
                }
            }
        }
    }
}
