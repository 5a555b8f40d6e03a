//! Is the difference between two methods more than chance? Tests on results paired by seed.
//!
//! Two methods with the same seed have the same data on the same agents and the same initial model,
//! so their results go up and down together. The difference of each pair is free of that, and is
//! what is tested.
//!
//! **Sign-flip test** (Fisher's permutation test for pairs). If the methods were equal, each
//! difference could as well have the other sign. `p` is the share of all `2^n` choices of signs
//! whose mean is at least as far from zero as the measured one. It assumes nothing about the
//! distribution and is exact, but `n` seeds cannot give less than `2 / 2^n`: three seeds never less
//! than 0.25, six are needed for 0.05.
//!
//! **Paired t-test** (Student). It can be small with three seeds, but then depends on the assumption
//! that differences are normally distributed, which three numbers cannot show.

use crate::summary::MeanStd;

/// The comparison of two methods on their common seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedTest {
    /// The common seeds.
    pub seeds: Vec<u64>,
    /// The differences: the first method minus the second.
    pub difference: MeanStd,
    /// On how many seeds the first method has the larger value.
    pub larger: usize,
    /// The two-sided `p` of the sign-flip test; `None` with more than 20 seeds, where there are too
    /// many choices of signs and the t-test serves.
    pub sign_flip: Option<f64>,
    /// The two-sided `p` of the paired t-test; `None` for fewer than two seeds, or if all
    /// differences are equal.
    pub student: Option<f64>,
}

/// More pairs have more choices of signs than a test can go through.
const MOST_FLIPPED: usize = 20;

impl PairedTest {
    /// Compares `first` with `second`: seeds and values. `None` if they have no seed in common.
    /// Values that are not finite are left out, with their pair.
    pub fn new(first: &[(u64, f64)], second: &[(u64, f64)]) -> Option<Self> {
        let pairs = first.iter().filter_map(|(seed, a)| {
            let (_, b) = second.iter().find(|(other, _)| other == seed)?;
            (a - b).is_finite().then_some((*seed, a - b))
        });
        let (seeds, differences): (Vec<u64>, Vec<f64>) = pairs.unzip();
        if seeds.is_empty() {
            return None;
        }
        let difference = MeanStd::from_values(&differences);
        Some(Self {
            larger: differences.iter().filter(|d| **d > 0.0).count(),
            sign_flip: sign_flip(&differences),
            student: student(&difference),
            seeds,
            difference,
        })
    }

    /// The smallest `p` that the sign-flip test can give with this number of seeds.
    pub fn least(&self) -> f64 {
        least_p(self.seeds.len())
    }
}

/// The smallest `p` of the sign-flip test with `pairs` pairs: all signs equal, or all reversed.
pub fn least_p(pairs: usize) -> f64 {
    2.0 / 2f64.powi(pairs.clamp(1, 1000) as i32)
}

/// The share of all choices of signs with a sum at least as far from zero.
fn sign_flip(differences: &[f64]) -> Option<f64> {
    if differences.len() > MOST_FLIPPED {
        return None;
    }
    let size = differences.iter().map(|d| d.abs()).sum::<f64>();
    // Sums of the same numbers in another order may differ in their last bits.
    let measured = differences.iter().sum::<f64>().abs() - 1e-12 * size;
    let choices = 1u32 << differences.len();
    let sum = |signs: u32| -> f64 {
        let signed = |(k, d): (usize, &f64)| if signs >> k & 1 == 1 { -d } else { *d };
        differences.iter().enumerate().map(signed).sum()
    };
    let as_far = (0..choices).filter(|signs| sum(*signs).abs() >= measured).count();
    Some(as_far as f64 / f64::from(choices))
}

fn student(difference: &MeanStd) -> Option<f64> {
    let std = difference.std.filter(|std| *std > 0.0)?;
    let n = difference.n as f64;
    let t = difference.mean / (std / n.sqrt());
    let freedom = n - 1.0;
    // P(|T| > t) is the regularised incomplete beta function I_x(v/2, 1/2) at x = v / (v + t²).
    Some(incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5))
}

/// The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun
/// 26.5.8, evaluated with Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast below the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - front * fraction(1.0 - x, b, a) / b;
    }
    front * fraction(x, a, b) / a
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        if (value - before).abs() < 1e-15 * value.abs() {
            break;
        }
    }
    value
}

/// ln Γ by Lanczos's approximation with g = 7, to about 15 digits for positive arguments.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Γ(x) Γ(1 - x) = π / sin(π x)
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let sum = TERMS
        .iter()
        .enumerate()
        .fold(0.999_999_999_999_809_9, |sum, (k, term)| sum + term / (x + k as f64 + 1.0));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(differences: &[f64]) -> PairedTest {
        let first: Vec<(u64, f64)> = (1..).zip(differences.iter().copied()).collect();
        let second: Vec<(u64, f64)> = (1..=differences.len() as u64).map(|s| (s, 0.0)).collect();
        PairedTest::new(&first, &second).unwrap()
    }

    #[test]
    fn three_seeds_never_show_a_difference_at_a_twentieth() {
        let clear = test(&[5.0, 5.1, 4.9]);
        assert_eq!((clear.sign_flip, clear.least(), clear.larger), (Some(0.25), 0.25, 3));
        assert!(clear.student.unwrap() < 0.001, "what normality would make of it");
        assert!(least_p(5) > 0.05 && least_p(6) < 0.05);
    }

    /// Darwin's maize, the example of Fisher's Design of Experiments (1935, sections 17 and 21): 15
    /// pairs, differences in eighths of an inch. He gives t = 2.148 with 5 % at 2.145, and for the
    /// permutations 863 of 16,384 one-sided choices: 5.267 %.
    #[test]
    fn fishers_own_example() {
        let maize = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let found = test(&maize);
        assert!((found.sign_flip.unwrap() - 1726.0 / 32768.0).abs() < 1e-12, "{found:?}");
        // t = 2.148 is a little beyond the 5 % point, 2.145: p = 0.0497.
        assert!((found.student.unwrap() - 0.0497).abs() < 5e-5, "{found:?}");
        assert_eq!(found.larger, 13);
    }

    /// The 2.5 % points of Student's distribution, from its tables.
    #[test]
    fn the_t_test_has_the_tables_values() {
        for (freedom, t) in [(1, 12.706_2), (2, 4.302_65), (4, 2.776_45), (30, 2.042_27)] {
            let n = f64::from(freedom + 1);
            let made = MeanStd { mean: t / n.sqrt(), std: Some(1.0), n: freedom as usize + 1 };
            // Measured for one degree of freedom, where the value is known: 2e-8. The others are
            // as near as the table's six digits allow.
            assert!((student(&made).unwrap() - 0.05).abs() < 2e-6, "{freedom}");
        }
    }

    #[test]
    fn only_common_seeds_with_results_count() {
        let first = [(1, 0.9), (2, 0.8), (3, f64::NAN), (7, 0.1)];
        let second = [(3, 0.5), (2, 0.5), (1, 0.5), (4, 0.5)];
        let found = PairedTest::new(&first, &second).unwrap();
        assert_eq!(found.seeds, [1, 2]);
        assert!((found.difference.mean - 0.35).abs() < 1e-12);
        assert_eq!(PairedTest::new(&first[3..], &second), None);
        let equal = test(&[0.0, 0.0, 0.0]);
        assert_eq!((equal.sign_flip, equal.student, equal.larger), (Some(1.0), None, 0));
        assert_eq!(test(&[1.0; 21]).sign_flip, None);
    }
}
