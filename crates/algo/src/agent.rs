//! The round protocol, without any transport.
//!
//! Rounds are numbered, and so are their exchanges; most methods have one a round. Every
//! neighbour sends one message per exchange, and each message is used once. The sum runs in the
//! order of the agents' numbers. A message that does not fit is rejected with a [`ProtocolError`]
//! and changes nothing.
//!
//! A driver that continues without a silent neighbour marks it absent: in that round its
//! weight moves to the agent's own model. With symmetric weights, and if the neighbour does
//! the same, W stays doubly stochastic.
//!
//! A neighbour needs our message of round t to finish t, so on an undirected graph it
//! is at most one round ahead: two inboxes suffice. On a directed graph it can be
//! ahead by the length of the path from this agent back to it; `lookahead` says how many
//! rounds are kept. For the same reason the outgoing buffers alternate: when round t is
//! sent, nobody on an undirected graph holds the message of round t-2 any more, and
//! its memory is reused. A round allocates nothing, except that an exchange with a message for
//! each neighbour makes a short list of them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::inbox::{Models, Received};
use crate::staged::{Exchange, OneExchange, Outbox, Recipients, StagedAlgorithm};
use crate::{Algorithm, Inbox, ProtocolError, Row, Tensor};

/// The messages of one exchange, to send.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The number of the exchange: all exchanges of all rounds, counted from 0. With one exchange
    /// a round it is the number of the round.
    pub exchange: u64,
    /// To all, or to each agent of the row, by its position there.
    bodies: Bodies,
}

#[derive(Clone, Debug)]
enum Bodies {
    All(Arc<[f32]>),
    Each(Arc<[usize]>, Vec<Arc<[f32]>>),
}

impl Outgoing {
    /// What agent `to` gets, if it gets anything. Drop it once sent, so that its memory can be
    /// reused.
    pub fn body_for(&self, to: usize) -> Option<&Arc<[f32]>> {
        match &self.bodies {
            Bodies::All(body) => Some(body),
            Bodies::Each(agents, bodies) => {
                agents.binary_search(&to).ok().and_then(|k| bodies.get(k))
            }
        }
    }

    /// What all neighbours get, if it is the same.
    pub fn to_all(&self) -> Option<&Arc<[f32]>> {
        match &self.bodies {
            Bodies::All(body) => Some(body),
            Bodies::Each(..) => None,
        }
    }
}

/// An agent: an algorithm, its row of W, and the numbered rounds around it.
pub struct Agent {
    id: usize,
    algorithm: Box<dyn StagedAlgorithm>,
    /// One row per phase of the graph; a fixed graph has one.
    rows: Vec<Row>,
    round: u64,
    /// The exchange of the round that is under way.
    stage: usize,
    /// Gradients of the current round that have been given.
    given: usize,
    /// The step size of the current round, once all its gradients have been given.
    eta: Option<f32>,
    /// The averaging rate of the current round.
    rate: f32,
    /// Messages by exchange (the front is the current one), then by sender.
    window: Vec<Vec<Option<Arc<[f32]>>>>,
    /// Which senders are absent in the current exchange, indexed like the row; empty if nobody.
    absent: Vec<bool>,
    /// Buffers of each exchange of a round, two sets that alternate.
    outgoing: [Vec<Vec<Arc<[f32]>>>; 2],
}

impl Agent {
    /// An agent at round 0. `rows` holds one row of W per phase of the graph, and
    /// `lookahead` how many exchanges a neighbour may be ahead (1 if undirected).
    pub fn new(id: usize, rows: Vec<Row>, lookahead: usize, algorithm: Box<dyn Algorithm>) -> Self {
        Self::staged(id, rows, lookahead, Box::new(OneExchange::new(algorithm)))
    }

