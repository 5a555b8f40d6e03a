//! GUT as Algorithm 1 prints it, with a copy `x̂_j` of every neighbour's model.
//!
//! ```text
//! x̂_j -= eta y_j                for all neighbours j        (line 9)
//! s    = Σ_j w_ij x̂_j
//! ```
//!
//! It needs one model per neighbour more than the O(1) form. In return `s` is summed afresh
//! each round: a sender computes `x += message` and so do its neighbours, so each copy equals
//! the neighbour's model bit by bit, for ever.

use alloc::format;
use alloc::vec::Vec;

use super::gut::{Gut, ReadingKind};
use super::pull::Pull;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor};

/// [`Gut`] with a copy of every neighbour's model.
pub struct GutCopies<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> {
    gut: Gut<L, M, R, P>,
    /// In the order of the inbox, the agent's own model included (`x̂_i = x_i`).
    x_hat: Vec<Vec<f32>>,
}

impl<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> GutCopies<L, M, R, P> {
    /// Wraps a fresh [`Gut`] whose inbox will hold `senders` messages a round.
    pub fn new(gut: Gut<L, M, R, P>, senders: usize) -> Self {
        let x0 = gut.params().to_vec();
        GutCopies { gut, x_hat: alloc::vec![x0; senders] }
    }
}

impl<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> Algorithm for GutCopies<L, M, R, P> {
    fn params(&self) -> &[f32] {
        self.gut.params()
    }

    fn probe(&self, at: &mut [f32]) {
        self.gut.probe(at);
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        self.gut.local_step(grad, eta, message);
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        self.gut.mix(inbox, eta);
        for (k, copy) in self.x_hat.iter_mut().enumerate() {
            let n = copy.len();
            let (copy, moved) = (&mut copy[..n], &inbox.message(k)[..n]);
            for i in 0..n {
                copy[i] += moved[i];
            }
        }
        let copies = Copies { round: inbox, x_hat: &self.x_hat };
        self.gut.pull().measure(&copies);
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.gut.resync(models);
        for (k, copy) in self.x_hat.iter_mut().enumerate() {
            copy.copy_from_slice(models.message(k));
        }
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.gut.set_averaging_rate(rate)
    }

    fn sends_moves(&self) -> bool {
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = self.gut.tensors();
        for (k, copy) in self.x_hat.iter_mut().enumerate() {
            all.push(Tensor { name: format!("x_hat.{k}").into(), values: copy });
        }
        all
    }
}

/// The copies as if they were a round's messages: full models with the round's weights.
struct Copies<'a> {
    round: &'a dyn Inbox,
    x_hat: &'a [Vec<f32>],
}

impl Inbox for Copies<'_> {
    fn senders(&self) -> usize {
        self.round.senders()
    }

    fn own(&self) -> usize {
        self.round.own()
    }

    fn weight(&self, k: usize) -> f32 {
        self.round.weight(k)
    }

    fn message(&self, k: usize) -> &[f32] {
        &self.x_hat[k]
    }
}
