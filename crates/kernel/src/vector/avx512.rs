//! Sixteen lanes in one register of AVX-512.

use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

use super::{Avx2, LANES, Vector, WIDEST};
use crate::exp::sigmoid;

/// Sixteen lanes, in code that is compiled for AVX-512. The first value comes from `load` or
/// `zero`, whose caller promises that the machine has it; so a value that exists proves it.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(__m512);

impl Add for Avx512 {
    type Output = Avx512;

    #[inline(always)]
    fn add(self, other: Avx512) -> Avx512 {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Sub for Avx512 {
    type Output = Avx512;

    #[inline(always)]
    fn sub(self, other: Avx512) -> Avx512 {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
}

impl Mul<f32> for Avx512 {
    type Output = Avx512;

    #[inline(always)]
    fn mul(self, factor: f32) -> Avx512 {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_mul_ps(self.0, _mm512_set1_ps(factor)) })
    }
}

impl Mul for Avx512 {
    type Output = Avx512;

    #[inline(always)]
    fn mul(self, other: Avx512) -> Avx512 {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
}

impl Vector for Avx512 {
    const WIDTH: usize = WIDEST;

    type Eight = Avx2;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_setzero_ps() })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise, and `self` exists.
        unsafe { _mm512_storeu_ps(to, self.0) };
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller's promise; the lanes that the mask leaves out are not read.
        Avx512(unsafe {
            match count {
                LANES => _mm512_zextps256_ps512(_mm256_loadu_ps(from)),
                _ => _mm512_maskz_loadu_ps(first(count), from),
            }
        })
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize) {
        // SAFETY: the caller's promise; the lanes that the mask leaves out are not written.
        unsafe {
            match count {
                LANES => _mm256_storeu_ps(to, _mm512_castps512_ps256(self.0)),
                _ => _mm512_mask_storeu_ps(to, first(count), self.0),
            }
        }
    }

    #[inline(always)]
    fn prefetch(place: *const f32) {
        super::avx2::prefetch(place);
    }

    #[inline(always)]
    fn prefetch_far(place: *const f32) {
        super::avx2::prefetch_far(place);
    }

    #[inline(always)]
    fn scale_add(self, factor: f32, other: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(factor), self.0, other.0) })
    }

    #[inline(always)]
    fn splat(self, number: f32) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_set1_ps(number) })
    }

    #[inline(always)]
    fn mul_add(self, factors: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_fmadd_ps(self.0, factors.0, other.0) })
    }

    #[inline(always)]
    fn max(self, low: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_max_ps(self.0, low.0) })
    }

    #[inline(always)]
    fn min(self, high: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe { _mm512_min_ps(self.0, high.0) })
    }

    #[inline(always)]
    fn select_within(self, limit: Self, inside: Self, outside: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Avx512(unsafe {
            let within = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(self.0), limit.0);
            _mm512_mask_blend_ps(within, outside.0, inside.0)
        })
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        let mut lanes = [0.0; WIDEST];
        // SAFETY: the array has room, and `self` exists, so the machine has AVX-512.
        unsafe {
            self.store(lanes.as_mut_ptr());
            for lane in &mut lanes {
                *lane = sigmoid::<true>(*lane);
            }
            Self::load(lanes.as_ptr())
        }
    }
}

/// A mask of the first `count` lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    ((1u32 << count) - 1) as __mmask16
}
