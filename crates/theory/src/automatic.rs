//! `mu = auto` and `gamma = auto`: numbers from the spectrum of W.
//!
//! - gamma: 1 if mu is stable with it; otherwise 95 % of the largest stable gamma. For released
//!   GUT this limit is (1 + 1/(1 + 2 mu)) / (1 - lambda_min), so a gamma of 1/2 is stable on
//!   every graph for every mu up to 1.
//!   Where messages are coded, at most what [`usual_gamma`] says.
//! - mu without momentum on the update: 0.9, the paper's choice for all GUT runs, or 90 %
//!   of the limit where that is smaller.
//! - mu with momentum on the update: the middle of the stable range. For models with
//!   normalisation the paper's grid search chose 0.03 to 0.09, where the range ends at 0.1.
//!   Tracking makes the steps longer, there up to twice as long ([`average_gain`]), and such models
//!   tolerate it. For LeNet-5, which has no normalisation, the same search chose 0.01 and 0.005.
//!   So [`resolve_within`] takes the factor by which the steps may grow: 1.1 for a model without
//!   normalisation, which gives mu = 0.01 at beta = 0.9.
//! - mu and gamma of GUT on push-sum, both `auto`: on directed graphs tracking turns rotation into
//!   growth, and a smaller gamma pays for a larger mu. At the fixed point `(I - P) x = -eta (1 - mu)
//!   P g`, and gamma multiplies `I - P`: the disagreement that the data force is proportional to
//!   (1 - mu)/gamma. So the pair with the smallest (1 - mu)/gamma is taken, of those that are stable
//!   with the margins above: mu at most 0.9 and 90 % of its limit, gamma 1 or 95 % of its limit.
//!   On a directed ring that is mu = 0.3 at gamma = 1 (a larger mu would need a gamma that loses
//!   more), on a directed exponential graph nearly the full 0.9.

use consort_algo::{Method, MomentumOn, Tunable};
use consort_graph::Spectrum;
use serde::Serialize;

use crate::compression::usual_gamma;
use crate::gain::average_gain;
use crate::stability::{Stability, average_memory};

/// The share of the largest stable gamma that is used: a mode at the limit never decays.
const GAMMA_MARGIN: f64 = 0.95;

/// The share of the largest stable mu that is used.
const MU_MARGIN: f64 = 0.9;

/// The largest mu that is chosen without momentum on the update.
const MOST_AUTOMATIC_MU: f64 = 0.9;

/// A method whose mu and gamma are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// The method, ready to build.
    #[serde(skip)]
    pub method: Method,
    /// The tracking scale.
    pub mu: f64,
    /// The averaging rate: W <- (1-gamma) I + gamma W. It is 1 if the method uses gamma itself.
    pub gamma: f64,
}

/// Replaces `auto` with numbers for a mixing matrix with this spectrum.
pub fn resolve(method: &Method, spectrum: &Spectrum) -> Resolved {
    resolve_within(method, spectrum, f64::INFINITY)
}

/// Like [`resolve`], but tracking may make the steps at most `longer` times as long as momentum
/// alone does.
pub fn resolve_within(method: &Method, spectrum: &Spectrum, longer: f64) -> Resolved {
    resolve_on(method, &Stability::new(spectrum), longer)
}

/// Like [`resolve_within`], on directed and time-varying graphs too: `stability` is that of the
/// mixing matrices before any averaging rate.
pub fn resolve_on(method: &Method, stability: &Stability, longer: f64) -> Resolved {
    if method.name.is_push_sum()
        && method.info().momentum == MomentumOn::Nothing
        && (method.mu, method.gamma) == (Tunable::Auto, Tunable::Auto)
    {
        let (mu, gamma) = least_disagreement(method, stability);
        let method = Method { mu: Tunable::Value(mu), gamma: Tunable::Value(gamma), ..*method };
        return Resolved { method, mu, gamma };
    }
    let wanted_mu = match (method.mu, Method::new(method.name).mu) {
        (Tunable::Value(mu), _) | (Tunable::Auto, Tunable::Value(mu)) => mu,
        (Tunable::Auto, Tunable::Auto) => 0.0,
    };
    let gamma = match method.gamma {
        Tunable::Value(gamma) => gamma,
        Tunable::Auto if method.name.steps_by_gamma() => 1.0,
        Tunable::Auto => {
            let lossless = match stability.largest_stable_gamma(method, wanted_mu) {
                Some(gamma) if gamma < 1.0 => rounded_down(GAMMA_MARGIN * gamma),
                _ => 1.0,
            };
            usual_gamma(method, wanted_mu).map_or(lossless, |usual| lossless.min(usual))
        }
    };
    let rate = if method.name.steps_by_gamma() { 1.0 } else { gamma };
    let mu = match method.mu {
        Tunable::Value(mu) => mu,
        Tunable::Auto => {
            let stability = stability.with_averaging_rate(rate);
            rounded_down(automatic_mu(method, &stability, longer))
        }
    };
    let method = Method { mu: Tunable::Value(mu), gamma: Tunable::Value(gamma), ..*method };
    Resolved { method, mu, gamma: rate }
}

