//! Loops over the pixels of one image in which every channel has its own coefficients.
//!
//! Two shapes of loop make every normalisation: sums over the pixels, per channel
//! ([`PixelSums`]), and a new value for each float ([`PixelMap`]). Both see one float `x`
//! of a first image, the float `d` of a second at the same place (its gradient), and the
//! `N` coefficients of its channel. Lanes are channels: `W` vectors of `V` neighbouring
//! ones, and `P` pixels side by side so that the additions do not wait for each other.

use crate::batch::{Batch, BatchMut, lines};

/// `K` sums over the pixels of an image, for each channel.
pub(crate) trait PixelSums<const N: usize, const K: usize> {
    /// The sums after one more pixel.
    fn add<const FMA: bool>(x: f32, d: f32, coefficients: [f32; N], sums: [f32; K]) -> [f32; K];
}

/// A new value for every float of an image.
pub(crate) trait PixelMap<const N: usize> {
    /// The value that replaces `x`.
    fn map<const FMA: bool>(x: f32, d: f32, coefficients: [f32; N]) -> f32;
}

/// Pixels of a lane that are summed in `f32` before the sum goes on in `f64`.
const RUN: usize = 64;

/// Writes the sums of every channel to `totals`.
#[inline(always)]
pub(crate) fn sum_pixels<F, const FMA: bool, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    totals: &mut [[f64; K]],
) where
    F: PixelSums<N, K>,
{
    match x.shape.channels {
        c if c % 16 == 0 => sum_lanes::<F, FMA, N, K, 2, 8, 2>(x, d, coefficients, totals),
        c if c % 8 == 0 => sum_lanes::<F, FMA, N, K, 1, 8, 4>(x, d, coefficients, totals),
        _ => sum_lanes::<F, FMA, N, K, 1, 1, 1>(x, d, coefficients, totals),
    }
}

/// Writes the new value of every float to `y`.
#[inline(always)]
pub(crate) fn map_pixels<F, const FMA: bool, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    y: BatchMut<'_>,
) where
    F: PixelMap<N>,
{
    match x.shape.channels {
        c if c % 32 == 0 => map_lanes::<F, FMA, N, 4, 8>(x, d, coefficients, y),
        c if c % 16 == 0 => map_lanes::<F, FMA, N, 2, 8>(x, d, coefficients, y),
        c if c % 8 == 0 => map_lanes::<F, FMA, N, 1, 8>(x, d, coefficients, y),
        _ => map_lanes::<F, FMA, N, 1, 1>(x, d, coefficients, y),
    }
}

/// Blocks of W vectors of V lanes; P pixels at a time.
#[inline(always)]
fn sum_lanes<
    F: PixelSums<N, K>,
    const FMA: bool,
    const N: usize,
    const K: usize,
    const W: usize,
    const V: usize,
    const P: usize,
>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    totals: &mut [[f64; K]],
) {
    let vectors = x.shape.channels / V;
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    for (block, totals) in totals.chunks_exact_mut(W * V).enumerate() {
        let first = block * W;
        let coefficients = lanes::<N, W, V>(coefficients, first);
        totals.fill([0.0; K]);
        let mut sums = [[[[0.0; V]; K]; W]; P];
        let mut summed = 0;
        for line in 0..lines {
            let (x, d) = (x.line(line, pixels), d.line(line, pixels));
            let (x, d) = (x.as_chunks::<V>().0, d.as_chunks::<V>().0);
            for (x, d) in x.chunks(RUN * P * vectors).zip(d.chunks(RUN * P * vectors)) {
                let (x_steps, d_steps) = (x.chunks_exact(P * vectors), d.chunks_exact(P * vectors));
                let (x_last, d_last) = (x_steps.remainder(), d_steps.remainder());
                for (x, d) in x_steps.zip(d_steps) {
                    for p in 0..P {
                        let (x, d) = (&x[p * vectors + first..], &d[p * vectors + first..]);
                        add_pixel::<F, FMA, N, K, W, V>(x, d, &coefficients, &mut sums[p]);
                    }
                }
                for p in 0..x_last.len() / vectors {
                    let (x, d) = (&x_last[p * vectors + first..], &d_last[p * vectors + first..]);
                    add_pixel::<F, FMA, N, K, W, V>(x, d, &coefficients, &mut sums[0]);
                }
                summed += x.len() / (P * vectors);
                if summed >= RUN {
                    let done = sums;
                    add_totals(&done, totals);
                    (sums, summed) = ([[[[0.0; V]; K]; W]; P], 0);
                }
            }
        }
        let done = sums;
        add_totals(&done, totals);
    }
}

