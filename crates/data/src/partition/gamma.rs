//! Dirichlet proportions, as logarithms of gamma variates.
//!
//! Independent gammas g_j ~ Gamma(alpha), divided by their sum, are Dirichlet(alpha). For
//! alpha = 0.001 most g_j lie far below the smallest `f64`, so only ln g_j is ever formed and
//! the largest is taken out before the exponential.

use crate::random_stream::RandomStream;

/// Fills `logs` with the logarithms of independent Gamma(alpha) variates.
pub(super) fn ln_gammas(alpha: f64, random: &mut RandomStream, logs: &mut [f64]) {
    for log in logs {
        *log = ln_gamma(alpha, random);
    }
}

/// Marsaglia and Tsang 2000, «A Simple Method for Generating Gamma Variables»; below 1 by
/// their boost: Gamma(alpha) = Gamma(alpha + 1) U^(1/alpha).
fn ln_gamma(alpha: f64, random: &mut RandomStream) -> f64 {
    if alpha < 1.0 {
        return ln_gamma(alpha + 1.0, random) + libm::log(random.uniform()) / alpha;
    }
    let d = alpha - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let (u, square) = (random.uniform(), x * x);
        // Their squeeze: all it accepts, the test by logarithms accepts too.
        if u < 1.0 - 0.0331 * square * square {
            return libm::log(d * v);
        }
        if libm::log(u) < 0.5 * square + d * (1.0 - v + libm::log(v)) {
            return libm::log(d * v);
        }
    }
}

/// The Dirichlet proportions of those who are `open`, scaled to sum to one; 0 for the others.
/// Someone must be open.
pub(super) fn proportions(logs: &[f64], open: impl Fn(usize) -> bool) -> Vec<f64> {
    let of_open = |j: usize| if open(j) { logs[j] } else { f64::NEG_INFINITY };
    let largest = (0..logs.len()).map(of_open).fold(f64::NEG_INFINITY, f64::max);
    let mut parts: Vec<f64> =
        (0..logs.len()).map(|j| if open(j) { libm::exp(logs[j] - largest) } else { 0.0 }).collect();
    let sum: f64 = parts.iter().sum(); // at least 1: the largest part is exp(0)
    for part in &mut parts {
        *part /= sum;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 1/n and variance (1/n)(1 - 1/n)/(n alpha + 1) of a Dirichlet proportion (Johnson
    /// and Kotz 1972). The tolerances are four standard errors over 20,000 draws; that of the
    /// variance takes the fourth moment from the draws themselves.
    #[test]
    fn proportions_have_the_mean_and_variance_of_dirichlet() {
        let (n, draws) = (5, 20_000);
        for alpha in [0.01, 0.1, 0.9, 1.0, 10.0, 1000.0] {
            let mut random = RandomStream::keyed(&[11]);
            let mut logs = vec![0.0; n];
            let seen: Vec<f64> = (0..draws)
                .map(|_| {
                    ln_gammas(alpha, &mut random, &mut logs);
                    proportions(&logs, |_| true)[2]
                })
                .collect();
            let mean_of =
                |f: &dyn Fn(f64) -> f64| seen.iter().map(|&p| f(p)).sum::<f64>() / f64::from(draws);
            let expected = 1.0 / n as f64;
            let variance = expected * (1.0 - expected) / (n as f64 * alpha + 1.0);
            let mean = mean_of(&|p| p);
            let error = (variance / f64::from(draws)).sqrt();
            assert!((mean - expected).abs() < 4.0 * error, "alpha {alpha}: mean {mean}");
            let second = mean_of(&|p| (p - expected).powi(2));
            let fourth = mean_of(&|p| (p - expected).powi(4));
            let error = ((fourth - second * second) / f64::from(draws)).sqrt();
            assert!((second - variance).abs() < 4.0 * error, "alpha {alpha}: {second}");
        }
    }

    #[test]
    fn tiny_and_huge_alphas_neither_vanish_nor_overflow() {
        for alpha in [1e-6, 0.001, 1e9] {
            let mut random = RandomStream::keyed(&[13]);
            let mut logs = vec![0.0; 10];
            for _ in 0..1000 {
                ln_gammas(alpha, &mut random, &mut logs);
                let parts = proportions(&logs, |_| true);
                let sum: f64 = parts.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "alpha {alpha}: {parts:?}");
                // Whoever held nearly all is full: the rest still divide all of it.
                let full = (0..10).max_by(|&a, &b| logs[a].total_cmp(&logs[b])).unwrap();
                let parts = proportions(&logs, |j| j != full);
                assert_eq!(parts[full], 0.0);
                assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
