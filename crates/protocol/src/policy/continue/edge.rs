//! One edge of the graph, as seen from one of its ends under the policy `Continue`.

use std::sync::Arc;

use consort_algo::Agent;

/// In place of [`Edge::used`], also in a `Position` frame: the agent was restarted and does not
/// know what it used.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// The messages of a round in which an edge was used.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) round: u64,
    pub(crate) theirs: Arc<[f32]>,
    pub(crate) ours: Arc<[f32]>,
}

/// One edge, as seen from this end.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) peer: usize,
    /// The link is up, and the plans are equal.
    pub(crate) ready: bool,
    pub(crate) active: bool,
    /// The serial number of the newest `Position` frame on this link; updates and models that were
    /// sent before it are out of date.
    pub(crate) newest_position: u64,
    /// The round that this end offered last.
    pub(crate) our_offer: u64,
    /// The round that the other end offered, on this link and since the edge was set aside.
    pub(crate) their_offer: Option<u64>,
    /// One more than the last round used; `UNKNOWN` after a restart.
    pub(crate) used: u64,
    /// The other end used our message of this round and then set the edge aside: its message of
    /// the round still counts.
    pub(crate) closing: Option<u64>,
    /// The other end's model of a round, sent because it joins in that round.
    pub(crate) model: Option<(u64, Arc<[f32]>)>,
    /// A message for a round that this agent has not reached yet.
    pub(crate) update: Option<(u64, Arc<[f32]>)>,
    /// The neighbour's model, rebuilt from its updates.
    pub(crate) copy: Option<Vec<f32>>,
    /// The last round in which this end used the edge.
    pub(crate) last: Option<Used>,
    /// A round in which only this end used the edge, until that is retracted.
    pub(crate) used_alone: Option<Used>,
    /// The last round whose message we sent over this edge.
    pub(crate) sent: Option<u64>,
    /// The neighbour's answer to our request for a model.
    pub(crate) answer: Option<Arc<[f32]>>,
    /// We asked the neighbour for its model.
    pub(crate) asked: bool,
    /// The neighbour has left, or is ignored for good.
    pub(crate) gone: bool,
}

impl Edge {
    /// Before the first round an edge is active; the edges of a restarted agent are set aside.
    pub(crate) fn new(peer: usize, agent: &Agent) -> Self {
        let fresh = agent.round() == 0;
        Edge {
            peer,
            ready: false,
            active: fresh,
            newest_position: 0,
            our_offer: agent.round(),
            their_offer: None,
            used: if fresh { 0 } else { UNKNOWN },
            closing: None,
            model: None,
            update: None,
            copy: (fresh && agent.sends_moves()).then(|| agent.params().to_vec()),
            last: None,
            used_alone: None,
            sent: None,
            answer: None,
            asked: false,
            gone: false,
        }
    }

    /// The round in which the edge becomes active again, if both ends have made an offer.
    pub(crate) fn joins_in(&self) -> Option<u64> {
        self.their_offer
            .filter(|_| self.ready && !self.active && !self.gone)
            .map(|offer| offer.max(self.our_offer))
    }

    /// True if both ends use the edge in `round`.
    pub(crate) fn takes_part(&self, round: u64) -> bool {
        self.active || self.closing == Some(round) || self.joins_in() == Some(round)
    }
}
