//! Where one agent keeps its files.
//!
//! ```text
//!   identity.txt                 which run, which agent: no other writes here
//!   records.jsonl                its evaluations, line by line
//!   links.jsonl                  what went over its links, line by line
//!   round-000000120.checkpoint   the last few
//!   model.safetensors            its own model, once it is done
//!   summary.json                 written last: it is done
//! ```

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use consort_algo::Agent;
use consort_records::folder::write_file;
use consort_records::{Record, RecordFile, TrialSummary};
use consort_train::{Restored, Results, SinceEvaluation, TrainError, TrialFolder};

use crate::error::NodeError;

/// Checkpoints that stay, unless somebody wants another number: after an accident a neighbour
/// may have to go back farther than the agent itself.
pub const KEPT: usize = 3;

const NAME: &str = "identity.txt";

/// The folder of one agent of one run.
#[derive(Clone, Debug)]
pub struct AgentFolder {
    files: TrialFolder,
}

impl AgentFolder {
    /// The folder at `path`, made if need be, in which the last `kept` checkpoints stay.
    ///
    /// # Errors
    /// If it holds another run or agent, whose results would be lost; or if the file system
    /// refuses.
    pub fn open(path: &Path, run_id: u64, agent: usize, kept: usize) -> Result<Self, NodeError> {
        let here = format!("run {run_id:016x}, agent {agent}");
        let files = TrialFolder::at(path, here.clone(), kept)?;
        let name = path.join(NAME);
        match std::fs::read_to_string(&name) {
            Ok(there) if there.trim() != here => {
                let there = there.trim().chars().filter(|c| !c.is_control()).take(80).collect();
                return Err(NodeError::AnotherRun { path: path.to_owned(), here, there });
            }
            Ok(_) => {}
            Err(_) => write_file(&name, here + "\n").map_err(TrainError::from)?,
        }
        Ok(AgentFolder { files })
    }

    /// Keeps other processes from running the same agent here, for as long as it is held.
    ///
    /// # Errors
    /// If another process holds it, or the file system refuses.
    pub fn lock(&self) -> Result<File, NodeError> {
        let path = self.path().join("lock");
        let refused = |error: std::io::Error| TrainError::Folder {
            path: path.clone(),
            reason: error.to_string(),
        };
        let file = File::create(&path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(NodeError::Locked { path: self.path().to_owned() })
            }
            Err(TryLockError::Error(error)) => Err(refused(error).into()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// The file of the records.
    pub fn records(&self) -> PathBuf {
        self.files.records()
    }

    /// The file of what went over the links.
    pub fn links(&self) -> PathBuf {
        self.path().join("links.jsonl")
    }

    /// The agent's own model, once it is done.
    pub fn model(&self) -> PathBuf {
        self.files.model()
    }

    /// The records of a run that goes on where it was `restored`, with those that stay; or of one
    /// that begins.
    ///
    /// # Errors
    /// If the file system refuses, or a record that stays is damaged.
    pub fn open_records(
        &self,
        restored: Option<&Restored>,
    ) -> Result<(RecordFile, Vec<Record>), TrainError> {
        self.files.open_records(restored)
    }

    /// Saves the agent at the beginning of a round.
    ///
    /// # Errors
    /// If the file system refuses; older checkpoints are there still.
    pub fn save(
        &self,
        agent: &mut Agent,
        since: SinceEvaluation,
        seconds: f64,
    ) -> Result<(), TrainError> {
        self.files.checkpoints().save(agent, since, seconds)
    }

    /// Puts the newest whole checkpoint into `agent`, if there is any; `tell` hears of those
    /// that are damaged.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn restore_newest(
        &self,
        agent: &mut Agent,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Option<Restored>, TrainError> {
        self.restore_at_most(agent, u64::MAX, tell)
    }

    /// Puts the newest whole checkpoint of `round` or before into `agent`, if there is any.
    /// Those of later rounds stay until the agent is saved again.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn restore_at_most(
        &self,
        agent: &mut Agent,
        round: u64,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Option<Restored>, TrainError> {
        self.files.checkpoints().restore(agent, round, tell)
    }

    /// The rounds of which there are checkpoints, ascending.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn saved_rounds(&self) -> Result<Vec<u64>, TrainError> {
        self.files.checkpoints().rounds()
    }

    /// How the run ended for this agent, if it has.
    ///
    /// # Errors
    /// If the file is there but cannot be read.
    pub fn summary(&self) -> Result<Option<TrialSummary>, TrainError> {
        self.files.summary()
    }

    /// Writes model and summary: the agent is done. Its checkpoints stay: a neighbour may yet need
    /// it to go back.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn finish(&self, results: Results) -> Result<TrialSummary, TrainError> {
        self.files.write_results(results)
    }

    /// Removes the checkpoints: the whole run is done.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn forget_checkpoints(&self) -> Result<(), TrainError> {
        self.files.checkpoints().forget_all()
    }
}
