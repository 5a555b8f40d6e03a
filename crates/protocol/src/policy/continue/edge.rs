//! One edge of the graph, as one of its ends sees it under the policy `Continue`.

use std::sync::Arc;

use consort_algo::Agent;

/// `extra` of a `Stand` by an agent that does not know what it used: it was restarted.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// The messages of the last round in which an edge was used.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) round: u64,
    pub(crate) theirs: Arc<[f32]>,
    pub(crate) ours: Arc<[f32]>,
}

/// One edge, as this end sees it.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) peer: usize,
    /// The link is up, and the plans are equal.
    pub(crate) ready: bool,
    pub(crate) active: bool,
    /// The round that this end offered last.
    pub(crate) mine: u64,
    /// The round that the other end offered, on this link and since the edge was set aside.
    pub(crate) theirs: Option<u64>,
    /// One more than the last round used; `UNKNOWN` after a restart.
    pub(crate) used: u64,
    /// The other end used this round of ours and then stood elsewhere: its message counts.
    pub(crate) closing: Option<u64>,
    /// What came for a round that is not yet under way, or to join in.
    pub(crate) model: Option<(u64, Arc<[f32]>)>,
    pub(crate) update: Option<(u64, Arc<[f32]>)>,
    /// The neighbour's model, rebuilt from its moves.
    pub(crate) copy: Option<Vec<f32>>,
    pub(crate) last: Option<Used>,
    /// What this end used alone, until it is taken back.
    pub(crate) alone: Option<Used>,
    /// The round for which it was sent our message.
    pub(crate) sent: Option<u64>,
    pub(crate) answer: Option<Arc<[f32]>>,
    pub(crate) asked: bool,
    /// It has ended, or sent garbage too often.
    pub(crate) gone: bool,
}

impl Edge {
    /// An edge before the first round is active; one of a restarted agent is aside.
    pub(crate) fn new(peer: usize, agent: &Agent) -> Self {
        let fresh = agent.round() == 0;
        Edge {
            peer,
            ready: false,
            active: fresh,
            mine: agent.round(),
            theirs: None,
            used: if fresh { 0 } else { UNKNOWN },
            closing: None,
            model: None,
            update: None,
            copy: (fresh && agent.sends_moves()).then(|| agent.params().to_vec()),
            last: None,
            alone: None,
            sent: None,
            answer: None,
            asked: false,
            gone: false,
        }
    }

    /// The round in which the edge becomes active again.
    pub(crate) fn joint(&self) -> Option<u64> {
        self.theirs.filter(|_| self.ready && !self.active && !self.gone).map(|n| n.max(self.mine))
    }

    /// True if both ends use the edge in `round`.
    pub(crate) fn takes_part(&self, round: u64) -> bool {
        self.active || self.closing == Some(round) || self.joint() == Some(round)
    }
}
