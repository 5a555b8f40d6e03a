//! The folder with the files of one agent.
//!
//! ```text
//!   identity.txt                 which run and which agent; no other may write here
//!   records.jsonl                its evaluations, line by line
//!   links.jsonl                  the traffic on its links, line by line
//!   round-000000120.checkpoint   the last few checkpoints
//!   evaluated-000000120.safetensors   its own model at an evaluation, until somebody has used it
//!   model.safetensors            its own model, once it is done
//!   summary.json                 written last: the agent is done
//! ```

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use consort_algo::Agent;
use consort_records::folder::write_file;
use consort_records::{Record, RecordFile, TrialSummary};
use consort_train::{Restored, Results, SinceEvaluation, TrainError, TrialFolder};

use crate::error::NodeError;

/// The default number of checkpoints to keep: after a failure, an agent may have to go back farther
/// than its own last checkpoint, for a neighbour.
pub const KEPT: usize = 3;

const NAME: &str = "identity.txt";
const EVALUATED: &str = "evaluated-";
const MODEL: &str = ".safetensors";

/// The file with the model that the agent whose folder is `agent` had after `round` rounds.
pub fn evaluated_model(agent: &Path, round: u64) -> PathBuf {
    agent.join(format!("{EVALUATED}{round:09}{MODEL}"))
}

/// The rounds of which the folder `agent` has such a model, ascending.
pub fn evaluated_rounds(agent: &Path) -> Vec<u64> {
    let round_of = |entry: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let name = entry.ok()?.file_name();
        name.to_str()?.strip_prefix(EVALUATED)?.strip_suffix(MODEL)?.parse().ok()
    };
    let entries = std::fs::read_dir(agent).into_iter().flatten();
    let mut rounds: Vec<u64> = entries.filter_map(round_of).collect();
    rounds.sort_unstable();
    rounds
}

/// The folder of one agent of one run.
#[derive(Clone, Debug)]
pub struct AgentFolder {
    files: TrialFolder,
}

impl AgentFolder {
    /// Opens or creates the folder at `path`, in which the last `kept` checkpoints are kept.
    ///
    /// # Errors
    /// If it belongs to another run or agent, whose results would be lost, or if the file system
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

    /// A lock that keeps other processes from running the same agent here while it is held.
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

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// The path of the records.
    pub fn records(&self) -> PathBuf {
        self.files.records()
    }

    /// The path of the records of the links.
    pub fn links(&self) -> PathBuf {
        self.path().join("links.jsonl")
    }

    /// The path of the agent's own model, which exists once the agent is done.
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
    /// If the file system refuses. Older checkpoints remain.
    pub fn save(
        &self,
        agent: &mut Agent,
        since: SinceEvaluation,
        seconds: f64,
    ) -> Result<(), TrainError> {
        self.files.checkpoints().save(agent, since, seconds)
    }

    /// Restores `agent` from the newest intact checkpoint, if there is one; calls `tell` for each
    /// damaged one.
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

    /// Restores `agent` from the newest intact checkpoint of `round` or an earlier one, if there is
    /// one. Checkpoints of later rounds remain until the agent is saved again.
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

    /// The rounds that have checkpoints, ascending.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn saved_rounds(&self) -> Result<Vec<u64>, TrainError> {
        self.files.checkpoints().rounds()
    }

    /// Keeps the agent's model of the evaluation after `round` rounds.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn keep_evaluated(&self, round: u64, model: &[u8]) -> Result<(), TrainError> {
        Ok(write_file(evaluated_model(self.path(), round), model)?)
    }

    /// The results of this agent, if it is done.
    ///
    /// # Errors
    /// If the file exists but cannot be read.
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
