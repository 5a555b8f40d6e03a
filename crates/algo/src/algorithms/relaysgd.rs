//! RelaySGD (Vogels, He, Koloskova, Lin, Karimireddy, Stich, Jaggi, NeurIPS 2021, Algorithm 1): on
//! a tree, every model reaches every agent, undiluted, as many rounds late as it is far away.
//!
//! ```text
//! h_i     = x_i - eta d_i                                       d = g, or its local momentum
//! m_{i→j} = h_i + Σ_{k in N_i, k ≠ j} m_{k→i}'                  to each neighbour j its own
//! c_{i→j} = 1   + Σ_{k in N_i, k ≠ j} c_{k→i}'                  how many models that is
//! x_i     = ( (n - C) h_i + Σ_j m_{j→i} ) / n                   C = Σ_j c_{j→i}
//! ```
//!
//! `'` is the previous round, and `m = c = 0` at the start. Until C is n - 1, which it is after as
//! many rounds as the tree is wide, models are missing. What takes their place is a choice
//! ([`MissingModels`]): the agent's own model, as above and in the paper's README; the start x0, as
//! in the paper's training code, `x = (h + Σ m + (n - 1 - C) x0)/n`; or nothing, the mean of what
//! is there, `x = (h + Σ m)/(1 + C)`.
//!
//! A message is `m`, then `c`. W is not used, only who is a neighbour of whom.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::momentum::Momentum;
use crate::{Exchange, Inbox, Outbox, Recipients, Row, StagedAlgorithm, Tensor};

/// What takes the place of models that have not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingModels {
    /// The agent's own model.
    Own,
    /// The model that all agents started from.
    Start,
    /// Nothing: the mean of those that are there.
    Skip,
}

/// RelaySGD with the local momentum `L`.
pub struct RelaySgd<L: Momentum> {
    local: L,
    missing: MissingModels,
    agents: usize,
    own: usize,
    exchange: [Exchange; 1],
    x: Vec<f32>,
    v: Vec<L::Slot>,
    /// The start, if missing models are replaced by it.
    x0: Vec<f32>,
    /// What each neighbour relayed last, `m` and then `c`, in the order of the row; the agent's own
    /// is empty.
    relayed: Vec<Vec<f32>>,
}

impl<L: Momentum> RelaySgd<L> {
    /// Starts from `x0`, which all agents share, at the agent with this row, among `agents`.
    pub fn new(x0: &[f32], local: L, missing: MissingModels, agents: usize, row: &Row) -> Self {
        let words = x0.len() + 1;
        let relayed =
            (0..row.senders().len()).map(|k| vec![0.0; if k == row.own() { 0 } else { words }]);
        RelaySgd {
            local,
            missing,
            agents,
            own: row.own(),
            exchange: [Exchange { words, numbers: words, to: Recipients::Each }],
            x: x0.to_vec(),
            v: vec![L::Slot::default(); x0.len()],
            x0: if missing == MissingModels::Start { x0.to_vec() } else { Vec::new() },
            relayed: relayed.collect(),
        }
    }
}

impl<L: Momentum> StagedAlgorithm for RelaySgd<L> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn gradients(&self) -> usize {
        1
    }

    fn probe(&self, _k: usize, at: &mut [f32]) {
        at.copy_from_slice(&self.x);
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchange
    }

    fn gradient(&mut self, _k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        let n = self.x.len();
        let (x, g) = (&mut self.x[..n], &grad[..n]);
        let (v, local) = (&mut self.v[..n], self.local);
        for i in 0..n {
            x[i] -= eta * local.direct(&mut v[i], g[i]); // h
        }
        for j in 0..self.relayed.len() {
            let message = messages.to_each(j);
            let (m, c) = message.split_at_mut(n);
            m.copy_from_slice(x);
            c[0] = 1.0;
            let others = self.relayed.iter().enumerate();
            // To itself the agent sends h alone.
            for (_, relayed) in others.filter(|&(k, _)| k != self.own && k != j && j != self.own) {
                for (sum, &part) in message.iter_mut().zip(relayed) {
                    *sum += part;
                }
            }
        }
    }

    fn mix(&mut self, _e: usize, inbox: &dyn Inbox, _eta: f32, _messages: &mut Outbox<'_>) {
        let n = self.x.len();
        let x = &mut self.x[..n]; // h
        let mut count = 0.0; // C
        for (k, relayed) in self.relayed.iter_mut().enumerate().filter(|(k, _)| *k != self.own) {
            relayed.copy_from_slice(inbox.message(k));
            count += relayed[n];
        }
        let agents = self.agents as f32;
        let (own, start, all) = match self.missing {
            MissingModels::Own => (agents - count, 0.0, agents),
            MissingModels::Start => (1.0, agents - 1.0 - count, agents),
            MissingModels::Skip => (1.0, 0.0, 1.0 + count),
        };
        x.iter_mut().for_each(|x| *x *= own);
        for (x, x0) in x.iter_mut().zip(&self.x0) {
            *x += start * x0;
        }
        for relayed in &self.relayed {
            for (x, m) in x.iter_mut().zip(relayed) {
                *x += m;
            }
        }
        x.iter_mut().for_each(|x| *x /= all);
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x)];
        if self.missing == MissingModels::Start {
            all.push(Tensor::new("x0", &mut self.x0));
        }
        for (k, m) in self.relayed.iter_mut().enumerate().filter(|(k, _)| *k != self.own) {
            all.push(Tensor { name: format!("m.{k}").into(), values: m });
        }
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all
    }
}
