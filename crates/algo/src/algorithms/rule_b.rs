//! Rule-b of the paper's ablation (Table split): the neighbourhood's update minus the
//! agent's own, as a bias correction.
//!
//! ```text
//! y = delta - mu (W - I)(x - x')/eta,      delta = g - (s - x)/eta
//! x -= eta y
//! ```

use alloc::vec;
use alloc::vec::Vec;

use super::move_by;
use super::pull::{Pull, RoundedPull};
use crate::{Algorithm, GradientAt, Inbox, Tensor};

/// Rule-b. Keeps the pull `p`, as GUT does, and its change `p - p'` over the last round.
pub struct RuleB {
    mu: f32,
    gradient_at: GradientAt,
    x: Vec<f32>,
    pull: RoundedPull,
    change: Vec<f32>,
}

impl RuleB {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], mu: f32, gradient_at: GradientAt) -> Self {
        let n = x0.len();
        RuleB { mu, gradient_at, x: x0.to_vec(), pull: RoundedPull::none(n), change: vec![0.0; n] }
    }
}

impl Algorithm for RuleB {
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
        let change = &mut self.change[..n];
        let (mu, per_eta) = (self.mu, 1.0 / eta);
        let rate_per_eta = self.pull.rate() * per_eta;
        for i in 0..n {
            let y = g[i] - p[i] * rate_per_eta - mu * (change[i] * per_eta);
            let moved = move_by(&mut x[i], -eta * y);
            change[i] = -moved; // `mix` adds the neighbourhood's move
            message[i] = moved;
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        let change = &mut self.change[..n];
        self.pull.follow(inbox, |start, moved| {
            let n = moved.len();
            let change = &mut change[start..][..n];
            for i in 0..n {
                change[i] += moved[i];
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
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("change", &mut self.change)];
        all.extend(self.pull.tensors());
        all
    }
}
