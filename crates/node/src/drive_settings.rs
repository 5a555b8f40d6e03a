//! How an agent's run is driven: its policy, its checkpoints, what it keeps and checks.

use std::time::Duration;

use consort_graph::Topology;
use consort_protocol::{Limits, Policy};

/// How long an agent without any neighbour waits before it stops.
pub(crate) const ALONE_AT_MOST: Duration = Duration::from_secs(600);

/// How an agent's run is to be driven.
#[derive(Clone, Debug)]
pub struct DriveSettings {
    /// What happens while a neighbour is away.
    pub policy: Policy,
    /// Rounds between two checkpoints at most.
    pub save_every: u64,
    /// Seconds between two checkpoints at most; 0: any number.
    pub save_every_seconds: f64,
    /// How long an agent without any neighbour waits before it stops.
    pub alone_at_most: Duration,
    /// Whether the agent's model of every evaluation stays in its folder, for a program on the
    /// same machine that averages the models of all agents.
    pub keep_evaluated: bool,
    /// What the neighbours accept: the limits of frames, and the largest number. An agent whose
    /// numbers grow beyond it fails by itself. None: the neighbours find out.
    pub accepted: Option<(Limits, f32)>,
}

impl DriveSettings {
    /// Bytes of own messages that are kept to be sent again, about.
    const KEPT_BYTES: u64 = 64 << 20;
    /// Rounds that are done again after a crash, at most.
    const MOST_ROUNDS: u64 = 50;

    /// Checkpoints that must stay, so that neighbours which lost rounds find one to share.
    pub fn checkpoints(&self, topology: &Topology) -> usize {
        let farthest = topology.agents() as u64; // no way is longer
        crate::KEPT + (farthest / self.save_every) as usize
    }

    /// As often as is usual for messages of so many floats, unless the user says how often.
    pub fn usual(policy: Policy, message: usize, config: &consort_train::Checkpoint) -> Self {
        let by_memory = Self::KEPT_BYTES / (4 * message as u64).max(1);
        let usual = by_memory.clamp(1, Self::MOST_ROUNDS);
        DriveSettings {
            policy,
            save_every: config.every_rounds.unwrap_or(usual),
            save_every_seconds: config.every_seconds,
            alone_at_most: ALONE_AT_MOST,
            keep_evaluated: false,
            accepted: None,
        }
    }
}
