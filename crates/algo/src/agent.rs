//! The round protocol, without any transport.
//!
//! Rounds are numbered. Every neighbour sends one message per round, and each message is
//! used once. The sum runs in the order of the agents' numbers. A message that does not fit
//! is rejected with a [`ProtocolError`] and changes nothing.
//!
//! A driver that goes on without a silent neighbour marks it absent: in that round its
//! weight moves to the agent's own model. With symmetric weights, and if the neighbour does
//! the same, W stays doubly stochastic.
//!
//! A neighbour needs our message of round t to finish t, so on an undirected graph it
//! is at most one round ahead: two inboxes suffice. On a directed graph it can be
//! ahead by the length of the path from this agent back to it; `lookahead` says how many
//! rounds are kept. For the same reason the outgoing buffers alternate: when round t is
//! sent, nobody on an undirected graph holds the message of round t-2 any more, and
//! its memory is reused. A round allocates nothing.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use crate::{Algorithm, Inbox, ProtocolError, Tensor};

/// One agent's row of the mixing matrix: who is heard, and with which weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    own: usize,
    senders: Vec<usize>,
    weights: Vec<f32>,
}

impl Row {
    /// The row of `agent` from `(agent, weight)` pairs; its own pair may be left out.
    ///
    /// The pairs are sorted by agent, which is the order of the sum. The agent's own weight
    /// is what the others, rounded to `f32`, leave of 1: three times the `f32` nearest to 1/3
    /// is more than 1, and a row that sums to more than 1 makes the models grow.
    pub fn new(agent: usize, entries: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let others = entries.into_iter().filter(|&(sender, _)| sender != agent);
        let mut row: Vec<(usize, f32)> = others.map(|(sender, w)| (sender, w as f32)).collect();
        let left = 1.0 - row.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
        row.push((agent, left as f32));
        row.sort_by_key(|&(sender, _)| sender);
        Row {
            own: row.iter().position(|&(sender, _)| sender == agent).unwrap_or(0),
            senders: row.iter().map(|&(sender, _)| sender).collect(),
            weights: row.iter().map(|&(_, w)| w).collect(),
        }
    }

    /// The row of `agent` of a column-stochastic matrix P, for push-sum methods: `row` holds its
    /// `(j, p_ij)`, `column` its `(j, p_ji)`. Their own pairs may be left out.
    ///
    /// What is heard keeps the weights as given, so the row need not sum to 1. The agent's own
    /// weight is what the weights that it *sends* with, rounded to `f32`, leave of 1: then the
    /// columns that the agents really compute with sum to 1, and a round neither makes nor loses
    /// any of the sum over the agents.
    pub fn from_columns(
        agent: usize,
        row: impl IntoIterator<Item = (usize, f64)>,
        column: impl IntoIterator<Item = (usize, f64)>,
    ) -> Self {
        let sent = column.into_iter().filter(|&(receiver, _)| receiver != agent);
        let kept = 1.0 - sent.map(|(_, p)| f64::from(p as f32)).sum::<f64>();
        let mut built = Row::new(agent, row);
        built.weights[built.own] = kept as f32;
        built
    }

    /// The position of the agent itself among the senders.
    pub fn own(&self) -> usize {
        self.own
    }

    /// Who is heard, ascending, the agent itself included.
    pub fn senders(&self) -> &[usize] {
        &self.senders
    }

    /// Their weights, in the same order.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The agent's own weight plus the weights of the `absent` senders: what the others leave
    /// of 1. `absent` is indexed like the senders; empty means that nobody is absent.
    fn own_weight_without(&self, absent: &[bool]) -> f32 {
        if !absent.contains(&true) {
            return self.weights[self.own];
        }
        let present = (0..self.weights.len()).filter(|&k| k != self.own && !absent[k]);
        (1.0 - present.map(|k| f64::from(self.weights[k])).sum::<f64>()) as f32
    }
}

