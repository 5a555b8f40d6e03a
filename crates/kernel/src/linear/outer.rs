//! C (+)= A B with the rows of B and C in memory order: a sum of outer products.
//!
//! Both gradients have this form: dx = dy W, and dW = dy^T x with A read across. A tile of
//! R rows of A and W x V columns of B stays in registers; every element of C is the sum over
//! the depth in order, [`DEPTH`] at a time, each begun at 0 and added to C at its end.

use super::Gradient;
use crate::Isa;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::{LANES, Vector};

/// A, of which element (i, k) lies at `i * row + k * depth`.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) values: &'a [f32],
    pub(super) row: usize,
    pub(super) depth: usize,
}

/// Rows of the largest tile: with two vectors of columns, eight sums in flight, or sixteen where
/// there are registers enough.
const TALLEST: usize = 8;

/// Depth of a panel: of A, what lies in the first-level cache, on the stack.
const DEPTH: usize = 256;

/// C (+)= A B of `sizes` = [rows, depth, columns].
pub(super) fn products(
    isa: Isa,
    sizes: [usize; 3],
    a: Left<'_>,
    b: &[f32],
    c: &mut [f32],
    gradient: Gradient,
) {
    if sizes[1] == 0 {
        // A sum of nothing, from a B of no rows.
        return if gradient == Gradient::Overwrite {
            c.fill(0.0)
        };
    }
    let accumulate = gradient == Gradient::Accumulate;
    Instructions::expect(isa).run(Products { sizes, a, b, c, accumulate });
}

/// C (+)= A B of `sizes` = [rows, depth, columns].
struct Products<'a> {
    sizes: [usize; 3],
    a: Left<'a>,
    b: &'a [f32],
    c: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for Products<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Products { sizes: [rows, depth, columns], a, b, c, accumulate } = self;
        for first in (0..depth).step_by(DEPTH) {
            let a = Left { values: &a.values[first * a.depth..], ..a };
            let some = DEPTH.min(depth - first);
            let b = &b[first * columns..];
            // SAFETY: the caller's promise.
            unsafe { some_depth::<V>([rows, some, columns], a, b, c, accumulate || first > 0) };
        }
    }
}

/// The products over a depth of at most [`DEPTH`].
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn some_depth<V: Vector>(
    [rows, depth, columns]: [usize; 3],
    a: Left<'_>,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    let mut panel = [0.0; TALLEST * DEPTH];
    let panel = &mut panel[..TALLEST * depth];
    let mut row = 0;
    while row < rows {
        let c = &mut c[row * columns..];
        // SAFETY: the caller's promise.
        row += unsafe {
            match rows - row {
                8.. if V::WIDTH > LANES => {
                    rows_of_c::<V, 8>(row, a, columns, b, c, panel, accumulate)
                }
                4.. => rows_of_c::<V, 4>(row, a, columns, b, c, panel, accumulate),
                2 | 3 => rows_of_c::<V, 2>(row, a, columns, b, c, panel, accumulate),
                _ => rows_of_c::<V, 1>(row, a, columns, b, c, panel, accumulate),
            }
        };
    }
}

/// R rows of C from row `first` on, whose part of A is first laid out in the order in which it is
/// read; returns R.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn rows_of_c<V: Vector, const R: usize>(
    first: usize,
    a: Left<'_>,
    columns: usize,
    b: &[f32],
    c: &mut [f32],
    panel: &mut [f32],
    accumulate: bool,
) -> usize {
    let depth = panel.len() / TALLEST;
    let panel = panel[..R * depth].as_chunks_mut::<R>().0;
    for (k, panel) in panel.iter_mut().enumerate() {
        for r in 0..R {
            panel[r] = a.values[(first + r) * a.row + k * a.depth];
        }
    }
    let (panel, c) = (&*panel, &mut c[..R * columns]);
    let mut at = 0;
    while at < columns {
        let left = columns - at;
        // SAFETY: the caller's promise; so many columns are left.
        at += unsafe {
            if left >= 2 * V::WIDTH {
                tile::<V, R, 2>(panel, columns, b, c, at, 2 * V::WIDTH, accumulate)
            } else {
                tile::<V, R, 1>(panel, columns, b, c, at, left.min(V::WIDTH), accumulate)
            }
        };
    }
    R
}

/// R rows and W vectors of columns of C, from `first` on, of which there are `count`; returns that.
///
/// # Safety
/// The machine has the instructions of `V`, and W vectors have `count` lanes or more.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const W: usize>(
    panel: &[[f32; R]],
    columns: usize,
    b: &[f32],
    c: &mut [f32],
    first: usize,
    count: usize,
    accumulate: bool,
) -> usize {
    let whole = count == W * V::WIDTH;
    assert!(whole || (W == 1 && count < V::WIDTH));
    assert!(first + count <= columns && b.len() >= panel.len() * columns && c.len() == R * columns);
    let (b, c) = (b.as_ptr().wrapping_add(first), c.as_mut_ptr().wrapping_add(first));
    // SAFETY: the caller's promise; as asserted, `count` columns of all rows are there.
    unsafe {
        let mut sums = [[V::zero(); W]; R];
        for (k, a) in panel.iter().enumerate() {
            let mut row = [V::zero(); W];
            for w in 0..W {
                let from = b.add(k * columns + w * V::WIDTH);
                row[w] = if whole { V::load(from) } else { V::load_first(from, count) };
            }
            for r in 0..R {
                for w in 0..W {
                    sums[r][w] = row[w].scale_add(a[r], sums[r][w]);
                }
            }
        }
        for r in 0..R {
            for w in 0..W {
                let to = c.add(r * columns + w * V::WIDTH);
                let mut sum = sums[r][w];
                if accumulate {
                    let before = if whole { V::load(to) } else { V::load_first(to, count) };
                    sum = before + sum;
                }
                if whole { sum.store(to) } else { sum.store_first(to, count) }
            }
        }
    }
    count
}
