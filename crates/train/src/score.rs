//! How a model did on some samples.

use consort_records::{Quality, Spread};

/// Loss and accuracy, or loss and R², summed so that parts can be put together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed over the samples.
    loss: f64,
    correct: usize,
    samples: usize,
    /// Of a regression.
    targets: Option<TargetSums>,
}

/// Sums over the targets of a regression, whose variance R² needs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TargetSums {
    values: f64,
    squares: f64,
}

impl Score {
    /// The score of one batch.
    pub(crate) fn from_batch(mean_loss: f32, correct: usize, samples: usize) -> Self {
        let loss = f64::from(mean_loss) * samples as f64;
        Score { loss, correct, samples, targets: None }
    }

    /// The score of one batch of a regression, whose loss is the mean square of the errors.
    pub(crate) fn from_targets(mean_loss: f32, targets: &[f32]) -> Self {
        let values = targets.iter().map(|&t| f64::from(t)).sum();
        let squares = targets.iter().map(|&t| f64::from(t).powi(2)).sum();
        let targets_sums = Some(TargetSums { values, squares });
        Score { targets: targets_sums, ..Score::from_batch(mean_loss, 0, targets.len()) }
    }

    /// Both parts together.
    pub(crate) fn and(self, other: Score) -> Score {
        let sum = |a: TargetSums, b: TargetSums| TargetSums {
            values: a.values + b.values,
            squares: a.squares + b.squares,
        };
        Score {
            loss: self.loss + other.loss,
            correct: self.correct + other.correct,
            samples: self.samples + other.samples,
            targets: match (self.targets, other.targets) {
                (Some(a), Some(b)) => Some(sum(a, b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// The loss of a sample, on average.
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// The share of samples that were classified correctly, 0 to 1, or R² of a regression.
    pub fn quality(&self) -> Quality {
        let samples = self.samples as f64;
        match self.targets {
            None => Quality::Accuracy(self.correct as f64 / samples),
            Some(TargetSums { values, squares }) => {
                let variance = squares / samples - (values / samples).powi(2);
                Quality::R2(1.0 - self.mean_loss() / variance)
            }
        }
    }

    /// The accuracies and the R² of several models, as far as there are such.
    pub fn spreads(all: &[Score]) -> [Option<Spread>; 2] {
        let of = |pick: fn(Quality) -> Option<f64>| {
            let values: Vec<f64> = all.iter().filter_map(|score| pick(score.quality())).collect();
            Spread::from_values(&values)
        };
        [of(Quality::accuracy), of(Quality::r2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, `1 - sum (t - o)^2 / sum (t - mean)^2`, over two parts of unlike sizes.
    #[test]
    fn r2_is_its_definition() {
        let targets = [1.0_f32, 2.0, 4.0, 8.0, -3.0];
        let outputs = [1.5_f32, 2.0, 3.0, 7.0, -1.0];
        let error = |range: std::ops::Range<usize>| -> f32 {
            let squares = range.clone().map(|k| (targets[k] - outputs[k]).powi(2));
            squares.sum::<f32>() / range.len() as f32
        };
        let parts =
            [0..2, 2..5].map(|part| Score::from_targets(error(part.clone()), &targets[part]));
        let whole = parts.into_iter().fold(Score::default(), Score::and);
        // Errors 0.25 + 0 + 1 + 1 + 4; deviations from the mean 2.4: 65.2.
        let Quality::R2(r2) = whole.quality() else { panic!("{whole:?}") };
        assert!((r2 - (1.0 - 6.25 / 65.2)).abs() < 1e-6, "{r2}"); // measured 2e-8
        assert!((whole.mean_loss() - 1.25).abs() < 1e-6);
        let [accuracies, r2s] = Score::spreads(&parts);
        assert!(accuracies.is_none() && r2s.is_some());
    }

    /// Who always gives the mean of the targets has R² = 0.
    #[test]
    fn the_mean_of_the_targets_is_zero() {
        let score = Score::from_targets(2.0 / 3.0, &[1.0, 2.0, 3.0]);
        assert!(score.quality().value().abs() < 1e-6);
    }
}
