//! A kernel as an object: its operands in a struct, its body compiled once per instruction
//! set, chosen when the convolution is built. (See `dispatch` for the same on functions.)

use super::ConvError;
use crate::Isa;

/// A kernel with its operands. `run` and all that it calls must be `#[inline(always)]`, or
/// they are compiled for the plain instruction set.
pub(crate) trait Kernel: Sized {
    fn run<const FMA: bool>(self);

    /// The same where AVX-512 was detected, for kernels that make use of its vectors.
    #[inline(always)]
    fn run_wide(self) {
        self.run::<true>();
    }
}

/// Instructions that this machine was seen to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(Isa);

impl Instructions {
    /// Those of any machine.
    pub(crate) const PORTABLE: Instructions = Instructions(Isa::Portable);

    pub(crate) fn new(isa: Isa) -> Result<Self, ConvError> {
        if isa.is_available() { Ok(Instructions(isa)) } else { Err(ConvError::Isa { isa }) }
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            // SAFETY: `new` takes a isa only after this machine was seen to have it.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { with_avx512(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { with_avx2(kernel) },
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => kernel.run::<true>(),
            _ => kernel.run::<false>(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
fn with_avx512<K: Kernel>(kernel: K) {
    kernel.run_wide();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) {
    kernel.run::<true>();
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
