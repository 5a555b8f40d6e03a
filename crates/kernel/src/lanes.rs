//! Eight channels in one value, or sixteen, with the few operations of register tiles, transforms
//! and normalisations.
//!
//! In short loops over many values the compiler, left to itself, takes arrays of floats apart
//! and joins them to other vectors than these. So the vector is named: one register of AVX2 or of
//! AVX-512, or the array where there is none.

use std::ops::{Add, Mul, Sub};

use crate::dispatch::multiply_add;
use crate::exp::sigmoid;

/// Channels of a vector that any machine has.
pub(crate) const LANES: usize = 8;
/// Channels of the widest vector of all.
pub(crate) const WIDEST: usize = 16;

/// Channels side by side, with the operations of register tiles and normalisations. Each works lane
/// by lane, so that a result has the same bits in vectors of any width.
pub(crate) trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Mul<f32, Output = Self>
{
    /// How many.
    const WIDTH: usize;

    /// Vectors of [`LANES`] channels, which a machine that has these has, too.
    type Eight: Lanes;

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

    /// Reads `count` floats, no more than [`WIDTH`](Self::WIDTH); zeros follow.
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

    /// Writes the first `count` floats, no more than [`WIDTH`](Self::WIDTH).
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

    /// Begins to bring the line of memory at `place`, if there is one, into the first-level
    /// cache.
    #[inline(always)]
    fn fetch(_place: *const f32) {}

    /// [`fetch`](Self::fetch), into the second-level cache.
    #[inline(always)]
    fn fetch_far(_place: *const f32) {}

    /// `factor * self + other`
    fn scaled(self, factor: f32, other: Self) -> Self;

    /// One number in all lanes of another vector.
    fn all(self, number: f32) -> Self;

    /// `self * factors + other`, lane by lane.
    fn times(self, factors: Self, other: Self) -> Self;

    /// The larger of two numbers, `low` if one is none.
    fn at_least(self, low: Self) -> Self;

    /// The smaller of two numbers, `high` if one is none.
    fn at_most(self, high: Self) -> Self;

    /// `inside` where |self| < limit, else `outside`.
    fn within(self, limit: Self, inside: Self, outside: Self) -> Self;

    /// 1 / (1 + exp(-self))
    fn sigmoid(self) -> Self;
}

/// [`LANES`] channels.
pub(crate) trait Lanes: Vector {
    /// Lane `c` of row `r` becomes lane `r` of row `c`.
    fn transposed(rows: [Self; LANES]) -> [Self; LANES];
}

/// Makes a kernel of a struct whose `run_on::<V>` computes with the lanes `V` of the machine; with
/// `wide`, with the widest vectors of the machine. A struct with parameters of its own stands as
/// `[parameters] Name<parameters> [where their bounds]`.
macro_rules! kernel_of_lanes {
    ($name:ident $(, $wide:ident)?) => {
        $crate::lanes::kernel_of_lanes! { [] $name<'_> [] $(, $wide)? }
    };
    ([$($parameters:tt)*] $kernel:ty [$($bounds:tt)*] $(, $wide:ident)?) => {
        impl<$($parameters)*> Kernel for $kernel $($bounds)* {
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                match FMA {
                    // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
                    true => unsafe { self.run_on::<$crate::lanes::Fused>() },
                    // SAFETY: any machine has the instructions of `Plain`.
                    false => unsafe { self.run_on::<$crate::lanes::Plain>() },
                }
            }

            $($crate::lanes::run_on! { $wide })?
        }
    };
}
macro_rules! run_on {
    (wide) => {
        #[inline(always)]
        #[cfg(target_arch = "x86_64")]
        fn run_wide(self) {
            // SAFETY: this runs only where AVX-512 was detected.
            unsafe { self.run_on::<$crate::lanes::Wide>() }
        }
    };
}
pub(crate) use kernel_of_lanes;
pub(crate) use run_on;

/// Lanes for any machine; with `FMA`, for one whose multiply-add is an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const FMA: bool = false>(pub(crate) [f32; LANES]);

impl<const FMA: bool> Plain<FMA> {
    #[inline(always)]
    fn combined(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        let mut all = self;
        for lane in 0..LANES {
            all.0[lane] = combine(self.0[lane], other.0[lane]);
        }
        all
    }
}

impl<const FMA: bool> Add for Plain<FMA> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.combined(other, |a, b| a + b)
    }
}

impl<const FMA: bool> Sub for Plain<FMA> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.combined(other, |a, b| a - b)
    }
}

impl<const FMA: bool> Mul<f32> for Plain<FMA> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        self.combined(self, |a, _| a * factor)
    }
}

impl<const FMA: bool> Mul for Plain<FMA> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.combined(other, |a, b| a * b)
    }
}

impl<const FMA: bool> Vector for Plain<FMA> {
    const WIDTH: usize = LANES;

    type Eight = Self;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Plain([0.0; LANES])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise; an array of floats needs no more alignment than one.
        Plain(unsafe { from.cast::<[f32; LANES]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[f32; LANES]>().write(self.0) };
    }

    #[inline(always)]
    fn scaled(self, factor: f32, other: Self) -> Self {
        self.combined(other, |a, b| multiply_add::<FMA>(factor, a, b))
    }

    #[inline(always)]
    fn all(self, number: f32) -> Self {
        Plain([number; LANES])
    }

    #[inline(always)]
    fn times(self, factors: Self, other: Self) -> Self {
        let mut all = other;
        for lane in 0..LANES {
            all.0[lane] = multiply_add::<FMA>(self.0[lane], factors.0[lane], other.0[lane]);
        }
        all
    }

    // Comparisons compile to one instruction each; `f32::max` does not.
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        self.combined(low, |a, low| if a > low { a } else { low })
    }

    #[inline(always)]
    fn at_most(self, high: Self) -> Self {
        self.combined(high, |a, high| if a < high { a } else { high })
    }

    #[inline(always)]
    fn within(self, limit: Self, inside: Self, outside: Self) -> Self {
        let mut all = outside;
        for lane in 0..LANES {
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

impl<const FMA: bool> Lanes for Plain<FMA> {
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

/// Lanes of the bodies that may fuse a multiplication and an addition.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Fused = Plain<true>;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Fused;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Wide;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
