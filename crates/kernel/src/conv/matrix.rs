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

use super::packing::{NARROW, WIDE};
use super::window::Steps;
use crate::lanes::LANES;

/// Outputs of a register tile, as vectors. Of [`LANES`]: two, or three at the end of outputs that
/// are not sixteens, or one if there are no more. Of [`WIDE`], where there are such: two, or one;
/// what is left is one of [`LANES`].
#[derive(Clone, Copy)]
struct Strip {
    first: usize,
    vectors: usize,
    /// The vectors have [`WIDE`] outputs.
    wide: bool,
}

/// All strips of `outputs` outputs, a multiple of [`LANES`], in vectors of `width` at the most.
#[inline(always)]
fn strips(outputs: usize, width: usize) -> impl Iterator<Item = Strip> {
    let wide = width == WIDE;
    let (most, whole) = match (wide, outputs % WIDE) {
        (true, rest) => (2 * WIDE, outputs - rest),
        (false, 0) => (WIDE, outputs),
        (false, _) => (WIDE, outputs.saturating_sub(WIDE + NARROW)),
    };
    let last = Strip { first: whole, vectors: (outputs - whole) / LANES, wide: false };
    let all = (0..whole).step_by(most).map(move |first| {
        let vectors = (whole - first).min(most) / if wide { WIDE } else { LANES };
        Strip { first, vectors, wide }
    });
    all.chain((last.vectors > 0).then_some(last))
}

/// Whether `floats` floats hold `rows` rows of `length` floats, as `steps` tells.
#[inline(always)]
fn covers(floats: usize, steps: &Steps, rows: usize, length: usize) -> bool {
    let Some(last) = rows.checked_sub(1) else { return true };
    let end = last.checked_mul(steps.pixel).and_then(|at| at.checked_add(steps.start + length));
    end.is_some_and(|end| end <= floats)
}
