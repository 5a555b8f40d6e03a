//! The exponential in `f32`, from additions and multiplications that vectorise.
//!
//! ```text
//! n = round(x / ln 2)      r = x - n ln 2, |r| <= ln 2 / 2
//! exp x = 2^n (1 + r + r^2 (1/2! + r/3! + ... + r^5/7!))
//! ```
//!
//! The truncated series leaves 5e-9; rounding keeps the relative error under 2e-7. The
//! standard library's `exp` is a call into the system's, whose last bits differ from
//! machine to machine.

use crate::multiply_add::multiply_add;

/// Below it the result stays at the smallest normal numbers.
const LOWEST: f32 = -87.0;
/// Above it the result stays near the largest finite number.
const HIGHEST: f32 = 88.0;
/// Adding it to a small number rounds to an integer, left in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has so few bits that `n * LN2_HIGH` is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// exp of `x` clamped to [-87, 88]; NaN of NaN.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    let x = if x < LOWEST { LOWEST } else { x };
    let x = if x > HIGHEST { HIGHEST } else { x };
    let shifted = multiply_add::<FMA>(x, std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = multiply_add::<FMA>(n, -LN2_HIGH, x);
    let r = multiply_add::<FMA>(n, -LN2_LOW, r);
    let mut series = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        series = multiply_add::<FMA>(series, r, coefficient);
    }
    let near_one = multiply_add::<FMA>(series, r * r, r) + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    near_one * power
}

/// 1 / (1 + exp(-x)).
#[inline(always)]
pub(crate) fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<FMA>(-x))
}

#[cfg(test)]
mod tests {
    use super::exp;

    fn largest_relative_error(exp: impl Fn(f32) -> f32) -> f64 {
        const STEPS: u32 = if cfg!(miri) { 700 } else { 3_500_000 };
        let mut worst = 0.0f64;
        for i in 0..=STEPS {
            let x = -87.0 + 175.0 / STEPS as f32 * i as f32;
            let exact = f64::from(x.min(88.0)).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        worst
    }

    #[test]
    fn is_within_2e7_of_the_exact_value() {
        assert!(largest_relative_error(exp::<false>) < 2e-7);
        assert!(largest_relative_error(exp::<true>) < 2e-7);
    }

    #[test]
    fn saturates_and_keeps_nan() {
        for exp in [exp::<false>, exp::<true>] {
            assert_eq!(exp(0.0), 1.0);
            assert_eq!(exp(f32::NEG_INFINITY), exp(-87.0));
            assert_eq!(exp(f32::INFINITY), exp(88.0));
            assert!(exp(88.0).is_finite() && exp(-87.0) > 0.0);
            assert!(exp(f32::NAN).is_nan());
        }
    }
}
