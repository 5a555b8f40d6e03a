//! QG-GUTm on push-sum: GUT with momentum on the tracked update (Aketi, Hashemi, Roy, NeurIPS
//! 2023, as released), where only the columns of P sum to 1.
//!
//! ```text
//! p = S - X,   delta = g - p/eta                              g at z = S/w
//! y = delta + mu [ P d' - b p'/eta' - delta' ]                b the gain of the momentum
//! d = the momentum's direction for y
//! X <- X - eta d,   S <- P X,   w <- P w
//! ```
//!
//! As in `gut_sgp.rs` (which says why `w` is not tracked and why `x` is counted from `x0`), P d'
//! is how the mixed model moved: `(x' - x)/eta'`, with `x` for S. sum(p) is zero in every round,
//! so sum(X) moves as under QG-GUTm: as one agent with the sum of the gradients would.

use alloc::vec;
use alloc::vec::Vec;

use super::push_sum::mixed_weight;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// QG-GUTm on push-sum, with momentum `M`. A message is `X`, then `w`.
pub struct QgGutmSgp<M: Momentum> {
    mu: f32,
    momentum: M,
    /// S, the mixed numerators.
    x: Vec<f32>,
    z: Vec<f32>,
    x0: Vec<f32>,
    /// S - X, from the last messages.
    p: Vec<f32>,
    bracket: Vec<f32>,
    m: Vec<M::Slot>,
    w: f32,
}

impl<M: Momentum> QgGutmSgp<M> {
    /// Starts from `x0`, which all agents must share; call `resync` if they do not.
    pub fn new(x0: &[f32], mu: f32, momentum: M) -> Self {
        let n = x0.len();
        QgGutmSgp {
            mu,
            momentum,
            x: vec![0.0; n],
            z: x0.to_vec(),
            x0: x0.to_vec(),
            p: vec![0.0; n],
            bracket: vec![0.0; n],
            m: vec![M::Slot::default(); n],
            w: 1.0,
        }
    }
}

impl<M: Momentum> Algorithm for QgGutmSgp<M> {
    fn params(&self) -> &[f32] {
        &self.z
    }

    fn message_len(&self) -> usize {
        self.x.len() + 1
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        message[n] = self.w;
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, p) = (&self.x[..n], &self.p[..n]);
        let (bracket, m) = (&mut self.bracket[..n], &mut self.m[..n]);
        let (momentum, mu, b) = (self.momentum, self.mu, self.momentum.gain());
        let per_eta = 1.0 / eta;
        for i in 0..n {
            let pull = p[i] * per_eta;
            let delta = g[i] - pull;
            let y = delta + mu * bracket[i];
            let d = momentum.direct(&mut m[i], y);
            message[i] = (x[i] - p[i]) - eta * d;
            // -b pull - delta; `mix` adds P d.
            bracket[i] = -(g[i] + (b - 1.0) * pull);
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        self.w = mixed_weight(inbox, n);
        let (per_w, per_eta, momentum) = (1.0 / self.w, 1.0 / eta, self.momentum);
        let own = &inbox.message(inbox.own())[..n];
        let (x, z, x0) = (&mut self.x[..n], &mut self.z[..n], &self.x0[..n]);
        let (p, bracket, m) = (&mut self.p[..n], &mut self.bracket[..n], &mut self.m[..n]);
        for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let own = &own[start..][..n];
            let (x, z, x0) = (&mut x[start..][..n], &mut z[start..][..n], &x0[start..][..n]);
            let (p, bracket) = (&mut p[start..][..n], &mut bracket[start..][..n]);
            let m = &mut m[start..][..n];
            for i in 0..n {
                let pd = (x[i] - mixed[i]) * per_eta; // Σ_j p_ij d_j
                bracket[i] += pd;
                momentum.settle(&mut m[i], pd);
                p[i] = mixed[i] - own[i];
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
        self.p.fill(0.0);
        self.w = 1.0;
        let (x, z, x0) = (&self.x[..n], &mut self.z[..n], &self.x0[..n]);
        for i in 0..n {
            z[i] = x0[i] + x[i];
        }
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![
            Tensor::new("x", &mut self.x),
            Tensor::new("z", &mut self.z),
            Tensor::new("x0", &mut self.x0),
            Tensor::new("p", &mut self.p),
            Tensor::new("bracket", &mut self.bracket),
        ];
        all.extend(M::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all.push(Tensor::new("w", core::slice::from_mut(&mut self.w)));
        all
    }
}
