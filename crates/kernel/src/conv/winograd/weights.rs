//! Between the caller's weights `[out][in][3][3]` and the matrices of the products:
//! `U = G w G^T` and `dw = G^T S G`, for squares of 16 inputs x 16 outputs.

use super::planes::rows_to_planes;
use super::products::Matrices;
use super::transform::{Paired, TapGrads, Taps, Transform};
use crate::conv::packing::WIDE;
use crate::conv::squares::{self, ROW, SQUARE, Windows};
use crate::dispatch::Kernel;
use crate::vector::Vector;

/// `U = G w G^T`, for the products of both passes.
pub(super) struct WeightsToPlanes<'a, const T: usize> {
    pub(super) weights: &'a [f32],
    pub(super) forward: &'a mut Matrices,
    /// From outputs to inputs, by the window turned by 180 degrees.
    pub(super) backward: &'a mut Matrices,
}

impl<const T: usize> Kernel for WeightsToPlanes<'_, T>
where
    Taps: Paired<3, T>,
{
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Matrices { inputs, outputs, .. } = *self.forward;
        let (mut windows, mut turned) = (squares::EMPTY, squares::EMPTY);
        for output in (0..outputs).step_by(WIDE) {
            for input in (0..inputs).step_by(WIDE) {
                // SAFETY: the caller's promise.
                unsafe {
                    squares::read::<V::Eight>(self.weights, inputs, (output, input), &mut windows);
                    let at = output * inputs + input * WIDE;
                    all_planes::<V, T>(windows.as_flattened(), self.forward, at);
                    squares::turn::<V::Eight>(&windows, &mut turned);
                    let at = input * outputs + output * WIDE;
                    all_planes::<V, T>(turned.as_flattened(), self.backward, at);
                }
            }
        }
    }
}

/// The transformed windows of some rows to the floats from `at` on of each matrix.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn all_planes<V: Vector, const T: usize>(rows: &[f32], into: &mut Matrices, at: usize)
where
    Taps: Paired<3, T>,
{
    let plane = into.plane();
    let planes = &mut into.values[at..];
    // SAFETY: the caller's promise.
    unsafe {
        pair_of_planes::<V, 0, T>(rows, planes, plane);
        pair_of_planes::<V, 1, T>(rows, planes, plane);
        if T == 6 {
            pair_of_planes::<V, 2, T>(rows, planes, plane);
        }
    }
}

/// Two rows of a window's planes, for some rows of nine taps of 16 lanes; planes are `apart`
/// floats after one another.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn pair_of_planes<V: Vector, const PAIR: usize, const T: usize>(
    rows: &[f32],
    planes: &mut [f32],
    apart: usize,
) where
    Taps: Paired<3, T>,
{
    let rows = rows.as_chunks::<ROW>().0;
    let planes = &mut planes[..(T * T - 1) * apart + rows.len() * WIDE];
    for (row, taps) in rows.iter().enumerate() {
        for lane in (0..WIDE).step_by(V::WIDTH) {
            // SAFETY: a vector of lanes ends within WIDE, of which there are nine in a row and
            // one for each row in a plane.
            unsafe {
                let from = taps.as_ptr().add(lane);
                let to = planes.as_mut_ptr().add(row * WIDE + lane);
                rows_to_planes::<V, Taps, PAIR, 3, T>((from, 3 * WIDE, WIDE), (to, apart));
            }
        }
    }
}

/// `dw = G^T S G`
pub(super) struct PlanesToWeights<'a, const T: usize> {
    pub(super) from: &'a Matrices,
    pub(super) dw: &'a mut [f32],
}

impl<const T: usize> Kernel for PlanesToWeights<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Matrices { inputs, outputs, .. } = *self.from;
        for output in (0..outputs).step_by(WIDE) {
            let planes = &self.from.values[output * inputs..];
            // SAFETY: the caller's promise.
            unsafe {
                block_to_weights::<V, T>(planes, self.from.plane(), self.dw, inputs, output);
            }
        }
    }
}

/// The gradient of the weights of 16 outputs, from `output` on, of planes with a row for each
/// input, `apart` floats after one another.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn block_to_weights<V: Vector, const T: usize>(
    planes: &[f32],
    apart: usize,
    dw: &mut [f32],
    inputs: usize,
    output: usize,
) where
    TapGrads: Transform<T, 3>,
{
    let mut windows = squares::EMPTY;
    let mut rows = [[[0.0; SQUARE]; 3]; 6];
    for input in (0..inputs).step_by(WIDE) {
        // SAFETY: the caller's promise.
        unsafe {
            from_planes::<V, T>(&planes[input * WIDE..], apart, &mut windows, &mut rows);
            squares::write::<V::Eight>(&windows, dw, inputs, (output, input));
        }
    }
}

/// Windows that were transformed in one direction: `[of 3 or T][the other][row][lane]`. Kept by
/// the caller, so that it is not cleared for each square.
type Halfway = [[[f32; SQUARE]; 3]; 6];

/// The windows of a square from planes `apart` floats after one another.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn from_planes<V: Vector, const T: usize>(
    planes: &[f32],
    apart: usize,
    windows: &mut Windows,
    rows: &mut Halfway,
) where
    TapGrads: Transform<T, 3>,
{
    const { assert!(T <= 6) };
    let planes = &planes[..(T * T - 1) * apart + SQUARE];
    // SAFETY: vectors at `v` end within SQUARE floats, of which there are 6 x 3 >= T x 3 in
    // `rows` and one per plane in `planes`; those of a tap end within their row.
    unsafe {
        for r in 0..T {
            let row = planes.as_ptr().add(r * T * apart);
            for v in (0..SQUARE).step_by(V::WIDTH) {
                let mut d = [V::load(row.add(v)); T];
                for c in 1..T {
                    d[c] = V::load(row.add(c * apart + v));
                }
                let transformed = TapGrads::apply(d);
                for c in 0..3 {
                    transformed[c].store(rows[r][c].as_mut_ptr().add(v));
                }
            }
        }
        for row in 0..WIDE {
            for lane in (0..WIDE).step_by(V::WIDTH) {
                let v = row * WIDE + lane;
                for c in 0..3 {
                    let mut d = [V::load(rows[0][c].as_ptr().add(v)); T];
                    for r in 1..T {
                        d[r] = V::load(rows[r][c].as_ptr().add(v));
                    }
                    let transformed = TapGrads::apply(d);
                    let taps = windows[row].as_mut_ptr().add(c * WIDE + lane);
                    for r in 0..3 {
                        transformed[r].store(taps.add(3 * r * WIDE));
                    }
                }
            }
        }
    }
}
