//! Eight lanes in one register of AVX2.

use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

use super::{LANES, Vector, Vector8};
use crate::exp::sigmoid;

/// Eight lanes, in code that is compiled for AVX2 and FMA. The first value comes from `load` or
/// `zero`, whose caller promises that the machine has both; so a value that exists proves it.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256);

impl Add for Avx2 {
    type Output = Avx2;

    #[inline(always)]
    fn add(self, other: Avx2) -> Avx2 {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_add_ps(self.0, other.0) })
    }
}

impl Sub for Avx2 {
    type Output = Avx2;

    #[inline(always)]
    fn sub(self, other: Avx2) -> Avx2 {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
}

impl Mul<f32> for Avx2 {
    type Output = Avx2;

    #[inline(always)]
    fn mul(self, factor: f32) -> Avx2 {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_mul_ps(self.0, _mm256_set1_ps(factor)) })
    }
}

impl Mul for Avx2 {
    type Output = Avx2;

    #[inline(always)]
    fn mul(self, other: Avx2) -> Avx2 {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
}

impl Vector for Avx2 {
    const WIDTH: usize = LANES;

    type Eight = Self;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe { _mm256_setzero_ps() })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe { _mm256_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise, and `self` exists.
        unsafe { _mm256_storeu_ps(to, self.0) };
    }

    #[inline(always)]
    fn prefetch(place: *const f32) {
        prefetch(place);
    }

    #[inline(always)]
    fn prefetch_far(place: *const f32) {
        prefetch_far(place);
    }

    #[inline(always)]
    fn scale_add(self, factor: f32, other: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2 and FMA.
        Avx2(unsafe { _mm256_fmadd_ps(_mm256_set1_ps(factor), self.0, other.0) })
    }

    #[inline(always)]
    fn splat(self, number: f32) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_set1_ps(number) })
    }

    #[inline(always)]
    fn mul_add(self, factors: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2 and FMA.
        Avx2(unsafe { _mm256_fmadd_ps(self.0, factors.0, other.0) })
    }

    #[inline(always)]
    fn max(self, low: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_max_ps(self.0, low.0) })
    }

    #[inline(always)]
    fn min(self, high: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe { _mm256_min_ps(self.0, high.0) })
    }

    #[inline(always)]
    fn select_within(self, limit: Self, inside: Self, outside: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX2.
        Avx2(unsafe {
            let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0);
            let within = _mm256_cmp_ps::<_CMP_LT_OQ>(size, limit.0);
            _mm256_blendv_ps(outside.0, inside.0, within)
        })
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        let mut lanes = [0.0; LANES];
        // SAFETY: the array has room, and `self` exists, so the machine has AVX2.
        unsafe {
            self.store(lanes.as_mut_ptr());
            for lane in &mut lanes {
                *lane = sigmoid::<true>(*lane);
            }
            Self::load(lanes.as_ptr())
        }
    }
}

impl Vector8 for Avx2 {
    #[inline(always)]
    fn transposed(rows: [Self; LANES]) -> [Self; LANES] {
        let [a, b, c, d, e, f, g, h] = rows;
        let [a, b, c, d] = within_halves([a.0, b.0, c.0, d.0]);
        let [e, f, g, h] = within_halves([e.0, f.0, g.0, h.0]);
        // SAFETY: the rows exist, so the machine has AVX2.
        unsafe {
            [
                Avx2(_mm256_permute2f128_ps::<0x20>(a, e)),
                Avx2(_mm256_permute2f128_ps::<0x20>(b, f)),
                Avx2(_mm256_permute2f128_ps::<0x20>(c, g)),
                Avx2(_mm256_permute2f128_ps::<0x20>(d, h)),
                Avx2(_mm256_permute2f128_ps::<0x31>(a, e)),
                Avx2(_mm256_permute2f128_ps::<0x31>(b, f)),
                Avx2(_mm256_permute2f128_ps::<0x31>(c, g)),
                Avx2(_mm256_permute2f128_ps::<0x31>(d, h)),
            ]
        }
    }
}

#[inline(always)]
pub(super) fn prefetch(place: *const f32) {
    // SAFETY: a prefetch reads nothing, whatever the place; all x86-64 have it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
}

#[inline(always)]
pub(super) fn prefetch_far(place: *const f32) {
    // SAFETY: as above.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(place.cast()) };
}

/// Turns four rows into four columns, in each half of the lanes.
#[inline(always)]
fn within_halves([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: only `transposed` calls this, whose rows exist, so the machine has AVX2.
    unsafe {
        let (ab, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xee>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
        ]
    }
}
