//! Rule-a of the paper's ablation (Table split): tracking without the change of
//! reference.
//!
//! ```text
//! y = delta + mu [ W y' - delta' ],      delta = g - (s - x)/eta
//! x -= eta y
//! ```

use alloc::vec;
use alloc::vec::Vec;

use super::move_by;
use super::pull::{Pull, RoundedPull};
use crate::{Algorithm, GradientAt, Inbox, Tensor};

/// Rule-a. Keeps the pull, as GUT does.
pub struct RuleA {
    mu: f32,
    gradient_at: GradientAt,
    x: Vec<f32>,
    pull: RoundedPull,
    bracket: Vec<f32>,
}

impl RuleA {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], mu: f32, gradient_at: GradientAt) -> Self {
        let n = x0.len();
        RuleA { mu, gradient_at, x: x0.to_vec(), pull: RoundedPull::none(n), bracket: vec![0.0; n] }
    }
}

impl Algorithm for RuleA {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn probe(&self, at: &mut [f32]) {
        match self.gradient_at {
            GradientAt::Mixed => self.pull.write_mixed_model(&self.x, at),
            GradientAt::Local => at.copy_from_slice(&self.x),
        }
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, p) = (&mut self.x[..n], &self.pull.p()[..n]);
        let bracket = &mut self.bracket[..n];
        let (mu, rate_per_eta) = (self.mu, self.pull.rate() * (1.0 / eta));
        for i in 0..n {
            let delta = g[i] - p[i] * rate_per_eta;
            let y = delta + mu * bracket[i];
            let moved = move_by(&mut x[i], -eta * y);
            bracket[i] = -delta; // `mix` adds W y
            message[i] = moved;
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        let (bracket, per_eta) = (&mut self.bracket[..n], 1.0 / eta);
        self.pull.follow(inbox, |start, moved| {
            let n = moved.len();
            let bracket = &mut bracket[start..][..n];
            for i in 0..n {
                bracket[i] -= moved[i] * per_eta;
            }
        });
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.pull.measure(models);
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.pull.set_rate(rate);
        true
    }

    fn sends_moves(&self) -> bool {
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all =
            vec![Tensor::new("x", &mut self.x), Tensor::new("bracket", &mut self.bracket)];
        all.extend(self.pull.tensors());
        all
    }
}