    /// [`new`](Self::new) for a method in stages.
    pub fn staged(
        id: usize,
        rows: Vec<Row>,
        lookahead: usize,
        algorithm: Box<dyn StagedAlgorithm>,
    ) -> Self {
        let exchanges = algorithm.exchanges().len();
        let outgoing = [0, 1].map(|_| vec![Vec::new(); exchanges]);
        let (window, absent) = (Vec::new(), Vec::new());
        let (round, stage, given, eta, rate) = (0, 0, 0, None, 1.0);
        let mut agent =
            Agent { id, algorithm, rows, round, stage, given, eta, rate, window, absent, outgoing };
        agent.window = (0..=lookahead as u64).map(|ahead| agent.empty_inbox(ahead)).collect();
        for (turn, stage) in [0, 1].into_iter().flat_map(|t| (0..exchanges).map(move |e| (t, e))) {
            agent.make_room(turn, stage);
        }
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

    /// The number of the current exchange, counted over all rounds.
    pub fn exchange(&self) -> u64 {
        self.round * self.exchanges().len() as u64 + self.stage as u64
    }

    /// The phase of the graph to which the current exchange belongs.
    pub fn phase(&self) -> usize {
        self.phase_at(self.exchange())
    }

    /// Sets averaging rates between two rounds: W counts as `(1 - rate) I + rate W`. What the
    /// neighbours sent in the last round was mixed at the rate `last`, and what they send in the
    /// current one will be at `now`. Both are 1 at the start; a restored agent is told both.
    pub fn set_averaging_rates(&mut self, last: f32, now: f32) {
        self.algorithm.set_averaging_rate(last);
        self.rate = now;
    }

    /// Goes on over another graph: one row of W per phase, as in [`new`](Self::new). Call it
    /// between two rounds, and [`resync_with`](Self::resync_with) the new neighbours' models if
    /// messages are moves. The method must not have been built for the old neighbours: it may keep
    /// a sum over them, but nothing of each.
    pub fn change_graph(&mut self, rows: Vec<Row>) {
        self.rows = rows;
        self.restore_round(self.round);
    }

    /// What an exact average over all agents is taken of ([`StagedAlgorithm::averaged`]).
    pub fn averaged(&self) -> &[f32] {
        self.algorithm.averaged()
    }

    /// Puts the exact average of all agents' [`averaged`](Self::averaged) in place of the own one,
    /// between two rounds. All agents do so, so that each knows the models of all its neighbours.
    /// Returns false, and does nothing, if the length differs.
    pub fn adopt_average(&mut self, average: &[f32]) -> bool {
        if average.len() != self.algorithm.averaged().len() {
            return false;
        }
        if self.algorithm.adopt_average(average) {
            return true;
        }
        let adopted = self.adopt(average);
        if adopted {
            self.resync_with(|_| Some(average));
        }
        adopted
    }

    /// How many phases of a changing graph a round passes ([`StagedAlgorithm::phases_per_round`]).
    pub fn phases_per_round(&self) -> usize {
        self.algorithm.phases_per_round()
    }

    /// The exchanges of a round.
    pub fn exchanges(&self) -> &[Exchange] {
        self.algorithm.exchanges()
    }

    /// The agent's own model.
    pub fn params(&self) -> &[f32] {
        self.algorithm.params()
    }

    /// How many 32-bit words the messages of a round have together, to one neighbour.
    pub fn message_len(&self) -> usize {
        self.exchanges().iter().map(|exchange| exchange.words).sum()
    }

    /// For which step of the round the next gradient draws its mini-batch.
    pub fn draw_step(&self) -> u32 {
        self.algorithm.draw_step(self.given)
    }

    /// How many gradients the current round still takes.
    pub fn gradients_left(&self) -> usize {
        if self.eta.is_some() { 0 } else { self.algorithm.gradients() - self.given }
    }

    /// Step 1: writes the point at which the next gradient is wanted.
    pub fn probe(&self, at: &mut [f32]) {
        self.algorithm.probe(self.given, at);
    }

    /// Step 2: takes a gradient. With the last of the round it returns the messages of the first
    /// exchange; before, the next gradient is wanted.
    ///
    /// # Errors
    /// If its length differs from the model's, or if all gradients of the round were given before.
    pub fn gradient(&mut self, grad: &[f32], eta: f32) -> Result<Option<Outgoing>, ProtocolError> {
        if self.eta.is_some() {
            return Err(ProtocolError::GradientTwice { agent: self.id, round: self.round });
        }
        let expected = self.algorithm.params().len();
        if grad.len() != expected {
            let (agent, got) = (self.id, grad.len());
            return Err(ProtocolError::GradientLength { agent, expected, got });
        }
        let (k, turn) = (self.given, self.turn());
        if k == 0 {
            self.make_room(turn, 0);
        }
        let mut messages = Outbox { bodies: &mut self.outgoing[turn][0] };
        self.algorithm.gradient(k, grad, eta, &mut messages);
        self.given += 1;
        if self.given < self.algorithm.gradients() {
            return Ok(None);
        }
        self.eta = Some(eta);
        self.take_own_message();
        Ok(self.outgoing())
    }

    /// Step 3: the messages of the current exchange, once they are ready.
    pub fn outgoing(&self) -> Option<Outgoing> {
        self.eta?;
        let buffers = &self.outgoing[self.turn()][self.stage];
        let bodies = match self.exchanges()[self.stage].to {
            Recipients::All => Bodies::All(buffers.first()?.clone()),
            Recipients::Each => Bodies::Each(self.row(0).senders().into(), buffers.clone()),
        };
        Some(Outgoing { exchange: self.exchange(), bodies })
    }

    /// Step 4: takes a neighbour's message, in any order.
    pub fn receive(
        &mut self,
        from: usize,
        exchange: u64,
        body: Arc<[f32]>,
    ) -> Result<(), ProtocolError> {
        let (agent, round) = (self.id, exchange);
        let (first, last) = (self.exchange(), self.exchange() + self.window.len() as u64 - 1);
        if round < first || round > last {
            let expected = (first, last);
            return Err(ProtocolError::StrayRound { agent, from, expected, got: round });
        }
        let ahead = round - first;
        let sender = self.row(ahead).senders().binary_search(&from);
        let Some(k) = sender.ok().filter(|_| from != agent) else {
            return Err(ProtocolError::Stranger { agent, from, round });
        };
        let expected = self.exchange_at(ahead).words;
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

    /// True if `from` is another agent that this one hears in the current exchange.
    pub fn hears(&self, from: usize) -> bool {
        from != self.id && self.row(0).senders().binary_search(&from).is_ok()
    }

    /// The senders whose messages of the current exchange are still awaited.
    pub fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        let senders = self.row(0).senders().iter().zip(&self.window[0]).enumerate();
        let awaited = senders.filter(|(k, (_, slot))| slot.is_none() && !self.is_absent(*k));
        awaited.map(|(_, (&sender, _))| sender)
    }

    /// Drops all messages of `from` that have not been mixed yet. It may send others for those
    /// rounds.
    pub fn forget(&mut self, from: usize) {
        for ahead in 0..self.window.len() {
            let sender = self.row(ahead as u64).senders().binary_search(&from);
            if let Some(k) = sender.ok().filter(|_| from != self.id) {
                self.window[ahead][k] = None;
            }
        }
    }

    /// The message of `from` in the current round, if it has arrived.
    pub fn message_of(&self, from: usize) -> Option<Arc<[f32]>> {
        let k = self.row(0).senders().binary_search(&from).ok()?;
        self.window[0][k].clone()
    }

    /// True if all gradients of the current round have been given.
    pub fn has_gradient(&self) -> bool {
        self.eta.is_some()
    }

    /// True if nothing of the current round has happened yet: its state can be saved.
    pub fn is_between_rounds(&self) -> bool {
        self.given == 0
    }

    /// Does the current round without the message of `from`, even if it has arrived: its
    /// weight moves to the agent's own model. No effect if `from` is not a sender.
    pub fn mark_absent(&mut self, from: usize) {
        let Ok(k) = self.row(0).senders().binary_search(&from) else { return };
        if from != self.id {
            self.absent.resize(self.row(0).senders().len(), false);
            self.absent[k] = true;
            self.window[0][k] = None;
        }
    }

    /// Step 5: if all messages of the current exchange are there, the own one included, mixes
    /// them and returns true; otherwise does nothing and returns false. After the last exchange
    /// the next round begins; before, the messages of the next exchange are ready
    /// ([`outgoing`](Self::outgoing)).
    pub fn advance(&mut self) -> bool {
        let Some(eta) = self.eta else { return false };
        if self.missing().next().is_some() {
            return false;
        }
        let (turn, next) = (self.turn(), self.stage + 1);
        let is_last = next == self.exchanges().len();
        if !is_last {
            self.make_room(turn, next);
        }
        let applies_rate = self.algorithm.set_averaging_rate(self.rate);
        let rate = if applies_rate { 1.0 } else { self.rate };
        let row = &self.rows[self.phase()];
        let (slots, absent) = (&self.window[0], &self.absent);
        let inbox = Received { row, slots, own_weight: row.own_weight(absent, rate), rate };
        let bodies = if is_last { &mut [][..] } else { &mut self.outgoing[turn][next][..] };
        self.algorithm.mix(self.stage, &inbox, eta, &mut Outbox { bodies });
        self.absent.clear();
        if is_last {
            (self.stage, self.given, self.eta) = (0, 0, None);
            self.round += 1;
        } else {
            self.stage = next;
        }

        // The used inbox is recycled for the farthest exchange.
        self.window.rotate_left(1);
        let farthest = self.window.len() - 1;
        let senders = self.row(farthest as u64).senders().len();
        let mut recycled = mem::take(&mut self.window[farthest]);
        recycled.clear();
        recycled.resize(senders, None);
        self.window[farthest] = recycled;
        if !is_last {
            self.take_own_message();
        }
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
        let row = &self.rows[self.phase()];
        let models: Vec<Option<&[f32]>> = row.senders().iter().map(|&j| model(j)).collect();
        let absent: Vec<bool> = models.iter().map(Option::is_none).collect();
        // A copy, because the algorithm cannot borrow its own model while it is changed.
        let own = self.algorithm.params().to_vec();
        // The weights of W itself: who keeps a sum over its neighbours applies the rate itself.
        let own_weight = row.own_weight(&absent, 1.0);
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
        if let Ok(k) = row.senders().binary_search(&from) {
            let weight = row.weights()[k];
            self.algorithm.retract(weight, theirs, own);
        }
    }

    /// Replaces the agent's own model by `model`. The rest of the method's state stays.
    /// Returns false, and does nothing, if the length differs.
    pub fn adopt(&mut self, model: &[f32]) -> bool {
        let mut tensors = self.algorithm.tensors();
        let own = tensors.iter_mut().find(|t| t.name == "x" && t.values.len() == model.len());
        let adopted = own.map(|own| own.values.copy_from_slice(model)).is_some();
        if adopted && self.eta.is_none() {
            self.given = 0; // local steps begin anew from there
        }
        adopted
    }

    /// The algorithm's state, to save at the end of a round or to restore.
    pub fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.algorithm.tensors()
    }

