//! GUT on push-sum: Global Update Tracking (Aketi, Hashemi, Roy, NeurIPS 2023, as released)
//! where only the columns of P sum to 1, on directed and time-varying graphs.
//!
//! ```text
//! Y^t     = G^t - (S^t - X^t)/eta + mu (P Y^{t-1} - G^{t-1})       G at z = S/w
//! X^{t+1} = X^t - eta Y^t,     S^{t+1} = P X^{t+1},     w <- P w
//! ```
//!
//! As P X moves by -eta P Y, the tracked term is known from how the own mixed model moved, and
//! nothing of the neighbours has to be kept. In the file below `x` is S:
//!
//! ```text
//! h  = x - eta [ g + mu ((x' - x)/eta' - g') ]         SGP with the bracket added
//! x <- Σ_j p_ij h_j,   w <- Σ_j p_ij w_j,   z = x0 + x/w
//! ```
//!
//! Columns that sum to 1 give sum(x' - x) = eta' sum(g'), so the bracket sums to zero and
//! sum(Y) = sum(G) in every round, whatever the graph of the round and whatever eta did. On a
//! graph with w = 1 the mixed model of GUT is `z`, for every mu.
//!
//! - `w` follows P w, without tracking: tracked, it can turn negative.
//! - `x` is counted from the common start `x0`. The bracket takes a shift of `x` that the weights
//!   alone cause (x = c w) for an update, so a large common part of the models would be thrown
//!   about while `w` finds its values.

use alloc::vec;
use alloc::vec::Vec;

use super::push_sum::mixed_weight;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// GUT on push-sum. A message is `h`, then `w`.
pub struct GutSgp {
    mu: f32,
    x: Vec<f32>,
    z: Vec<f32>,
    x0: Vec<f32>,
    /// `(x' - x)/eta' - g'`, which sums to zero over the agents.
    bracket: Vec<f32>,
    w: f32,
}

impl GutSgp {
    /// Starts from `x0`, which all agents must share; call `resync` if they do not.
    pub fn new(x0: &[f32], mu: f32) -> Self {
        let zero = vec![0.0; x0.len()];
        GutSgp { mu, x: zero.clone(), z: x0.to_vec(), x0: x0.to_vec(), bracket: zero, w: 1.0 }
    }
}

impl Algorithm for GutSgp {
    fn params(&self) -> &[f32] {
        &self.z
    }

    fn message_len(&self) -> usize {
        self.x.len() + 1
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        message[n] = self.w;
        let (g, h) = (&grad[..n], &mut message[..n]);
        let (x, bracket, mu) = (&self.x[..n], &mut self.bracket[..n], self.mu);
        for i in 0..n {
            h[i] = x[i] - eta * (g[i] + mu * bracket[i]);
            bracket[i] = -g[i]; // `mix` adds how x moved
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        self.w = mixed_weight(inbox, n);
        let (per_w, per_eta) = (1.0 / self.w, 1.0 / eta);
        let (x, z, x0) = (&mut self.x[..n], &mut self.z[..n], &self.x0[..n]);
        let bracket = &mut self.bracket[..n];
        for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let (x, z) = (&mut x[start..][..n], &mut z[start..][..n]);
            let (x0, bracket) = (&x0[start..][..n], &mut bracket[start..][..n]);
            for i in 0..n {
                bracket[i] += (x[i] - mixed[i]) * per_eta; // Σ_j p_ij y_j
                x[i] = mixed[i];
                z[i] = x0[i] + mixed[i] * per_w;
            }
        });
    }

    /// Before the first round, of agents that start from different models: `x` is counted from
    /// zero.
    fn resync(&mut self, _models: &dyn Inbox) {
        self.x.copy_from_slice(&self.z);
        self.x0.fill(0.0);
        self.w = 1.0;
    }

    fn averaged(&self) -> &[f32] {
        &self.x
    }

    /// The numerators and the weights are averaged, and the mean weight is 1. The bracket, which sums
    /// to zero over the agents, stays.
    fn adopt_average(&mut self, average: &[f32]) -> bool {
        let n = self.x.len();
        self.x.copy_from_slice(average);
        self.w = 1.0;
        let (x, z, x0) = (&self.x[..n], &mut self.z[..n], &self.x0[..n]);
        for i in 0..n {
            z[i] = x0[i] + x[i];
        }
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("x", &mut self.x),
            Tensor::new("z", &mut self.z),
            Tensor::new("x0", &mut self.x0),
            Tensor::new("bracket", &mut self.bracket),
            Tensor::new("w", core::slice::from_mut(&mut self.w)),
        ]
    }
}