#[inline(always)]
fn add_pixel<
    F: PixelSums<N, K>,
    const FMA: bool,
    const N: usize,
    const K: usize,
    const W: usize,
    const V: usize,
>(
    x: &[[f32; V]],
    d: &[[f32; V]],
    coefficients: &[[[f32; V]; N]; W],
    sums: &mut [[[f32; V]; K]; W],
) {
    let (x, d) = (&x[..W], &d[..W]);
    for w in 0..W {
        let mut new = [[0.0; V]; K];
        for l in 0..V {
            let mut so_far = [0.0; K];
            for k in 0..K {
                so_far[k] = sums[w][k][l];
            }
            let so_far = F::add::<FMA>(x[w][l], d[w][l], of_lane(&coefficients[w], l), so_far);
            for k in 0..K {
                new[k][l] = so_far[k];
            }
        }
        sums[w] = new;
    }
}

/// Adds the `f32` sums of `P` pixels to the totals. A function of its own, on a copy:
/// inlined, its order of lanes would spread to the loop's registers.
#[inline(never)]
fn add_totals<const K: usize, const W: usize, const V: usize, const P: usize>(
    sums: &[[[[f32; V]; K]; W]; P],
    totals: &mut [[f64; K]],
) {
    for w in 0..W {
        for (l, totals) in totals[w * V..(w + 1) * V].iter_mut().enumerate() {
            for k in 0..K {
                for p in 0..P {
                    totals[k] += f64::from(sums[p][w][k][l]);
                }
            }
        }
    }
}

/// Blocks of W vectors of V lanes.
#[inline(always)]
fn map_lanes<F: PixelMap<N>, const FMA: bool, const N: usize, const W: usize, const V: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    coefficients: [&[f32]; N],
    mut y: BatchMut<'_>,
) {
    let vectors = x.shape.channels / V;
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    for first in (0..vectors).step_by(W) {
        let coefficients = lanes::<N, W, V>(coefficients, first);
        for line in 0..lines {
            let (x, d) = (x.line(line, pixels), d.line(line, pixels));
            let (x, d) = (x.as_chunks::<V>().0, d.as_chunks::<V>().0);
            let y = y.line(line, pixels).as_chunks_mut::<V>().0;
            let pixels = x.chunks_exact(vectors).zip(d.chunks_exact(vectors));
            for ((x, d), y) in pixels.zip(y.chunks_exact_mut(vectors)) {
                let (x, d) = (&x[first..][..W], &d[first..][..W]);
                let y = &mut y[first..][..W];
                for w in 0..W {
                    let mut new = [0.0; V];
                    for l in 0..V {
                        new[l] = F::map::<FMA>(x[w][l], d[w][l], of_lane(&coefficients[w], l));
                    }
                    y[w] = new;
                }
            }
        }
    }
}

/// The coefficients of the channels of one block.
#[inline(always)]
fn lanes<const N: usize, const W: usize, const V: usize>(
    all: [&[f32]; N],
    first: usize,
) -> [[[f32; V]; N]; W] {
    let mut lanes = [[[0.0; V]; N]; W];
    for w in 0..W {
        for n in 0..N {
            lanes[w][n].copy_from_slice(&all[n][(first + w) * V..][..V]);
        }
    }
    lanes
}

/// Lane `l` of each of N vectors.
#[inline(always)]
fn of_lane<const N: usize, const V: usize>(vectors: &[[f32; V]; N], l: usize) -> [f32; N] {
    let mut lane = [0.0; N];
    for n in 0..N {
        lane[n] = vectors[n][l];
    }
    lane
}
