//! The contract of a method: a local step, the network, a mix.
//!
//! The whole state of a method lives in flat `f32` slices, so one fused loop does the local
//! step, another one the mix, and a round allocates nothing.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::Inbox;

/// A decentralized learning method at one agent.
///
/// The symbols are the paper's: `x` is the agent's own model, `w_ij` its mixing
/// weights, `s = Σ_j w_ij x_j` the mixed model of its neighbourhood, `eta` the step size.
pub trait Algorithm: Send + Sync {
    /// The agent's own model, `x_i`.
    fn params(&self) -> &[f32];

    /// Writes the point at which the next gradient is taken: the model itself, unless the
    /// method says otherwise (GUT takes it at `s_i`).
    fn probe(&self, at: &mut [f32]) {
        at.copy_from_slice(self.params());
    }

    /// How many 32-bit words a message has: the model's length, unless the method says otherwise.
    fn message_len(&self) -> usize {
        self.params().len()
    }

    /// How many words at the front of a message are numbers, which a driver may check. What
    /// follows is packed: its bits mean something, its value as a float does not.
    fn message_numbers(&self) -> usize {
        self.message_len()
    }

    /// Turns the gradient at the probe into the message for the neighbours.
    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]);

    /// Mixes the messages of the neighbourhood, own one included. `eta` is the step size of
    /// the same round's local step.
    fn mix(&mut self, inbox: &dyn Inbox, eta: f32);

    /// Receives the full models of the neighbourhood, own one included.
    ///
    /// A method that rebuilds its neighbours' models from updates needs this once
    /// if the agents start from different models, and again after a lost message.
    /// Methods that send full models need nothing, hence the empty default.
    fn resync(&mut self, models: &dyn Inbox) {
        let _ = models;
    }

    /// True if messages are changes of a model instead of the model itself. A receiver that
    /// misses one needs the full models again ([`resync`](Self::resync)).
    fn sends_moves(&self) -> bool {
        false
    }

    /// Removes what the message `theirs` of a neighbour added to this agent's model when it was
    /// mixed with `weight`, in a round in which this agent sent `own`.
    ///
    /// A driver that survives lost messages calls it when the neighbour turns out not to
    /// have used this agent's message of the same round. The average over all agents is then
    /// as if neither had used the other's. Methods whose model moves by their own steps alone
    /// need nothing, hence the empty default.
    fn retract(&mut self, weight: f32, theirs: &[f32], own: &[f32]) {
        let _ = (weight, theirs, own);
    }

    /// Sets the averaging rate of the rounds from the next mix on: W counts as
    /// `(1 - rate) I + rate W`. Returns true if the method applies the rate itself, because it keeps
    /// a sum over its neighbours that must hold at any rate: then the weights of an [`Inbox`] are
    /// those of W. By default the weights carry the rate, and a method need not know it.
    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        let _ = rate;
        false
    }

    /// What an exact average over all agents is taken of: the model, unless that is a quotient.
    fn averaged(&self) -> &[f32] {
        self.params()
    }

    /// Puts `average`, that of what all agents [`averaged`](Self::averaged), in its place. Returns
    /// false, and does nothing, if it is the tensor `x` that is replaced, and
    /// [`resync`](Self::resync) does the rest: that is the default. Trackers, corrections and
    /// momentum stay as they are, so what they sum to over the agents does.
    fn adopt_average(&mut self, average: &[f32]) -> bool {
        let _ = average;
        false
    }

    /// The whole state of the method, named by the paper's symbols. Reading all of it
    /// saves the method; writing all of it back restores the same bits.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;
}

/// One named part of a method's state.
#[derive(Debug)]
pub struct Tensor<'a> {
    /// The paper's symbol, such as `x` or `m`.
    pub name: Cow<'static, str>,
    /// Its values, one per parameter; of a counter ([`RoundCounter`](crate::codec::RoundCounter))
    /// the one word.
    pub values: &'a mut [f32],
}

impl<'a> Tensor<'a> {
    /// A tensor with a fixed name.
    pub fn new(name: &'static str, values: &'a mut [f32]) -> Self {
        Tensor { name: Cow::Borrowed(name), values }
    }
}
