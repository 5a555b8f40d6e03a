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
use crate::vector::Vector;

/// Outputs of a register tile, as vectors: two, or three at the end of an odd number of them, or
/// one if there are no more.
#[derive(Clone, Copy)]
struct Strip {
    first: usize,
    vectors: usize,
    /// The last vector has rows of 8 outputs, as the last block of the packed order.
    narrow: bool,
}

/// All strips of `outputs` outputs, a multiple of 8, in vectors of `V`.
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

/// Calls `tiles::<V, MOST, VECTORS, LAST>(strip, ..)` with the constants of a strip: the rows of
/// its largest tile, its vectors, and whether the last of them is narrow.
macro_rules! of_strip {
    ($kernel:ident.$tiles:ident::<$v:ident>($strip:ident, $($arg:expr),*)) => {
        match ($v::WIDTH == WIDE, $strip.vectors, $strip.narrow) {
            (_, 1, true) => $kernel.$tiles::<$v::Eight, 8, 1, true>($strip, $($arg),*),
            (false, 2, _) => $kernel.$tiles::<$v, 6, 2, false>($strip, $($arg),*),
            (false, ..) => $kernel.$tiles::<$v, 3, 3, true>($strip, $($arg),*),
            (true, 1, _) => $kernel.$tiles::<$v, 16, 1, false>($strip, $($arg),*),
            (true, 2, false) => $kernel.$tiles::<$v, 12, 2, false>($strip, $($arg),*),
            (true, 2, true) => $kernel.$tiles::<$v, 12, 2, true>($strip, $($arg),*),
            (true, _, false) => $kernel.$tiles::<$v, 8, 3, false>($strip, $($arg),*),
            (true, _, true) => $kernel.$tiles::<$v, 8, 3, true>($strip, $($arg),*),
        }
    };
}
use of_strip;

/// Runs the next tile of a strip, of as many rows as suit what is left; gives their number.
macro_rules! next_tile {
    ($tile:ident.run::<$v:ident, $most:ident, $vectors:ident, $last:ident>($($arg:expr)?), $left:ident) => {
        match $left {
            16.. if $most == 16 => $tile.run::<$v, 16, $vectors, $last>($($arg)?),
            12 | 17.. if $most == 12 => $tile.run::<$v, 12, $vectors, $last>($($arg)?),
            6 | 9.. if $most == 6 => $tile.run::<$v, 6, $vectors, $last>($($arg)?),
            8.. if $most >= 8 => $tile.run::<$v, 8, $vectors, $last>($($arg)?),
            4.. if $most > 4 => $tile.run::<$v, 4, $vectors, $last>($($arg)?),
            3.. => $tile.run::<$v, 3, $vectors, $last>($($arg)?),
            2 => $tile.run::<$v, 2, $vectors, $last>($($arg)?),
            _ => $tile.run::<$v, 1, $vectors, $last>($($arg)?),
        }
    };
}
use next_tile;

/// Whether `floats` floats hold `rows` rows of `length` floats, as `steps` tells.
#[inline(always)]
fn covers(floats: usize, steps: &Steps, rows: usize, length: usize) -> bool {
    let Some(last) = rows.checked_sub(1) else { return true };
    let end = last.checked_mul(steps.pixel).and_then(|at| at.checked_add(steps.start + length));
    end.is_some_and(|end| end <= floats)
}
