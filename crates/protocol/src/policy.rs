//! What an agent does about neighbours that are silent: one file per policy.
//!
//! [`Peer`](crate::Peer) knows links, plans and greetings; a policy knows the rounds. Whatever a
//! policy does not care about has an empty body here.

mod r#continue;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, ProtocolError};

use crate::frame::{Body, Header, Kind};
use crate::settings::{Note, Policy, Settings, Want};

/// A frame to be sent: its kind, round, extra and body.
pub(crate) type Outgoing = (Kind, u64, u64, Body);

/// The rounds of one agent under its policy. Neighbours are told by their place `k` among all.
pub(crate) trait Rounds: Send {
    /// The link to neighbour `k` is ready: both run the same plan.
    fn ready(&mut self, _k: usize, _agent: &mut Agent) {}

    /// The link to neighbour `k` is gone.
    fn link_down(&mut self, k: usize);

    /// Neighbour `k` left, or is not to be trusted; true if the run can go on without it.
    fn gone(&mut self, k: usize, agent: &mut Agent) -> bool;

    /// What this agent says unasked of where it stands, as round and extra; none if the policy
    /// says it in its own way.
    fn standing(&self, _agent: &Agent) -> Option<(u64, u64)> {
        None
    }

    /// A frame came from neighbour `k`; `late` if it has said since that it stands elsewhere.
    fn hear(
        &mut self,
        k: usize,
        frame: (Header, Body),
        late: bool,
        agent: &mut Agent,
        own: &Settings,
        now: Duration,
    ) -> Result<(), ProtocolError>;

    /// The own message of the round under way is ready.
    fn sent(&mut self, agent: &mut Agent, message: Arc<[f32]>);

    /// The next frame for neighbour `k`, whose number is `peer`.
    fn frame_for(
        &mut self,
        k: usize,
        peer: usize,
        agent: &Agent,
        own: &Settings,
    ) -> Option<Outgoing>;

    /// Whether neighbour `k`, whose number is `peer`, is waited for in the round under way.
    fn misses(&self, k: usize, peer: usize, agent: &Agent) -> bool;

    /// If nobody is missing any more: mixes, and tells whose messages were used.
    fn advance(&mut self, agent: &mut Agent, own: &Settings, now: Duration) -> Option<Vec<usize>>;

    /// Neighbour `k`, whose number is `peer`, was waited for in vain.
    fn overdue(&mut self, k: usize, peer: usize, agent: &mut Agent);

    /// Nobody answers: says again what may have been lost.
    fn repeat(&mut self, _agent: &Agent) {}

    /// Time has passed.
    fn tick(&mut self, _agent: &mut Agent, _own: &Settings, _now: Duration) {}

    /// What is wanted next, if it is not to wait.
    fn want(&self, agent: &Agent, own: &Settings, now: Duration) -> Option<Want>;

    /// The state at the beginning of `round` is on disk.
    fn saved(&mut self, round: u64);

    /// The agent was put back to a saved state.
    fn rolled_back(&mut self, _agent: &Agent) {}

    /// True if nobody can need this agent any more, or has needed it for `patience`.
    fn may_leave(&self, rounds: u64, patience: Duration, now: Duration) -> bool;

    /// What the user should know, since the last call.
    fn notes(&mut self) -> Vec<Note>;

    /// Own messages kept to be sent again.
    fn kept(&self) -> usize {
        0
    }
}

impl Policy {
    /// The rounds of `agent` among `neighbours` under this policy.
    pub(crate) fn rounds(self, agent: &Agent, neighbours: &[usize]) -> Box<dyn Rounds> {
        match self {
            Policy::Wait => Box::new(wait::Wait::new(agent.round(), neighbours.len())),
            Policy::Continue => Box::new(r#continue::Continue::new(agent, neighbours)),
        }
    }
}

/// Gives `agent` a message; one that it has used or has already, sent again after a restart or
/// doubled on the way, is dropped.
fn receive_once(
    agent: &mut Agent,
    from: usize,
    round: u64,
    body: Arc<[f32]>,
) -> Result<(), ProtocolError> {
    match agent.receive(from, round, body) {
        Err(ProtocolError::Duplicate { .. } | ProtocolError::StrayRound { .. }) => Ok(()),
        taken => taken,
    }
}
