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

pub(super) use outer::OuterProduct;
pub(super) use product::Product;

use super::packing::{NARROW, WIDE};
use super::window::Steps;
use crate::lanes::LANES;

/// Outputs of a register tile, as vectors: two, or three at the end of outputs that are not
/// sixteens, or one if there are no more.
#[derive(Clone, Copy)]
struct Strip {
    first: usize,
    vectors: usize,
}

/// All strips of `outputs` outputs, a multiple of [`LANES`].
#[inline(always)]
fn strips(outputs: usize) -> impl Iterator<Item = Strip> {
    let whole = match outputs % WIDE {
        0 => outputs,
        _ => outputs.saturating_sub(WIDE + NARROW),
    };
    let last = Strip { first: whole, vectors: (outputs - whole) / LANES };
    let twos = (0..whole).step_by(WIDE).map(|first| Strip { first, vectors: WIDE / LANES });
    twos.chain((last.vectors > 0).then_some(last))
}

/// Whether `floats` floats hold `rows` rows of `length` floats, as `steps` tells.
#[inline(always)]
fn covers(floats: usize, steps: &Steps, rows: usize, length: usize) -> bool {
    let Some(last) = rows.checked_sub(1) else { return true };
    let end = last.checked_mul(steps.pixel).and_then(|at| at.checked_add(steps.start + length));
    end.is_some_and(|end| end <= floats)
}
