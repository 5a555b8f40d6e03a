//! The two gates of EvoNorm: f(x) = x h(x), its slope, and its derivative in v.

use crate::dispatch::multiply_add;
use crate::exp::sigmoid;

/// f and its derivatives at one float.
pub(super) trait Gate {
    /// Whether v is a parameter.
    const LEARNED: bool;
    /// f(x)
    fn value<const FMA: bool>(x: f32, v: f32) -> f32;
    /// f(x) and df/dv
    fn value_and_dv<const FMA: bool>(x: f32, v: f32) -> (f32, f32);
    /// df/dx
    fn slope<const FMA: bool>(x: f32, v: f32) -> f32;
}

/// f = x h, h = clamp(x/6 + 1/2, 0, 1), f' = h + x/6 inside (-3, 3).
pub(super) struct Hard;

const SIXTH: f32 = 1.0 / 6.0;

#[inline(always)]
fn hard_sigmoid<const FMA: bool>(x: f32) -> f32 {
    // Comparisons compile to one instruction each; `clamp` and `max` do not.
    let h = multiply_add::<FMA>(x, SIXTH, 0.5);
    let h = if h > 0.0 { h } else { 0.0 };
    if h < 1.0 { h } else { 1.0 }
}

impl Gate for Hard {
    const LEARNED: bool = false;

    #[inline(always)]
    fn value<const FMA: bool>(x: f32, _: f32) -> f32 {
        x * hard_sigmoid::<FMA>(x)
    }

    #[inline(always)]
    fn value_and_dv<const FMA: bool>(x: f32, v: f32) -> (f32, f32) {
        (Self::value::<FMA>(x, v), 0.0)
    }

    #[inline(always)]
    fn slope<const FMA: bool>(x: f32, _: f32) -> f32 {
        let inside = if x.abs() < 3.0 { x * SIXTH } else { 0.0 };
        hard_sigmoid::<FMA>(x) + inside
    }
}

/// f = x s, s = sigmoid(v x), f' = s (1 + v x (1 - s)), df/dv = x^2 s (1 - s).
pub(super) struct S0;

impl Gate for S0 {
    const LEARNED: bool = true;

    #[inline(always)]
    fn value<const FMA: bool>(x: f32, v: f32) -> f32 {
        x * sigmoid::<FMA>(v * x)
    }

    #[inline(always)]
    fn value_and_dv<const FMA: bool>(x: f32, v: f32) -> (f32, f32) {
        let s = sigmoid::<FMA>(v * x);
        let f = x * s;
        (f, f * x * (1.0 - s))
    }

    #[inline(always)]
    fn slope<const FMA: bool>(x: f32, v: f32) -> f32 {
        let s = sigmoid::<FMA>(v * x);
        s * multiply_add::<FMA>(v * x, 1.0 - s, 1.0)
    }
}