    /// Continues from a saved state: call after writing all tensors back. Messages for later
    /// rounds that had already arrived are dropped; the neighbours send them again.
    pub fn restore_round(&mut self, round: u64) {
        self.round = round;
        (self.stage, self.given, self.eta) = (0, 0, None);
        self.absent.clear();
        self.window = (0..self.window.len() as u64).map(|ahead| self.empty_inbox(ahead)).collect();
    }

    /// The row of W in force `ahead` exchanges from now.
    fn row(&self, ahead: u64) -> &Row {
        &self.rows[self.phase_at(self.exchange() + ahead)]
    }

    /// The phase of the graph to which an exchange belongs.
    fn phase_at(&self, exchange: u64) -> usize {
        let per_phase = self.exchanges().len() / self.algorithm.phases_per_round();
        (exchange / per_phase as u64 % self.rows.len() as u64) as usize
    }

    /// The exchange `ahead` of the current one.
    fn exchange_at(&self, ahead: u64) -> Exchange {
        let exchanges = self.exchanges();
        exchanges[((self.exchange() + ahead) % exchanges.len() as u64) as usize]
    }

    /// Which set of buffers this round uses.
    fn turn(&self) -> usize {
        (self.round % 2) as usize
    }

    /// Makes buffers of exchange `stage` that nobody else holds.
    fn make_room(&mut self, turn: usize, stage: usize) {
        let Exchange { words, to, .. } = self.exchanges()[stage];
        let exchange = self.round * self.exchanges().len() as u64 + stage as u64;
        let row = &self.rows[self.phase_at(exchange)];
        let count = if to == Recipients::All { 1 } else { row.senders().len() };
        let buffers = &mut self.outgoing[turn][stage];
        buffers.resize_with(count, || zeros(words));
        for buffer in buffers {
            if Arc::get_mut(buffer).is_none() {
                // The driver still holds the message of two rounds ago.
                *buffer = zeros(words);
            }
        }
    }

    /// Puts the agent's own message of the current exchange into its own inbox.
    fn take_own_message(&mut self) {
        let own = self.row(0).own();
        let buffers = &self.outgoing[self.turn()][self.stage];
        let body = buffers.get(own).filter(|_| buffers.len() > 1).or(buffers.first()).cloned();
        self.window[0][own] = body;
    }

    fn is_absent(&self, k: usize) -> bool {
        self.absent.get(k) == Some(&true)
    }

    fn empty_inbox(&self, ahead: u64) -> Vec<Option<Arc<[f32]>>> {
        alloc::vec![None; self.row(ahead).senders().len()]
    }
}

/// A message of zeros, built in place: a temporary vector would fragment the heap.
fn zeros(len: usize) -> Arc<[f32]> {
    core::iter::repeat_n(0.0, len).collect()
}
