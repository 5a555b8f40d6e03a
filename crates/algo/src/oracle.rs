//! The one thing an agent needs from a model and its data.

/// Loss and gradient at given parameters, on the agent's next mini-batch.
///
/// Implement it for a model of your own; everything else works on flat slices.
pub trait Oracle: Send {
    /// How many parameters the model has.
    fn len(&self) -> usize;

    /// True for a model without parameters.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the gradient at `at` into `grad` and returns the loss there.
    fn loss_and_grad(&mut self, at: &[f32], grad: &mut [f32]) -> f32;
}
