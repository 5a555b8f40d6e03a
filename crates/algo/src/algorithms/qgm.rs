//! QG-DSGDm with the original quasi-global momentum (Lin et al., ICML 2021), the
//! paper's eq. qgm.
//!
//! ```text
//! x_i <- Σ_j w_ij [ x_j - eta (g_j + beta m_j) ]
//! m_i <- mu_q m_i + (1 - mu_q) (x_i' - x_i)/eta        (' = before the round)
//! ```
//!
//! With Nesterov the local step is `g + beta (g + beta m)`.

use alloc::vec;
use alloc::vec::Vec;

use super::remove_contribution;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// DSGD whose momentum follows how the mixed model moved. `M` is
/// [`QuasiGlobal`](crate::momentum::QuasiGlobal) or its Nesterov version.
pub struct Qgm<M: Momentum> {
    momentum: M,
    x: Vec<f32>,
    m: Vec<M::Slot>,
}

impl<M: Momentum> Qgm<M> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], momentum: M) -> Self {
        Qgm { momentum, x: x0.to_vec(), m: vec![M::Slot::default(); x0.len()] }
    }
}

impl<M: Momentum> Algorithm for Qgm<M> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, m, momentum) = (&self.x[..n], &mut self.m[..n], self.momentum);
        for i in 0..n {
            message[i] = x[i] - eta * momentum.direct(&mut m[i], g[i]);
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        let (x, m, momentum) = (&mut self.x[..n], &mut self.m[..n], self.momentum);
        let per_eta = 1.0 / eta;
        for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let (x, m) = (&mut x[start..][..n], &mut m[start..][..n]);
            for i in 0..n {
                momentum.settle(&mut m[i], (x[i] - mixed[i]) * per_eta);
                x[i] = mixed[i];
            }
        });
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        remove_contribution(&mut self.x, weight, theirs, own);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x)];
        all.extend(M::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all
    }
}
