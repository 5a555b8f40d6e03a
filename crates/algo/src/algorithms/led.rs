//! LED, local exact diffusion (Alghunaim, 2024, arXiv:2304.07358): local steps that are exact on
//! unlike data with one message per exchange, half of what K-GT sends.
//!
//! ```text
//! K times:  phi -= eta g(phi) + beta y           phi = x at first
//! x'  <- W phi
//! y   += phi - x'
//! ```
//!
//! `y` starts at zero and sums to zero over the agents. `beta` is 1/K, or less; with K = 1 and
//! `beta` = 1 it is exact diffusion in its dual form. A message is `phi`.
//!
//! The sum of `phi - W phi` must not drift, or it would push the average for ever: the differences
//! are summed so that those of two neighbours cancel bit by bit, and `y` is kept in two floats.

use alloc::vec;
use alloc::vec::Vec;

use crate::mixing::{for_each_difference, two_sum};
use crate::{Exchange, Inbox, Outbox, Recipients, StagedAlgorithm, Tensor};

/// LED with `steps` local steps and the dual step `beta`.
pub struct Led {
    steps: usize,
    beta: f32,
    exchange: [Exchange; 1],
    x: Vec<f32>,
    y: Vec<f32>,
    y_rest: Vec<f32>,
    /// Within a round.
    phi: Vec<f32>,
}

impl Led {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], steps: usize, beta: f32) -> Self {
        let (n, steps) = (x0.len(), steps.max(1));
        Led {
            steps,
            beta,
            exchange: [Exchange { words: n, numbers: n, to: Recipients::All }],
            x: x0.to_vec(),
            y: vec![0.0; n],
            y_rest: vec![0.0; n],
            phi: x0.to_vec(),
        }
    }
}

impl StagedAlgorithm for Led {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn gradients(&self) -> usize {
        self.steps
    }

    fn probe(&self, k: usize, at: &mut [f32]) {
        at.copy_from_slice(if k == 0 { &self.x } else { &self.phi });
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchange
    }

    fn gradient(&mut self, k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        let n = self.x.len();
        if k == 0 {
            self.phi.copy_from_slice(&self.x);
        }
        let (g, y, beta) = (&grad[..n], &self.y[..n], self.beta);
        let phi = &mut self.phi[..n];
        for i in 0..n {
            phi[i] -= eta * g[i] + beta * y[i];
        }
        if k + 1 == self.steps {
            messages.to_all().copy_from_slice(phi);
        }
    }

    fn mix(&mut self, _e: usize, inbox: &dyn Inbox, _eta: f32, _messages: &mut Outbox<'_>) {
        let n = self.x.len();
        let (x, y, y_rest) = (&mut self.x[..n], &mut self.y[..n], &mut self.y_rest[..n]);
        // W phi = phi + d + rounding.
        for_each_difference(inbox, |start, phi, d, rounding| {
            let n = d.len();
            let (phi, rounding) = (&phi[..n], &rounding[..n]);
            let (x, y) = (&mut x[start..][..n], &mut y[start..][..n]);
            let y_rest = &mut y_rest[start..][..n];
            for i in 0..n {
                x[i] = phi[i] + d[i];
                let (sum, lost) = two_sum(y[i], -d[i]);
                (y[i], y_rest[i]) = two_sum(sum, y_rest[i] + (lost - rounding[i]));
            }
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("x", &mut self.x),
            Tensor::new("y", &mut self.y),
            Tensor::new("y_rest", &mut self.y_rest),
        ]
    }
}
