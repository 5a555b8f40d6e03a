//! Loops over the pixels of one image in which every channel has its own coefficients.
//!
//! Two shapes of loop make every normalisation: sums over the pixels, per channel
//! ([`PixelSums`]), and a new value for each float ([`PixelMap`]); or both at once
//! ([`PixelSumsAndMap`]). They see the floats `x` of a
//! vector of channels of a first image, the floats `d` of a second at the same place (its
//! gradient), and the `N` coefficients of these channels.
//!
//! Memory is read in its order, a few pixels at a time. The sums of few channels stay in
//! registers ([`narrow`]); those of many stay in the first-level cache ([`wide`]), at most
//! [`BLOCK`] at a time ([`blocks`]), so that nothing is allocated.

use crate::batch::{Batch, BatchMut};
use crate::vector::Vector;
use std::ops::Range;

pub(crate) mod blocks;
mod narrow;
mod wide;

/// Channels of a block at the most.
pub(crate) const BLOCK: usize = 256;

/// Pixels of a lane that are summed in `f32` before the sum goes on in `f64`.
const RUN: usize = 64;

/// `K` sums over the pixels of an image, for each channel.
pub(crate) trait PixelSums<const N: usize, const K: usize> {
    /// The sums after one more pixel.
    fn add<V: Vector>(x: V, d: V, coefficients: [V; N], sums: [V; K]) -> [V; K];
}

/// A new value for every float of an image.
pub(crate) trait PixelMap<const N: usize> {
    /// The values that replace `x`.
    fn map<V: Vector>(x: V, d: V, coefficients: [V; N]) -> V;
}

/// Both at once, for what both need.
pub(crate) trait PixelSumsAndMap<const N: usize, const K: usize> {
    /// The sums after one more pixel, and the values that replace `x`.
    fn add_and_map<V: Vector>(x: V, d: V, coefficients: [V; N], sums: [V; K]) -> ([V; K], V);
}

/// Sums of each channel of a block, three at the most.
#[repr(align(64))]
pub(crate) struct Totals {
    /// The sums, once they are complete.
    pub(crate) of: [[f64; BLOCK]; 3],
    /// The sums over the last pixels.
    run: [[f32; BLOCK]; 3],
}

impl Totals {
    /// Room for the sums of a block.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Totals { of: [[0.0; BLOCK]; 3], run: [[0.0; BLOCK]; 3] }
    }
}

/// The sum of `term(i)` for all `i < count`, in four parts, which do not wait for each other.
#[inline(always)]
pub(crate) fn sum_in_parts(count: usize, term: impl Fn(usize) -> f64) -> f64 {
    const PARTS: usize = 4;
    let mut sums = [0.0; PARTS];
    let whole = count / PARTS * PARTS;
    for i in (0..whole).step_by(PARTS) {
        for part in 0..PARTS {
            sums[part] += term(i + part);
        }
    }
    for i in whole..count {
        sums[i - whole] += term(i);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
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
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn sum_pixels<F, V, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals,
) where
    F: PixelSums<N, K>,
    V: Vector,
{
    for k in 0..K {
        totals.of[k][..block.len()].fill(0.0);
    }
    // SAFETY: the caller's promise.
    unsafe {
        match x.shape.channels {
            8 => narrow::sum::<F, V::Eight, N, K, 1, 4>(x, d, coefficients, totals),
            16 if V::WIDTH == 16 => narrow::sum::<F, V, N, K, 1, 2>(x, d, coefficients, totals),
            16 => narrow::sum::<F, V::Eight, N, K, 2, 2>(x, d, coefficients, totals),
            _ => wide::sum::<F, V, N, K>(x, d, block, coefficients, totals),
        }
    }
}

/// Writes the new value of every float of a block to `y`; coefficients are the block's.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn map_pixels<F, V, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    y: BatchMut<'_>,
) where
    F: PixelMap<N>,
    V: Vector,
{
    // SAFETY: the caller's promise.
    unsafe { wide::map::<F, V, N>(x, d, block, coefficients, y) }
}

/// [`sum_pixels`] and [`map_pixels`] in one pass.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn sum_and_map_pixels<F, V, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals,
    y: BatchMut<'_>,
) where
    F: PixelSumsAndMap<N, K>,
    V: Vector,
{
    for k in 0..K {
        totals.of[k][..block.len()].fill(0.0);
    }
    // SAFETY: the caller's promise.
    unsafe { wide::sum_and_map::<F, V, N, K>(x, d, block, coefficients, totals, y) }
}

/// The vector at a place; without `WHOLE`, its first `floats`, followed by zeros.
///
/// # Safety
/// So many may be read; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn load<V: Vector, const WHOLE: bool>(from: *const f32, floats: usize) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        match WHOLE {
            true => V::load(from),
            false => V::load_first(from, floats),
        }
    }
}

/// Writes a vector; without `WHOLE`, the first `floats` of it.
///
/// # Safety
/// So many may be written.
#[inline(always)]
unsafe fn store<V: Vector, const WHOLE: bool>(vector: V, to: *mut f32, floats: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match WHOLE {
            true => vector.store(to),
            false => vector.store_first(to, floats),
        }
    }
}
