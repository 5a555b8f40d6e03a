//! The most multiply-adds that a core can do, with which `consort bench` compares the kernels.
//!
//! It stands here and not beside the benchmark because it must run with the very vectors of the
//! kernels, which are private and `unsafe`.

use crate::Isa;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::Vector;

/// Vectors whose multiply-adds do not wait for each other: enough to keep two units busy.
const CHAINS: usize = 12;
/// Floats of each chain, as one vector or two.
const LENGTH: usize = 16;

/// Floating-point operations of [`multiply_adds`], a multiply-add counting two.
pub fn flops(rounds: usize) -> u64 {
    (2 * CHAINS * LENGTH * rounds) as u64
}

/// `rounds` rounds of independent multiply-adds in registers, with the instructions of `isa`. The
/// result depends on all of them, so that the compiler cannot leave one out.
///
/// # Panics
/// If this machine lacks `isa`.
pub fn multiply_adds(isa: Isa, rounds: usize) -> f32 {
    let mut result = 0.0;
    Instructions::expect(isa).run(Chains { rounds, result: &mut result });
    result
}

struct Chains<'a> {
    rounds: usize,
    result: &'a mut f32,
}

impl Kernel for Chains<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller's promise.
        let sums = unsafe {
            match V::WIDTH {
                LENGTH => chains::<V>(self.rounds),
                // One after the other: there are not enough registers for both.
                _ => chains::<V>(self.rounds) + chains::<V>(self.rounds),
            }
        };
        *self.result = sums;
    }
}

/// x <- 0.999 x + 0.5 in all lanes of [`CHAINS`] vectors; the sum of them.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn chains<V: Vector>(rounds: usize) -> f32 {
    // SAFETY: the caller's promise; the arrays have room for a vector.
    unsafe {
        let factor = std::hint::black_box(0.999_f32);
        let term = V::load(std::hint::black_box([0.5_f32; LENGTH]).as_ptr());
        let mut chains = [V::zero(); CHAINS];
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = chain.scale_add(factor, term);
            }
        }
        let mut lanes = [0.0; LENGTH];
        let mut sum = 0.0;
        for chain in chains {
            chain.store(lanes.as_mut_ptr());
            sum += lanes[..V::WIDTH].iter().sum::<f32>();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x <- 0.999 x + 0.5 tends to 500 in every lane, with every instruction set.
    #[test]
    #[cfg_attr(miri, ignore = "too many rounds for an interpreter")]
    fn all_rounds_are_done() {
        for isa in [Isa::Portable, Isa::detect()] {
            assert!(multiply_adds(isa, 1) == 0.5 * (CHAINS * LENGTH) as f32);
            let limit = 500.0 * (CHAINS * LENGTH) as f32;
            assert!((multiply_adds(isa, 20_000) / limit - 1.0).abs() < 1e-3);
        }
        assert_eq!(flops(3), 3 * 2 * 192);
    }
}
