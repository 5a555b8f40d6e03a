//! What the neighbours believe: the public copy `x̂_i` of a model that only coded changes reach
//! (error feedback, as in CHOCO-SGD).
//!
//! ```text
//! q_i = C(x_i - x̂_i)          what is sent
//! x̂_j += q_j                  at j and at all its neighbours
//! p_i  = Σ_j w_ij x̂_j - x̂_i   what methods need of the copies
//! ```
//!
//! # The state, and why
//!
//! Neither `x̂_i` nor a copy of any neighbour is kept, but what the method computes with: the error
//! `e = x - x̂`, which is what the next message is made of, and the pull `p`. Both are small, so
//! they lose less to rounding than models would (what `p` does lose adds up, as in GUT's pull:
//! without gradients to correct it, the mean of the models moves by about 5e-9 a round). All agents begin with the same model, and `x̂`
//! begins there: the first message is as good as any.
//!
//! # The averaging rate
//!
//! CHOCO's consensus step is `gamma Σ_j w_ij (x̂_j - x̂_i)`. With `W <- (1-gamma) I + gamma W` that is
//! `p`, so gamma is the averaging rate of W here as it is everywhere.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::codec::{Codec, RoundCounter};
use crate::{Inbox, Tensor};

/// The sender's side of a public copy.
pub(super) struct Hats {
    codec: Box<dyn Codec>,
    round: RoundCounter,
    /// `x - x̂`. The method adds to it whatever it adds to `x`.
    pub(super) e: Vec<f32>,
}

impl Hats {
    /// Everybody knows the model of `len` parameters.
    pub(super) fn new(len: usize, codec: Box<dyn Codec>) -> Self {
        Hats { codec, round: RoundCounter::default(), e: vec![0.0; len] }
    }

    /// The words of a message.
    pub(super) fn words(&self) -> usize {
        self.codec.words(self.e.len())
    }

    /// How many words at the front of a message are numbers.
    pub(super) fn numbers(&self) -> usize {
        self.codec.numbers(self.e.len())
    }

    /// Writes `q = C(x - x̂)` and moves `x̂` by what the neighbours will read.
    pub(super) fn send(&mut self, message: &mut [f32]) {
        self.codec.encode(self.round.get(), &self.e, message);
        self.codec.add_decoded(self.round.get(), message, -1.0, &mut self.e);
    }

    /// Adds `Σ_j w_ij (q_j - q_i)` of the round's messages to `pull`, and ends the round.
    ///
    /// With symmetric weights, what one end of an edge adds the other end subtracts, bit by bit.
    pub(super) fn follow(&mut self, inbox: &dyn Inbox, pull: &mut [f32]) {
        let (codec, round, own) = (&*self.codec, self.round.get(), inbox.own());
        for k in (0..inbox.senders()).filter(|&k| k != own) {
            let weight = inbox.weight(k);
            codec.add_decoded(round, inbox.message(k), weight, pull);
            codec.add_decoded(round, inbox.message(own), -weight, pull);
        }
        self.round.advance();
    }

    /// Everybody has been told the full models: nothing is left to tell.
    pub(super) fn forget_error(&mut self) {
        self.e.fill(0.0);
    }

    /// The state, to save.
    pub(super) fn tensors(&mut self) -> impl Iterator<Item = Tensor<'_>> {
        let counted = self.codec.depends_on_the_round();
        let round = counted.then(|| self.round.tensor());
        core::iter::once(Tensor::new("e", &mut self.e)).chain(round)
    }
}
