//! `mu = auto` and `gamma = auto`: numbers from the spectrum of W.
//!
//! - gamma: 1 if the wanted mu is stable with it; else 95 % of the largest stable
//!   gamma. For released GUT that limit is (1 + 1/(1 + 2 mu)) / (1 - lambda_min), so a
//!   gamma of 1/2 is stable on every graph for every mu up to 1.
//! - mu without momentum on the update: 0.9, the paper's choice for all GUT runs, or 90 %
//!   of the limit where that is smaller.
//! - mu with it: the middle of the stable range. The paper's grid search chose 0.04 to
//!   0.09 where the range ends at 0.1.

use consort_algo::{Method, Tunable};
use consort_graph::Spectrum;
use serde::Serialize;

use crate::stability::{Stability, average_memory};

/// Share of the largest stable gamma that is used: a mode at the limit never decays.
const GAMMA_MARGIN: f64 = 0.95;

/// A method whose mu and gamma are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// The method, ready to build.
    #[serde(skip)]
    pub method: Method,
    /// The tracking scale in force.
    pub mu: f64,
    /// The averaging rate in force: W <- (1-gamma) I + gamma W.
    pub gamma: f64,
}

/// Replaces `auto` by numbers for a mixing matrix with this spectrum.
pub fn resolve(method: &Method, spectrum: &Spectrum) -> Resolved {
    let stability = Stability::of(spectrum);
    let wanted_mu = match (method.mu, Method::new(method.name).mu) {
        (Tunable::Value(mu), _) | (Tunable::Auto, Tunable::Value(mu)) => mu,
        (Tunable::Auto, Tunable::Auto) => 0.0,
    };
    let gamma = match method.gamma {
        Tunable::Value(gamma) => gamma,
        Tunable::Auto => match stability.largest_stable_gamma(method, wanted_mu) {
            Some(gamma) if gamma < 1.0 => rounded_down(GAMMA_MARGIN * gamma),
            _ => 1.0,
        },
    };
    let mu = match method.mu {
        Tunable::Value(mu) => mu,
        Tunable::Auto => rounded_down(automatic_mu(method, &stability.with_averaging_rate(gamma))),
    };
    let method = Method { mu: Tunable::Value(mu), gamma: Tunable::Value(gamma), ..*method };
    Resolved { method, mu, gamma }
}

fn automatic_mu(method: &Method, stability: &Stability) -> f64 {
    if !method.name.tracks() {
        return 0.0;
    }
    let (low, high) = stability.stable_interval(method).unwrap_or((0.0, 0.0));
    if method.name.has_global_momentum() {
        0.5 * (low + high.min(largest_mu_of_average(method)))
    } else {
        (low + 0.9 * (high - low)).min(0.9)
    }
}

/// Four decimals: a number to write down, on the stable side.
fn rounded_down(value: f64) -> f64 {
    (value * 1e4).floor() / 1e4
}

/// The mu at which the average itself runs away; mu + beta = 1 for released QG-GUTm.
pub(crate) fn largest_mu_of_average(method: &Method) -> f64 {
    let (mut calm, mut wild) = (0.0, 2.0);
    for _ in 0..50 {
        let middle = 0.5 * (calm + wild);
        if average_memory(method, middle) < 1.0 {
            calm = middle;
        } else {
            wild = middle;
        }
    }
    calm
}
