//! Eight channels in one value, with the few operations of register tiles, transforms and
//! normalisations.
//!
//! In short loops over many values the compiler, left to itself, takes arrays of floats apart
//! and joins them to other vectors than these. So the vector is named: one AVX register, or the
//! array where there is none.

use std::ops::{Add, Mul, Sub};

use crate::dispatch::multiply_add;
use crate::exp::sigmoid;

/// Channels of a vector.
pub(crate) const LANES: usize = 8;

/// Channels side by side, with the operations of a register tile.
pub(crate) trait Vector: Copy + Add<Output = Self> + Mul<f32, Output = Self> {
    /// How many.
    const WIDTH: usize;

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

    /// Begins to bring the line of memory at `place`, if there is one, into the first-level
    /// cache.
    #[inline(always)]
    fn fetch(_place: *const f32) {}

    /// [`fetch`](Self::fetch), into the second-level cache.
    #[inline(always)]
    fn fetch_far(_place: *const f32) {}

    /// `factor * self + other`
    fn scaled(self, factor: f32, other: Self) -> Self;
}

/// [`LANES`] channels.
pub(crate) trait Lanes: Vector + Sub<Output = Self> + Mul<Output = Self> {
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

    /// Lane `c` of row `r` becomes lane `r` of row `c`.
    fn transposed(rows: [Self; LANES]) -> [Self; LANES];
}

/// Makes a kernel of a struct whose `run_on::<V>` computes with the lanes `V` of the machine. With
/// `wide`, it is `run_on::<V, W>`, where `W` are the widest vectors of the machine.
macro_rules! kernel_of_lanes {
    ($name:ident $(, $wide:ident)?) => {
        impl Kernel for $name<'_> {
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                match FMA {
                    // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
                    true => unsafe { $crate::lanes::run_on!(self, Fused $(, $wide Fused)?) },
                    // SAFETY: any machine has the instructions of `Plain`.
                    false => unsafe { $crate::lanes::run_on!(self, Plain $(, $wide Plain)?) },
                }
            }

            $(
                #[inline(always)]
                #[cfg(target_arch = "x86_64")]
                fn run_wide(self) {
                    // SAFETY: this runs only where AVX-512 was detected.
                    unsafe { $crate::lanes::run_on!(self, Fused, $wide $crate::lanes::Wide) }
                }
            )?
        }
    };
}
macro_rules! run_on {
    ($kernel:ident, $lanes:ident) => {
        $kernel.run_on::<$lanes>()
    };
    ($kernel:ident, $lanes:ident, wide $wide:path) => {
        $kernel.run_on::<$lanes, $wide>()
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
}

impl<const FMA: bool> Lanes for Plain<FMA> {
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
