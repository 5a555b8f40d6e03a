//! Max pooling: where the maximum came from is saved, as its place in the window.

use super::{Pool, fill_inside, pairs};
use crate::batch::{Batch, BatchMut};
use crate::dispatch::Instructions;
use crate::{Isa, Shape};

impl Pool {
    /// Entries of `argmax` for a batch.
    pub fn argmax_len(&self, images: usize, x_shape: Shape) -> usize {
        images * self.output_shape(x_shape).inside()
    }

    /// y = the maximum of each window; `argmax` keeps the place of the first one in the
    /// window (row by row), for every float of y without border. NaN is a maximum.
    ///
    /// # Panics
    /// If a length or shape does not fit, or this machine lacks `isa`.
    pub fn max_forward(
        &self,
        isa: Isa,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        y: &mut [f32],
        y_shape: Shape,
        argmax: &mut [u32],
    ) {
        self.check(x_shape, y_shape);
        let x = Batch::new("x", images, x, x_shape);
        let mut y = BatchMut::new("y", images, y, y_shape);
        let argmax = &mut argmax[..self.argmax_len(images, x_shape)];
        if *self == Pool::square(2, 2) {
            return Instructions::expect(isa).run(pairs::Forward { images, x, y, argmax });
        }
        let mut argmax = argmax.chunks_exact_mut(y_shape.channels.max(1));
        for image in 0..images {
            let (x, mut y) = (x.image(image), y.image(image));
            for row in 0..y_shape.height {
                for column in 0..y_shape.width {
                    let Some(argmax) = argmax.next() else { return };
                    let y = y.pixel(row, column);
                    match y_shape.channels {
                        c if c % 8 == 0 => self.window_max::<8>(x, row, column, y, argmax),
                        c if c % 2 == 0 => self.window_max::<2>(x, row, column, y, argmax),
                        _ => self.window_max::<1>(x, row, column, y, argmax),
                    }
                }
            }
        }
    }

    /// The maxima of one window, V channels at a time.
    #[inline(always)]
    fn window_max<const V: usize>(
        &self,
        x: Batch<'_>,
        row: usize,
        column: usize,
        y: &mut [f32],
        argmax: &mut [u32],
    ) {
        let (row, column) = (row * self.stride, column * self.stride);
        let blocks = y.as_chunks_mut::<V>().0.iter_mut().zip(argmax.as_chunks_mut::<V>().0);
        for (block, (y, argmax)) in blocks.enumerate() {
            let mut best = x.pixel(row, column).as_chunks::<V>().0[block];
            let mut place = [0; V];
            let mut p = 0;
            for row in row..row + self.height {
                for column in column..column + self.width {
                    let x = x.pixel(row, column).as_chunks::<V>().0[block];
                    for l in 0..V {
                        let better = replaces(x[l], best[l]);
                        best[l] = if better { x[l] } else { best[l] };
                        place[l] = if better { p } else { place[l] };
                    }
                    p += 1;
                }
            }
            (*y, *argmax) = (best, place);
        }
    }

    /// Writes dx: every dy goes to the place its maximum came from.
    ///
    /// # Panics
    /// If a length or shape does not fit, or this machine lacks `isa`.
    pub fn max_backward(
        &self,
        isa: Isa,
        images: usize,
        argmax: &[u32],
        dy: &[f32],
        dy_shape: Shape,
        dx: &mut [f32],
        dx_shape: Shape,
    ) {
        self.check(dx_shape, dy_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let mut dx = BatchMut::new("dx", images, dx, dx_shape);
        let argmax = &argmax[..self.argmax_len(images, dx_shape)];
        if *self == Pool::square(2, 2) {
            return Instructions::expect(isa).run(pairs::Backward { images, argmax, dy, dx });
        }
        let mut argmax = argmax.chunks_exact(dy_shape.channels.max(1));
        for image in 0..images {
            let dy = dy.image(image);
            fill_inside(dx.image(image));
            let mut dx = dx.image(image);
            for row in 0..dy_shape.height {
                for column in 0..dy_shape.width {
                    let Some(argmax) = argmax.next() else { return };
                    let dy = dy.pixel(row, column);
                    let (row, column) = (row * self.stride, column * self.stride);
                    let mut p = 0;
                    for row in row..row + self.height {
                        for column in column..column + self.width {
                            let dx = dx.pixel(row, column);
                            for ((dx, &dy), &place) in dx.iter_mut().zip(dy).zip(argmax) {
                                *dx += if place == p { dy } else { 0.0 };
                            }
                            p += 1;
                        }
                    }
                }
            }
        }
    }
}

/// Whether `x` comes before what was best so far. The first NaN replaces it, and stays.
#[inline(always)]
pub(super) fn replaces(x: f32, best: f32) -> bool {
    // Beside a number, NaN is not at most; two comparisons are all there is per float.
    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "the opposite must hold for NaN")]
    let above = !(x <= best);
    above & !best.is_nan()
}
