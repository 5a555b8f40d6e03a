//! What an agent reports, one line of JSON each; `consort launch` reads it to follow its agents.

use serde::{Deserialize, Serialize};

/// One report.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Report {
    /// A round is over.
    Round {
        round: u64,
        rounds: u64,
        loss: f32,
        /// Neighbours whose messages were used.
        used: usize,
        neighbours: usize,
    },
    /// An evaluation of the agent's own model has been written to the records.
    Evaluated { round: u64, own_accuracy: f64, own_test_loss: f64 },
    /// The agent waits for the messages of these neighbours, or for the absent ones to connect.
    Waiting { round: u64, awaited: Vec<usize>, absent: Vec<usize> },
    /// This neighbour is connected and runs the same plan.
    Met { peer: usize },
    /// Something the user should know; unless it is part of every run, or is said by a report of
    /// another kind.
    Note { text: String, routine: bool },
    /// All rounds are over; the results of the agent's own model.
    Done { own_accuracy: f64, own_test_loss: f64, seconds: f64 },
}
