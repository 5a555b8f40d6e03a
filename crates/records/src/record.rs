//! The result of one evaluation during training, and the file that contains these results.
//!
//! A trial (one method with one seed) writes one line of JSON per evaluation while it runs:
//!
//! ```text
//!   {"round":100,"epoch":0.5,"eta":0.1,"train_loss":2.1,…}
//!   {"round":200,"epoch":1.0,"eta":0.1,"train_loss":"inf",…}
//!   {"round":300,"ep                                           <- killed here: only this is lost
//! ```
//!
//! A line is written with one call and without a buffer. So a run that is killed leaves complete
//! lines and at most one incomplete line at the end, which is ignored when the file is read.
//!
//! A record tells the averaged model's test results and the agents' own apart. The averaged model
//! can be measured only where all models are:
//!
//! ```text
//!                          test_accuracy, test_loss     agents, agents_loss
//!                          (the averaged model's)       (the agents' own)
//!   a simulation           at every evaluation          of all agents, unless switched off
//!   one agent alone        missing                      its own: mean, min and max are equal
//!   agents combined        at the end                   of all agents
//! ```

use crate::error::RecordsError;
use crate::float_text;
use crate::folder::{refused, write_file};
use crate::quality::Quality;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One evaluation: of the averaged model, of the agents' own models, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Completed rounds.
    pub round: u64,
    /// Completed passes over the training data.
    #[serde(with = "float_text::one")]
    pub epoch: f64,
    /// The current step size.
    #[serde(with = "float_text::one")]
    pub eta: f64,
    /// The loss on training data, averaged over agents and over the rounds since the last record.
    #[serde(with = "float_text::one")]
    pub train_loss: f64,
    /// The loss of the averaged model on the test set, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub test_loss: Option<f64>,
    /// The share of the test set that the averaged model classifies correctly, 0 to 1, if it was
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub test_accuracy: Option<f64>,
    /// The averaged model on the samples set apart for validation, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Measured>,
    /// R² of the averaged model on the test set, if it was measured: of a regression, in place of
    /// an accuracy.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub test_r2: Option<f64>,
    /// The root mean squared error of the averaged model on the test set, in the unit of the target
    /// of a regression, if it was measured. (`test_loss` is the mean square with the target scaled.)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub test_rmse: Option<f64>,
    /// The test accuracies of the agents' own models, 0 to 1, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Spread>,
    /// R² of the agents' own models, of a regression, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_r2: Option<Spread>,
    /// The test losses of the agents' own models, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_loss: Option<Spread>,
    /// What averaging all models gains, or gained at the end of this round: the averaged model's
    /// accuracy minus the mean of the agents' own, on the samples on which those were tested, if it
    /// was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub averaging_gain: Option<f64>,
    /// The distance of the agents' models from their average: `sqrt(1/n Σ |x_i - x̄|²)`.
    #[serde(with = "float_text::one")]
    pub consensus_distance: f64,
    /// The root mean square of the agents' gradient norms in the last round.
    #[serde(with = "float_text::one")]
    pub gradient_norm: f64,
    /// The rounding error of the mixed model that an agent computes from updates: the largest of
    /// `|s_i - Σ_j w_ij x_j| / |x_i|`; 0 for methods without such a model.
    #[serde(with = "float_text::one")]
    pub drift: f64,
    /// Bytes that one agent has sent since the start.
    pub bytes_sent: u64,
    /// Seconds since the start of the trial.
    #[serde(with = "float_text::one")]
    pub seconds: f64,
}

/// What a model reaches on some samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The share of them that it classifies correctly, 0 to 1.
    #[serde(with = "float_text::one")]
    pub accuracy: f64,
    /// The mean loss.
    #[serde(with = "float_text::one")]
    pub loss: f64,
}

impl Record {
    /// How good the averaged model is, if it was measured.
    pub fn quality(&self) -> Option<Quality> {
        Quality::of(self.test_accuracy, self.test_r2)
    }

