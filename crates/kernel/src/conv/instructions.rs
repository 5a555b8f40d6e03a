//! One source, two compilations: a kernel's body is generic and always inlined, once into a
//! plain function and once into a function that may use AVX2 and FMA.
//!
//! `f32::mul_add` is one instruction in the second and a slow library call in the first, so
//! the body asks `multiply_add` with the constant that it was compiled for.

use super::ConvError;
use crate::Path;

/// A kernel with its operands. `run` and all that it calls must be `#[inline(always)]`, or
/// they are compiled for the plain instruction set.
pub(super) trait Kernel {
    fn run<const FMA: bool>(self);
}

/// Instructions that this machine was seen to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instructions {
    avx2: bool,
}

impl Instructions {
    pub(super) fn new(path: Path) -> Result<Self, ConvError> {
        match path {
            Path::Portable => Ok(Instructions { avx2: false }),
            Path::Avx2 if Path::detect() == Path::Avx2 => Ok(Instructions { avx2: true }),
            _ => Err(ConvError::Path { path }),
        }
    }

    pub(super) fn run<K: Kernel>(self, kernel: K) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            // SAFETY: `avx2` is set in `new` only, after AVX2 and FMA were detected here.
            unsafe { with_avx2(kernel) };
            return;
        }
        kernel.run::<false>();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) {
    kernel.run::<true>();
}

/// The `LANES` floats at `at`: one load in an inner loop.
#[inline(always)]
pub(super) fn vector<const LANES: usize>(from: &[f32], at: usize) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&from[at..at + LANES]);
    lanes
}

/// The `LANES` floats at `at`, or what is left of the slice, followed by zeros.
#[inline(always)]
pub(super) fn load<const LANES: usize>(from: &[f32], at: usize) -> [f32; LANES] {
    let rest = &from[at..];
    if let Some(full) = rest.first_chunk::<LANES>() {
        return *full;
    }
    let mut part = [0.0; LANES];
    part[..rest.len()].copy_from_slice(rest);
    part
}

/// Writes the first `count` lanes at `at`.
#[inline(always)]
pub(super) fn store<const LANES: usize>(
    to: &mut [f32],
    at: usize,
    lanes: [f32; LANES],
    count: usize,
) {
    if count >= LANES {
        to[at..at + LANES].copy_from_slice(&lanes);
    } else {
        to[at..at + count].copy_from_slice(&lanes[..count]);
    }
}
