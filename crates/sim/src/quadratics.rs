//! Heterogeneous quadratics on a graph, whose every constant is known: what the paper's theory
//! says of them can be measured.
//!
//! All agents share the curvatures `a`, so the optimum is the mean of the centres, L is the
//! largest curvature, and the heterogeneity zeta² is the spread of the `a_k c_ik`.

use std::sync::Arc;

use consort_algo::{Draw, Method, Oracle, OracleError};
use consort_graph::{MixingMatrix, Topology};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::{SimError, World};

/// One quadratic per agent: `F_i(x) = 1/2 Σ_k a_k (x_k - c_ik)²`, plus gradient noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratics {
    /// The curvatures a, the same for all agents; the largest is the smoothness L.
    pub curvature: Vec<f32>,
    /// The centres c_i.
    pub centres: Vec<Vec<f32>>,
    /// Every entry of a gradient gets noise that is uniform within plus or minus this, with
    /// variance `noise²/3`.
    pub noise: f32,
    /// Where all agents start.
    pub start: Vec<f32>,
}

/// What a run on quadratics showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// `|∇f(x̄^t)|²` at the beginning of every round; shorter if the run broke off.
    pub squared_gradients: Vec<f64>,
    /// The averaged model at the end.
    pub average: Vec<f64>,
    /// `1/n Σ |x_i - x̄|²` at the end.
    pub disagreement: f64,
    /// Whether numbers grew beyond all bounds.
    pub diverged: bool,
}

impl Quadratics {
    /// Agents whose centres lie `spread` apart from their mean, which is 0, in a fixed pattern;
    /// the curvatures run from 1/2 to 1.
    pub fn spread_out(agents: usize, dim: usize, spread: f32, noise: f32, start: f32) -> Self {
        let raw = |i: usize, k: usize| ((i * 7 + k * 3) % 11) as f32 / 5.0 - 1.0;
        let mean = |k: usize| (0..agents).map(|i| raw(i, k)).sum::<f32>() / agents as f32;
        let centre = |i: usize| (0..dim).map(|k| spread * (raw(i, k) - mean(k))).collect();
        let last = dim.saturating_sub(1).max(1) as f32;
        Quadratics {
            curvature: (0..dim).map(|k| 0.5 + 0.5 * k as f32 / last).collect(),
            centres: (0..agents).map(centre).collect(),
            noise,
            start: vec![start; dim],
        }
    }

    /// Losses and gradients; `seed` decides the noise.
    pub fn oracle(&self, seed: u64) -> QuadraticOracle {
        QuadraticOracle { problem: self.clone(), seed }
    }

    /// The smoothness L.
    pub fn smoothness(&self) -> f64 {
        self.curvature.iter().copied().map(f64::from).fold(0.0, f64::max)
    }

    /// The variance of a stochastic gradient, sigma².
    pub fn sigma_squared(&self) -> f64 {
        self.curvature.len() as f64 * f64::from(self.noise).powi(2) / 3.0
    }

    /// The optimum: the mean of the centres.
    pub fn optimum(&self) -> Vec<f64> {
        let n = self.centres.len() as f64;
        let mean = |k: usize| self.centres.iter().map(|c| f64::from(c[k])).sum::<f64>() / n;
        (0..self.curvature.len()).map(mean).collect()
    }

    /// How much the agents' gradients differ, zeta²: the same everywhere.
    pub fn zeta_squared(&self) -> f64 {
        let (optimum, n) = (self.optimum(), self.centres.len() as f64);
        let of = |centre: &Vec<f32>| -> f64 {
            let part = |k: usize| {
                (f64::from(self.curvature[k]) * (f64::from(centre[k]) - optimum[k])).powi(2)
            };
            (0..optimum.len()).map(part).sum()
        };
        self.centres.iter().map(of).sum::<f64>() / n
    }

    /// `f(x^0) - f*`.
    pub fn gap_to_optimum(&self) -> f64 {
        let optimum = self.optimum();
        let part = |k: usize| {
            let away = f64::from(self.start[k]) - optimum[k];
            0.5 * f64::from(self.curvature[k]) * away * away
        };
        (0..optimum.len()).map(part).sum()
    }

    /// `|∇f(at)|²`.
    pub fn squared_gradient(&self, at: &[f64]) -> f64 {
        let optimum = self.optimum();
        let part = |k: usize| (f64::from(self.curvature[k]) * (at[k] - optimum[k])).powi(2);
        (0..at.len()).map(part).sum()
    }

    /// Runs `method` for one round per step size of `etas`.
    ///
    /// # Errors
    /// If the method cannot be built on this graph. Numbers that grow beyond all bounds are no
    /// error: they are what was to be found out.
    pub fn run(
        &self,
        topology: &Topology,
        weights: &[MixingMatrix],
        method: &Method,
        etas: impl Iterator<Item = f32>,
        seed: u64,
        threads: usize,
    ) -> Result<Measured, SimError> {
        let oracle = Arc::new(self.oracle(seed));
        let mut world = World::new(topology, weights, method, &self.start, oracle, threads)?;
        let mut squared_gradients = Vec::new();
        let mut diverged = false;
        let mut average = world.average();
        for eta in etas {
            squared_gradients.push(self.squared_gradient(&average));
            match world.round(eta) {
                Ok(_) => average = world.average(),
                Err(error) if error.is_divergence() => {
                    diverged = true;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        let disagreement = world.consensus_distance(&average).powi(2);
        Ok(Measured { squared_gradients, average, disagreement, diverged })
    }
}

impl Measured {
    /// The mean over the first `rounds` rounds, `1/T Σ_t |∇f(x̄^t)|²`.
    pub fn mean_until(&self, rounds: usize) -> f64 {
        if self.diverged && rounds > self.squared_gradients.len() {
            return f64::INFINITY;
        }
        let rounds = rounds.min(self.squared_gradients.len());
        self.squared_gradients[..rounds].iter().sum::<f64>() / rounds as f64
    }
}

/// Losses and noisy gradients of [`Quadratics`].
#[derive(Clone, Debug)]
pub struct QuadraticOracle {
    problem: Quadratics,
    seed: u64,
}

impl Oracle for QuadraticOracle {
    fn len(&self) -> usize {
        self.problem.curvature.len()
    }

    fn loss_and_grad(&self, draw: Draw, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        let Quadratics { curvature, centres, noise, .. } = &self.problem;
        let centre = &centres[draw.agent];
        let mut random = noise_of(self.seed, draw);
        let mut loss = 0.0;
        for k in 0..centre.len() {
            let away = at[k] - centre[k];
            loss += 0.5 * curvature[k] * away * away;
            grad[k] = curvature[k] * away + (random.random::<f32>() * 2.0 - 1.0) * noise;
        }
        Ok(loss)
    }
}

/// A stream of its own for every draw, so that noise does not depend on what was asked before.
fn noise_of(seed: u64, draw: Draw) -> Xoshiro256PlusPlus {
    let words = [draw.agent as u64, draw.round, u64::from(draw.step)];
    let mixed =
        words.into_iter().fold(seed, |key, word| SplitMix64::seed_from_u64(key).next_u64() ^ word);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}
