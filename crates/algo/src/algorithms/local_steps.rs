//! Local steps: any method with several gradients between two exchanges, and any optimizer's move
//! in place of a gradient (local SGD: Stich, ICLR 2019; decentralized: Koloskova, Loizou, Boreiri,
//! Jaggi, Stich, ICML 2020; FedOpt's client optimizers: Reddi et al., ICLR 2021).
//!
//! ```text
//! z_0     = the method's probe
//! z_{k+1} = z_k - eta d_k                  d_k: the optimizer's direction for the gradient at z_k
//! g       = (z_0 - z_H)/eta = Σ_k d_k      what the method takes for its gradient
//! ```
//!
//! The method sees one long gradient a round and sends what it always sends, so its laws hold with
//! `Σ_k d_k` in the gradient's place: tracking tracks the local movement. With one step and
//! [`Sgd`] nothing changes, bit by bit.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::local_optimizer::LocalOptimizer;
use crate::{Exchange, Inbox, Outbox, StagedAlgorithm, Tensor};

/// A method that takes `steps` local steps a round with the optimizer `O`.
pub struct LocalSteps<O: LocalOptimizer> {
    method: Box<dyn StagedAlgorithm>,
    steps: usize,
    optimizer: O,
    /// Where the next local gradient is taken, within a round.
    z: Vec<f32>,
    /// `Σ_k d_k` so far, within a round.
    sum: Vec<f32>,
    /// The direction of the last gradient.
    d: Vec<f32>,
}

impl<O: LocalOptimizer> LocalSteps<O> {
    /// Local steps for `method`, which takes one gradient a round.
    pub fn new(method: Box<dyn StagedAlgorithm>, steps: usize, optimizer: O) -> Self {
        let n = method.params().len();
        let (z, sum, d) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        LocalSteps { method, steps: steps.max(1), optimizer, z, sum, d }
    }
}

impl<O: LocalOptimizer> StagedAlgorithm for LocalSteps<O> {
    fn params(&self) -> &[f32] {
        self.method.params()
    }

    fn gradients(&self) -> usize {
        self.steps
    }

    fn probe(&self, k: usize, at: &mut [f32]) {
        match k {
            0 => self.method.probe(0, at),
            _ => at.copy_from_slice(&self.z),
        }
    }

    fn exchanges(&self) -> &[Exchange] {
        self.method.exchanges()
    }

    fn phases_per_round(&self) -> usize {
        self.method.phases_per_round()
    }

    fn gradient(&mut self, k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        if k == 0 {
            self.method.probe(0, &mut self.z);
            self.sum.fill(0.0);
        }
        self.optimizer.direct(&self.z, grad, &mut self.d);
        let n = self.d.len();
        let (z, sum, d) = (&mut self.z[..n], &mut self.sum[..n], &self.d[..n]);
        for i in 0..n {
            z[i] -= eta * d[i];
            sum[i] += d[i];
        }
        if k + 1 == self.steps {
            self.method.gradient(0, &self.sum, eta, messages);
        }
    }

    fn mix(&mut self, e: usize, inbox: &dyn Inbox, eta: f32, messages: &mut Outbox<'_>) {
        self.method.mix(e, inbox, eta, messages);
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.method.resync(models);
    }

    fn sends_moves(&self) -> bool {
        self.method.sends_moves()
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        self.method.retract(weight, theirs, own);
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.method.set_averaging_rate(rate)
    }

    fn averaged(&self) -> &[f32] {
        self.method.averaged()
    }

    fn adopt_average(&mut self, average: &[f32]) -> bool {
        self.method.adopt_average(average)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = self.method.tensors();
        all.extend(self.optimizer.tensors());
        all
    }
}
