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
    /// Exchanges per round, as many as [`Agent::exchanges`](consort_algo::Agent::exchanges) lists.
    pub exchanges: u64,
    /// How many phases of a changing graph a round passes, as
    /// [`Agent::phases_per_round`](consort_algo::Agent::phases_per_round) says.
    pub phases_per_round: u64,
    /// What must be equal on all agents; compared as text when two of them connect.
    pub shared: Arc<str>,
    /// Rounds between two saved states; limits how many messages are kept for sending again.
    pub save_every: u64,
    /// Who hears this agent, per phase of the graph, itself excluded.
    pub listeners: Vec<Vec<usize>>,
    /// Whom this agent hears, per phase of the graph, itself excluded.
    pub senders: Vec<Vec<usize>>,
    /// How many exchanges a neighbour may be ahead: 1 on an undirected graph.
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

    /// The number of the first exchange after the last round.
    pub(crate) fn end(&self) -> u64 {
        self.rounds * self.exchanges
    }

    /// Exchanges between two saved states.
    pub(crate) fn save_interval(&self) -> u64 {
        self.save_every * self.exchanges
    }

    /// Whom this agent hears in `exchange`.
    pub(crate) fn heard(&self, exchange: u64) -> Vec<usize> {
        self.senders[self.phase(exchange, self.senders.len())].clone()
    }

    /// True if `peer` hears this agent in some phase of the graph.
    pub(crate) fn ever_listens(&self, peer: usize) -> bool {
        self.listeners.iter().any(|phase| phase.contains(&peer))
    }

    /// True if `peer` hears this agent's message of `exchange`.
    pub(crate) fn listens(&self, peer: usize, exchange: u64) -> bool {
        self.listeners[self.phase(exchange, self.listeners.len())].contains(&peer)
    }

    /// The phase of the graph in `exchange`.
    fn phase(&self, exchange: u64, phases: usize) -> usize {
        let per_phase = self.exchanges / self.phases_per_round;
        (exchange / per_phase % phases as u64) as usize
    }
}
