//! y = x W^T + b as dot products of rows: both operands lie along the sum.
//!
//! A tile of R rows of x and O rows of W keeps R x O sums of eight lanes in registers.
//! Lane l of a sum runs over the inputs l, l + 8, l + 16, ..., the last of them filled up
//! with zeros; the lanes are joined in one fixed order.

use crate::dispatch::{multiply_add, per_path};

const LANES: usize = 8;

per_path! {
    /// Rows of x against rows of W, one per bias.
    pub(super) fn dots(
        inputs: usize,
        x: &[f32],
        weights: &[f32],
        bias: &[f32],
        y: &mut [f32],
    ) => body
}

#[inline(always)]
fn body<const FMA: bool>(inputs: usize, x: &[f32], weights: &[f32], bias: &[f32], y: &mut [f32]) {
    let outputs = bias.len();
    let rows = y.len().checked_div(outputs).unwrap_or(0);
    let mut row = 0;
    while row < rows {
        let tall = if rows - row >= 4 { 4 } else { 1 };
        let x = &x[row * inputs..][..tall * inputs];
        let y = &mut y[row * outputs..][..tall * outputs];
        if tall == 4 {
            rows_of_y::<FMA, 4>(inputs, x, weights, bias, y);
        } else {
            rows_of_y::<FMA, 1>(inputs, x, weights, bias, y);
        }
        row += tall;
    }
}

/// R rows of y.
#[inline(always)]
fn rows_of_y<const FMA: bool, const R: usize>(
    inputs: usize,
    x: &[f32],
    weights: &[f32],
    bias: &[f32],
    y: &mut [f32],
) {
    let outputs = bias.len();
    let mut output = 0;
    while output < outputs {
        let wide = if outputs - output >= 3 { 3 } else { 1 };
        let weights = &weights[output * inputs..][..wide * inputs];
        let (bias, y) = (&bias[output..], &mut y[output..]);
        if wide == 3 {
            finish(&tile::<FMA, R, 3>(inputs, x, weights), bias, y, outputs);
        } else {
            finish(&tile::<FMA, R, 1>(inputs, x, weights), bias, y, outputs);
        }
        output += wide;
    }
}

/// The eight lanes of R x O dot products.
#[inline(always)]
fn tile<const FMA: bool, const R: usize, const O: usize>(
    inputs: usize,
    x: &[f32],
    weights: &[f32],
) -> [[[f32; LANES]; O]; R] {
    let mut sums = [[[0.0; LANES]; O]; R];
    let steps = inputs / LANES;
    let mut x_steps: [&[[f32; LANES]]; R] = [&[]; R];
    let mut w_steps: [&[[f32; LANES]]; O] = [&[]; O];
    let mut x_last = [[0.0; LANES]; R];
    let mut w_last = [[0.0; LANES]; O];
    for r in 0..R {
        (x_steps[r], x_last[r]) = cut(&x[r * inputs..][..inputs]);
        x_steps[r] = &x_steps[r][..steps];
    }
    for o in 0..O {
        (w_steps[o], w_last[o]) = cut(&weights[o * inputs..][..inputs]);
        w_steps[o] = &w_steps[o][..steps];
    }
    for step in 0..steps {
        for r in 0..R {
            for o in 0..O {
                for l in 0..LANES {
                    let (x, w) = (x_steps[r][step][l], w_steps[o][step][l]);
                    sums[r][o][l] = multiply_add::<FMA>(x, w, sums[r][o][l]);
                }
            }
        }
    }
    if !inputs.is_multiple_of(LANES) {
        for r in 0..R {
            for o in 0..O {
                for l in 0..LANES {
                    sums[r][o][l] = multiply_add::<FMA>(x_last[r][l], w_last[o][l], sums[r][o][l]);
                }
            }
        }
    }
    sums
}

/// Whole steps of eight, and the rest filled up with zeros.
#[inline(always)]
fn cut(row: &[f32]) -> (&[[f32; LANES]], [f32; LANES]) {
    let (steps, rest) = row.as_chunks::<LANES>();
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    (steps, last)
}

/// Joins the lanes, adds the bias, writes y.
#[inline(always)]
fn finish<const R: usize, const O: usize>(
    sums: &[[[f32; LANES]; O]; R],
    bias: &[f32],
    y: &mut [f32],
    outputs: usize,
) {
    for r in 0..R {
        for o in 0..O {
            let s = &sums[r][o];
            let sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            y[r * outputs + o] = sum + bias[o];
        }
    }
}
