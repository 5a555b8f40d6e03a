//! Why an agent cannot start or go on.

use std::path::PathBuf;

use consort_algo::{GradientError, ProtocolError};
use consort_protocol::FrameError;
use consort_records::RecordsError;
use consort_sim::SimError;
use consort_train::TrainError;
use thiserror::Error;

use crate::key_file::KeyFileError;
use crate::plan::PlanError;

/// What can go wrong in an agent's process.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The network plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The agent's key.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// Its data, its model, its files.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Its threads.
    #[error(transparent)]
    Threads(#[from] SimError),
    /// A gradient that no round can go on with.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// The driver broke the rules of a round.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A number beyond those of the plan.
    #[error(
        "there is no agent {id}: the plan lists {agents}, numbered from 0 to {}",
        agents.saturating_sub(1)
    )]
    NoSuchAgent {
        /// The number.
        id: usize,
        /// How many there are.
        agents: usize,
    },
    /// The protocol cannot go on.
    #[error("{why}")]
    CannotGoOn {
        /// What happened, and to whom.
        why: String,
    },
    /// Numbers that no neighbour accepts.
    #[error("the model grew beyond all bounds in round {round}: {what}")]
    TooLarge {
        /// When.
        round: u64,
        /// Which number of its message, and what is accepted.
        what: FrameError,
    },
    /// A folder of results that are not this agent's.
    #[error(
        "{} holds {there}, and this is {here}: the plan has changed, or the folder is another's. \
         Use another folder (--out), or move that one away",
        path.display()
    )]
    AnotherRun {
        /// The folder.
        path: PathBuf,
        /// This run and agent.
        here: String,
        /// What is there.
        there: String,
    },
    /// Two processes for one agent.
    #[error("another process runs this agent in {}: end it, or use another folder", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// Its records.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl NodeError {
    /// True if numbers grew beyond all bounds: the agent would fail so again.
    pub fn is_divergence(&self) -> bool {
        match self {
            NodeError::Gradient(error) => matches!(error, GradientError::NonFinite { .. }),
            NodeError::Train(error) => error.is_divergence(),
            NodeError::TooLarge { .. } => true,
            _ => false,
        }
    }
}
