//! RandomStream numbers with the same bits on every machine and in every release.
//!
//! The generator is xoshiro256++; what is made of its words is written here in integers and
//! IEEE arithmetic, because a library of distributions may change between releases and the
//! logarithm of an operating system differs in the last bit between platforms.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One stream of random numbers, chosen by a key of words.
pub(crate) struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// The stream of `key`; by convention the first word says what the stream is for.
    pub(crate) fn keyed(key: &[u64]) -> Self {
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(hash(key)))
    }

    /// The stream of one word.
    pub(crate) fn from_word(key: u64) -> Self {
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// A whole number below `bound`, every one equally likely (Lemire 2019, «Fast random
    /// integer generation in an interval»): the upper half of word times bound, where words
    /// that would favour some numbers are thrown away.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(bound);
            if wide as u64 >= unfair {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number strictly between 0 and 1: the middle of one of 2^52 equal intervals, so that
    /// it has a logarithm.
    pub(crate) fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 52) as f64;
        ((self.0.next_u64() >> 12) as f64 + 0.5) * STEP
    }

    /// A number from the standard normal distribution (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let u = self.uniform() * 2.0 - 1.0;
            let v = self.uniform() * 2.0 - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Puts `items` in an order of which every one is equally likely (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }
}

/// One word from many, every bit of which depends on every bit of the key and on its order
/// (the output function of splitmix64 after each word).
pub(crate) fn hash(key: &[u64]) -> u64 {
    key.iter().fold(key.len() as u64, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-squared with 6 degrees of freedom exceeds 22.5 once in a thousand streams.
    #[test]
    fn every_number_below_a_bound_is_equally_likely() {
        let mut random = RandomStream::keyed(&[1]);
        let mut seen = [0.0_f64; 7];
        for _ in 0..70_000 {
            seen[random.below(7) as usize] += 1.0;
        }
        let chi_squared: f64 = seen.iter().map(|n| (n - 1e4) * (n - 1e4) / 1e4).sum();
        assert!(chi_squared < 22.5, "{chi_squared}");
        assert_eq!(random.below(1), 0);
    }

    /// Moments of 100,000 draws; the tolerances are four standard errors.
    #[test]
    fn normal_numbers_are_normal() {
        let mut random = RandomStream::keyed(&[3]);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / f64::from(n);
        let error = |variance: f64| 4.0 * (variance / f64::from(n)).sqrt();
        assert!(moment(1).abs() < error(1.0));
        assert!((moment(2) - 1.0).abs() < error(2.0));
        assert!(moment(3).abs() < error(15.0));
        assert!((moment(4) - 3.0).abs() < error(96.0));
    }

    #[test]
    fn keys_that_differ_in_order_or_length_are_different_streams() {
        let keys: [&[u64]; 6] = [&[], &[0], &[0, 0], &[1, 2], &[2, 1], &[1, 2, 0]];
        let mut words: Vec<u64> = keys.iter().map(|key| hash(key)).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), keys.len());
    }

    /// All 24 orders of four items; 23 degrees of freedom exceed 49.7 once in a thousand.
    #[test]
    fn every_order_is_equally_likely() {
        let mut random = RandomStream::keyed(&[5]);
        let mut seen = std::collections::HashMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0.0_f64) += 1.0;
        }
        assert_eq!(seen.len(), 24);
        let chi_squared: f64 = seen.values().map(|n| (n - 1e3) * (n - 1e3) / 1e3).sum();
        assert!(chi_squared < 49.7, "{chi_squared}");
    }
}
