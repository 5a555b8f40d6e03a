//! A vector as an array, for machines whose vectors have no type here.

use std::ops::{Add, Mul, Sub};

use super::{LANES, Vector, Vector8};
use crate::exp::sigmoid;
use crate::multiply_add::multiply_add;

/// `WIDTH` lanes for any machine; with `FMA`, for one whose multiply-add is an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const WIDTH: usize, const FMA: bool>([f32; WIDTH]);

impl<const WIDTH: usize, const FMA: bool> Plain<WIDTH, FMA> {
    #[inline(always)]
    fn combined(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        let mut all = self;
        for lane in 0..WIDTH {
            all.0[lane] = combine(self.0[lane], other.0[lane]);
        }
        all
    }
}

impl<const WIDTH: usize, const FMA: bool> Add for Plain<WIDTH, FMA> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.combined(other, |a, b| a + b)
    }
}

impl<const WIDTH: usize, const FMA: bool> Sub for Plain<WIDTH, FMA> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.combined(other, |a, b| a - b)
    }
}

impl<const WIDTH: usize, const FMA: bool> Mul<f32> for Plain<WIDTH, FMA> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        self.combined(self, |a, _| a * factor)
    }
}

impl<const WIDTH: usize, const FMA: bool> Mul for Plain<WIDTH, FMA> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.combined(other, |a, b| a * b)
    }
}

impl<const WIDTH: usize, const FMA: bool> Vector for Plain<WIDTH, FMA> {
    const WIDTH: usize = WIDTH;

    type Eight = Plain<LANES, FMA>;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Plain([0.0; WIDTH])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise; an array of floats needs no more alignment than one.
        Plain(unsafe { from.cast::<[f32; WIDTH]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[f32; WIDTH]>().write(self.0) };
    }

    #[inline(always)]
    fn scale_add(self, factor: f32, other: Self) -> Self {
        self.combined(other, |a, b| multiply_add::<FMA>(factor, a, b))
    }

    #[inline(always)]
    fn splat(self, number: f32) -> Self {
        Plain([number; WIDTH])
    }

    #[inline(always)]
    fn mul_add(self, factors: Self, other: Self) -> Self {
        let mut all = other;
        for lane in 0..WIDTH {
            all.0[lane] = multiply_add::<FMA>(self.0[lane], factors.0[lane], other.0[lane]);
        }
        all
    }

    // Comparisons compile to one instruction each; `f32::max` does not.
    #[inline(always)]
    fn max(self, low: Self) -> Self {
        self.combined(low, |a, low| if a > low { a } else { low })
    }

    #[inline(always)]
    fn min(self, high: Self) -> Self {
        self.combined(high, |a, high| if a < high { a } else { high })
    }

    #[inline(always)]
    fn select_within(self, limit: Self, inside: Self, outside: Self) -> Self {
        let mut all = outside;
        for lane in 0..WIDTH {
            let within = self.0[lane].abs() < limit.0[lane];
            all.0[lane] = if within { inside.0[lane] } else { outside.0[lane] };
        }
        all
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        self.combined(self, |a, _| sigmoid::<FMA>(a))
    }
}

impl<const FMA: bool> Vector8 for Plain<LANES, FMA> {
    #[inline(always)]
    fn transposed(rows: [Self; LANES]) -> [Self; LANES] {
        let mut columns = rows;
        for r in 0..LANES {
            for c in 0..LANES {
                columns[c].0[r] = rows[r].0[c];
            }
        }
        columns
    }
}
