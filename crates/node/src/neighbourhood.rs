//! One agent's place in the network: whom it hears, who hears it, with which weights.

use consort_algo::{Agent, Row};
use consort_graph::MixingMatrix;
use consort_protocol::{PeerSettings, Policy};
use consort_sim::rows_of;

use crate::lookahead::lookahead;

/// What an agent knows of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Neighbourhood {
    id: usize,
    /// How many agents there are.
    agents: usize,
    /// Its rows of W, per phase of the graph.
    rows: Vec<Row>,
    lookahead: usize,
    /// Who hears it, per phase of the graph, ascending.
    receivers: Vec<Vec<usize>>,
}

impl Neighbourhood {
    /// The place of agent `id`; `weights` has the matrices of all phases.
    ///
    /// # Panics
    /// If there is no such agent.
    pub(crate) fn new(weights: &[MixingMatrix], id: usize) -> Self {
        Neighbourhood {
            id,
            agents: weights[0].agents(),
            rows: weights.iter().map(|phase| rows_of(phase)[id].clone()).collect(),
            lookahead: lookahead(weights, id),
            receivers: weights.iter().map(|phase| who_hears(phase, id)).collect(),
        }
    }

    pub(crate) fn agents(&self) -> usize {
        self.agents
    }

    /// Its rows of W, per phase of the graph.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many exchanges a sender can be ahead.
    pub(crate) fn lookahead(&self) -> usize {
        self.lookahead
    }

    /// All agents with which it exchanges messages in some round, ascending.
    pub(crate) fn neighbours(&self) -> Vec<usize> {
        let heard = self.rows.iter().flat_map(Row::senders);
        let both = heard.chain(self.receivers.iter().flatten()).copied();
        let mut all: Vec<usize> = both.filter(|&other| other != self.id).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What the protocol of `agent` is told, besides the policy: `rounds` rounds, states saved every
    /// `save_every` of them, and the text that must be equal on all agents.
    pub(crate) fn settings(
        &self,
        agent: &Agent,
        policy: Policy,
        rounds: u64,
        save_every: u64,
        shared: &str,
    ) -> PeerSettings {
        let others = |row: &Row| -> Vec<usize> {
            row.senders().iter().copied().filter(|&other| other != self.id).collect()
        };
        PeerSettings {
            policy,
            rounds,
            exchanges: agent.exchanges().len() as u64,
            phases_per_round: agent.phases_per_round() as u64,
            shared: shared.into(),
            save_every,
            listeners: self.receivers.clone(),
            senders: self.rows.iter().map(others).collect(),
            lookahead: self.lookahead as u64,
            alone_at_most: crate::drive_settings::ALONE_AT_MOST,
        }
    }
}

/// Who hears `id`, ascending.
fn who_hears(weights: &MixingMatrix, id: usize) -> Vec<usize> {
    let hears = |&other: &usize| other != id && weights.row(other).any(|(from, _)| from == id);
    (0..weights.agents()).filter(hears).collect()
}
