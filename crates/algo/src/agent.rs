//! The round protocol, without any transport.
//!
//! Rounds are numbered; every neighbour sends one message a round; a message is used
//! once; the sum runs in the order of the agents' numbers. What does not fit is
//! rejected with a [`ProtocolError`] and changes nothing.
//!
//! A driver that goes on without a silent neighbour excuses it: in that round its weight
//! is the agent's own. With symmetric weights, and if the neighbour does the same, W stays
//! doubly stochastic.
//!
//! A neighbour needs our message of round t to finish t, so on an undirected graph it
//! is at most one round ahead: two inboxes suffice. On a directed graph it can be
//! ahead by as many rounds as the way back to it is long; `lookahead` says how many
//! are kept. For the same reason the outgoing buffers take turns: when round t is
//! sent, nobody on an undirected graph holds the message of round t-2 any more, and
//! its memory is used again. A round allocates nothing.

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
    /// The pairs are put in the order of the agents' numbers, which is the order of the
    /// sum. The agent's own weight becomes what is left of 1 after the others have been
    /// rounded to `f32`: three times the `f32` nearest to 1/3 is more than 1, and a row
    /// that sums to more than 1 makes the models grow.
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

    /// Where the agent itself stands among the senders.
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

    /// The agent's own weight if it also has those of the `absent` senders (by place; none
    /// if the slice is empty): what the others leave of 1.
    fn own_weight_without(&self, absent: &[bool]) -> f32 {
        if !absent.contains(&true) {
            return self.weights[self.own];
        }
        let present = (0..self.weights.len()).filter(|&k| k != self.own && !absent[k]);
        (1.0 - present.map(|k| f64::from(self.weights[k])).sum::<f64>()) as f32
    }
}

/// A message on its way out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The round it belongs to.
    pub round: u64,
    /// What every neighbour gets. Drop it once sent: its memory is used again.
    pub body: Arc<[f32]>,
}

/// An agent: an algorithm, its row of W, and the numbered rounds around it.
pub struct Agent {
    id: usize,
    algorithm: Box<dyn Algorithm>,
    /// One row per phase of the graph; a fixed graph has one.
    rows: Vec<Row>,
    round: u64,
    /// The step size of the round under way, once its gradient has come.
    eta: Option<f32>,
    /// Messages by round (the front is the round under way), then by sender.
    window: Vec<Vec<Option<Arc<[f32]>>>>,
    /// Senders that the round under way does without, by their place in its row.
    excused: Vec<bool>,
    outgoing: [Arc<[f32]>; 2],
}

impl Agent {
    /// An agent at round 0. `rows` holds one row of W per phase of the graph, and
    /// `lookahead` how many rounds a neighbour may be ahead (1 if undirected).
    pub fn new(id: usize, rows: Vec<Row>, lookahead: usize, algorithm: Box<dyn Algorithm>) -> Self {
        let outgoing = [0, 1].map(|_| zeros(algorithm.message_len()));
        let (window, excused) = (Vec::new(), Vec::new());
        let mut agent =
            Agent { id, algorithm, rows, round: 0, eta: None, window, excused, outgoing };
        agent.window = (0..=lookahead as u64).map(|ahead| agent.empty_inbox(ahead)).collect();
        agent
    }

    /// The agent's number.
    pub fn id(&self) -> usize {
        self.id
    }

