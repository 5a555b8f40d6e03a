//! A pixel of W vectors, whose sums and coefficients stay in registers.

use super::{PixelSums, RUN, Totals};
use crate::batch::{Batch, lines};
use crate::vector::{Vector, WIDEST};

/// Sums over P pixels side by side, so that the additions do not wait for each other.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sum<
    F: PixelSums<N, K>,
    V: Vector,
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
            let (x, d) = (x.line(line, pixels), d.line(line, pixels));
            let pixel = W * V::WIDTH;
            for (x, d) in x.chunks(RUN * P * pixel).zip(d.chunks(RUN * P * pixel)) {
                let count = x.len().min(d.len()) / pixel;
                for step in 0..count / P {
                    for p in 0..P {
                        let at = (step * P + p) * pixel;
                        let (x, d) = (x.as_ptr().add(at), d.as_ptr().add(at));
                        sums[p] = add_pixel::<F, V, N, K, W>(x, d, &own, sums[p]);
                    }
                }
                for last in count / P * P..count {
                    let (x, d) = (x.as_ptr().add(last * pixel), d.as_ptr().add(last * pixel));
                    sums[0] = add_pixel::<F, V, N, K, W>(x, d, &own, sums[0]);
                }
                summed += count / P;
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
/// W vectors may be read of each operand; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn add_pixel<
    F: PixelSums<N, K>,
    V: Vector,
    const N: usize,
    const K: usize,
    const W: usize,
>(
    x: *const f32,
    d: *const f32,
    own: &[[V; N]; W],
    mut sums: [[V; K]; W],
) -> [[V; K]; W] {
    for w in 0..W {
        // SAFETY: the caller's promise.
        let (x, d) = unsafe { (V::load(x.add(w * V::WIDTH)), V::load(d.add(w * V::WIDTH))) };
        sums[w] = F::add(x, d, own[w], sums[w]);
    }
    sums
}

/// Adds the `f32` sums of `P` pixels to the totals.
#[inline(always)]
fn add_totals<V: Vector, const K: usize, const W: usize, const P: usize>(
    sums: &[[[V; K]; W]; P],
    totals: &mut Totals,
) {
    for w in 0..W {
        for k in 0..K {
            for p in 0..P {
                let mut lanes = [0.0; WIDEST];
                // SAFETY: the array has room for a vector.
                unsafe { sums[p][w][k].store(lanes.as_mut_ptr()) };
                let totals = &mut totals.of[k][w * V::WIDTH..][..V::WIDTH];
                for (total, lane) in totals.iter_mut().zip(lanes) {
                    *total += f64::from(lane);
                }
            }
        }
    }
}

/// The coefficients of each vector of a pixel.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn vectors<V: Vector, const N: usize, const W: usize>(all: [&[f32]; N]) -> [[V; N]; W] {
    // SAFETY: the caller's promise; a slice of lanes may be read.
    unsafe {
        let mut vectors = [[V::zero(); N]; W];
        for w in 0..W {
            for n in 0..N {
                vectors[w][n] = V::load(all[n][w * V::WIDTH..][..V::WIDTH].as_ptr());
            }
        }
        vectors
    }
}
