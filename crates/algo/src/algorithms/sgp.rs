//! Stochastic Gradient Push (Assran et al., ICML 2019), for directed and time-varying graphs,
//! and its versions with local momentum.
//!
//! ```text
//! h_i = x_i - eta d_i        d = g, or its local momentum;  g at z
//! x_i <- Σ_j p_ij h_j,   w_i <- Σ_j p_ij w_j,   z_i = x_i / w_i
//! ```
//!
//! The columns of P sum to 1 (`push_sum.rs` says why that is enough). The model is `z`; `x` is
//! its numerator. Where rows sum to 1 as well, `w` stays 1 and this is DSGD.

use alloc::vec;
use alloc::vec::Vec;

use super::push_sum::mixed_weight;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// SGP with momentum `L` on the gradient. A message is `h`, then `w`.
pub struct Sgp<L: Momentum> {
    local: L,
    x: Vec<f32>,
    z: Vec<f32>,
    w: f32,
    v: Vec<L::Slot>,
}

impl<L: Momentum> Sgp<L> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], local: L) -> Self {
        let v = vec![L::Slot::default(); x0.len()];
        Sgp { local, x: x0.to_vec(), z: x0.to_vec(), w: 1.0, v }
    }
}

impl<L: Momentum> Algorithm for Sgp<L> {
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
        let (x, v, local) = (&self.x[..n], &mut self.v[..n], self.local);
        for i in 0..n {
            h[i] = x[i] - eta * local.direct(&mut v[i], g[i]);
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        self.w = mixed_weight(inbox, n);
        let per_w = 1.0 / self.w;
        let (x, z) = (&mut self.x[..n], &mut self.z[..n]);
        for_each_mixed(inbox, 0, n, |start, mixed| {
            let n = mixed.len();
            let (x, z) = (&mut x[start..][..n], &mut z[start..][..n]);
            for i in 0..n {
                x[i] = mixed[i];
                z[i] = mixed[i] * per_w;
            }
        });
    }

    fn averaged(&self) -> &[f32] {
        &self.x
    }

    /// The numerators and the weights are averaged, and the mean weight is 1.
    fn adopt_average(&mut self, average: &[f32]) -> bool {
        self.x.copy_from_slice(average);
        self.z.copy_from_slice(average);
        self.w = 1.0;
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("z", &mut self.z)];
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all.push(Tensor::new("w", core::slice::from_mut(&mut self.w)));
        all
    }
}
