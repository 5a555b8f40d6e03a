//! What an agent reports, one line of JSON each; `consort launch` reads it to follow its agents.

use consort_records::Quality;
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
    Evaluated {
        round: u64,
        #[serde(flatten)]
        own: OwnQuality,
        own_test_loss: f64,
    },
    /// The agent waits for the messages of these neighbours, or for the absent ones to connect.
    Waiting { round: u64, awaited: Vec<usize>, absent: Vec<usize> },
    /// This neighbour is connected and runs the same plan.
    Met { peer: usize },
    /// Something the user should know; unless it is part of every run, or is said by a report of
    /// another kind.
    Note { text: String, routine: bool },
    /// All rounds are over; the results of the agent's own model.
    Done {
        #[serde(flatten)]
        own: OwnQuality,
        own_test_loss: f64,
        seconds: f64,
    },
}

/// How good the agent's own model is: one of the two.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OwnQuality {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_accuracy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_r2: Option<f64>,
}

impl From<Quality> for OwnQuality {
    fn from(quality: Quality) -> Self {
        OwnQuality { own_accuracy: quality.accuracy(), own_r2: quality.r2() }
    }
}

impl OwnQuality {
    /// The one of the two that there is.
    pub(crate) fn quality(self) -> Option<Quality> {
        self.own_accuracy.map(Quality::Accuracy).or(self.own_r2.map(Quality::R2))
    }
}
