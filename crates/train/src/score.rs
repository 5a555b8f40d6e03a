//! How a model did on some samples.

/// Loss and accuracy, summed so that parts can be put together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed over the samples.
    loss: f64,
    correct: usize,
    samples: usize,
}

impl Score {
    /// The score of one batch.
    pub(crate) fn from_batch(mean_loss: f32, correct: usize, samples: usize) -> Self {
        Score { loss: f64::from(mean_loss) * samples as f64, correct, samples }
    }

    /// Both parts together.
    pub(crate) fn and(self, other: Score) -> Score {
        Score {
            loss: self.loss + other.loss,
            correct: self.correct + other.correct,
            samples: self.samples + other.samples,
        }
    }

    /// The loss of a sample, on average.
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// The share of samples that were classified correctly, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples as f64
    }
}
