//! The contract of methods whose round is more than one gradient and one message to all.
//!
//! ```text
//!   gradient 0 ─► ... ─► gradient G-1 ─► messages 0 ═══ network ═══ mix 0 ─► messages 1 ═══ ... mix E-1
//! ```
//!
//! A round is a fixed number of gradients, then a fixed number of exchanges; both are the same at
//! every agent. Several gradients serve local steps and cross-gradients, which are taken at the
//! neighbours' models. An exchange is one message to all neighbours, or another one to each.
//!
//! [`Algorithm`] is the common case, one gradient and one message to all; every one of them is a
//! [`StagedAlgorithm`] by [`OneExchange`].

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Algorithm, Inbox, Tensor};

/// A decentralized learning method at one agent, in stages.
///
/// What [`Algorithm`] says of state, symbols and allocation holds here too.
pub trait StagedAlgorithm: Send + Sync {
    /// The agent's own model, `x_i`.
    fn params(&self) -> &[f32];

    /// How many gradients a round takes.
    fn gradients(&self) -> usize;

    /// For which step of the round the `k`-th gradient draws its mini-batch: gradients with the
    /// same step share one.
    fn draw_step(&self, k: usize) -> u32 {
        k as u32
    }

    /// Writes the point at which the `k`-th gradient is taken.
    fn probe(&self, k: usize, at: &mut [f32]);

    /// The exchanges of a round: at least one.
    fn exchanges(&self) -> &[Exchange];

    /// How many phases of a changing graph a round passes: one, unless every exchange of a round
    /// goes over a graph of its own.
    fn phases_per_round(&self) -> usize {
        1
    }

    /// Takes the `k`-th gradient. Once the last one has been taken, `messages` must hold the
    /// messages of the first exchange; they may be written piece by piece.
    fn gradient(&mut self, k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>);

    /// Mixes the messages of exchange `e`. Unless it is the last one, writes those of the next into
    /// `messages`.
    fn mix(&mut self, e: usize, inbox: &dyn Inbox, eta: f32, messages: &mut Outbox<'_>);

    /// As [`Algorithm::resync`].
    fn resync(&mut self, models: &dyn Inbox) {
        let _ = models;
    }

    /// As [`Algorithm::sends_moves`].
    fn sends_moves(&self) -> bool {
        false
    }

    /// As [`Algorithm::retract`].
    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        let _ = (weight, theirs, own);
    }

    /// As [`Algorithm::set_averaging_rate`].
    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        let _ = rate;
        false
    }

    /// As [`Algorithm::averaged`].
    fn averaged(&self) -> &[f32] {
        self.params()
    }

    /// As [`Algorithm::adopt_average`].
    fn adopt_average(&mut self, average: &[f32]) -> bool {
        let _ = average;
        false
    }

    /// As [`Algorithm::tensors`]: the state between two rounds.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// One exchange of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// How many 32-bit words a message has.
    pub words: usize,
    /// How many of them, at the front, are numbers ([`Algorithm::message_numbers`]).
    pub numbers: usize,
    /// Who gets which message.
    pub to: Recipients,
}

/// Who gets which message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipients {
    /// All neighbours get the same.
    All,
    /// Each neighbour gets its own.
    Each,
}

/// Room for the messages of an exchange, in which the last content still stands.
pub struct Outbox<'a> {
    pub(crate) bodies: &'a mut [Arc<[f32]>],
}

impl Outbox<'_> {
    /// The message to all neighbours, if the exchange has one for all.
    pub fn to_all(&mut self) -> &mut [f32] {
        self.to_each(0)
    }

    /// The message to the `k`-th agent of the row, the agent itself included, if the exchange has
    /// one for each.
    pub fn to_each(&mut self, k: usize) -> &mut [f32] {
        // The agent made sure that nobody else holds it.
        self.bodies.get_mut(k).and_then(Arc::get_mut).unwrap_or_default()
    }
}

/// An [`Algorithm`] as a staged one.
pub struct OneExchange<A: Algorithm + ?Sized> {
    exchange: [Exchange; 1],
    algorithm: alloc::boxed::Box<A>,
}

impl<A: Algorithm + ?Sized> OneExchange<A> {
    /// One gradient, then one message to all.
    pub fn new(algorithm: alloc::boxed::Box<A>) -> Self {
        let (words, numbers) = (algorithm.message_len(), algorithm.message_numbers());
        OneExchange { exchange: [Exchange { words, numbers, to: Recipients::All }], algorithm }
    }
}

impl<A: Algorithm + ?Sized> StagedAlgorithm for OneExchange<A> {
    fn params(&self) -> &[f32] {
        self.algorithm.params()
    }

    fn gradients(&self) -> usize {
        1
    }

    fn probe(&self, _k: usize, at: &mut [f32]) {
        self.algorithm.probe(at);
    }

    fn exchanges(&self) -> &[Exchange] {
        &self.exchange
    }

    fn gradient(&mut self, _k: usize, grad: &[f32], eta: f32, messages: &mut Outbox<'_>) {
        self.algorithm.local_step(grad, eta, messages.to_all());
    }

    fn mix(&mut self, _e: usize, inbox: &dyn Inbox, eta: f32, _messages: &mut Outbox<'_>) {
        self.algorithm.mix(inbox, eta);
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.algorithm.resync(models);
    }

    fn sends_moves(&self) -> bool {
        self.algorithm.sends_moves()
    }

    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        self.algorithm.retract(weight, theirs, own);
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.algorithm.set_averaging_rate(rate)
    }

    fn averaged(&self) -> &[f32] {
        self.algorithm.averaged()
    }

    fn adopt_average(&mut self, average: &[f32]) -> bool {
        self.algorithm.adopt_average(average)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.algorithm.tensors()
    }
}
