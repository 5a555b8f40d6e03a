//! How good a model is on the test set: the accuracy of a classification, R² of a regression.

use std::fmt;

/// How good a model is on the test set; the larger, the better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// The share of samples that are classified correctly, 0 to 1.
    Accuracy(f64),
    /// `1 - MSE / variance of the targets`: 1 is perfect, 0 is what their mean gives, and it can be
    /// negative.
    R2(f64),
}

impl Quality {
    /// An accuracy if there is one, else R².
    pub(crate) fn of(accuracy: Option<f64>, r2: Option<f64>) -> Option<Self> {
        accuracy.map(Quality::Accuracy).or(r2.map(Quality::R2))
    }

    /// The number alone.
    pub fn value(self) -> f64 {
        match self {
            Quality::Accuracy(value) | Quality::R2(value) => value,
        }
    }

    /// The share of right answers, of a classification.
    pub fn accuracy(self) -> Option<f64> {
        match self {
            Quality::Accuracy(value) => Some(value),
            Quality::R2(_) => None,
        }
    }

    /// R², of a regression.
    pub fn r2(self) -> Option<f64> {
        match self {
            Quality::R2(value) => Some(value),
            Quality::Accuracy(_) => None,
        }
    }

    /// One digit less, for a line that changes: `91.2 %`, `R² 0.912`.
    pub fn short(self) -> String {
        match self {
            Quality::Accuracy(share) => format!("{:.1} %", 100.0 * share),
            Quality::R2(value) => format!("R² {value:.3}"),
        }
    }
}

/// `91.23 %`, `R² 0.9123`.
impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quality::Accuracy(share) => write!(f, "{:.2} %", 100.0 * share),
            Quality::R2(value) => write!(f, "R² {value:.4}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_it_is() {
        let (share, r2) = (Quality::Accuracy(0.91234), Quality::R2(-0.51234));
        assert_eq!((share.to_string(), share.short()), ("91.23 %".into(), "91.2 %".into()));
        assert_eq!((r2.to_string(), r2.short()), ("R² -0.5123".into(), "R² -0.512".into()));
        assert_eq!((share.accuracy(), share.r2(), r2.accuracy()), (Some(0.91234), None, None));
        assert_eq!(Quality::of(None, Some(-0.51234)), Some(r2));
    }
}
