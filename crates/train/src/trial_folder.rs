//! Where one trial keeps its files.
//!
//! ```text
//!   trials/2-gut-seed-1/
//!     records.jsonl              grows line by line
//!     round-000000120.checkpoint the last two; gone once the trial is done
//!     model.safetensors          the averaged model
//!     summary.json               written last: the trial is done
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use consort_records::TrialSummary;
use consort_records::folder::write_file;

use crate::checkpoint::{self, Restored};
use crate::error::TrainError;
use crate::trial::Trial;

/// The folder of one trial.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    path: PathBuf,
    /// Its name, and what must be the same for a checkpoint to be of use.
    identity: String,
}

const ENDING: &str = ".checkpoint";
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
        let path = parent.join(name);
        fs::create_dir_all(&path).map_err(|error| folder_error(&path, error))?;
        Ok(TrialFolder { path, identity: format!("{name}, {identity}") })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the records.
    pub fn records(&self) -> PathBuf {
        self.path.join("records.jsonl")
    }

    /// Removes what a trial wrote that has no checkpoint to go on from.
    pub(crate) fn forget_records(&self) -> Result<(), TrainError> {
        let path = self.records();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(folder_error(&path, error))
            }
            _ => Ok(()),
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

    /// Marks the trial as done.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn finish(&self, summary: &TrialSummary) -> Result<(), TrainError> {
        let path = self.path.join(SUMMARY);
        let text = serde_json::to_string_pretty(summary).map_err(|e| folder_error(&path, e))?;
        write_file(&path, text + "\n")?;
        self.checkpoints()?.iter().for_each(|old| drop(fs::remove_file(old)));
        Ok(())
    }

    /// Saves the trial's state, and forgets all but the last two.
    ///
    /// # Errors
    /// If the file system refuses; older checkpoints are there still.
    pub fn save(&self, trial: &mut Trial<'_>, seconds: f64) -> Result<(), TrainError> {
        let path = self.path.join(format!("round-{:09}{ENDING}", trial.rounds_done()));
        checkpoint::save(trial, &self.identity, seconds, &path)?;
        let all = self.checkpoints()?;
        // One that cannot be removed only takes room.
        all.iter().rev().skip(KEPT).for_each(|old| drop(fs::remove_file(old)));
        Ok(())
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
        for path in self.checkpoints()?.iter().rev() {
            match checkpoint::restore(trial, &self.identity, path) {
                Ok(restored) => return Ok(Some(restored)),
                Err(error) => tell(&format!("{error}; the one before it is used")),
            }
        }
        Ok(None)
    }

    /// Oldest first.
    fn checkpoints(&self) -> Result<Vec<PathBuf>, TrainError> {
        let entries = fs::read_dir(&self.path).map_err(|error| folder_error(&self.path, error))?;
        let ends = |path: &PathBuf| path.to_string_lossy().ends_with(ENDING);
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|e| e.path())).filter(ends).collect();
        paths.sort();
        Ok(paths)
    }
}

fn folder_error(path: &Path, error: impl std::fmt::Display) -> TrainError {
    TrainError::Folder { path: path.to_owned(), reason: error.to_string() }
}
