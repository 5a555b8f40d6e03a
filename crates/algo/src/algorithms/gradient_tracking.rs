//! Gradient tracking (Di Lorenzo & Scutari 2016; Koloskova et al., NeurIPS 2021), the
//! paper's eq. gt: twice DSGD's traffic, and exact on heterogeneous data.
//!
//! ```text
//! y_i = Σ_j w_ij y_j' - g_i' + g_i
//! x_i <- Σ_j w_ij (x_j - eta y_j)
//! ```

use alloc::vec;
use alloc::vec::Vec;

use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// Gradient tracking. A message is `x - eta y`, then `y`.
pub struct GradientTracking {
    x: Vec<f32>,
    /// `Σ_j w_ij y_j' - g'`, added to the next gradient.
    correction: Vec<f32>,
}

impl GradientTracking {
    /// Starts from `x0`.
    pub fn new(x0: &[f32]) -> Self {
        GradientTracking { x: x0.to_vec(), correction: vec![0.0; x0.len()] }
    }
}

impl Algorithm for GradientTracking {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn message_len(&self) -> usize {
        2 * self.x.len()
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (stepped, tracked) = message.split_at_mut(n);
        let (g, stepped, tracked) = (&grad[..n], &mut stepped[..n], &mut tracked[..n]);
        let (x, correction) = (&self.x[..n], &mut self.correction[..n]);
        for i in 0..n {
            let y = g[i] + correction[i];
            stepped[i] = x[i] - eta * y;
            tracked[i] = y;
            correction[i] = -g[i];
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        let (x, correction) = (&mut self.x[..n], &mut self.correction[..n]);
        for_each_mixed(inbox, 0, n, |start, mixed| {
            x[start..][..mixed.len()].copy_from_slice(mixed);
        });
        for_each_mixed(inbox, n, 2 * n, |start, wy| {
            let n = wy.len();
            let correction = &mut correction[start..][..n];
            for i in 0..n {
                correction[i] += wy[i];
            }
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("x", &mut self.x), Tensor::new("correction", &mut self.correction)]
    }
}
