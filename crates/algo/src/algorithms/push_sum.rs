//! Push-sum: averaging where columns sum to 1 and rows do not.
//!
//! Weights `p_ij` whose columns sum to 1 keep the sum over the agents, but some agents collect
//! more of it than others. A number that starts at 1 everywhere and is mixed with the same
//! weights measures how much more:
//!
//! ```text
//! x <- P x,   w <- P w,   z = x / w  ->  the mean of the first x, at every agent
//! ```
//!
//! A message is the model, then `w`. Whoever rounds a column so that it does not sum to 1 changes
//! `x` and `w` by the same factor, which `z` does not see.

use crate::Inbox;

/// `Σ_j p_ij w_j`, where a sender's `w` is the last float of its message, at `place`.
/// Summed in `f64`, so that rows that do sum to 1 keep a weight of exactly 1.
pub(super) fn mixed_weight(inbox: &dyn Inbox, place: usize) -> f32 {
    let share = |k: usize| f64::from(inbox.weight(k)) * f64::from(inbox.message(k)[place]);
    (0..inbox.senders()).map(share).sum::<f64>() as f32
}
