//! C (+)= A B with the rows of B and C in memory order: a sum of outer products.
//!
//! Both gradients have this form: dx = dy W, and dW = dy^T x with A read across. A tile of
//! R rows of A and W x V columns of B stays in registers; every element of C is the sum over
//! the depth in order, [`DEPTH`] at a time, each begun at 0 and added to C at its end.

use super::Gradient;
use crate::Path;
use crate::dispatch::{multiply_add, per_path};

/// A, of which element (i, k) lies at `i * row + k * depth`.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) values: &'a [f32],
    pub(super) row: usize,
    pub(super) depth: usize,
}

/// Rows of the largest tile: with 16 columns, eight sums in flight.
const TALLEST: usize = 4;

/// Depth of a panel: of A, what lies in the first-level cache, on the stack.
const DEPTH: usize = 256;

per_path! {
    fn on_path(
        sizes: [usize; 3],
        a: Left<'_>,
        b: &[f32],
        c: &mut [f32],
        accumulate: bool,
    ) => body
}

/// C (+)= A B of `sizes` = [rows, depth, columns].
pub(super) fn products(
    path: Path,
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
    on_path(path, sizes, a, b, c, gradient == Gradient::Accumulate);
}

#[inline(always)]
fn body<const FMA: bool>(
    [rows, depth, columns]: [usize; 3],
    a: Left<'_>,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    for first in (0..depth).step_by(DEPTH) {
        let a = Left { values: &a.values[first * a.depth..], ..a };
        let some = DEPTH.min(depth - first);
        let b = &b[first * columns..];
        some_depth::<FMA>([rows, some, columns], a, b, c, accumulate || first > 0);
    }
}

/// The products over a depth of at most [`DEPTH`].
#[inline(always)]
fn some_depth<const FMA: bool>(
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
        let tall = match rows - row {
            TALLEST.. => TALLEST,
            2 | 3 => 2,
            _ => 1,
        };
        let c = &mut c[row * columns..][..tall * columns];
        match tall {
            TALLEST => rows_of_c::<FMA, TALLEST>(row, a, columns, b, c, panel, accumulate),
            2 => rows_of_c::<FMA, 2>(row, a, columns, b, c, panel, accumulate),
            _ => rows_of_c::<FMA, 1>(row, a, columns, b, c, panel, accumulate),
        }
        row += tall;
    }
}

/// R rows of C from row `first` on, whose part of A is first laid out in the order in which it is read.
#[inline(always)]
fn rows_of_c<const FMA: bool, const R: usize>(
    first: usize,
    a: Left<'_>,
    columns: usize,
    b: &[f32],
    c: &mut [f32],
    panel: &mut [f32],
    accumulate: bool,
) {
    let depth = panel.len() / TALLEST;
    let panel = panel[..R * depth].as_chunks_mut::<R>().0;
    for (k, panel) in panel.iter_mut().enumerate() {
        for r in 0..R {
            panel[r] = a.values[(first + r) * a.row + k * a.depth];
        }
    }
    let mut column = 0;
    while column < columns {
        let wide = match columns - column {
            16.. => 16,
            8..16 => 8,
            _ => 1,
        };
        let (b, c) = (&b[column..], &mut c[column..]);
        match wide {
            16 => tile::<FMA, R, 2, 8>(panel, columns, b, c, accumulate),
            8 => tile::<FMA, R, 1, 8>(panel, columns, b, c, accumulate),
            _ => tile::<FMA, R, 1, 1>(panel, columns, b, c, accumulate),
        }
        column += wide;
    }
}

/// R rows and W vectors of V lanes of C.
#[inline(always)]
fn tile<const FMA: bool, const R: usize, const W: usize, const V: usize>(
    panel: &[[f32; R]],
    columns: usize,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    let mut sums = [[[0.0; V]; W]; R];
    for (k, a) in panel.iter().enumerate() {
        let b = &b[k * columns..][..W * V].as_chunks::<V>().0[..W];
        for r in 0..R {
            for w in 0..W {
                for l in 0..V {
                    sums[r][w][l] = multiply_add::<FMA>(a[r], b[w][l], sums[r][w][l]);
                }
            }
        }
    }
    for r in 0..R {
        let sums = &sums[r];
        let c = &mut c[r * columns..][..W * V].as_chunks_mut::<V>().0[..W];
        if accumulate {
            for w in 0..W {
                for l in 0..V {
                    c[w][l] += sums[w][l];
                }
            }
        } else {
            c.copy_from_slice(sums);
        }
    }
}
