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
//! A graph of several trees that take turns shares the work: the model is cut into as many parts,
//! and a round relays each part over its own tree, one exchange after the other. Of a double binary
//! tree every agent is a leaf of one tree, so nobody is busy in both.
//!
//! A message is `m`, then `c`. W is not used, only who is a neighbour of whom.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

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

impl MissingModels {
    /// The names of all choices.
    pub(crate) const NAMES: [(&str, MissingModels); 3] =
        [("own", Self::Own), ("start", Self::Start), ("skip", Self::Skip)];
}

impl fmt::Display for MissingModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, choice)| choice == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

/// RelaySGD with the local momentum `L`.
pub struct RelaySgd<L: Momentum> {
    local: L,
    missing: MissingModels,
    agents: usize,
    trees: Vec<Tree>,
    exchanges: Vec<Exchange>,
    /// The agent's model; during a round `h`, part by part until it is mixed.
    x: Vec<f32>,
    v: Vec<L::Slot>,
    /// The start, if missing models are replaced by it.
    x0: Vec<f32>,
}

/// What an agent keeps of one tree.
struct Tree {
    /// The part of the model that is relayed over it.
    part: Range<usize>,
    /// The agent's own position in its row.
    own: usize,
    /// What each neighbour relayed last, `m` and then `c`, in the order of the row; the agent's own
    /// is empty.
    relayed: Vec<Vec<f32>>,
}

impl<L: Momentum> RelaySgd<L> {
    /// Starts from `x0`, which all agents share, among `agents`; `rows` has the agent's row of
    /// every tree.
    pub fn new(x0: &[f32], local: L, missing: MissingModels, agents: usize, rows: &[Row]) -> Self {
        let n = x0.len();
        let part = n.div_ceil(rows.len().max(1));
        let words = part + 1;
        let tree = |(t, row): (usize, &Row)| {
            let room = |k: usize| vec![0.0; if k == row.own() { 0 } else { words }];
            Tree {
                part: (t * part).min(n)..((t + 1) * part).min(n),
                own: row.own(),
                relayed: (0..row.senders().len()).map(room).collect(),
            }
        };
        let exchange = Exchange { words, numbers: words, to: Recipients::Each };
        RelaySgd {
            local,
            missing,
            agents,
            trees: rows.iter().enumerate().map(tree).collect(),
            exchanges: vec![exchange; rows.len()],
            x: x0.to_vec(),
            v: vec![L::Slot::default(); n],
            x0: if missing == MissingModels::Start { x0.to_vec() } else { Vec::new() },
        }
    }
}

impl Tree {
    /// Writes to each neighbour what all others have relayed, and `h`.
    fn send(&self, h: &[f32], messages: &mut Outbox<'_>) {
        let (h, n) = (&h[self.part.clone()], self.part.len());
        for j in 0..self.relayed.len() {
            let message = messages.to_each(j);
            let count = message.len() - 1;
            message[..n].copy_from_slice(h);
            message[n..].fill(0.0);
            message[count] = 1.0;
            let others = self.relayed.iter().enumerate();
            // To itself the agent sends h alone.
            for (_, relayed) in others.filter(|&(k, _)| k != self.own && k != j && j != self.own) {
                for (sum, &part) in message.iter_mut().zip(relayed) {
                    *sum += part;
                }
            }
        }
    }

    /// Keeps what was relayed; returns how many models that is, `C`.
    fn hear(&mut self, inbox: &dyn Inbox) -> f32 {
        let mut count = 0.0;
        for (k, relayed) in self.relayed.iter_mut().enumerate().filter(|(k, _)| *k != self.own) {
            relayed.copy_from_slice(inbox.message(k));
            count += relayed.last().copied().unwrap_or(0.0);
        }
        count
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
        &self.exchanges
    }

    fn phases_per_round(&self) -> usize {
        self.trees.len()
    }

    fn gradient(&mut self, _k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        let n = self.x.len();
        let (x, g) = (&mut self.x[..n], &grad[..n]);
        let (v, local) = (&mut self.v[..n], self.local);
        for i in 0..n {
            x[i] -= eta * local.direct(&mut v[i], g[i]); // h
        }
        self.trees[0].send(x, messages);
    }

    fn mix(&mut self, e: usize, inbox: &dyn Inbox, _eta: f32, messages: &mut Outbox<'_>) {
        let tree = &mut self.trees[e];
        let count = tree.hear(inbox); // C
        let agents = self.agents as f32;
        let (own, start, all) = match self.missing {
            MissingModels::Own => (agents - count, 0.0, agents),
            MissingModels::Start => (1.0, agents - 1.0 - count, agents),
            MissingModels::Skip => (1.0, 0.0, 1.0 + count),
        };
        let x = &mut self.x[tree.part.clone()]; // h
        x.iter_mut().for_each(|x| *x *= own);
        if self.missing == MissingModels::Start {
            for (x, x0) in x.iter_mut().zip(&self.x0[tree.part.clone()]) {
                *x += start * x0;
            }
        }
        for relayed in &tree.relayed {
            for (x, m) in x.iter_mut().zip(relayed) {
                *x += m;
            }
        }
        x.iter_mut().for_each(|x| *x /= all);
        if let Some(next) = self.trees.get(e + 1) {
            next.send(&self.x, messages);
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x)];
        if self.missing == MissingModels::Start {
            all.push(Tensor::new("x0", &mut self.x0));
        }
        for (t, tree) in self.trees.iter_mut().enumerate() {
            for (k, m) in tree.relayed.iter_mut().enumerate().filter(|(k, _)| *k != tree.own) {
                all.push(Tensor { name: format!("m.{t}.{k}").into(), values: m });
            }
        }
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all
    }
}
