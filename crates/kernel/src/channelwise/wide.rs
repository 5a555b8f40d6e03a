//! A block of many channels, whose sums and coefficients stay in the first-level cache.
//!
//! They are loaded into registers for a window of pixels, so that memory is still read in
//! its order, a window at a time.

use super::{BLOCK, LANES, PixelMap, PixelSums, RUN, Totals, add_lanes, map_lanes};
use crate::batch::{Batch, BatchMut, lines};
use std::ops::Range;

/// Pixels over which a vector's sums and coefficients stay in registers.
const WINDOW: usize = 16;

/// Sums over the pixels, in their order.
#[inline(always)]
pub(super) fn sum<F: PixelSums<N, K>, const FMA: bool, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals<K>,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    let mut summed = 0;
    for line in 0..lines {
        let (x, d) = (x.line(line, pixels), d.line(line, pixels));
        for (x, d) in x.chunks(WINDOW * channels).zip(d.chunks(WINDOW * channels)) {
            let strip = Strip { x, d, channels, first: block.start };
            let [pairs, whole] = vectors(block.len());
            strip.add::<F, FMA, N, K, 2, LANES>(0..pairs, coefficients, &mut totals.run);
            strip.add::<F, FMA, N, K, 1, LANES>(pairs..whole, coefficients, &mut totals.run);
            strip.add::<F, FMA, N, K, 1, 1>(whole..block.len(), coefficients, &mut totals.run);
            summed += x.len() / channels;
            if summed >= RUN {
                end_run(totals, block.len());
                summed = 0;
            }
        }
    }
    end_run(totals, block.len());
}

/// A few pixels of both images; a block begins at channel `first`.
struct Strip<'a> {
    x: &'a [f32],
    d: &'a [f32],
    channels: usize,
    first: usize,
}

impl Strip<'_> {
    /// Adds the pixels to the sums of a range of the block, W vectors of V channels at a time.
    #[inline(always)]
    fn add<
        F: PixelSums<N, K>,
        const FMA: bool,
        const N: usize,
        const K: usize,
        const W: usize,
        const V: usize,
    >(
        &self,
        range: Range<usize>,
        coefficients: [&[f32]; N],
        sums: &mut [[f32; BLOCK]; K],
    ) {
        for at in range.step_by(W * V) {
            let own = lanes::<N, W, V>(coefficients, at);
            let mut so_far = [[[0.0; V]; K]; W];
            for w in 0..W {
                for k in 0..K {
                    so_far[w][k].copy_from_slice(&sums[k][at + w * V..][..V]);
                }
            }
            let pixels = self.x.chunks_exact(self.channels);
            for (x, d) in pixels.zip(self.d.chunks_exact(self.channels)) {
                let x = &x[self.first + at..][..W * V].as_chunks::<V>().0[..W];
                let d = &d[self.first + at..][..W * V].as_chunks::<V>().0[..W];
                for w in 0..W {
                    so_far[w] = add_lanes::<F, FMA, N, K, V>(&x[w], &d[w], &own[w], &so_far[w]);
                }
            }
            for w in 0..W {
                for k in 0..K {
                    sums[k][at + w * V..][..V].copy_from_slice(&so_far[w][k]);
                }
            }
        }
    }

    /// Writes the new values of a range of the block, W vectors of V channels at a time.
    #[inline(always)]
    fn map<F: PixelMap<N>, const FMA: bool, const N: usize, const W: usize, const V: usize>(
        &self,
        range: Range<usize>,
        coefficients: [&[f32]; N],
        y: &mut [f32],
    ) {
        for at in range.step_by(W * V) {
            let own = lanes::<N, W, V>(coefficients, at);
            let pixels = self.x.chunks_exact(self.channels);
            let pixels = pixels.zip(self.d.chunks_exact(self.channels));
            for ((x, d), y) in pixels.zip(y.chunks_exact_mut(self.channels)) {
                let x = &x[self.first + at..][..W * V].as_chunks::<V>().0[..W];
                let d = &d[self.first + at..][..W * V].as_chunks::<V>().0[..W];
                let y = &mut y[self.first + at..][..W * V].as_chunks_mut::<V>().0[..W];
                for w in 0..W {
                    y[w] = map_lanes::<F, FMA, N, V>(&x[w], &d[w], &own[w]);
                }
            }
        }
    }
}

/// Adds the `f32` sums of the first channels to their totals, and begins new ones.
#[inline(always)]
fn end_run<const K: usize>(totals: &mut Totals<K>, channels: usize) {
    for k in 0..K {
        let run = &mut totals.run[k][..channels];
        for (total, sum) in totals.of[k][..channels].iter_mut().zip(run) {
            *total += f64::from(*sum);
            *sum = 0.0;
        }
    }
}

/// The new value of every float of a block.
#[inline(always)]
pub(super) fn map<F: PixelMap<N>, const FMA: bool, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    mut y: BatchMut<'_>,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    let window = WINDOW * channels;
    for line in 0..lines {
        let (x, d) = (x.line(line, pixels), d.line(line, pixels));
        let y = y.line(line, pixels).chunks_mut(window);
        for ((x, d), y) in x.chunks(window).zip(d.chunks(window)).zip(y) {
            let strip = Strip { x, d, channels, first: block.start };
            let [pairs, whole] = vectors(block.len());
            strip.map::<F, FMA, N, 2, LANES>(0..pairs, coefficients, y);
            strip.map::<F, FMA, N, 1, LANES>(pairs..whole, coefficients, y);
            strip.map::<F, FMA, N, 1, 1>(whole..block.len(), coefficients, y);
        }
    }
}

/// How many of the channels of a block are in pairs of vectors, and how many in vectors.
#[inline(always)]
fn vectors(channels: usize) -> [usize; 2] {
    [channels / (2 * LANES) * 2 * LANES, channels / LANES * LANES]
}

/// The coefficients of W vectors of V channels.
#[inline(always)]
fn lanes<const N: usize, const W: usize, const V: usize>(
    all: [&[f32]; N],
    at: usize,
) -> [[[f32; V]; N]; W] {
    let mut lanes = [[[0.0; V]; N]; W];
    for w in 0..W {
        for n in 0..N {
            lanes[w][n].copy_from_slice(&all[n][at + w * V..][..V]);
        }
    }
    lanes
}
