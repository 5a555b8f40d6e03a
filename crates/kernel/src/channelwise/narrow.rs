//! A pixel of W vectors, whose sums and coefficients stay in registers.

use super::{PixelSums, RUN, Totals};
use crate::batch::{Batch, lines};
use crate::lanes::{LANES, Lanes};

/// Sums over P pixels side by side, so that the additions do not wait for each other.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sum<
    F: PixelSums<N, K>,
    V: Lanes,
    const N: usize,
    const K: usize,
    const W: usize,
    const P: usize,
>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    totals: &mut Totals,
) {
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    // SAFETY: the caller's promise; a pixel has W vectors.
    unsafe {
        let own = vectors::<V, N, W>(coefficients);
        let zeros = [[[V::zero(); K]; W]; P];
        let (mut sums, mut summed) = (zeros, 0);
        for line in 0..lines {
            let x = as_pixels::<W>(x.line(line, pixels));
            let d = as_pixels::<W>(d.line(line, pixels));
            for (x, d) in x.chunks(RUN * P).zip(d.chunks(RUN * P)) {
                let ((x_steps, x_last), (d_steps, d_last)) =
                    (x.as_chunks::<P>(), d.as_chunks::<P>());
                for (x, d) in x_steps.iter().zip(d_steps) {
                    for p in 0..P {
                        sums[p] = add_pixel::<F, V, N, K, W>(&x[p], &d[p], &own, sums[p]);
                    }
                }
                for (x, d) in x_last.iter().zip(d_last) {
                    sums[0] = add_pixel::<F, V, N, K, W>(x, d, &own, sums[0]);
                }
                summed += x.len() / P;
                if summed >= RUN {
                    add_totals(&sums, totals);
                    (sums, summed) = (zeros, 0);
                }
            }
        }
        add_totals(&sums, totals);
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn add_pixel<
    F: PixelSums<N, K>,
    V: Lanes,
    const N: usize,
    const K: usize,
    const W: usize,
>(
    x: &[[f32; LANES]; W],
    d: &[[f32; LANES]; W],
    own: &[[V; N]; W],
    mut sums: [[V; K]; W],
) -> [[V; K]; W] {
    for w in 0..W {
        // SAFETY: the arrays have the lanes of a vector; the caller's promise.
        let (x, d) = unsafe { (V::load(x[w].as_ptr()), V::load(d[w].as_ptr())) };
        sums[w] = F::add(x, d, own[w], sums[w]);
    }
    sums
}

/// Adds the `f32` sums of `P` pixels to the totals.
#[inline(always)]
fn add_totals<V: Lanes, const K: usize, const W: usize, const P: usize>(
    sums: &[[[V; K]; W]; P],
    totals: &mut Totals,
) {
    for w in 0..W {
        for k in 0..K {
            for p in 0..P {
                let mut lanes = [0.0; LANES];
                // SAFETY: the array has room for a vector.
                unsafe { sums[p][w][k].store(lanes.as_mut_ptr()) };
                let totals = &mut totals.of[k][w * LANES..][..LANES];
                for (total, lane) in totals.iter_mut().zip(lanes) {
                    *total += f64::from(lane);
                }
            }
        }
    }
}

#[inline(always)]
fn as_pixels<const W: usize>(line: &[f32]) -> &[[[f32; LANES]; W]] {
    line.as_chunks::<LANES>().0.as_chunks::<W>().0
}

/// The coefficients of each vector of a pixel.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn vectors<V: Lanes, const N: usize, const W: usize>(all: [&[f32]; N]) -> [[V; N]; W] {
    // SAFETY: the caller's promise; a slice of lanes may be read.
    unsafe {
        let mut vectors = [[V::zero(); N]; W];
        for w in 0..W {
            for n in 0..N {
                vectors[w][n] = V::load(all[n][w * LANES..][..LANES].as_ptr());
            }
        }
        vectors
    }
}