/// A message to send.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The round it belongs to.
    pub round: u64,
    /// What every neighbour gets. Drop it once sent, so that its memory can be reused.
    pub body: Arc<[f32]>,
}

/// An agent: an algorithm, its row of W, and the numbered rounds around it.
pub struct Agent {
    id: usize,
    algorithm: Box<dyn Algorithm>,
    /// One row per phase of the graph; a fixed graph has one.
    rows: Vec<Row>,
    round: u64,
    /// The step size of the current round, once its gradient has been given.
    eta: Option<f32>,
    /// Messages by round (the front is the current round), then by sender.
    window: Vec<Vec<Option<Arc<[f32]>>>>,
    /// Which senders are absent in the current round, indexed like the row; empty if nobody.
    absent: Vec<bool>,
    outgoing: [Arc<[f32]>; 2],
}

impl Agent {
    /// An agent at round 0. `rows` holds one row of W per phase of the graph, and
    /// `lookahead` how many rounds a neighbour may be ahead (1 if undirected).
    pub fn new(id: usize, rows: Vec<Row>, lookahead: usize, algorithm: Box<dyn Algorithm>) -> Self {
        let outgoing = [0, 1].map(|_| zeros(algorithm.message_len()));
        let (window, absent) = (Vec::new(), Vec::new());
        let mut agent =
            Agent { id, algorithm, rows, round: 0, eta: None, window, absent, outgoing };
        agent.window = (0..=lookahead as u64).map(|ahead| agent.empty_inbox(ahead)).collect();
        agent
    }

    /// The agent's number.
    pub fn id(&self) -> usize {
        self.id
    }

    /// The current round.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The agent's own model.
    pub fn params(&self) -> &[f32] {
        self.algorithm.params()
    }

    /// How many floats a message has.
    pub fn message_len(&self) -> usize {
        self.algorithm.message_len()
    }

    /// Step 1: writes the point at which the gradient is wanted.
    pub fn probe(&self, at: &mut [f32]) {
        self.algorithm.probe(at);
    }

    /// Step 2: takes the gradient and returns the message for the neighbours.
    pub fn gradient(&mut self, grad: &[f32], eta: f32) -> Result<Outgoing, ProtocolError> {
        if self.eta.is_some() {
            return Err(ProtocolError::GradientTwice { agent: self.id, round: self.round });
        }
        let expected = self.algorithm.params().len();
        if grad.len() != expected {
            let (agent, got) = (self.id, grad.len());
            return Err(ProtocolError::GradientLength { agent, expected, got });
        }
        let turn = (self.round % 2) as usize;
        if Arc::get_mut(&mut self.outgoing[turn]).is_none() {
            // The driver still holds the message of two rounds ago.
            self.outgoing[turn] = zeros(self.algorithm.message_len());
        }
        if let Some(message) = Arc::get_mut(&mut self.outgoing[turn]) {
            self.algorithm.local_step(grad, eta, message);
        }
        self.eta = Some(eta);
        let body = self.outgoing[turn].clone();
        let own = self.row(0).own;
        self.window[0][own] = Some(body.clone());
        Ok(Outgoing { round: self.round, body })
    }

    /// Step 4: takes a neighbour's message, in any order.
    pub fn receive(
        &mut self,
        from: usize,
        round: u64,
        body: Arc<[f32]>,
    ) -> Result<(), ProtocolError> {
        let agent = self.id;
        let last = self.round + self.window.len() as u64 - 1;
        if round < self.round || round > last {
            let expected = (self.round, last);
            return Err(ProtocolError::StrayRound { agent, from, expected, got: round });
        }
        let ahead = round - self.round;
        let sender = self.row(ahead).senders.binary_search(&from);
        let Some(k) = sender.ok().filter(|_| from != agent) else {
            return Err(ProtocolError::Stranger { agent, from, round });
        };
        let expected = self.algorithm.message_len();
        if body.len() != expected {
            return Err(ProtocolError::Length { agent, from, round, expected, got: body.len() });
        }
        let slot = &mut self.window[ahead as usize][k];
        if slot.is_some() || (ahead == 0 && self.absent.get(k) == Some(&true)) {
            return Err(ProtocolError::Duplicate { agent, from, round });
        }
        *slot = Some(body);
        Ok(())
    }

