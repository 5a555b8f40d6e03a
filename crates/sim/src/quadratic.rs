//! Quadratics with everything known: the problem on which claims are checked.
//!
//! `F_i(x) = 1/2 Σ_k a_k (x_k - c_ik)²` plus seeded gradient noise. All agents share the
//! curvatures `a`, so the optimum is the mean of the centres, L is the largest
//! curvature, and the heterogeneity zeta² is the spread of the `a_k c_ik`.

use consort_algo::{Oracle, OracleError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One agent's quadratic.
#[derive(Clone, Debug)]
pub struct Quadratic {
    curvature: Vec<f32>,
    centre: Vec<f32>,
    noise: f32,
    random: Xoshiro256PlusPlus,
}

impl Quadratic {
    /// A quadratic around `centre`. Each gradient entry gets uniform noise in
    /// `[-noise, noise)`, whose variance is `noise²/3`.
    pub fn new(curvature: Vec<f32>, centre: Vec<f32>, noise: f32, seed: u64) -> Self {
        Quadratic { curvature, centre, noise, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

impl Oracle for Quadratic {
    fn len(&self) -> usize {
        self.centre.len()
    }

    fn loss_and_grad(&mut self, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        let mut loss = 0.0;
        for k in 0..self.centre.len() {
            let away = at[k] - self.centre[k];
            loss += 0.5 * self.curvature[k] * away * away;
            let noise = (self.random.random::<f32>() * 2.0 - 1.0) * self.noise;
            grad[k] = self.curvature[k] * away + noise;
        }
        Ok(loss)
    }
}
