//! 1x1 windows on images without a border: matrices `[pixel][channel]`, and their products.
//!
//! ```text
//! target[p, o] = start[o] + sum_i source[p, i] * weights[i, o]     ([`product`])
//! sum[i, o]   += sum_p source[p, i] * dy[p, o]                     ([`outer`])
//! ```
//!
//! The same sums as those of `correlate` and `outer`, in the same order. But a pixel's place
//! is a product, no test stands between a tile and its neighbour, and none in it: with 16 to
//! 32 inputs, a third of the time of a tile went there.

pub(super) mod order;
mod outer;
mod product;

pub(super) use outer::{COPIED, OuterProduct};
pub(super) use product::Product;

use super::packing::WIDE;
use super::window::Steps;
use crate::lanes::Vector;

/// Outputs of a register tile, as vectors: two, or three at the end of an odd number of them, or
/// one if there are no more. (Outputs that are whole numbers of [`WIDE`] have no odd vector of
/// [`LANES`].)
#[derive(Clone, Copy)]
struct Strip {
    first: usize,
    vectors: usize,
    /// The last vector has rows of 8 outputs, as the last block of the packed order.
    narrow: bool,
}

/// All strips of `outputs` outputs, a multiple of [`LANES`], in vectors of `V`.
#[inline(always)]
fn strips<V: Vector>(outputs: usize) -> impl Iterator<Item = Strip> {
    let all = outputs.div_ceil(V::WIDTH);
    let last = (2 + all % 2).min(all);
    let whole = all - last;
    let pairs = (0..whole).step_by(2);
    let pairs = pairs.map(|v| Strip { first: v * V::WIDTH, vectors: 2, narrow: false });
    let narrow = !outputs.is_multiple_of(WIDE);
    pairs.chain((last > 0).then_some(Strip { first: whole * V::WIDTH, vectors: last, narrow }))
}

/// Whether `floats` floats hold `rows` rows of `length` floats, as `steps` tells.
#[inline(always)]
fn covers(floats: usize, steps: &Steps, rows: usize, length: usize) -> bool {
    let Some(last) = rows.checked_sub(1) else { return true };
    let end = last.checked_mul(steps.pixel).and_then(|at| at.checked_add(steps.start + length));
    end.is_some_and(|end| end <= floats)
}