    /// The senders whose messages of the current round are still awaited.
    pub fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        let senders = self.row(0).senders.iter().zip(&self.window[0]).enumerate();
        let awaited = senders.filter(|(k, (_, slot))| slot.is_none() && !self.is_absent(*k));
        awaited.map(|(_, (&sender, _))| sender)
    }

    /// Drops all messages of `from` that have not been mixed yet. It may send others for those
    /// rounds.
    pub fn forget(&mut self, from: usize) {
        for ahead in 0..self.window.len() {
            let sender = self.row(ahead as u64).senders.binary_search(&from);
            if let Some(k) = sender.ok().filter(|_| from != self.id) {
                self.window[ahead][k] = None;
            }
        }
    }

    /// The message of `from` in the current round, if it has arrived.
    pub fn message_of(&self, from: usize) -> Option<Arc<[f32]>> {
        let k = self.row(0).senders.binary_search(&from).ok()?;
        self.window[0][k].clone()
    }

    /// True if the gradient of the current round has been given.
    pub fn has_gradient(&self) -> bool {
        self.eta.is_some()
    }

    /// Does the current round without the message of `from`, even if it has arrived: its
    /// weight moves to the agent's own model. No effect if `from` is not a sender.
    pub fn mark_absent(&mut self, from: usize) {
        let Ok(k) = self.row(0).senders.binary_search(&from) else { return };
        if from != self.id {
            self.absent.resize(self.row(0).senders.len(), false);
            self.absent[k] = true;
            self.window[0][k] = None;
        }
    }

    /// Step 5: if the gradient and all messages of the round are there, mixes them,
    /// begins the next round and returns true; otherwise does nothing and returns false.
    pub fn advance(&mut self) -> bool {
        let Some(eta) = self.eta else { return false };
        if self.missing().next().is_some() {
            return false;
        }
        let phase = (self.round % self.rows.len() as u64) as usize;
        let row = &self.rows[phase];
        let (slots, absent) = (&self.window[0], &self.absent);
        let inbox = Received { row, slots, own_weight: row.own_weight_without(absent) };
        self.algorithm.mix(&inbox, eta);
        self.eta = None;
        self.absent.clear();
        self.round += 1;

        // The used inbox is recycled for the farthest round.
        self.window.rotate_left(1);
        let farthest = self.window.len() - 1;
        let senders = self.row(farthest as u64).senders.len();
        let mut recycled = mem::take(&mut self.window[farthest]);
        recycled.clear();
        recycled.resize(senders, None);
        self.window[farthest] = recycled;
        true
    }

    /// Tells the algorithm the full models of the neighbourhood (own one included), sorted by
    /// agent: before round 0 if the models differ, or after lost messages.
    pub fn resync(&mut self, models: &dyn Inbox) {
        self.algorithm.resync(models);
    }

    /// [`resync`](Self::resync) with the senders of the current round for which `model` returns
    /// a model; the weights of the others move to the agent's own.
    pub fn resync_with<'m>(&mut self, model: impl Fn(usize) -> Option<&'m [f32]>) {
        let row = &self.rows[(self.round % self.rows.len() as u64) as usize];
        let models: Vec<Option<&[f32]>> = row.senders.iter().map(|&j| model(j)).collect();
        let absent: Vec<bool> = models.iter().map(Option::is_none).collect();
        // A copy, because the algorithm cannot borrow its own model while it is changed.
        let own = self.algorithm.params().to_vec();
        let own_weight = row.own_weight_without(&absent);
        self.algorithm.resync(&Models { row, models: &models, own: &own, own_weight });
    }

    /// True if messages are changes of the model ([`Algorithm::sends_moves`]).
    pub fn sends_moves(&self) -> bool {
        self.algorithm.sends_moves()
    }

    /// Removes from the model what the message `theirs` of `from` added to it in an earlier
    /// round, in which this agent sent `own` ([`Algorithm::retract`]).
    pub fn retract(&mut self, from: usize, theirs: &[f32], own: &[f32]) {
        let row = self.row(0);
        if let Ok(k) = row.senders.binary_search(&from) {
            let weight = row.weights[k];
            self.algorithm.retract(weight, theirs, own);
        }
    }

    /// Replaces the agent's own model by `model`. The rest of the method's state stays.
    /// Returns false, and does nothing, if the length differs.
    pub fn adopt(&mut self, model: &[f32]) -> bool {
        let mut tensors = self.algorithm.tensors();
        let own = tensors.iter_mut().find(|t| t.name == "x" && t.values.len() == model.len());
        own.map(|own| own.values.copy_from_slice(model)).is_some()
    }

    /// The algorithm's state, to save at the end of a round or to restore.
    pub fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.algorithm.tensors()
    }

    /// Continues from a saved state: call after writing all tensors back. Messages for later
    /// rounds that had already arrived are dropped; the neighbours send them again.
    pub fn restore_round(&mut self, round: u64) {
        self.round = round;
        self.eta = None;
        self.absent.clear();
        self.window = (0..self.window.len() as u64).map(|ahead| self.empty_inbox(ahead)).collect();
    }

    /// The row of W in force `ahead` rounds from now.
    fn row(&self, ahead: u64) -> &Row {
        &self.rows[((self.round + ahead) % self.rows.len() as u64) as usize]
    }

    fn is_absent(&self, k: usize) -> bool {
        self.absent.get(k) == Some(&true)
    }

    fn empty_inbox(&self, ahead: u64) -> Vec<Option<Arc<[f32]>>> {
        alloc::vec![None; self.row(ahead).senders.len()]
    }
}

