//! One finished trial in the ledger: its settings, its program and machine, and its results.

use consort_records::Record;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::trial_key::{TrialKey, hex, setting};

/// A finished trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The hash of the settings.
    pub hash: String,
    /// The seed.
    pub seed: u64,
    /// The complete configuration as lines `key = value`.
    pub settings: Vec<String>,
    /// The method with all its parameters as numbers.
    pub runs_as: String,
    /// The length as a share of the paper's length: 1 is the full length.
    pub scale: f64,
    /// The version of the program.
    pub version: String,
    /// The commit of the program.
    pub commit: String,
    /// When the trial started.
    pub date: String,
    /// The machine.
    pub machine: Machine,
    /// The time it took there.
    pub seconds: f64,
    /// The result.
    pub outcome: TrialOutcome,
    /// The checksum of the averaged model, or of the curve if there is no model; `None` if the
    /// trial diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// The evaluations during the trial.
    pub curve: CurvePoints,
}

/// The machine of a trial. It does not change the bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The processor.
    pub processor: String,
    /// The instruction set.
    pub kernels: String,
    /// The number of threads.
    pub threads: usize,
}

/// The result of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialOutcome {
    /// The test accuracy of the averaged model at the end, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_accuracy: Option<f64>,
    /// The best test accuracy of all evaluations, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_accuracy: Option<f64>,
    /// The error at the end of the consensus task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_error: Option<f64>,
    /// The reason, if it diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<String>,
    /// The evidence, if it collapsed: it learned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapsed: Option<String>,
}

/// The evaluations during a trial. Values that are not finite are null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoints {
    /// Epochs, or rounds of the consensus task.
    pub x: Vec<Option<f64>>,
    /// Test accuracy of the averaged model, in percent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accuracy: Vec<Option<f64>>,
    /// Test loss of the averaged model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_loss: Vec<Option<f64>>,
    /// Training loss of the agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub train_loss: Vec<Option<f64>>,
    /// Distance of the agents' models from their average.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consensus_distance: Vec<Option<f64>>,
    /// Error of the consensus task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error: Vec<Option<f64>>,
}

impl LedgerEntry {
    /// The key of the trial.
    pub fn key(&self) -> TrialKey {
        TrialKey::stored(self.settings.clone(), self.seed)
    }

    /// The value of a setting.
    pub fn setting(&self, key: &str) -> Option<&str> {
        setting(&self.settings, key)
    }
}

impl CurvePoints {
    /// The curve of the records of a trial, rounded to five digits.
    pub fn from_records(records: &[Record]) -> Self {
        let row = |value: &dyn Fn(&Record) -> f64| {
            records.iter().map(|record| rounded(value(record))).collect::<Vec<_>>()
        };
        CurvePoints {
            x: row(&|r| r.epoch),
            // Simulations measure the averaged model at every evaluation.
            accuracy: row(&|r| 100.0 * r.test_accuracy.unwrap_or(f64::NAN)),
            test_loss: row(&|r| r.test_loss.unwrap_or(f64::NAN)),
            train_loss: row(&|r| r.train_loss),
            consensus_distance: row(&|r| r.consensus_distance),
            error: Vec::new(),
        }
    }

    /// The curve of the consensus task, with about `most` of its rounds.
    pub fn from_errors(errors: &[f64], most: usize) -> Self {
        let step = errors.len().div_ceil(most.max(1)).max(1);
        let shown = (0..errors.len()).filter(|k| k % step == 0 || k + 1 == errors.len());
        let (x, error) = shown.map(|k| (Some(k as f64), rounded(errors[k]))).unzip();
        CurvePoints { x, error, ..CurvePoints::default() }
    }
}

/// Rounds to five digits; `None` if the value is not finite.
pub(crate) fn rounded(value: f64) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    format!("{value:.4e}").parse().ok()
}

/// The SHA-256 checksum of bytes, as text.
pub fn checksum(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes), 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_five_digits_and_others_are_none() {
        assert_eq!(rounded(86.439999), Some(86.44));
        assert_eq!(rounded(1.234567e-7), Some(1.2346e-7));
        assert_eq!(rounded(f64::NAN), None);
    }

    #[test]
    fn a_long_curve_keeps_its_first_and_last_point() {
        let errors: Vec<f64> = (0..=1000).map(|k| 1.0 / (k + 1) as f64).collect();
        let curve = CurvePoints::from_errors(&errors, 200);
        assert_eq!((curve.x[0], curve.x.last().copied()), (Some(0.0), Some(Some(1000.0))));
        assert!(curve.x.len() <= 202, "{}", curve.x.len());
    }

    /// The well-known digest of nothing.
    #[test]
    fn checksums_are_those_of_sha_256() {
        let known = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksum(&[]), known);
    }
}
