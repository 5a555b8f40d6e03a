//! Decentralized SGD (Lian et al., NeurIPS 2017), the paper's eq. dsgd, and its
//! versions with local momentum, DSGDm and DSGDm-N (Balu et al., ICASSP 2021).
//!
//! ```text
//! x_i <- Σ_j w_ij (x_j - eta d_j)        d = g,  or its local momentum
//! ```
//!
//! Here the gradient is taken at `x` after it has been mixed. [`DsgdLocal`] has the other
//! order and takes the gradient at the agent's own model before mixing:
//!
//! ```text
//! x_i <- Σ_j w_ij x_j - eta d_i
//! ```

use alloc::vec;
use alloc::vec::Vec;

use super::remove_contribution;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// DSGD that steps, then mixes.
pub struct Dsgd<L: Momentum> {
    local: L,
    x: Vec<f32>,
    v: Vec<L::Slot>,
}

impl<L: Momentum> Dsgd<L> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], local: L) -> Self {
        Dsgd { local, x: x0.to_vec(), v: vec![L::Slot::default(); x0.len()] }
    }
}

impl<L: Momentum> Algorithm for Dsgd<L> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, v, local) = (&self.x[..n], &mut self.v[..n], self.local);
        for i in 0..n {
            message[i] = x[i] - eta * local.direct(&mut v[i], g[i]);
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        let x = &mut self.x[..n];
        for_each_mixed(inbox, 0, n, |start, mixed| {
            x[start..][..mixed.len()].copy_from_slice(mixed);
        });
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        remove_contribution(&mut self.x, weight, theirs, own);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x)];
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all
    }
}

/// DSGD that takes the gradient at the agent's own model, mixes, then steps.
pub struct DsgdLocal<L: Momentum> {
    local: L,
    x: Vec<f32>,
    d: Vec<f32>,
    v: Vec<L::Slot>,
}

impl<L: Momentum> DsgdLocal<L> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], local: L) -> Self {
        let n = x0.len();
        DsgdLocal { local, x: x0.to_vec(), d: vec![0.0; n], v: vec![L::Slot::default(); n] }
    }
}

impl<L: Momentum> Algorithm for DsgdLocal<L> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], _eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, d, v, local) = (&self.x[..n], &mut self.d[..n], &mut self.v[..n], self.local);
        for i in 0..n {
            d[i] = local.direct(&mut v[i], g[i]);
            message[i] = x[i];
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        let (x, d) = (&mut self.x[..n], &self.d[..n]);
        for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let (x, d) = (&mut x[start..][..n], &d[start..][..n]);
            for i in 0..n {
                x[i] = mixed[i] - eta * d[i];
            }
        });
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        remove_contribution(&mut self.x, weight, theirs, own);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("d", &mut self.d)];
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all
    }
}
