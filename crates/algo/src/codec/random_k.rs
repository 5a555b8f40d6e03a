//! Random-k (Stich, Cordonnier, Jaggi, NeurIPS 2018): k values at random places. delta is about
//! k/d: one over the length of the longest stretch below.
//!
//! The vector is cut into k stretches of equal length (to one), and one value of each is sent. Which
//! one is a hash of the round and the stretch, the same at all agents, so that only values travel
//! and no place is chosen twice. They are sent as they are, not enlarged by d/k: enlarged they
//! would be the vector on average, but no contraction.

use super::{Codec, count_of_share, mixed_bits};

/// Sends a share of the values, chosen anew in every round.
#[derive(Clone, Copy, Debug)]
pub struct RandomK {
    /// The share of the values that is sent, above 0 up to 1.
    pub share: f64,
}

impl RandomK {
    /// The places whose values are sent in `round`, ascending.
    fn places(&self, round: u32, len: usize) -> impl Iterator<Item = usize> + use<> {
        let k = self.words(len);
        let stream = mixed_bits(u64::from(round));
        let end_of = move |stretch: usize| (stretch as u64 * len as u64 / k as u64) as usize;
        (0..k).map(move |stretch| {
            let (first, end) = (end_of(stretch), end_of(stretch + 1));
            let random = mixed_bits(stream ^ stretch as u64) >> 32;
            first + ((random * (end - first) as u64) >> 32) as usize
        })
    }
}

impl Codec for RandomK {
    fn words(&self, len: usize) -> usize {
        count_of_share(self.share, len)
    }

    fn numbers(&self, len: usize) -> usize {
        self.words(len)
    }

    fn encode(&self, round: u32, values: &[f32], message: &mut [f32]) {
        for (word, place) in message.iter_mut().zip(self.places(round, values.len())) {
            *word = values[place];
        }
    }

    fn add_decoded(&self, round: u32, message: &[f32], scale: f32, into: &mut [f32]) {
        if message.len() != self.words(into.len()) {
            return;
        }
        for (value, place) in message.iter().zip(self.places(round, into.len())) {
            into[place] += scale * value;
        }
    }

    fn depends_on_the_round(&self) -> bool {
        true
    }
}
