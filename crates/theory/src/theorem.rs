//! Theorem 1 of the paper: when GUT converges, and how fast it is at least.
//!
//! ```text
//! eta <= rho/(7L),   mu/(1-mu) <= rho/42:
//! 1/T Σ_t E|∇f(x̄^t)|² <= 4(f0-f*)/(eta T) + 4 eta L sigma²/n
//!                        + 1248 eta² L² (zeta² + sigma² (2-mu))/rho²
//! ```

use serde::Serialize;

/// The limits of Theorem 1 for one spectral gap `rho` and one smoothness `L`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Theorem1 {
    /// The spectral gap.
    pub rho: f64,
    /// The smoothness constant L of the losses.
    pub smoothness: f64,
    /// The largest step size that the theorem covers.
    pub largest_eta: f64,
    /// The largest mu that the theorem covers.
    pub largest_mu: f64,
}

/// The constants of a problem that the bound contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProblemConstants {
    /// `f(x̄^0) - f*`.
    pub gap_to_optimum: f64,
    /// Variance bound of the stochastic gradients, sigma².
    pub noise: f64,
    /// Variance bound of the gradients across agents, zeta².
    pub heterogeneity: f64,
    /// Number of agents.
    pub agents: usize,
}

impl Theorem1 {
    /// The limits for a spectral gap and a smoothness constant.
    pub fn new(rho: f64, smoothness: f64) -> Self {
        let ratio = rho / 42.0;
        let (largest_eta, largest_mu) = (rho / (7.0 * smoothness), ratio / (1.0 + ratio));
        Theorem1 { rho, smoothness, largest_eta, largest_mu }
    }

    /// True if the theorem covers these parameters.
    pub fn covers(&self, eta: f64, mu: f64) -> bool {
        eta <= self.largest_eta && mu <= self.largest_mu
    }

    /// The bound on the mean squared gradient norm of the averaged model over the
    /// first `rounds` rounds.
    pub fn bound(&self, problem: &ProblemConstants, eta: f64, mu: f64, rounds: u64) -> f64 {
        let ProblemConstants { gap_to_optimum, noise, heterogeneity, agents } = *problem;
        let l = self.smoothness;
        4.0 * gap_to_optimum / (eta * rounds as f64)
            + 4.0 * eta * l * noise / agents as f64
            + 1248.0 * (eta * l / self.rho).powi(2) * (heterogeneity + noise * (2.0 - mu))
    }
}