    /// How good the agents' own models are on average, if they were measured.
    pub fn own_quality(&self) -> Option<Quality> {
        Quality::of(self.agents.map(|own| own.mean), self.agents_r2.map(|own| own.mean))
    }
}

/// Mean and range of one quantity over the agents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    #[serde(with = "float_text::one")]
    pub mean: f64,
    /// The smallest value.
    #[serde(with = "float_text::one")]
    pub min: f64,
    /// The largest value.
    #[serde(with = "float_text::one")]
    pub max: f64,
}

impl Spread {
    /// The spread of `values`; `None` if there are none. If one value is NaN, all three are NaN:
    /// the other agents would make the method look better than it is.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        if values.iter().any(|v| v.is_nan()) {
            return Some(Self { mean: f64::NAN, min: f64::NAN, max: f64::NAN });
        }
        let n = values.len() as f64;
        Some(Self {
            mean: values.iter().sum::<f64>() / n,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// A record file, open for writing.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
}

impl RecordFile {
    /// Starts a new file.
    ///
    /// # Errors
    /// If the file exists or the file system returns an error.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, RecordsError> {
        let path = path.as_ref();
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        Ok(Self { path: path.to_owned(), file: file.map_err(refused("create", path))? })
    }

    /// Continues a file after a checkpoint of `round`. Removes the lines of later rounds, which the
    /// resumed run writes again, and returns the remaining records.
    ///
    /// The file is replaced completely or not changed.
    ///
    /// # Errors
    /// If a line is not valid (see [`read`]) or the file system returns an error.
    pub fn keep_until(
        path: impl AsRef<Path>,
        round: u64,
    ) -> Result<(Self, Vec<Record>), RecordsError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(refused("read", path))?;
        let mut records = parsed(path, &bytes)?;
        records.retain(|record| record.round <= round);
        let kept: String = records.iter().map(line).collect::<Result<_, _>>()?;
        if kept.as_bytes() != bytes {
            write_file(path, kept)?;
        }
        let file = OpenOptions::new().append(true).open(path).map_err(refused("open", path))?;
        Ok((Self { path: path.to_owned(), file }, records))
    }

    /// Appends one line. When this returns, the operating system has it, so killing the program
    /// does not lose it.
    ///
    /// # Errors
    /// If the file system returns an error.
    pub fn append(&mut self, record: &Record) -> Result<(), RecordsError> {
        self.file.write_all(line(record)?.as_bytes()).map_err(refused("append to", &self.path))
    }

    /// Waits until all lines are on the disk. Call it before writing a checkpoint, so that after a
    /// power failure the checkpoint is not ahead of its records.
    ///
    /// # Errors
    /// If the file system returns an error.
    pub fn sync(&self) -> Result<(), RecordsError> {
        self.file.sync_data().map_err(refused("flush", &self.path))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a record file, complete or not. An incomplete last line is ignored.
///
/// # Errors
/// If the file system returns an error. Otherwise the error names the first line that is not a
/// record, or whose round is not after the round of the line before it (which happens when two runs
/// write into one file).
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Record>, RecordsError> {
    let path = path.as_ref();
    parsed(path, &fs::read(path).map_err(refused("read", path))?)
}

/// The records in `bytes`, which came from `path`.
fn parsed(path: &Path, bytes: &[u8]) -> Result<Vec<Record>, RecordsError> {
    let mut records: Vec<Record> = Vec::new();
    for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let bad = |reason| RecordsError::BadLine { path: path.to_owned(), line: i + 1, reason };
        let record: Record = match serde_json::from_slice(line) {
            Ok(record) => record,
            // Only the last line can be incomplete.
            Err(_) if !line.ends_with(b"\n") => break,
            Err(e) => return Err(bad(format!("expected a record in JSON, got {e}"))),
        };
        if let Some(last) = records.last()
            && last.round >= record.round
        {
            let (before, after) = (last.round, record.round);
            return Err(bad(format!("expected a round after {before}, got {after}")));
        }
        records.push(record);
    }
    Ok(records)
}

