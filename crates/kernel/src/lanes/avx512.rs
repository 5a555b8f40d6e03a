//! Sixteen channels in one register of AVX-512.

use std::arch::x86_64::*;
use std::ops::{Add, Mul};

use super::Vector;

/// Sixteen channels, in bodies that are compiled with AVX-512. The first of these values comes
/// from `load` or `zero`, whose caller promises that the machine has it.
#[derive(Clone, Copy)]
pub(crate) struct Wide(__m512);

impl Add for Wide {
    type Output = Wide;

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Wide(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Mul<f32> for Wide {
    type Output = Wide;

    #[inline(always)]
    fn mul(self, factor: f32) -> Wide {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Wide(unsafe { _mm512_mul_ps(self.0, _mm512_set1_ps(factor)) })
    }
}

impl Vector for Wide {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller's promise.
        Wide(unsafe { _mm512_setzero_ps() })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Wide(unsafe { _mm512_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise, and `self` exists.
        unsafe { _mm512_storeu_ps(to, self.0) };
    }

    #[inline(always)]
    fn fetch(place: *const f32) {
        super::avx2::fetch(place);
    }

    #[inline(always)]
    fn fetch_far(place: *const f32) {
        super::avx2::fetch_far(place);
    }

    #[inline(always)]
    fn scaled(self, factor: f32, other: Self) -> Self {
        // SAFETY: `self` exists, so the machine has AVX-512.
        Wide(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(factor), self.0, other.0) })
    }
}
