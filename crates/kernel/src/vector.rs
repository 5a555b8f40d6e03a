//! Vectors of 8 or 16 floats, with the few operations of register tiles, transforms and
//! normalisations.
//!
//! Kernels are generic over [`Vector`]. In short loops over many values the compiler, left to
//! itself, splits arrays of floats and joins them to other vectors than these, so a vector is a
//! type of its own: one register of AVX2 or AVX-512, or an array where there is neither.

use std::ops::{Add, Mul, Sub};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use plain::Plain;

/// Lanes of the narrower vectors, which every machine has.
pub(crate) const LANES: usize = 8;
/// Lanes of the widest vectors.
pub(crate) const WIDEST: usize = 16;

/// Floats side by side. Each operation works lane by lane, so that a result has the same bits in
/// vectors of any width.
pub(crate) trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Mul<f32, Output = Self>
{
    /// The number of lanes.
    const WIDTH: usize;

    /// Vectors of [`LANES`] lanes, which any machine with vectors `Self` has, too.
    type Eight: Vector8;

    /// Zeros.
    ///
    /// # Safety
    /// This machine has the instructions of `Self`.
    unsafe fn zero() -> Self;

    /// Reads [`WIDTH`](Self::WIDTH) floats.
    ///
    /// # Safety
    /// They may be read, and this machine has the instructions of `Self`.
    unsafe fn load(from: *const f32) -> Self;

    /// Writes [`WIDTH`](Self::WIDTH) floats.
    ///
    /// # Safety
    /// They may be written.
    unsafe fn store(self, to: *mut f32);

    /// Reads `count` floats, at most [`WIDTH`](Self::WIDTH); the other lanes are zeros.
    ///
    /// # Safety
    /// They may be read, and this machine has the instructions of `Self`.
    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> Self {
        let mut lanes = [0.0; WIDEST];
        // SAFETY: the caller's promise; the array has the lanes of any vector.
        unsafe {
            if count == Self::WIDTH {
                return Self::load(from);
            }
            std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count);
            Self::load(lanes.as_ptr())
        }
    }

    /// Writes the first `count` lanes, at most [`WIDTH`](Self::WIDTH).
    ///
    /// # Safety
    /// They may be written.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize) {
        let mut lanes = [0.0; WIDEST];
        // SAFETY: the caller's promise; the array has the lanes of any vector.
        unsafe {
            if count == Self::WIDTH {
                return self.store(to);
            }
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
        }
    }

    /// Starts to bring the cache line at `place`, if there is one, into the first-level cache.
    #[inline(always)]
    fn prefetch(_place: *const f32) {}

    /// [`prefetch`](Self::prefetch) into the second-level cache.
    #[inline(always)]
    fn prefetch_far(_place: *const f32) {}

    /// `factor * self + other`
    fn scale_add(self, factor: f32, other: Self) -> Self;

    /// One number in all lanes. (A vector is needed to call this: that it exists proves that the
    /// machine has its instructions.)
    fn splat(self, number: f32) -> Self;

    /// `self * factors + other`
    fn mul_add(self, factors: Self, other: Self) -> Self;

    /// The larger of two numbers; `low` if either is NaN.
    fn max(self, low: Self) -> Self;

    /// The smaller of two numbers; `high` if either is NaN.
    fn min(self, high: Self) -> Self;

    /// `inside` where |self| < limit, else `outside`.
    fn select_within(self, limit: Self, inside: Self, outside: Self) -> Self;

    /// 1 / (1 + exp(-self))
    fn sigmoid(self) -> Self;
}

/// A vector of [`LANES`] lanes.
pub(crate) trait Vector8: Vector {
    /// Lane `c` of row `r` becomes lane `r` of row `c`.
    fn transposed(rows: [Self; LANES]) -> [Self; LANES];
}
