//! QG-DSGDm as the paper ran it as its baseline: heavy-ball momentum on the whole DSGD
//! update, gossip included. It is the released QG-GUTm with mu = 0.
//!
//! ```text
//! delta = g - (s - x)/eta          g at the mixed model s = Σ_j w_ij x_j
//! m     = beta m + delta           (-N: the step is delta + beta m)
//! x    -= eta m
//! ```
//!
//! The original quasi-global momentum is `qgm.rs`.

use alloc::vec;
use alloc::vec::Vec;

use crate::momentum::Momentum;
use crate::{Algorithm, GradientAt, Inbox, Tensor, for_each_mixed};

/// DSGD with momentum `M` on the whole update; sends the model.
pub struct QgDsgdm<M: Momentum> {
    momentum: M,
    gradient_at: GradientAt,
    x: Vec<f32>,
    /// `s - x`, from the last messages.
    p: Vec<f32>,
    m: Vec<M::Slot>,
}

impl<M: Momentum> QgDsgdm<M> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], momentum: M, gradient_at: GradientAt) -> Self {
        let n = x0.len();
        let (p, m) = (vec![0.0; n], vec![M::Slot::default(); n]);
        QgDsgdm { momentum, gradient_at, x: x0.to_vec(), p, m }
    }
}

impl<M: Momentum> Algorithm for QgDsgdm<M> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn probe(&self, at: &mut [f32]) {
        match self.gradient_at {
            GradientAt::Mixed => {
                let n = at.len();
                let (x, p) = (&self.x[..n], &self.p[..n]);
                for i in 0..n {
                    at[i] = x[i] + p[i];
                }
            }
            GradientAt::Local => at.copy_from_slice(&self.x),
        }
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, p, m) = (&mut self.x[..n], &self.p[..n], &mut self.m[..n]);
        let momentum = self.momentum;
        let per_eta = 1.0 / eta;
        for i in 0..n {
            let delta = g[i] - p[i] * per_eta;
            x[i] -= eta * momentum.direct(&mut m[i], delta);
            message[i] = x[i];
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        let (x, p) = (&self.x[..n], &mut self.p[..n]);
        for_each_mixed(inbox, 0, n, |start, s| {
            let n = s.len();
            let (x, p) = (&x[start..][..n], &mut p[start..][..n]);
            for i in 0..n {
                p[i] = s[i] - x[i];
            }
        });
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.mix(models, 1.0); // the messages are models
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("p", &mut self.p)];
        all.extend(M::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all
    }
}
