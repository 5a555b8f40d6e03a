//! The contract of a method: two beats with the network between them.
//!
//! Everything a method remembers lives in flat `f32` slices, so one fused loop per
//! beat does all the work and nothing is allocated in a round.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A decentralized learning method at one agent.
///
/// The symbols are the paper's: `x` is the agent's own model, `w_ij` its mixing
/// weights, `s = Σ_j w_ij x_j` the mixed model of its neighbourhood, `eta` the step.
pub trait Algorithm: Send + Sync {
    /// The agent's own model, `x_i`.
    fn params(&self) -> &[f32];

    /// Writes the point at which the next gradient is taken; the model itself
    /// unless the method says otherwise (GUT takes it at `s_i`).
    fn probe(&self, at: &mut [f32]) {
        at.copy_from_slice(self.params());
    }

    /// How many floats a message has: the model's length times the traffic factor.
    fn message_len(&self) -> usize {
        self.params().len()
    }

    /// First beat: the gradient at the probe becomes a message for the neighbours.
    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]);

    /// Second beat: the messages of the neighbourhood, own one included, come back.
    /// `eta` is the step of the same round's first beat.
    fn mix(&mut self, inbox: &dyn Inbox, eta: f32);

    /// Learns the full models of the neighbourhood, own one included.
    ///
    /// A method that rebuilds its neighbours' models from updates needs this once
    /// if the agents start from different models, and again after a lost message.
    /// Methods that send full models need nothing, hence the empty default.
    fn resync(&mut self, models: &dyn Inbox) {
        let _ = models;
    }

    /// True if messages say how a model moved and not where it is: then whoever misses
    /// one must be told the full models again ([`resync`](Self::resync)).
    fn sends_moves(&self) -> bool {
        false
    }

    /// Takes back what the message `theirs` of a neighbour put into this agent's model
    /// when it was mixed with `weight` into a round whose own message was `own`.
    ///
    /// A driver that survives lost messages calls it when the neighbour turns out not to
    /// have used this agent's message of the same round, so that the average over the
    /// agents is as if neither had. Methods whose model moves by their own steps alone
    /// need nothing, hence the empty default.
    fn take_back(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        let _ = (weight, theirs, own);
    }

    /// Everything the method remembers, by the paper's symbol. Reading all of it
    /// saves the method, writing all of it restores it to the same bits.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// One named part of a method's state.
#[derive(Debug)]
pub struct Tensor<'a> {
    /// The paper's symbol, such as `x` or `m`.
    pub name: Cow<'static, str>,
    /// Its values, one per parameter.
    pub values: &'a mut [f32],
}

impl<'a> Tensor<'a> {
    /// A tensor with a fixed name.
    pub fn new(name: &'static str, values: &'a mut [f32]) -> Self {
        Tensor { name: Cow::Borrowed(name), values }
    }
}

/// The messages of one round with their weights, ascending by sender, the agent's
/// own included. The order is part of the contract: it decides the bits of the sum.
pub trait Inbox {
    /// How many messages there are.
    fn senders(&self) -> usize;
    /// Which of them is the agent's own.
    fn own(&self) -> usize;
    /// The weight `w_ij` of the `k`-th sender.
    fn weight(&self, k: usize) -> f32;
    /// The message of the `k`-th sender.
    fn message(&self, k: usize) -> &[f32];
}
