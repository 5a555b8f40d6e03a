//! Random draws that are the same on every machine.
//!
//! xoshiro256++ gives the bits; everything derived from them uses integer and
//! basic IEEE arithmetic only. The standard library's `ln` belongs to the
//! platform and may differ in the last bit, which would be another graph, so
//! the one logarithm that is needed is computed here.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub(crate) struct Draws(Xoshiro256PlusPlus);

impl Draws {
    pub(crate) fn seeded(seed: u64) -> Self {
        Draws(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `0..bound`, without bias; `bound` must not be 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        // The largest multiple of bound that fits: draws above it would favour small results.
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let draw = self.0.next_u64();
            if draw < fair {
                return (draw % bound) as usize;
            }
        }
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// How many failures stand before the first success of probability `p` in
    /// (0, 1]: lets a sparse random graph skip the pairs it does not join.
    pub(crate) fn failures_before_success(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 0;
        }
        let log_failure = if p < 1e-8 { -p } else { ln(1.0 - p) };
        // A float-to-integer cast saturates, and "past the end" is all a caller asks.
        (ln(1.0 - self.unit()) / log_failure) as u64
    }
}

/// Natural logarithm of a positive normal number from basic operations only.
fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits((bits & FRACTION) | (1023 << 52));
    // ln m = 2 artanh((m - 1) / (m + 1)), and the ratio is at most 1/3.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut power = ratio;
    let mut sum = 0.0;
    for k in 0..17 {
        sum += power / f64::from(2 * k + 1);
        power *= square;
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_logarithm_is_a_logarithm() {
        for x in [1e-9, 0.1, 0.5, 0.999, 1.0, 1.7, 3e5_f64] {
            assert!((ln(x) - x.ln()).abs() <= 1e-14 * x.ln().abs().max(1.0), "{x}");
        }
    }

    #[test]
    fn skips_have_the_geometric_mean() {
        let mut draws = Draws::seeded(1);
        let total: u64 = (0..20_000).map(|_| draws.failures_before_success(0.1)).sum();
        let mean = total as f64 / 20_000.0;
        assert!((mean - 9.0).abs() < 0.3, "{mean}");
    }

    #[test]
    fn draws_stay_in_range_and_repeat() {
        let (mut a, mut b) = (Draws::seeded(5), Draws::seeded(5));
        for bound in 1..100 {
            let draw = a.below(bound);
            assert!(draw < bound);
            assert_eq!(draw, b.below(bound));
        }
    }
}
