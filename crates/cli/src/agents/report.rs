//! What an agent tells of itself, line by line in JSON: how `consort launch` follows its agents.

use serde::{Deserialize, Serialize};

/// One line.
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
    /// An evaluation of the agent's own model is in the records.
    Evaluated { round: u64, own_accuracy: f64, own_test_loss: f64 },
    /// These neighbours are waited for.
    Waiting { round: u64, awaited: Vec<usize> },
    /// Something the user should know.
    Note { text: String },
    /// All rounds are over; so good is the agent's own model.
    Done { own_accuracy: f64, own_test_loss: f64, seconds: f64 },
}
