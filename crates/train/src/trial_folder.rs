//! Where one trial keeps its files.
//!
//! ```text
//!   trials/2-gut-seed-1/
//!     records.jsonl              grows line by line
//!     round-000000120.checkpoint the last two; once the trial is done the last one, if it can be
//!                                gone on with, or none
//!     model.safetensors          the averaged model
//!     summary.json               written last: the trial is done
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use consort_records::folder::write_file;
use consort_records::{Record, RecordFile, TrialRecords, TrialSummary, record};

use crate::checkpoint::Restored;
use crate::checkpoint_files::CheckpointFiles;
use crate::collapse::Collapse;
use crate::error::{TrainError, folder_error};
use crate::trial::Trial;

/// The folder of one trial.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    path: PathBuf,
    checkpoints: CheckpointFiles,
}

/// How a trial, or one agent of it, ended.
#[derive(Clone, Debug)]
pub struct Results {
    /// The method as the user wrote it.
    pub method: String,
    /// Its name in tables.
    pub label: String,
    /// The seed.
    pub seed: u64,
    /// The model as a file; none if it diverged.
    pub model: Option<Vec<u8>>,
    /// How it diverged, if it did.
    pub diverged: Option<String>,
    /// That it is no better than a guess, if so.
    pub collapsed: Option<Collapse>,
}

const SUMMARY: &str = "summary.json";
/// The newest, and one to fall back on.
const KEPT: usize = 2;

impl TrialFolder {
    /// The folder `name` in `parent`, made if need be. A checkpoint with another `identity` (of
    /// configuration and data) is refused.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn open(parent: &Path, name: &str, identity: &str) -> Result<Self, TrainError> {
        Self::at(&parent.join(name), format!("{name}, {identity}"), KEPT)
    }

    /// [`open`](Self::open), where the trial may go on from checkpoints of one of the `earlier`
    /// identities, too.
    ///
    /// # Errors
    /// As there.
    pub fn open_extended(
        parent: &Path,
        name: &str,
        identity: &str,
        earlier: &[String],
    ) -> Result<Self, TrainError> {
        let mut folder = Self::open(parent, name, identity)?;
        let earlier = earlier.iter().map(|identity| format!("{name}, {identity}"));
        folder.checkpoints = folder.checkpoints.accepting(earlier);
        Ok(folder)
    }

    /// The folder at `path`, made if need be, in which the last `kept` checkpoints stay. One
    /// with another `identity` is refused.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn at(path: &Path, identity: String, kept: usize) -> Result<Self, TrainError> {
        fs::create_dir_all(path).map_err(|error| folder_error(path, error))?;
        let checkpoints = CheckpointFiles::new(path, identity, kept);
        Ok(TrialFolder { path: path.to_owned(), checkpoints })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the records.
    pub fn records(&self) -> PathBuf {
        self.path.join("records.jsonl")
    }

    /// The records of a run that goes on where it was `restored`, with those that stay; or of one
    /// that begins, in place of any that are there.
    ///
    /// # Errors
    /// If the file system refuses, or a record that stays is damaged.
    pub fn open_records(
        &self,
        restored: Option<&Restored>,
    ) -> Result<(RecordFile, Vec<Record>), TrainError> {
        let path = self.records();
        if let Some(restored) = restored {
            return Ok(RecordFile::keep_until(path, restored.round)?);
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(folder_error(&path, error))
            }
            _ => Ok((RecordFile::create(path)?, Vec::new())),
        }
    }

    /// The averaged model of a trial that is done.
    pub fn model(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// Whether the trial has ended.
    pub fn is_finished(&self) -> bool {
        self.path.join(SUMMARY).exists()
    }

    /// Makes a trial that was done one that is not: it goes on from its checkpoint, or begins
    /// again. Records and model stay until then.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn reopen(&self) -> Result<(), TrainError> {
        let path = self.path.join(SUMMARY);
        if !self.is_finished() {
            return Ok(());
        }
        fs::remove_file(&path).map_err(|error| folder_error(&path, error))
    }

    /// How the trial ended, if it has.
    ///
    /// # Errors
    /// If the file is there but cannot be read.
    pub fn summary(&self) -> Result<Option<TrialSummary>, TrainError> {
        let path = self.path.join(SUMMARY);
        if !self.is_finished() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| folder_error(&path, error))?;
        let summary = serde_json::from_str(&text);
        summary.map(Some).map_err(|error| folder_error(&path, error))
    }

    /// Writes the model and, last of all, the summary, which marks the trial as done. Checkpoints
    /// stay.
    ///
    /// # Errors
    /// If the file system refuses, or the records cannot be read.
    pub fn write_results(&self, results: Results) -> Result<TrialSummary, TrainError> {
        let Results { method, label, seed, model, diverged, collapsed } = results;
        if let Some(model) = model {
            write_file(self.model(), model)?;
        }
        let records = record::read(self.records())?;
        let collapsed = collapsed.map(|collapse| collapse.to_string());
        let trial = TrialRecords { method, label, seed, records, diverged, collapsed };
        let summary = TrialSummary::new(&trial);
        self.write_summary(&summary)?;
        Ok(summary)
    }

    /// Marks the trial as done.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn write_summary(&self, summary: &TrialSummary) -> Result<(), TrainError> {
        let path = self.path.join(SUMMARY);
        let text = serde_json::to_string_pretty(summary).map_err(|e| folder_error(&path, e))?;
        Ok(write_file(&path, text + "\n")?)
    }

    /// The checkpoints in it.
    pub fn checkpoints(&self) -> &CheckpointFiles {
        &self.checkpoints
    }

    /// Saves the trial's state, and forgets all but the last two.
    ///
    /// # Errors
    /// If the file system refuses; older checkpoints are there still.
    pub fn save(&self, trial: &mut Trial<'_>, seconds: f64) -> Result<(), TrainError> {
        let (world, since) = trial.state();
        self.checkpoints.save(world, *since, seconds)
    }

    /// Puts the newest whole checkpoint into `trial`, if there is any; `tell` hears of those
    /// that are damaged.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn restore(
        &self,
        trial: &mut Trial<'_>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Option<Restored>, TrainError> {
        let (world, since) = trial.state();
        let restored = self.checkpoints.restore(world, u64::MAX, tell)?;
        if let Some(restored) = restored {
            *since = restored.since;
        }
        Ok(restored)
    }
}
