//! The gradient of the weights from one input channel, at stride 1.
//!
//! ```text
//! dw[o, u, v] = sum_q x[u, q + v] * dy[q, o]        over all pixels q
//! ```
//!
//! The sums of two rows of the window stay in registers for a whole image. A pixel's vector of
//! `dy` reaches into the next pixel where there are fewer outputs than lanes: what is summed in
//! those lanes is never read.

use super::super::instructions::{Kernel, load};
use super::Plane;
use crate::lanes::{LANES, Lanes, kernel_of_lanes};

/// Rows of the window whose sums are in registers.
const ROWS: usize = 2;

/// One pass over a batch, which adds to the plane's sum.
pub(super) struct Gather<'a> {
    pub(super) into: &'a mut Plane,
    pub(super) images: usize,
    pub(super) x: &'a [f32],
    pub(super) dy: &'a [f32],
}

kernel_of_lanes!(Gather);

impl Gather<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.into.conv.kernel.1 {
                2 => self.taps::<V, 2>(),
                3 => self.taps::<V, 3>(),
                4 => self.taps::<V, 4>(),
                5 => self.taps::<V, 5>(),
                6 => self.taps::<V, 6>(),
                _ => self.taps::<V, 7>(),
            }
        }
    }

    /// # Safety
    /// The machine has the instructions of `V`, and the window has `COLUMNS` columns.
    #[inline(always)]
    unsafe fn taps<V: Lanes, const COLUMNS: usize>(&mut self) {
        let rows = self.into.conv.kernel.0;
        for image in 0..self.images {
            for first in (0..self.into.conv.out_channels).step_by(LANES) {
                let mut row = 0;
                while row < rows {
                    // SAFETY: the caller's promise.
                    row += unsafe {
                        match rows - row {
                            1 => self.rows::<V, COLUMNS, 1>(image, first, row),
                            _ => self.rows::<V, COLUMNS, ROWS>(image, first, row),
                        }
                    };
                }
            }
        }
    }

    /// `R` rows of the window, from `top` on; returns `R`.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn rows<V: Lanes, const COLUMNS: usize, const R: usize>(
        &mut self,
        image: usize,
        first: usize,
        top: usize,
    ) -> usize {
        let Plane { conv, x, dy, .. } = *self.into;
        let corner = x.halo - conv.padding;
        let sums = (first * conv.kernel.0 + top * LANES) * COLUMNS;
        let sums = &mut self.into.sum[sums..][..R * COLUMNS * LANES];
        // SAFETY: the caller's promise; a slice of lanes may be read and written.
        unsafe {
            let mut sum = [[V::zero(); COLUMNS]; R];
            for r in 0..R {
                for v in 0..COLUMNS {
                    sum[r][v] = V::load(sums.as_ptr().add((r * COLUMNS + v) * LANES));
                }
            }
            for row in 0..dy.height {
                let from = image * x.image_stride() + (row + top + corner) * x.row_stride();
                let mut inputs: [&[f32]; R] = [&[]; R];
                for r in 0..R {
                    let from = from + r * x.row_stride() + corner;
                    inputs[r] = &self.x[from..][..dy.width + COLUMNS - 1];
                }
                let grads = &self.dy[image * dy.image_stride() + dy.offset(row, 0) + first..];
                assert!(grads.len() + first >= dy.width * dy.channels, "too few gradients");
                // The last vectors of a batch may reach beyond its end.
                let whole = (grads.len() + dy.channels).saturating_sub(LANES) / dy.channels;
                let whole = whole.min(dy.width);
                for q in 0..whole {
                    let z = V::load(grads.as_ptr().add(q * dy.channels));
                    add(&mut sum, inputs, q, z);
                }
                for q in whole..dy.width {
                    let lanes: [f32; LANES] = load(grads, q * dy.channels);
                    add(&mut sum, inputs, q, V::load(lanes.as_ptr()));
                }
            }
            for r in 0..R {
                for v in 0..COLUMNS {
                    sum[r][v].store(sums.as_mut_ptr().add((r * COLUMNS + v) * LANES));
                }
            }
        }
        R
    }
}

/// Adds the products of a pixel.
///
/// # Safety
/// Every row of inputs has those of pixel `q`.
#[inline(always)]
unsafe fn add<V: Lanes, const COLUMNS: usize, const R: usize>(
    sum: &mut [[V; COLUMNS]; R],
    inputs: [&[f32]; R],
    q: usize,
    z: V,
) {
    // Else the compiler keeps the inputs that the next pixel reads, too, instead of the sums.
    let q = std::hint::black_box(q);
    for r in 0..R {
        for v in 0..COLUMNS {
            // SAFETY: the caller's promise.
            let input = unsafe { *inputs[r].get_unchecked(q + v) };
            sum[r][v] = z.scaled(input, sum[r][v]);
        }
    }
}
