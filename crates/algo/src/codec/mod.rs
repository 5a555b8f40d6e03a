//! Codecs: what a method sends instead of a vector, in fewer words.
//!
//! A codec turns a vector `v` into a message and a message into `C(v)`, a rougher vector. What
//! `C(v)` leaves out stays with the sender, who adds it to what it sends next, so a codec may be
//! rough and the method still exact in the limit. All it needs is to be a contraction:
//!
//! ```text
//! E |C(v) - v|² <= (1 - delta) |v|²        with a delta above 0
//! ```
//!
//! # What a message looks like
//!
//! Its length in 32-bit words follows from the length of the vector ([`Codec::words`]), so a
//! driver knows it before the run. First come numbers ([`Codec::numbers`] of them): values and
//! scales, which a driver may check. The rest is packed: bits that stand in `f32`s because messages
//! are slices of `f32`. Such a word may look like a NaN. It is made by `f32::from_bits`, read by
//! `f32::to_bits`, copied in between, and never computed with.
//!
//! A message comes from somebody else, so decoding must stand any bits: what names a place outside
//! the vector is skipped.
//!
//! # The whole vector, not layer by layer
//!
//! The released codes of CHOCO-SGD compress each tensor of the model by itself. This crate sees one
//! flat vector and does not know where a layer begins. Top-k and random-k therefore choose among
//! all parameters; sign and quantisation have a scale for every block of neighbouring parameters,
//! which does what a scale per layer is for.
//!
//! # Randomness
//!
//! There is no random generator. What a codec chooses at random is a hash of the round, the place
//! and, where agents should differ, the values; so a restored agent goes on to the same bits.

mod bits;
mod identity;
mod quantize;
mod random_k;
mod round_counter;
mod sign;
mod top_k;

pub use identity::Identity;
pub use quantize::Quantize;
pub use random_k::RandomK;
pub use round_counter::RoundCounter;
pub use sign::Sign;
pub use top_k::TopK;

/// Turns vectors into short messages and back.
pub trait Codec: Send + Sync {
    /// How many words the message of a vector of `len` values has.
    fn words(&self, len: usize) -> usize;

    /// How many words at the front of that message are numbers; the others are packed bits.
    fn numbers(&self, len: usize) -> usize;

    /// Writes the message of `values`, which has exactly [`words`](Codec::words) words.
    fn encode(&self, round: u32, values: &[f32], message: &mut [f32]);

    /// Adds `scale` times the vector that `message` stands for to `into`. A message that has not
    /// as many words as it should adds nothing.
    fn add_decoded(&self, round: u32, message: &[f32], scale: f32, into: &mut [f32]);

    /// True if the message depends on the round, which the method then has to count.
    fn depends_on_the_round(&self) -> bool {
        false
    }
}

/// How many of `len` values are a share of them: rounded down, and at least one.
///
/// The billionth is there so that 0.29 of 100 is 29, although the nearest `f64` is a little less.
fn count_of_share(share: f64, len: usize) -> usize {
    ((share * len as f64 + 1e-9) as usize).clamp(1, len.max(1)).min(len)
}

/// The parts of a number with well-mixed bits (the finaliser of SplitMix64, Steele et al., 2014).
fn mixed_bits(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
