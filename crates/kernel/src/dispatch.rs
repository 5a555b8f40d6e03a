//! One source, compiled once for each instruction set; which of them runs is chosen at run time.
//!
//! A kernel is a struct of its operands that implements [`Kernel`]: one function, generic over
//! the type of its vectors. [`Instructions::run`] calls this function from inside another one that
//! is compiled for the instruction set, so that everything inlined into it is, too.

use crate::Isa;
use crate::isa::UnavailableIsa;
#[cfg(feature = "plain-wide")]
use crate::vector::WIDEST;
#[cfg(target_arch = "x86_64")]
use crate::vector::{Avx2, Avx512};
use crate::vector::{LANES, Plain, Vector};

/// A kernel with its operands.
pub(crate) trait Kernel: Sized {
    /// Computes with vectors `V`.
    ///
    /// It and all that it calls must be `#[inline(always)]`. Otherwise they are compiled for the
    /// baseline of the architecture, and the vectors' operations become calls.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn run<V: Vector>(self);
}

/// An instruction set that this machine was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(Isa);

impl Instructions {
    /// Those of `isa`, if this machine has them.
    pub(crate) fn new(isa: Isa) -> Result<Self, UnavailableIsa> {
        isa.check()?;
        Ok(Instructions(isa))
    }

    /// Those of `isa`.
    ///
    /// # Panics
    /// If this machine lacks them: the caller chose `isa` without asking the machine.
    pub(crate) fn expect(isa: Isa) -> Self {
        match Instructions::new(isa) {
            Ok(instructions) => instructions,
            Err(unavailable) => panic!("{unavailable}"),
        }
    }

    /// Runs a kernel with these instructions.
    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            // SAFETY: any machine has the instructions of plain vectors without `FMA`.
            Isa::Portable => unsafe { kernel.run::<Plain<LANES, false>>() },
            // SAFETY: `new` has seen that this machine has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { with_avx2(kernel) },
            // SAFETY: `new` has seen that this machine has AVX-512.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { with_avx512(kernel) },
            // SAFETY: every 64-bit ARM has NEON and its fused multiply-add, and no feature has to
            // be enabled for them.
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => unsafe { kernel.run::<Plain<LANES, true>>() },
            // SAFETY: `new` has seen that this machine has AVX2 and FMA.
            #[cfg(all(feature = "plain-wide", target_arch = "x86_64"))]
            Isa::PlainWide => unsafe { with_plain_wide(kernel) },
            // SAFETY: as for NEON.
            #[cfg(all(feature = "plain-wide", target_arch = "aarch64"))]
            Isa::PlainWide => unsafe { kernel.run::<Plain<WIDEST, true>>() },
            #[allow(unreachable_patterns, reason = "each architecture has some of them")]
            other => unreachable!("{other} was found on an architecture that has none"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) {
    // SAFETY: whoever calls this has AVX2 and FMA.
    unsafe { kernel.run::<Avx2>() };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
fn with_avx512<K: Kernel>(kernel: K) {
    // SAFETY: whoever calls this has AVX-512.
    unsafe { kernel.run::<Avx512>() };
}

#[cfg(all(feature = "plain-wide", target_arch = "x86_64"))]
#[target_feature(enable = "avx2,fma")]
fn with_plain_wide<K: Kernel>(kernel: K) {
    // SAFETY: plain vectors need no more than a fused multiply-add, which whoever calls this has.
    unsafe { kernel.run::<Plain<WIDEST, true>>() };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the lanes of the vectors that it is given.
    struct CountLanes<'a>(&'a mut usize);

    impl Kernel for CountLanes<'_> {
        #[inline(always)]
        unsafe fn run<V: Vector>(self) {
            *self.0 = V::WIDTH;
        }
    }

    fn lanes(isa: Isa) -> usize {
        let mut lanes = 0;
        Instructions::expect(isa).run(CountLanes(&mut lanes));
        lanes
    }

    #[test]
    fn every_available_instruction_set_runs_with_its_own_vectors() {
        for isa in Isa::available() {
            assert_eq!(lanes(isa), if isa == Isa::Avx512 { 16 } else { 8 }, "{isa}");
        }
    }

    /// No machine has both AVX2 and NEON.
    #[test]
    fn a_missing_instruction_set_is_refused_not_replaced() {
        let missing = [Isa::Avx2, Isa::Neon].into_iter().find(|isa| !isa.is_available());
        let isa = missing.expect("one of two architectures");
        assert_eq!(Instructions::new(isa).unwrap_err(), UnavailableIsa { isa });
        assert!(std::panic::catch_unwind(|| lanes(isa)).is_err());
    }
}
