//! The checkpoints in a folder: the last few, each named by its round.
//!
//! A round that is saved again after the agents went back to an earlier one belongs to another
//! course of events than the checkpoints of later rounds, which are removed then.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkpoint::{self, Agents, Restored};
use crate::error::{TrainError, folder_error};
use crate::since_evaluation::SinceEvaluation;

const BEGINNING: &str = "round-";
const ENDING: &str = ".checkpoint";

/// Where agents are saved, and which of their checkpoints stay.
#[derive(Clone, Debug)]
pub struct CheckpointFiles {
    folder: PathBuf,
    /// What must be the same for a checkpoint to be of use: the first, with which they are saved,
    /// or another one.
    identities: Vec<String>,
    /// How many stay.
    kept: usize,
}

impl CheckpointFiles {
    /// Checkpoints in `folder`, of which the last `kept` stay (at least one). One with another
    /// `identity` is refused.
    pub fn new(folder: &Path, identity: String, kept: usize) -> Self {
        let (folder, identities) = (folder.to_owned(), vec![identity]);
        CheckpointFiles { folder, identities, kept: kept.max(1) }
    }

    /// The same, where checkpoints with one of these identities may be gone on with, too.
    pub fn accepting(mut self, earlier: impl IntoIterator<Item = String>) -> Self {
        self.identities.extend(earlier);
        self
    }

    /// Saves the agents where they stand: at the beginning of a round.
    ///
    /// # Errors
    /// If the file system refuses; older checkpoints are there still.
    pub fn save(
        &self,
        agents: &mut dyn Agents,
        since: SinceEvaluation,
        seconds: f64,
    ) -> Result<(), TrainError> {
        let round = agents.round();
        let path = self.folder.join(format!("{BEGINNING}{round:09}{ENDING}"));
        checkpoint::save(agents, since, &self.identities[0], seconds, &path)?;
        let (until_now, later): (Vec<_>, Vec<_>) =
            self.all()?.into_iter().partition(|(saved, _)| *saved <= round);
        let old = until_now.iter().rev().skip(self.kept);
        // One that cannot be removed only takes room.
        later.iter().chain(old).for_each(|(_, path)| drop(fs::remove_file(path)));
        Ok(())
    }

    /// Puts the newest whole checkpoint of round `at_most` or before into `agents`, if there is
    /// any; `tell` hears of those that are damaged.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn restore(
        &self,
        agents: &mut dyn Agents,
        at_most: u64,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Option<Restored>, TrainError> {
        let mut damaged = Vec::new();
        let mut used = None;
        for (round, path) in self.all()?.iter().rev().filter(|(round, _)| *round <= at_most) {
            match checkpoint::restore(agents, &self.identities, *round, path) {
                Ok(restored) => {
                    used = Some(restored);
                    break;
                }
                Err(error) => damaged.push(error),
            }
        }
        // Only now it is known what is used instead.
        let instead = match &used {
            Some(restored) => format!("that of round {} is used", restored.round),
            None => "no checkpoint can be used, so it begins again with the first round".into(),
        };
        damaged.iter().for_each(|error| tell(&format!("{error}; {instead}")));
        Ok(used)
    }

    /// The rounds of which there are checkpoints, ascending; whether they are whole is not
    /// looked at.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn rounds(&self) -> Result<Vec<u64>, TrainError> {
        Ok(self.all()?.into_iter().map(|(round, _)| round).collect())
    }

    /// Removes all of them.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn forget_all(&self) -> Result<(), TrainError> {
        self.forget_before(u64::MAX)
    }

    /// Removes those of the rounds before `round`.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn forget_before(&self, round: u64) -> Result<(), TrainError> {
        let all = self.all()?;
        let old = all.iter().filter(|(saved, _)| *saved < round);
        old.for_each(|(_, path)| drop(fs::remove_file(path)));
        Ok(())
    }

    /// Rounds and files, ascending.
    fn all(&self) -> Result<Vec<(u64, PathBuf)>, TrainError> {
        let entries =
            fs::read_dir(&self.folder).map_err(|error| folder_error(&self.folder, error))?;
        let round_of = |path: &Path| -> Option<u64> {
            let name = path.file_name()?.to_str()?;
            name.strip_prefix(BEGINNING)?.strip_suffix(ENDING)?.parse().ok()
        };
        let numbered = |path: PathBuf| Some((round_of(&path)?, path));
        let mut all: Vec<(u64, PathBuf)> =
            entries.filter_map(|entry| numbered(entry.ok()?.path())).collect();
        all.sort();
        Ok(all)
    }
}