/// The stable mu and gamma with the smallest (1 - mu)/gamma.
fn least_disagreement(method: &Method, stability: &Stability) -> (f64, f64) {
    const STEPS: i32 = 45;
    let at = |gamma: f64| stability.with_averaging_rate(gamma);
    let mut best = (0.0, 1.0);
    for k in 1..=STEPS {
        let mu = MOST_AUTOMATIC_MU * f64::from(k) / f64::from(STEPS);
        let needed = (1.0 - mu) * best.1 / (1.0 - best.0);
        // The mu for which 90 % of the limit would be this one.
        let probe = mu / MU_MARGIN;
        if at(1.0).is_stable(method, probe) {
            best = (mu, 1.0);
        } else if needed < GAMMA_MARGIN && at(needed / GAMMA_MARGIN).is_stable(method, probe) {
            let limit = stability.largest_stable_gamma(method, probe).unwrap_or(0.0);
            let gamma = rounded_down(GAMMA_MARGIN * limit);
            if gamma > needed {
                best = (mu, gamma);
            }
        }
    }
    (rounded_down(best.0 + 1e-9), best.1)
}

fn automatic_mu(method: &Method, stability: &Stability, longer: f64) -> f64 {
    if !method.name.tracks() {
        return 0.0;
    }
    let (low, high) = stability.stable_interval(method).unwrap_or((0.0, 0.0));
    if method.name.has_global_momentum() {
        let middle = 0.5 * (low + high.min(largest_mu_of_average(method)));
        middle.min(largest_mu_with_gain(method, longer * average_gain(method, 0.0))).max(low)
    } else {
        (low + MU_MARGIN * (high - low)).min(MOST_AUTOMATIC_MU)
    }
}

/// Rounds down to four decimals: short to write down, and on the stable side.
fn rounded_down(value: f64) -> f64 {
    (value * 1e4).floor() / 1e4
}

/// The mu at which the averaged model diverges; for released QG-GUTm, mu + beta = 1.
pub(crate) fn largest_mu_of_average(method: &Method) -> f64 {
    last_mu(|mu| average_memory(method, mu) < 1.0)
}

/// The largest mu at which a constant gradient moves the average by at most `gain` times eta.
fn largest_mu_with_gain(method: &Method, gain: f64) -> f64 {
    last_mu(|mu| average_gain(method, mu) <= gain)
}

/// The largest mu up to 2 for which a condition holds, if it holds for every smaller mu.
fn last_mu(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut inside, mut outside) = (0.0, 2.0);
    for _ in 0..50 {
        let middle = 0.5 * (inside + outside);
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_graph::{GraphSpec, MixingSpec};

    fn mu(method: &str, longer: f64) -> f64 {
        let topology = "ring:16".parse::<GraphSpec>().unwrap().build(0).unwrap();
        let w = MixingSpec::Auto.build(topology.at(0)).unwrap();
        let spectrum = Spectrum::new(&w).unwrap();
        resolve_within(&method.parse().unwrap(), &spectrum, longer).mu
    }

    /// The paper's grid search: 0.03 to 0.09 with normalisation, 0.005 and 0.01 without.
    #[test]
    fn automatic_mu_is_where_the_paper_found_it() {
        assert!((mu("qg-gutm:mu=auto", f64::INFINITY) - 0.05).abs() < 2e-3);
        assert!((mu("qg-gutm:mu=auto", 1.1) - 0.01).abs() < 2e-4);
        assert!((mu("gut:mu=auto", 1.1) - 0.9).abs() < 2e-4);
        assert_eq!(mu("qg-gutm:mu=0.07", 1.1), 0.07, "the user's own mu stays");
    }
}
