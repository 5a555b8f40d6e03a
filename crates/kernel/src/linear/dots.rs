//! y = x W^T + b as dot products of rows: both operands lie along the sum.
//!
//! A tile of R rows of x and O rows of W keeps R x O sums of eight lanes in registers.
//! Lane l of a sum runs over the inputs l, l + 8, l + 16, ..., the last of them filled up
//! with zeros; the lanes are joined in one fixed order.

use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector, Vector8};

/// The dot products of rows of x with rows of W, one of them per bias.
pub(super) struct Dots<'a> {
    pub(super) inputs: usize,
    pub(super) x: &'a [f32],
    pub(super) weights: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) y: &'a mut [f32],
}

impl Kernel for Dots<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Dots { inputs, x, weights, bias, y } = self;
        let outputs = bias.len();
        let rows = y.len().checked_div(outputs).unwrap_or(0);
        let mut row = 0;
        while row < rows {
            let tall = if rows - row >= 4 { 4 } else { 1 };
            let x = &x[row * inputs..][..tall * inputs];
            let y = &mut y[row * outputs..][..tall * outputs];
            // SAFETY: the caller's promise.
            unsafe {
                match tall {
                    4 => rows_of_y::<V::Eight, 4>(inputs, x, weights, bias, y),
                    _ => rows_of_y::<V::Eight, 1>(inputs, x, weights, bias, y),
                }
            }
            row += tall;
        }
    }
}

/// R rows of y.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn rows_of_y<V: Vector8, const R: usize>(
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
        // SAFETY: the caller's promise.
        unsafe {
            match wide {
                3 => finish(&tile::<V, R, 3>(inputs, x, weights), bias, y, outputs),
                _ => finish(&tile::<V, R, 1>(inputs, x, weights), bias, y, outputs),
            }
        }
        output += wide;
    }
}

/// The eight lanes of R x O dot products.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn tile<V: Vector8, const R: usize, const O: usize>(
    inputs: usize,
    x: &[f32],
    weights: &[f32],
) -> [[V; O]; R] {
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
    // SAFETY: the caller's promise; every array has the lanes of a vector.
    unsafe {
        let mut sums = [[V::zero(); O]; R];
        for step in 0..steps {
            for r in 0..R {
                let x = V::load(x_steps[r][step].as_ptr());
                for o in 0..O {
                    sums[r][o] = x.mul_add(V::load(w_steps[o][step].as_ptr()), sums[r][o]);
                }
            }
        }
        if !inputs.is_multiple_of(LANES) {
            for r in 0..R {
                let x = V::load(x_last[r].as_ptr());
                for o in 0..O {
                    sums[r][o] = x.mul_add(V::load(w_last[o].as_ptr()), sums[r][o]);
                }
            }
        }
        sums
    }
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
fn finish<V: Vector8, const R: usize, const O: usize>(
    sums: &[[V; O]; R],
    bias: &[f32],
    y: &mut [f32],
    outputs: usize,
) {
    for r in 0..R {
        for o in 0..O {
            let mut s = [0.0; LANES];
            // SAFETY: the array has room for a vector.
            unsafe { sums[r][o].store(s.as_mut_ptr()) };
            let sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            y[r * outputs + o] = sum + bias[o];
        }
    }
}
