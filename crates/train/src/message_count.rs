//! How many messages have been sent so far.

use consort_algo::RoundTraffic;
use consort_graph::MixingMatrix;

/// Messages of a round, for each phase of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageCount {
    by_phase: Vec<u64>,
}

impl MessageCount {
    /// The messages of all agents together.
    pub fn from_weights(weights: &[MixingMatrix]) -> Self {
        let heard = |w: &MixingMatrix, agent: usize| {
            w.row(agent).filter(|&(from, _)| from != agent).count() as u64
        };
        let phase = |w: &MixingMatrix| (0..w.agents()).map(|agent| heard(w, agent)).sum();
        MessageCount { by_phase: weights.iter().map(phase).collect() }
    }

    /// The messages of one agent, which is heard by these agents in each phase.
    pub fn from_receivers(receivers: &[Vec<usize>]) -> Self {
        MessageCount { by_phase: receivers.iter().map(|phase| phase.len() as u64).collect() }
    }

    /// Bytes sent in the first `rounds` rounds.
    pub fn bytes_until(&self, rounds: u64, traffic: RoundTraffic) -> u64 {
        let phases = rounds * traffic.phases_per_round as u64;
        4 * traffic.words_per_phase as u64 * self.until(phases)
    }

    /// Messages sent in a round, of which that in the first phase counts.
    pub(crate) fn in_round(&self, round: u64, traffic: RoundTraffic) -> u64 {
        let phase = round * traffic.phases_per_round as u64;
        self.by_phase[(phase % self.by_phase.len() as u64) as usize]
    }

    /// Messages sent in the first `phases` phases.
    fn until(&self, phases: u64) -> u64 {
        let period = self.by_phase.len() as u64;
        let rest = &self.by_phase[..(phases % period) as usize];
        phases / period * self.by_phase.iter().sum::<u64>() + rest.iter().sum::<u64>()
    }
}