    /// The round under way.
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
            // A driver still holds the message of two rounds ago.
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
        if slot.is_some() || (ahead == 0 && self.excused.get(k) == Some(&true)) {
            return Err(ProtocolError::Duplicate { agent, from, round });
        }
        *slot = Some(body);
        Ok(())
    }

    /// Whose messages of the round under way have not come yet and are waited for.
    pub fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        let senders = self.row(0).senders.iter().zip(&self.window[0]).enumerate();
        let awaited = senders.filter(|(k, (_, slot))| slot.is_none() && !self.is_excused(*k));
        awaited.map(|(_, (&sender, _))| sender)
    }

    /// Drops all messages of `from` that have not been mixed yet: others will come for
    /// their rounds, or none.
    pub fn forget(&mut self, from: usize) {
        for ahead in 0..self.window.len() {
            let sender = self.row(ahead as u64).senders.binary_search(&from);
            if let Some(k) = sender.ok().filter(|_| from != self.id) {
                self.window[ahead][k] = None;
            }
        }
    }

    /// The message of `from` in the round under way, if it has come.
    pub fn message_of(&self, from: usize) -> Option<Arc<[f32]>> {
        let k = self.row(0).senders.binary_search(&from).ok()?;
        self.window[0][k].clone()
    }

    /// True if the gradient of the round under way has come.
    pub fn has_gradient(&self) -> bool {
        self.eta.is_some()
    }

    /// Does without the message of `from` in the round under way, even if it has come:
    /// its weight moves to the agent's own. Without effect if it is no sender.
    pub fn excuse(&mut self, from: usize) {
        let Ok(k) = self.row(0).senders.binary_search(&from) else { return };
        if from != self.id {
            self.excused.resize(self.row(0).senders.len(), false);
            self.excused[k] = true;
            self.window[0][k] = None;
        }
    }

    /// Step 5: if the gradient and all messages of the round are there, mixes them,
    /// begins the next round and returns true; otherwise does nothing.
    pub fn advance(&mut self) -> bool {
        let Some(eta) = self.eta else { return false };
        if self.missing().next().is_some() {
            return false;
        }
        let phase = (self.round % self.rows.len() as u64) as usize;
        let row = &self.rows[phase];
        let (slots, excused) = (&self.window[0], &self.excused);
        let inbox = Received { row, slots, own_weight: row.own_weight_without(excused) };
        self.algorithm.mix(&inbox, eta);
        self.eta = None;
        self.excused.clear();
        self.round += 1;

        // The used inbox becomes the one of the farthest round.
        self.window.rotate_left(1);
        let farthest = self.window.len() - 1;
        let senders = self.row(farthest as u64).senders.len();
        let mut recycled = mem::take(&mut self.window[farthest]);
        recycled.clear();
        recycled.resize(senders, None);
        self.window[farthest] = recycled;
        true
    }

    /// Teaches the algorithm the full models of the neighbourhood (own one included),
    /// ascending by agent: before round 0 if models differ, or after a gap.
    pub fn resync(&mut self, models: &dyn Inbox) {
        self.algorithm.resync(models);
    }

    /// [`resync`](Self::resync) with the models of those senders of the round under way for
    /// which `model` has one; the weight of the others is the agent's own.
    pub fn resync_with<'m>(&mut self, model: impl Fn(usize) -> Option<&'m [f32]>) {
        let row = &self.rows[(self.round % self.rows.len() as u64) as usize];
        let models: Vec<Option<&[f32]>> = row.senders.iter().map(|&j| model(j)).collect();
        let absent: Vec<bool> = models.iter().map(Option::is_none).collect();
        // A copy: the algorithm is taught with its own model.
        let own = self.algorithm.params().to_vec();
        let own_weight = row.own_weight_without(&absent);
        self.algorithm.resync(&Models { row, models: &models, own: &own, own_weight });
    }

    /// True if a message says how a model moved ([`Algorithm::sends_moves`]).
    pub fn sends_moves(&self) -> bool {
        self.algorithm.sends_moves()
    }

    /// Takes the message `theirs` of `from` in an earlier round, in which this agent sent
    /// `own`, back out of the model ([`Algorithm::take_back`]).
    pub fn take_back(&mut self, from: usize, theirs: &[f32], own: &[f32]) {
        let row = self.row(0);
        if let Ok(k) = row.senders.binary_search(&from) {
            let weight = row.weights[k];
            self.algorithm.take_back(weight, theirs, own);
        }
    }

    /// Puts `model` in the place of the agent's own. What the method remembers beside it
    /// stays. Returns false, and does nothing, if the length is another.
    pub fn adopt(&mut self, model: &[f32]) -> bool {
        let mut tensors = self.algorithm.tensors();
        let own = tensors.iter_mut().find(|t| t.name == "x" && t.values.len() == model.len());
        own.map(|own| own.values.copy_from_slice(model)).is_some()
    }

    /// The algorithm's state, to save at the end of a round or to restore.
    pub fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.algorithm.tensors()
    }

    /// Continues from a saved state: call after writing all tensors back. Messages
    /// that had come for later rounds are forgotten; the neighbours send them again.
    pub fn restore_round(&mut self, round: u64) {
        self.round = round;
        self.eta = None;
        self.excused.clear();
        self.window = (0..self.window.len() as u64).map(|ahead| self.empty_inbox(ahead)).collect();
    }

    /// The row of W in force `ahead` rounds from now.
    fn row(&self, ahead: u64) -> &Row {
        &self.rows[((self.round + ahead) % self.rows.len() as u64) as usize]
    }

    fn is_excused(&self, k: usize) -> bool {
        self.excused.get(k).is_some_and(|&excused| excused)
    }

    fn empty_inbox(&self, ahead: u64) -> Vec<Option<Arc<[f32]>>> {
        alloc::vec![None; self.row(ahead).senders.len()]
    }
}

/// A message of zeros, made in its place: a vector beside it would leave a hole in memory.
fn zeros(len: usize) -> Arc<[f32]> {
    core::iter::repeat_n(0.0, len).collect()
}

/// A full inbox, as the algorithm sees it. The message of an excused sender is the agent's
/// own with weight 0.
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
        slot.unwrap_or(&[]) // `advance` has checked that the own one is there
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
