//! The two gates of EvoNorm: f(x) = x h(x), its slope, and its derivative in v.

use crate::batch::{Batch, BatchMut};
use crate::channelwise::{PixelSums, PixelSumsAndMap, Totals, sum_and_map_pixels, sum_pixels};
use crate::vector::Vector;
use std::ops::Range;

/// f and its derivatives.
pub(super) trait Gate {
    /// Whether v is a parameter.
    const LEARNED: bool;
    /// f(x)
    fn value<V: Vector>(x: V, v: V) -> V;
    /// df/dx
    fn slope<V: Vector>(x: V, v: V) -> V;

    /// The sums over the pixels of dy, of f dy and, where v is a parameter, of df/dv dy.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn sum_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        v: &[f32],
        totals: &mut Totals,
    );

    /// The same sums, and `y = scale f(x) + beta`, whose coefficients are the block's.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn sum_and_map_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        coefficients: [&[f32]; 3],
        totals: &mut Totals,
        y: BatchMut<'_>,
    );
}

/// f = x h, h = clamp(x/6 + 1/2, 0, 1), f' = h + x/6 inside (-3, 3), which is 2 (x/6 + 1/2) - 1/2.
pub(super) struct Hard;

/// x/6 + 1/2, and h.
#[inline(always)]
fn hard_sigmoid<V: Vector>(x: V) -> (V, V) {
    let line = x.mul_add(x.splat(1.0 / 6.0), x.splat(0.5));
    (line, line.max(x.splat(0.0)).min(x.splat(1.0)))
}

impl Gate for Hard {
    const LEARNED: bool = false;

    #[inline(always)]
    fn value<V: Vector>(x: V, _: V) -> V {
        x * hard_sigmoid(x).1
    }

    #[inline(always)]
    fn slope<V: Vector>(x: V, _: V) -> V {
        let (line, h) = hard_sigmoid(x);
        x.select_within(x.splat(3.0), line.mul_add(x.splat(2.0), x.splat(-0.5)), h)
    }

    #[inline(always)]
    unsafe fn sum_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        _: &[f32],
        totals: &mut Totals,
    ) {
        // SAFETY: the caller's promise.
        unsafe { sum_pixels::<Hard, V, 0, 2>(x, dy, block, [], totals) };
    }

    #[inline(always)]
    unsafe fn sum_and_map_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        [scale, beta, _]: [&[f32]; 3],
        totals: &mut Totals,
        y: BatchMut<'_>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { sum_and_map_pixels::<Hard, V, 2, 2>(x, dy, block, [scale, beta], totals, y) };
    }
}

impl PixelSums<0, 2> for Hard {
    #[inline(always)]
    fn add<V: Vector>(x: V, dy: V, _: [V; 0], [of_dy, of_f]: [V; 2]) -> [V; 2] {
        [of_dy + dy, Hard::value(x, x).mul_add(dy, of_f)]
    }
}

impl PixelSumsAndMap<2, 2> for Hard {
    #[inline(always)]
    fn add_and_map<V: Vector>(
        x: V,
        dy: V,
        [scale, beta]: [V; 2],
        [of_dy, of_f]: [V; 2],
    ) -> ([V; 2], V) {
        let f = Hard::value(x, x);
        ([of_dy + dy, f.mul_add(dy, of_f)], scale.mul_add(f, beta))
    }
}

/// f = x s, s = sigmoid(v x), f' = s (1 + v x (1 - s)), df/dv = x^2 s (1 - s).
pub(super) struct S0;

impl Gate for S0 {
    const LEARNED: bool = true;

    #[inline(always)]
    fn value<V: Vector>(x: V, v: V) -> V {
        x * (v * x).sigmoid()
    }

    #[inline(always)]
    fn slope<V: Vector>(x: V, v: V) -> V {
        let (s, one) = ((v * x).sigmoid(), x.splat(1.0));
        s * (v * x).mul_add(one - s, one)
    }

    #[inline(always)]
    unsafe fn sum_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        v: &[f32],
        totals: &mut Totals,
    ) {
        // SAFETY: the caller's promise.
        unsafe { sum_pixels::<S0, V, 1, 3>(x, dy, block.clone(), [&v[block]], totals) };
    }

    #[inline(always)]
    unsafe fn sum_and_map_pixels<V: Vector>(
        x: Batch<'_>,
        dy: Batch<'_>,
        block: Range<usize>,
        coefficients: [&[f32]; 3],
        totals: &mut Totals,
        y: BatchMut<'_>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { sum_and_map_pixels::<S0, V, 3, 3>(x, dy, block, coefficients, totals, y) };
    }
}

impl PixelSums<1, 3> for S0 {
    #[inline(always)]
    fn add<V: Vector>(x: V, dy: V, [v]: [V; 1], [of_dy, of_f, of_v]: [V; 3]) -> [V; 3] {
        let s = (v * x).sigmoid();
        let f = x * s;
        let df_dv = f * x * (x.splat(1.0) - s);
        [of_dy + dy, f.mul_add(dy, of_f), df_dv.mul_add(dy, of_v)]
    }
}

impl PixelSumsAndMap<3, 3> for S0 {
    #[inline(always)]
    fn add_and_map<V: Vector>(x: V, dy: V, [scale, beta, v]: [V; 3], sums: [V; 3]) -> ([V; 3], V) {
        (S0::add(x, dy, [v], sums), scale.mul_add(S0::value(x, v), beta))
    }
}
