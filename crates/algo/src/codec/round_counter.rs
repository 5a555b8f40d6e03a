//! A count of rounds as part of a method's state.

use crate::Tensor;

/// How many rounds are done. States are made of `f32`s, so the count is kept in the *bits* of one:
/// exact, and restored like any other tensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundCounter([f32; 1]);

impl RoundCounter {
    /// The rounds done so far.
    pub fn get(&self) -> u32 {
        self.0[0].to_bits()
    }

    /// One more round is done.
    pub fn advance(&mut self) {
        self.0[0] = f32::from_bits(self.get().wrapping_add(1));
    }

    /// The count, to save: one word, which is not a number to compute with.
    pub fn tensor(&mut self) -> Tensor<'_> {
        Tensor::new("round", &mut self.0)
    }
}
