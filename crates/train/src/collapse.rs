//! Models that have learned nothing, though every number is finite.
//!
//! A step that is too long can push the biases of a ReLU layer so far down that none of its
//! units is ever active again: no gradient passes it, what lies before it never changes again,
//! and the model gives one answer to everything. Nothing diverges, so nobody is told, unless
//! somebody looks at the accuracy, which is that of a guess.

use std::fmt;

use consort_records::Quality;

/// That a model is no better than a guess, and where it is dead, if it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Collapse {
    /// How good it is, and what a guess gives.
    pub guess: Guess,
    /// The last layer whose gradient is zero everywhere: the units behind it are all dead.
    pub dead_layer: Option<String>,
}

/// A model that is no better than a guess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guess {
    /// Of a class.
    Class {
        /// The share of right answers, 0 to 1.
        accuracy: f64,
        /// What one gets who gives the most frequent answer every time.
        chance: f64,
    },
    /// Of a number: who gives the mean of the targets every time has R² = 0.
    Number {
        /// R² of the model.
        r2: f64,
    },
}

impl Guess {
    /// What the model is no better than, on test samples with these labels; none if it is better.
    pub(crate) fn found(quality: Quality, labels: &[u32]) -> Option<Self> {
        match quality {
            Quality::Accuracy(accuracy) => {
                let chance = chance(labels);
                is_at_chance(accuracy, chance, labels.len())
                    .then_some(Guess::Class { accuracy, chance })
            }
            // A constant has 0 at most; of one that is not finite, others tell.
            Quality::R2(r2) => (r2 <= AS_GOOD_AS_THE_MEAN).then_some(Guess::Number { r2 }),
        }
    }
}

/// A model whose R² is not above this has learned nothing that a constant does not know.
const AS_GOOD_AS_THE_MEAN: f64 = 1e-3;

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.guess {
            Guess::Class { accuracy, chance } => {
                let (accuracy, chance) = (100.0 * accuracy, 100.0 * chance);
                write!(
                    f,
                    "at chance level: accuracy {accuracy:.2} %, guessing gives {chance:.2} %"
                )?;
            }
            Guess::Number { r2 } => {
                write!(f, "no better than the mean of the target: R² {r2:.4}, the mean gives 0")?;
            }
        }
        match &self.dead_layer {
            Some(layer) => write!(f, "; all units of layer {layer} are dead"),
            None => Ok(()),
        }
    }
}

/// The share of the most frequent of `labels`; 1 if there are none.
pub(crate) fn chance(labels: &[u32]) -> f64 {
    let mut counts = vec![0_usize; labels.iter().max().map_or(0, |&most| most as usize + 1)];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let most = counts.into_iter().max().unwrap_or(1);
    most as f64 / labels.len().max(1) as f64
}

/// True if this accuracy on so many samples is no more than guessing gives: within three of the
/// standard deviations that a guess's accuracy has.
pub(crate) fn is_at_chance(accuracy: f64, chance: f64, samples: usize) -> bool {
    let deviation = (chance * (1.0 - chance) / samples.max(1) as f64).sqrt();
    accuracy <= chance + 3.0 * deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_the_most_frequent_class() {
        assert_eq!(chance(&[0, 2, 2, 1]), 0.5);
        assert_eq!(chance(&[7, 7]), 1.0);
        assert_eq!(chance(&[]), 1.0);
    }

    /// 10,000 samples of ten classes: three deviations are 0.9 points.
    #[test]
    fn what_a_guess_may_reach_by_luck_is_chance() {
        assert!(is_at_chance(0.10, 0.1, 10_000) && is_at_chance(0.1089, 0.1, 10_000));
        assert!(!is_at_chance(0.1091, 0.1, 10_000));
        assert!(is_at_chance(0.05, 0.1, 10_000));
    }

    #[test]
    fn a_regression_that_knows_the_mean_alone_has_learned_nothing() {
        for r2 in [0.0, -3.0, 1e-4] {
            let guess = Guess::found(Quality::R2(r2), &[]).unwrap();
            let text = Collapse { guess, dead_layer: None }.to_string();
            assert!(text.starts_with("no better than the mean of the target: R² "), "{text}");
        }
        assert!(Guess::found(Quality::R2(0.02), &[]).is_none());
        assert!(Guess::found(Quality::R2(f64::NAN), &[]).is_none());
    }

    #[test]
    fn it_says_where_it_is_dead() {
        let guess = Guess::Class { accuracy: 0.1, chance: 0.1 };
        let mut collapse = Collapse { guess, dead_layer: None };
        assert_eq!(
            collapse.to_string(),
            "at chance level: accuracy 10.00 %, guessing gives 10.00 %"
        );
        collapse.dead_layer = Some("3 (conv)".into());
        assert!(collapse.to_string().ends_with("; all units of layer 3 (conv) are dead"));
    }
}
