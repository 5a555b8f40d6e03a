//! K-GT (Liu, Lin, Koloskova, Stich, 2023, arXiv:2301.01313, Algorithm 1): gradient tracking with
//! K local steps, each corrected by how the agent's data differ from all others'.
//!
//! ```text
//! K times:  z -= eta (g(z) + c)                  z = x at first, another mini-batch each time
//! d  = (x - z)/(K eta)                           the mean corrected gradient
//! c += W d - d
//! x <- W (x - eta_s K eta d)
//! ```
//!
//! `c` starts at zero, and mean(c) = 0 for ever. With K = 1 and `eta_s` = 1 it is gradient tracking
//! (adapt then combine). A message is `x - eta_s K eta d`, then `d`.

use alloc::vec;
use alloc::vec::Vec;

use crate::{Exchange, Inbox, Outbox, Recipients, StagedAlgorithm, Tensor, for_each_mixed};

/// K-GT with `steps` local steps and the outer step `eta_s`.
pub struct KGt {
    steps: usize,
    eta_s: f32,
    exchange: [Exchange; 1],
    x: Vec<f32>,
    c: Vec<f32>,
    /// Within a round.
    z: Vec<f32>,
    /// The sum of the corrected gradients, within a round; then `d`.
    d: Vec<f32>,
}

impl KGt {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], steps: usize, eta_s: f32) -> Self {
        let (n, words) = (x0.len(), 2 * x0.len());
        KGt {
            steps: steps.max(1),
            eta_s,
            exchange: [Exchange { words, numbers: words, to: Recipients::All }],
            x: x0.to_vec(),
            c: vec![0.0; n],
            z: x0.to_vec(),
            d: vec![0.0; n],
        }
    }
}

impl StagedAlgorithm for KGt {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn gradients(&self) -> usize {
        self.steps
    }

    fn probe(&self, k: usize, at: &mut [f32]) {
        at.copy_from_slice(if k == 0 { &self.x } else { &self.z });
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchange
    }

    fn gradient(&mut self, k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        let n = self.x.len();
        if k == 0 {
            self.z.copy_from_slice(&self.x);
            self.d.fill(0.0);
        }
        let (g, c) = (&grad[..n], &self.c[..n]);
        let (z, d) = (&mut self.z[..n], &mut self.d[..n]);
        for i in 0..n {
            let corrected = g[i] + c[i];
            z[i] -= eta * corrected;
            d[i] += corrected;
        }
        if k + 1 < self.steps {
            return;
        }
        let (steps, per_step) = (self.steps as f32, 1.0 / self.steps as f32);
        let (stepped, sent) = messages.to_all().split_at_mut(n);
        let (stepped, sent, x) = (&mut stepped[..n], &mut sent[..n], &self.x[..n]);
        for i in 0..n {
            d[i] *= per_step;
            stepped[i] = x[i] - self.eta_s * steps * eta * d[i];
            sent[i] = d[i];
        }
    }

    fn mix(&mut self, _e: usize, inbox: &dyn Inbox, _eta: f32, _messages: &mut Outbox<'_>) {
        let n = self.x.len();
        let (x, c, d) = (&mut self.x[..n], &mut self.c[..n], &self.d[..n]);
        for_each_mixed(inbox, 0, n, |start, mixed| {
            x[start..][..mixed.len()].copy_from_slice(mixed);
        });
        for_each_mixed(inbox, n, 2 * n, |start, wd| {
            let n = wd.len();
            let (c, d) = (&mut c[start..][..n], &d[start..][..n]);
            for i in 0..n {
                c[i] += wd[i] - d[i];
            }
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("x", &mut self.x), Tensor::new("c", &mut self.c)]
    }
}
