//! The most multiply-adds that a core can do: what benchmarks compare themselves with.

use crate::dispatch::{multiply_add, per_path};

/// Vectors that are multiplied side by side: enough to hide the latency of two units.
const CHAINS: usize = 12;
const LANES: usize = 8;

/// Floating-point operations of [`multiply_adds`], a multiply-add counting two.
pub fn flops(rounds: usize) -> u64 {
    (2 * CHAINS * LANES * rounds) as u64
}

/// `rounds` rounds of independent multiply-adds in registers. The result depends on all of
/// them, so that none is left out.
pub fn multiply_adds(path: crate::Path, rounds: usize) -> f32 {
    let mut result = 0.0;
    run(path, rounds, &mut result);
    result
}

per_path! {
    fn run(rounds: usize, result: &mut f32) => body
}

#[inline(always)]
fn body<const FMA: bool>(rounds: usize, result: &mut f32) {
    let mut chains = [[0.0_f32; LANES]; CHAINS];
    let factor = std::hint::black_box([0.999_f32; LANES]);
    let term = std::hint::black_box([0.5_f32; LANES]);
    for _ in 0..rounds {
        for chain in &mut chains {
            for l in 0..LANES {
                chain[l] = multiply_add::<FMA>(chain[l], factor[l], term[l]);
            }
        }
    }
    *result = chains.iter().flatten().sum();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    /// x <- 0.999 x + 0.5 tends to 500 in every lane, on every path.
    #[test]
    fn all_rounds_are_done() {
        for path in [Path::Portable, Path::detect()] {
            assert!(multiply_adds(path, 1) == 0.5 * (CHAINS * LANES) as f32);
            let limit = 500.0 * (CHAINS * LANES) as f32;
            assert!((multiply_adds(path, 20_000) / limit - 1.0).abs() < 1e-3);
        }
        assert_eq!(flops(3), 3 * 2 * 96);
    }
}
