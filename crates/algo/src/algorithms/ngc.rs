//! NGC, Neighborhood Gradient Clustering (Aketi, Kodge, Roy, 2022, arXiv:2209.14390): the gradient
//! is the mean of the neighbourhood's, on the own data at the neighbours' models (weight 1 - alpha)
//! and on the neighbours' data at the own model (alpha).
//!
//! ```text
//! released:  s_i = Σ_j w_ij x_j                            g_ii at s_i, g_ji and g_ij at x_j, x_i
//!            g~  = (1-alpha) mean_j g_ji + alpha mean_j g_ij      over N_i and i, equal weights
//!            x_i <- s_i - eta d                            d: local momentum of g~ (Nesterov)
//! printed:   g_ii at x_i;  weights w_ij instead of 1/(deg+1)
//!            v = beta v - eta g~;   x_i <- Σ_j w_ij x_j + v
//! ```
//!
//! With alpha = 0 nothing is sent but models. In practice alpha is 0 or 1. CompNGC is NGC on coded
//! gradients (`cross_gradients.rs`).

use alloc::vec;
use alloc::vec::Vec;

use super::cross_gradients::Aggregate;
use crate::{Inbox, Tensor};

/// The step of NGC; `HEARS` if alpha is not 0.
pub struct NgcStep<const HEARS: bool> {
    alpha: f32,
    beta: f32,
    /// As printed, not as released.
    printed: bool,
    /// The weights of the row.
    weights: Vec<f32>,
    v: Vec<f32>,
}

impl<const HEARS: bool> NgcStep<HEARS> {
    /// NGC for a model of `len` parameters, at an agent with these weights.
    pub fn new(len: usize, weights: &[f32], alpha: f32, beta: f32, printed: bool) -> Self {
        let alpha = if HEARS { alpha } else { 0.0 };
        NgcStep { alpha, beta, printed, weights: weights.to_vec(), v: vec![0.0; len] }
    }
}

impl<const HEARS: bool> Aggregate for NgcStep<HEARS> {
    const HEARS_GRADIENTS: bool = HEARS;

    fn probe<'a>(&self, x: &'a [f32], s: &'a [f32]) -> &'a [f32] {
        if self.printed { x } else { s }
    }

    fn step(
        &mut self,
        eta: f32,
        s: &[f32],
        own_at: &[Vec<f32>],
        theirs: &dyn Inbox,
        x: &mut [f32],
    ) {
        let n = x.len();
        let (alpha, beta) = (self.alpha, self.beta);
        let equal = 1.0 / own_at.len() as f32;
        x.fill(0.0); // g~ for now: the new model is made of s
        for (k, own) in own_at.iter().enumerate() {
            let weight = if self.printed { self.weights[k] } else { equal };
            let (a, b) = (weight * (1.0 - alpha), weight * alpha);
            let (x, own) = (&mut x[..n], &own[..n]);
            if HEARS {
                let their = &theirs.message(k)[..n];
                for i in 0..n {
                    x[i] += a * own[i] + b * their[i];
                }
            } else {
                for i in 0..n {
                    x[i] += a * own[i];
                }
            }
        }
        let (x, s, v) = (&mut x[..n], &s[..n], &mut self.v[..n]);
        for i in 0..n {
            let g = x[i];
            if self.printed {
                v[i] = beta * v[i] - eta * g;
                x[i] = s[i] + v[i];
            } else {
                v[i] = beta * v[i] + g;
                x[i] = s[i] - eta * (g + beta * v[i]);
            }
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("v", &mut self.v)]
    }
}
