//! Loops over the pixels of one image in which every channel has its own coefficients.
//!
//! Two shapes of loop make every normalisation: sums over the pixels, per channel
//! ([`PixelSums`]), and a new value for each float ([`PixelMap`]). Both see one float `x`
//! of a first image, the float `d` of a second at the same place (its gradient), and the
//! `N` coefficients of its channel. Lanes are channels, [`LANES`] neighbouring ones.
//!
//! Memory is read in its order. Few channels keep their sums and coefficients in registers
//! ([`narrow`]); many keep them in the first-level cache ([`wide`]), at most [`BLOCK`] at a
//! time ([`blocks`]), so that nothing is allocated.

use crate::batch::{Batch, BatchMut};
use crate::columns::LANES;
use std::ops::Range;

pub(crate) mod blocks;
mod narrow;
mod wide;

/// Channels of a block at the most.
pub(crate) const BLOCK: usize = 512;

/// Pixels of a lane that are summed in `f32` before the sum goes on in `f64`.
const RUN: usize = 64;

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

/// `K` sums of each channel of a block.
#[repr(align(64))]
pub(crate) struct Totals<const K: usize> {
    /// The sums, once they are complete.
    pub(crate) of: [[f64; BLOCK]; K],
    /// The sums over the last pixels.
    run: [[f32; BLOCK]; K],
}

impl<const K: usize> Totals<K> {
    /// Room for the sums of a block.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Totals { of: [[0.0; BLOCK]; K], run: [[0.0; BLOCK]; K] }
    }
}

/// A coefficient of every channel of a block, at a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct OfBlock(pub(crate) [f32; BLOCK]);

impl OfBlock {
    /// Zeros.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        OfBlock([0.0; BLOCK])
    }

    /// Copies the coefficients of a block, and gives them back.
    #[inline(always)]
    pub(crate) fn copied(&mut self, from: &[f32]) -> &[f32] {
        let to = &mut self.0[..from.len()];
        to.copy_from_slice(from);
        to
    }
}

/// Writes the sums of every channel of a block to `totals`; coefficients are the block's.
#[inline(always)]
pub(crate) fn sum_pixels<F, const FMA: bool, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals<K>,
) where
    F: PixelSums<N, K>,
{
    for k in 0..K {
        totals.of[k][..block.len()].fill(0.0);
    }
    match x.shape.channels {
        8 => narrow::sum::<F, FMA, N, K, 1, 4>(x, d, coefficients, totals),
        16 => narrow::sum::<F, FMA, N, K, 2, 2>(x, d, coefficients, totals),
        _ => wide::sum::<F, FMA, N, K>(x, d, block, coefficients, totals),
    }
}

/// Writes the new value of every float of a block to `y`; coefficients are the block's.
#[inline(always)]
pub(crate) fn map_pixels<F, const FMA: bool, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    y: BatchMut<'_>,
) where
    F: PixelMap<N>,
{
    match x.shape.channels {
        8 => narrow::map::<F, FMA, N, 1>(x, d, coefficients, y),
        // With fewer coefficients the compiler would make lanes of pixels, by single loads.
        16 if N > 3 => narrow::map::<F, FMA, N, 2>(x, d, coefficients, y),
        24 if N > 3 => narrow::map::<F, FMA, N, 3>(x, d, coefficients, y),
        32 if N > 3 => narrow::map::<F, FMA, N, 4>(x, d, coefficients, y),
        _ => wide::map::<F, FMA, N>(x, d, block, coefficients, y),
    }
}

/// The sums of V channels after one more pixel.
#[inline(always)]
fn add_lanes<
    F: PixelSums<N, K>,
    const FMA: bool,
    const N: usize,
    const K: usize,
    const V: usize,
>(
    x: &[f32; V],
    d: &[f32; V],
    coefficients: &[[f32; V]; N],
    sums: &[[f32; V]; K],
) -> [[f32; V]; K] {
    let mut new = [[0.0; V]; K];
    for l in 0..V {
        let so_far = F::add::<FMA>(x[l], d[l], of_lane(coefficients, l), of_lane(sums, l));
        for k in 0..K {
            new[k][l] = so_far[k];
        }
    }
    new
}

/// The new values of V channels.
#[inline(always)]
fn map_lanes<F: PixelMap<N>, const FMA: bool, const N: usize, const V: usize>(
    x: &[f32; V],
    d: &[f32; V],
    coefficients: &[[f32; V]; N],
) -> [f32; V] {
    let mut new = [0.0; V];
    for l in 0..V {
        new[l] = F::map::<FMA>(x[l], d[l], of_lane(coefficients, l));
    }
    new
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
