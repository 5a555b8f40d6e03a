//! Between the caller's weights `[out][in][3][3]` and the matrices of the products:
//! `U = G w G^T` and `dw = G^T S G`.
//!
//! The unit of work is a square of 16 inputs x 16 outputs. Its windows are laid out as
//! `[row][tap][lane]`, rows and lanes being the two kinds of channel, and transformed in one
//! direction, then in the other, with the values between in the first-level cache: so no more
//! than six matrices are read or written at a time.

use super::products::Matrices;
use super::transform::{TapGrads, Taps, Transform};
use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;
use crate::conv::squares::{self, SQUARE, Windows};
use crate::lanes::{Fused, LANES, Lanes, Plain};

/// `U = G w G^T`, for the products of both passes.
pub(super) struct WeightsToPlanes<'a, const T: usize> {
    pub(super) weights: &'a [f32],
    pub(super) forward: &'a mut Matrices,
    /// From outputs to inputs, by the window turned by 180 degrees.
    pub(super) backward: &'a mut Matrices,
}

impl<const T: usize> Kernel for WeightsToPlanes<'_, T>
where
    Taps: Transform<3, T>,
{
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match FMA {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            true => unsafe { self.run_on::<Fused>() },
            // SAFETY: any machine has the instructions of `Plain`.
            false => unsafe { self.run_on::<Plain>() },
        }
    }
}

impl<const T: usize> WeightsToPlanes<'_, T>
where
    Taps: Transform<3, T>,
{
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let Matrices { inputs, outputs, .. } = *self.forward;
        let (mut windows, mut turned) = (squares::EMPTY, squares::EMPTY);
        let mut columns = [[[0.0; SQUARE]; 3]; 6];
        for output in (0..outputs).step_by(WIDE) {
            for input in (0..inputs).step_by(WIDE) {
                // SAFETY: the caller's promise.
                unsafe {
                    squares::read::<V>(self.weights, inputs, (output, input), &mut windows);
                    let at = output * inputs + input * WIDE;
                    to_planes::<V, T>(&windows, self.forward, at, &mut columns);
                    squares::turn::<V>(&windows, &mut turned);
                    let at = input * outputs + output * WIDE;
                    to_planes::<V, T>(&turned, self.backward, at, &mut columns);
                }
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
    fn run<const FMA: bool>(self) {
        match FMA {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            true => unsafe { self.run_on::<Fused>() },
            // SAFETY: any machine has the instructions of `Plain`.
            false => unsafe { self.run_on::<Plain>() },
        }
    }
}

impl<const T: usize> PlanesToWeights<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let Matrices { inputs, outputs, .. } = *self.from;
        let mut windows = squares::EMPTY;
        let mut rows = [[[0.0; SQUARE]; 3]; 6];
        for output in (0..outputs).step_by(WIDE) {
            for input in (0..inputs).step_by(WIDE) {
                // SAFETY: the caller's promise.
                unsafe {
                    let at = output * inputs + input * WIDE;
                    from_planes::<V, T>(self.from, at, &mut windows, &mut rows);
                    squares::write::<V>(&windows, self.dw, inputs, (output, input));
                }
            }
        }
    }
}

/// Windows that were transformed in one direction: `[of 3 or T][the other][row][lane]`. Kept by
/// the caller, so that it is not cleared for each square.
type Halfway = [[[f32; SQUARE]; 3]; 6];

/// The transformed windows of a square to the floats from `at` on of each matrix.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn to_planes<V: Lanes, const T: usize>(
    windows: &Windows,
    into: &mut Matrices,
    at: usize,
    columns: &mut Halfway,
) where
    Taps: Transform<3, T>,
{
    const { assert!(T <= 6) };
    let plane = into.plane();
    let matrices = &mut into.values[at..][..(T * T - 1) * plane + SQUARE];
    // SAFETY: vectors at `v` end within SQUARE floats, of which there are 6 x 3 >= T x 3 in
    // `columns` and one per plane in `matrices`; those of a tap end within their row.
    unsafe {
        for row in 0..WIDE {
            for lane in (0..WIDE).step_by(LANES) {
                let v = row * WIDE + lane;
                for c in 0..3 {
                    let taps = windows[row].as_ptr().add(c * WIDE + lane);
                    let mut d = [V::load(taps); 3];
                    for r in 1..3 {
                        d[r] = V::load(taps.add(3 * r * WIDE));
                    }
                    let transformed = Taps::apply(d);
                    for r in 0..T {
                        transformed[r].store(columns[r][c].as_mut_ptr().add(v));
                    }
                }
            }
        }
        for r in 0..T {
            let row = matrices.as_mut_ptr().add(r * T * plane);
            for v in (0..SQUARE).step_by(LANES) {
                let mut d = [V::load(columns[r][0].as_ptr().add(v)); 3];
                for c in 1..3 {
                    d[c] = V::load(columns[r][c].as_ptr().add(v));
                }
                let transformed = Taps::apply(d);
                for c in 0..T {
                    transformed[c].store(row.add(c * plane + v));
                }
            }
        }
    }
}

/// The windows of a square from the floats from `at` on of each matrix.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn from_planes<V: Lanes, const T: usize>(
    from: &Matrices,
    at: usize,
    windows: &mut Windows,
    rows: &mut Halfway,
) where
    TapGrads: Transform<T, 3>,
{
    const { assert!(T <= 6) };
    let plane = from.plane();
    let matrices = &from.values[at..][..(T * T - 1) * plane + SQUARE];
    // SAFETY: as in `to_planes`.
    unsafe {
        for r in 0..T {
            let row = matrices.as_ptr().add(r * T * plane);
            for v in (0..SQUARE).step_by(LANES) {
                let mut d = [V::load(row.add(v)); T];
                for c in 1..T {
                    d[c] = V::load(row.add(c * plane + v));
                }
                let transformed = TapGrads::apply(d);
                for c in 0..3 {
                    transformed[c].store(rows[r][c].as_mut_ptr().add(v));
                }
            }
        }
        for row in 0..WIDE {
            for lane in (0..WIDE).step_by(LANES) {
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
