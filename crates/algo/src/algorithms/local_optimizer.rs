//! Optimizers at one agent: a gradient becomes a direction, before any neighbour hears of it.
//!
//! ```text
//! SGD     d = g
//! AdamW   m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g²            Loshchilov, Hutter, ICLR 2019
//!         d = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps) + decay z
//! ```
//!
//! With `decay = 0` AdamW is Adam (Kingma, Ba, ICLR 2015). Its moments are of local gradients and
//! stay at the agent: what is mixed, tracked and sent is the direction.

use alloc::vec;
use alloc::vec::Vec;

use super::square_root::square_root;
use crate::Tensor;

/// Turns a gradient into a direction.
pub trait LocalOptimizer: Send + Sync {
    /// Writes the direction for the gradient `g`, taken at `z`, into `d`.
    fn direct(&mut self, z: &[f32], g: &[f32], d: &mut [f32]);

    /// The state, to save.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// The gradient itself.
#[derive(Clone, Copy, Debug)]
pub struct Sgd;

impl LocalOptimizer for Sgd {
    fn direct(&mut self, _z: &[f32], g: &[f32], d: &mut [f32]) {
        d.copy_from_slice(g);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        Vec::new()
    }
}

/// AdamW, with decoupled weight decay.
#[derive(Clone, Debug)]
pub struct AdamW {
    /// How slowly the mean of the gradients forgets.
    beta1: f32,
    /// How slowly the mean of their squares forgets.
    beta2: f32,
    eps: f32,
    decay: f32,
    m: Vec<f32>,
    v: Vec<f32>,
    /// `[b1^t, b2^t]`: what is left of the zeros that the means started from.
    powers: [f32; 2],
}

impl AdamW {
    /// AdamW for `len` parameters, with PyTorch's `eps` of 1e-8.
    pub fn new(len: usize, beta1: f32, beta2: f32, decay: f32) -> Self {
        let (m, v) = (vec![0.0; len], vec![0.0; len]);
        AdamW { beta1, beta2, eps: 1e-8, decay, m, v, powers: [1.0; 2] }
    }
}

impl LocalOptimizer for AdamW {
    fn direct(&mut self, z: &[f32], g: &[f32], d: &mut [f32]) {
        let n = self.m.len();
        let (z, g, d) = (&z[..n], &g[..n], &mut d[..n]);
        let (m, v) = (&mut self.m[..n], &mut self.v[..n]);
        let (b1, b2, eps, decay) = (self.beta1, self.beta2, self.eps, self.decay);
        self.powers[0] *= b1;
        self.powers[1] *= b2;
        let (unbias_m, unbias_v) = (1.0 / (1.0 - self.powers[0]), 1.0 / (1.0 - self.powers[1]));
        for i in 0..n {
            m[i] = b1 * m[i] + (1.0 - b1) * g[i];
            v[i] = b2 * v[i] + (1.0 - b2) * g[i] * g[i];
            d[i] = m[i] * unbias_m / (square_root(v[i] * unbias_v) + eps) + decay * z[i];
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("adam.m", &mut self.m),
            Tensor::new("adam.v", &mut self.v),
            Tensor::new("adam.powers", &mut self.powers),
        ]
    }
}