/// A record as a line of the file.
fn line(record: &Record) -> Result<String, RecordsError> {
    Ok(serde_json::to_string(record)? + "\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record of `round` with plain numbers.
    pub(crate) fn record(round: u64, accuracy: f64) -> Record {
        Record {
            round,
            epoch: round as f64 / 100.0,
            eta: 0.1,
            train_loss: 1.0 - accuracy,
            test_loss: Some(1.5 - accuracy),
            test_accuracy: Some(accuracy),
            validation: None,
            test_r2: None,
            test_rmse: None,
            agents: Spread::from_values(&[accuracy - 0.25, accuracy]),
            agents_r2: None,
            agents_loss: None,
            averaging_gain: None,
            consensus_distance: 1e-3,
            gradient_norm: 1.0 / 3.0,
            drift: 0.0,
            bytes_sent: round.saturating_mul(1_000_000),
            seconds: 0.1 * round as f64,
        }
    }

    /// The same as a single agent writes it.
    pub(crate) fn own_record(round: u64, accuracy: f64) -> Record {
        Record {
            test_loss: None,
            test_accuracy: None,
            agents: Spread::from_values(&[accuracy]),
            agents_loss: Spread::from_values(&[1.5 - accuracy]),
            ..record(round, accuracy)
        }
    }

    fn written(rounds: &[u64]) -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("trial.jsonl");
        let mut file = RecordFile::create(&path).unwrap();
        for round in rounds {
            file.append(&record(*round, 0.5)).unwrap();
        }
        (temp, path)
    }

    /// The same of a regression.
    pub(crate) fn regression_record(round: u64, r2: f64) -> Record {
        Record {
            test_accuracy: None,
            test_r2: Some(r2),
            test_rmse: Some(100.0 * (1.0 - r2).sqrt()),
            agents: None,
            agents_r2: Spread::from_values(&[r2 - 0.25, r2]),
            ..record(round, r2)
        }
    }

    #[test]
    fn a_regression_says_nothing_of_accuracy() {
        let (_temp, path) = written(&[]);
        let record = regression_record(7, -0.5);
        RecordFile::keep_until(&path, 0).unwrap().0.append(&record).unwrap();
        assert_eq!(read(&path).unwrap(), [record]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("accuracy") && !text.contains("\"agents\""), "{text}");
        assert_eq!(record.quality(), Some(Quality::R2(-0.5)));
        assert_eq!(record.own_quality(), Some(Quality::R2(-0.625)));
    }

    #[test]
    fn records_read_back_to_the_same_bits() {
        let (_temp, path) = written(&[100, 200, u64::MAX]);
        assert_eq!(read(&path).unwrap(), [100, 200, u64::MAX].map(|r| record(r, 0.5)));
    }

    #[test]
    fn divergence_survives() {
        let (_temp, path) = written(&[]);
        let mut lost = record(1, f64::NAN);
        lost.test_loss = Some(f64::INFINITY);
        lost.drift = f64::NEG_INFINITY;
        RecordFile::keep_until(&path, 0).unwrap().0.append(&lost).unwrap();
        let back = read(&path).unwrap()[0];
        assert_eq!(format!("{back:?}"), format!("{lost:?}"));
        assert!(fs::read_to_string(&path).unwrap().contains("\"test_loss\":\"inf\""));
    }

    #[test]
    fn who_did_not_measure_the_averaged_model_writes_nothing_of_it() {
        let (_temp, path) = written(&[]);
        let own = own_record(7, 0.5);
        RecordFile::keep_until(&path, 0).unwrap().0.append(&own).unwrap();
        assert_eq!(read(&path).unwrap(), [own]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("test_") && !text.contains("null"), "{text}");
        assert!(text.contains(r#""agents":{"mean":0.5,"min":0.5,"max":0.5}"#), "{text}");
    }

    /// A line as it was written before records said whose.
    #[test]
    fn lines_of_older_simulations_are_read_and_written_byte_by_byte() {
        let line = "{\"round\":300,\"epoch\":1.5,\"eta\":0.1,\"train_loss\":0.25,\
                    \"test_loss\":0.5,\"test_accuracy\":0.875,\
                    \"agents\":{\"mean\":0.75,\"min\":0.5,\"max\":1.0},\
                    \"consensus_distance\":0.01,\"gradient_norm\":2.0,\"drift\":0.0,\
                    \"bytes_sent\":1200,\"seconds\":3.5}\n";
        let (_temp, path) = written(&[]);
        fs::write(&path, line).unwrap();
        let [record] = read(&path).unwrap()[..] else { panic!("one record") };
        assert_eq!((record.test_loss, record.test_accuracy), (Some(0.5), Some(0.875)));
        assert_eq!(super::line(&record).unwrap(), line);
    }

    #[test]
    fn wherever_the_file_was_cut_only_the_cut_line_is_lost() {
        let (_temp, path) = written(&[10, 20, 30]);
        let whole = fs::read(&path).unwrap();
        let line = whole.len() / 3;
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            // A line that lacks nothing but its end is whole.
            assert_eq!(read(&path).unwrap().len(), (length + 1) / line, "{length}");
        }
        fs::write(&path, [&whole[..line], &[0; 40]].concat()).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1);
    }

    #[test]
    fn after_a_cut_line_writing_goes_on_cleanly() {
        let (_temp, path) = written(&[1, 2, 3]);
        let whole = fs::read(&path).unwrap();
        for missing in [1, 2, 30] {
            fs::write(&path, &whole[..whole.len() - missing]).unwrap();
            let (mut file, kept) = RecordFile::keep_until(&path, 9).unwrap();
            assert_eq!(kept.len(), if missing == 1 { 3 } else { 2 });
            file.append(&record(10, 0.5)).unwrap();
            assert_eq!(read(&path).unwrap().len(), kept.len() + 1);
        }
    }

    #[test]
    fn lines_after_the_checkpoint_are_removed() {
        let (temp, path) = written(&[10, 20, 30]);
        let (mut file, kept) = RecordFile::keep_until(&path, 20).unwrap();
        assert_eq!(kept.iter().map(|r| r.round).collect::<Vec<_>>(), [10, 20]);
        file.append(&record(30, 0.7)).unwrap();
        file.sync().unwrap();
        assert_eq!(read(&path).unwrap()[2], record(30, 0.7));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "no part file is left");
        assert_eq!(RecordFile::keep_until(&path, 0).unwrap().1, []);
    }

    #[test]
    fn errors_name_file_and_line() {
        let (_temp, path) = written(&[1, 2, 3]);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let message = |lines: &[&str]| {
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            read(&path).unwrap_err().to_string()
        };
        let broken = message(&[lines[0], "{\"round\":2", lines[2]]);
        assert!(broken.contains("trial.jsonl, line 2: expected a record"), "{broken}");
        let twice = message(&[lines[0], lines[2], lines[1]]);
        assert!(twice.contains("line 3: expected a round after 3, got 2"), "{twice}");
        assert!(RecordFile::create(&path).unwrap_err().to_string().contains("trial.jsonl"));
        fs::remove_file(&path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn one_lost_agent_is_not_averaged_away() {
        let spread = Spread::from_values(&[0.5, 1.0, 0.75]).unwrap();
        assert_eq!(spread, Spread { mean: 0.75, min: 0.5, max: 1.0 });
        assert!(Spread::from_values(&[0.5, f64::NAN]).unwrap().min.is_nan());
        assert_eq!(Spread::from_values(&[]), None);
    }
}
