//! What has been summed up since the last evaluation.

use serde::{Deserialize, Serialize};

/// Sums over the rounds since the last evaluation; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SinceEvaluation {
    loss: f64,
    rounds: u64,
    gradient_norm: f64,
}

impl SinceEvaluation {
    /// A round is over, with this loss and this norm of the gradient.
    pub fn add(&mut self, loss: f32, gradient_norm: f64) {
        self.loss += f64::from(loss);
        self.rounds += 1;
        self.gradient_norm = gradient_norm;
    }

    /// True if no round is over since the last evaluation.
    pub(crate) fn is_empty(&self) -> bool {
        self.rounds == 0
    }

    /// The mean loss; NaN if there was no round.
    pub fn train_loss(&self) -> f64 {
        self.loss / self.rounds as f64
    }

    /// The norm of the gradient in the last round; NaN if there was none.
    pub fn gradient_norm(&self) -> f64 {
        if self.rounds > 0 { self.gradient_norm } else { f64::NAN }
    }
}
