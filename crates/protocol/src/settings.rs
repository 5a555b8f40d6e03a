//! What the driver tells the protocol before the run.

use std::sync::Arc;
use std::time::Duration;

use crate::policy::Policy;

/// A run, as the protocol of one agent sees it.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// What to do when a neighbour is silent.
    pub policy: Policy,
    /// How many rounds there are.
    pub rounds: u64,
    /// What must be equal on all agents; compared as text when two of them connect.
    pub shared: Arc<str>,
    /// Rounds between two saved states; limits how many messages are kept for sending again.
    pub save_every: u64,
    /// Who hears this agent, per phase of the graph, itself excluded.
    pub listeners: Vec<Vec<usize>>,
    /// Whom this agent hears, per phase of the graph, itself excluded.
    pub senders: Vec<Vec<usize>>,
    /// How many rounds a neighbour may be ahead: 1 on an undirected graph.
    pub lookahead: u64,
    /// How long an agent without any neighbour waits before it stops (`Continue`).
    pub alone_at_most: Duration,
}

impl PeerSettings {
    /// All neighbours, ascending.
    pub(crate) fn neighbours(&self) -> Vec<usize> {
        let mut all: Vec<usize> =
            self.listeners.iter().chain(&self.senders).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whom this agent hears in `round`.
    pub(crate) fn heard(&self, round: u64) -> Vec<usize> {
        self.senders[(round % self.senders.len() as u64) as usize].clone()
    }

    /// True if `peer` hears this agent in some phase of the graph.
    pub(crate) fn ever_listens(&self, peer: usize) -> bool {
        self.listeners.iter().any(|phase| phase.contains(&peer))
    }

    /// True if `peer` hears this agent's message of `round`.
    pub(crate) fn listens(&self, peer: usize, round: u64) -> bool {
        self.listeners[(round % self.listeners.len() as u64) as usize].contains(&peer)
    }
}