/// A message of zeros, built in place: a temporary vector would fragment the heap.
fn zeros(len: usize) -> Arc<[f32]> {
    core::iter::repeat_n(0.0, len).collect()
}

/// A full inbox, as the algorithm sees it. An absent sender has weight 0 and, in place of its
/// message, the agent's own.
struct Received<'a> {
    row: &'a Row,
    slots: &'a [Option<Arc<[f32]>>],
    own_weight: f32,
}

impl Inbox for Received<'_> {
    fn senders(&self) -> usize {
        self.slots.len()
    }

    fn own(&self) -> usize {
        self.row.own
    }

    fn weight(&self, k: usize) -> f32 {
        match &self.slots[k] {
            _ if k == self.row.own => self.own_weight,
            Some(_) => self.row.weights[k],
            None => 0.0,
        }
    }

    fn message(&self, k: usize) -> &[f32] {
        let slot = self.slots[k].as_deref().or(self.slots[self.row.own].as_deref());
        slot.unwrap_or(&[]) // never empty: `advance` has checked that the own message is there
    }
}

/// Full models instead of messages, for those neighbours whose models are known.
struct Models<'a> {
    row: &'a Row,
    models: &'a [Option<&'a [f32]>],
    own: &'a [f32],
    own_weight: f32,
}

impl Inbox for Models<'_> {
    fn senders(&self) -> usize {
        self.models.len()
    }

    fn own(&self) -> usize {
        self.row.own
    }

    fn weight(&self, k: usize) -> f32 {
        match self.models[k] {
            _ if k == self.row.own => self.own_weight,
            Some(_) => self.row.weights[k],
            None => 0.0,
        }
    }

    fn message(&self, k: usize) -> &[f32] {
        self.models[k].filter(|_| k != self.row.own).unwrap_or(self.own)
    }
}
