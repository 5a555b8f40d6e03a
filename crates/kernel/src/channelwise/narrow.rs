//! A pixel of W vectors, whose sums and coefficients stay in registers.

use super::{LANES, PixelMap, PixelSums, RUN, Totals, add_lanes, map_lanes};
use crate::batch::{Batch, BatchMut, lines};

/// Sums over P pixels side by side, so that the additions do not wait for each other.
#[inline(always)]
pub(super) fn sum<
    F: PixelSums<N, K>,
    const FMA: bool,
    const N: usize,
    const K: usize,
    const W: usize,
    const P: usize,
>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    totals: &mut Totals<K>,
) {
    let coefficients = vectors::<N, W>(coefficients);
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    let mut sums = [[[[0.0; LANES]; K]; W]; P];
    let mut summed = 0;
    for line in 0..lines {
        let (x, d) = (as_pixels::<W>(x.line(line, pixels)), as_pixels::<W>(d.line(line, pixels)));
        for (x, d) in x.chunks(RUN * P).zip(d.chunks(RUN * P)) {
            let ((x_steps, x_last), (d_steps, d_last)) = (x.as_chunks::<P>(), d.as_chunks::<P>());
            for (x, d) in x_steps.iter().zip(d_steps) {
                for p in 0..P {
                    sums[p] = add_pixel::<F, FMA, N, K, W>(&x[p], &d[p], &coefficients, sums[p]);
                }
            }
            for (x, d) in x_last.iter().zip(d_last) {
                sums[0] = add_pixel::<F, FMA, N, K, W>(x, d, &coefficients, sums[0]);
            }
            summed += x.len() / P;
            if summed >= RUN {
                let done = sums;
                add_totals(&done, totals);
                (sums, summed) = ([[[[0.0; LANES]; K]; W]; P], 0);
            }
        }
    }
    let done = sums;
    add_totals(&done, totals);
}

#[inline(always)]
fn add_pixel<
    F: PixelSums<N, K>,
    const FMA: bool,
    const N: usize,
    const K: usize,
    const W: usize,
>(
    x: &[[f32; LANES]; W],
    d: &[[f32; LANES]; W],
    coefficients: &[[[f32; LANES]; N]; W],
    mut sums: [[[f32; LANES]; K]; W],
) -> [[[f32; LANES]; K]; W] {
    for w in 0..W {
        sums[w] = add_lanes::<F, FMA, N, K, LANES>(&x[w], &d[w], &coefficients[w], &sums[w]);
    }
    sums
}

/// Adds the `f32` sums of `P` pixels to the totals. A function of its own, on a copy:
/// inlined, its order of lanes would spread to the loop's registers.
#[inline(never)]
fn add_totals<const K: usize, const W: usize, const P: usize>(
    sums: &[[[[f32; LANES]; K]; W]; P],
    totals: &mut Totals<K>,
) {
    for w in 0..W {
        for k in 0..K {
            for (l, total) in totals.of[k][w * LANES..][..LANES].iter_mut().enumerate() {
                for p in 0..P {
                    *total += f64::from(sums[p][w][k][l]);
                }
            }
        }
    }
}

/// The new value of every float.
#[inline(always)]
pub(super) fn map<F: PixelMap<N>, const FMA: bool, const N: usize, const W: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    mut y: BatchMut<'_>,
) {
    let coefficients = vectors::<N, W>(coefficients);
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    for line in 0..lines {
        let (x, d) = (as_pixels::<W>(x.line(line, pixels)), as_pixels::<W>(d.line(line, pixels)));
        let y = y.line(line, pixels).as_chunks_mut::<LANES>().0.as_chunks_mut::<W>().0;
        for ((x, d), y) in x.iter().zip(d).zip(y) {
            for w in 0..W {
                y[w] = map_lanes::<F, FMA, N, LANES>(&x[w], &d[w], &coefficients[w]);
            }
        }
    }
}

#[inline(always)]
fn as_pixels<const W: usize>(line: &[f32]) -> &[[[f32; LANES]; W]] {
    line.as_chunks::<LANES>().0.as_chunks::<W>().0
}

/// The coefficients of each vector of a pixel.
#[inline(always)]
fn vectors<const N: usize, const W: usize>(all: [&[f32]; N]) -> [[[f32; LANES]; N]; W] {
    let mut vectors = [[[0.0; LANES]; N]; W];
    for w in 0..W {
        for n in 0..N {
            vectors[w][n].copy_from_slice(&all[n][w * LANES..][..LANES]);
        }
    }
    vectors
}
