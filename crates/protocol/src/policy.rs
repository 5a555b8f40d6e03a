//! What an agent does about silent neighbours: one file per policy.
//!
//! [`Peer`](crate::Peer) handles links, plans and greetings; a policy handles the rounds. Where a
//! method of [`Rounds`] has a body here, a policy may leave it out.

mod r#continue;
mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Exchange, Outgoing, ProtocolError, Recipients};

use crate::frame::{Body, Header, PendingFrame};
use crate::note::Note;
use crate::settings::PeerSettings;
use crate::want::Want;

/// What an agent does when a neighbour is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Wait for it: the models are those of the simulator, bit by bit, even if agents are
    /// killed and restarted during the run.
    Wait,
    /// Continue without it: both ends set it aside, and it joins again with full models.
    Continue,
}

impl Policy {
    /// Why a method with these exchanges cannot run under this policy, if so.
    pub fn refuses(self, exchanges: &[Exchange]) -> Option<&'static str> {
        match (self, exchanges) {
            (Policy::Wait, _) | (Policy::Continue, [Exchange { to: Recipients::All, .. }]) => None,
            (Policy::Continue, [_]) => {
                Some("it sends every neighbour a message of its own, which nobody can do without")
            }
            (Policy::Continue, _) => Some(
                "it has several exchanges a round, and a neighbour that is set aside between two \
                 of them would leave the round half done",
            ),
        }
    }

    /// The rounds of `agent` among `neighbours` under this policy.
    pub(crate) fn rounds(self, agent: &Agent, neighbours: &[usize]) -> Box<dyn Rounds> {
        match self {
            Policy::Wait => Box::new(wait::Wait::new(agent.exchange(), neighbours.len())),
            Policy::Continue => Box::new(r#continue::Continue::new(agent, neighbours)),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Wait => "wait",
            Policy::Continue => "continue",
        })
    }
}

/// The rounds of one agent under its policy. `k` is the index of a neighbour among all
/// neighbours, `peer` its agent number.
pub(crate) trait Rounds: Send {
    /// The link to neighbour `k` is ready: both ends run the same plan.
    fn ready(&mut self, _k: usize, _agent: &mut Agent) {}

    /// The link to neighbour `k` is gone.
    fn link_down(&mut self, k: usize);

    /// Neighbour `k` left, or is ignored from now on. Returns true if the run can continue
    /// without it.
    fn gone(&mut self, k: usize, agent: &mut Agent) -> bool;

    /// The round and the extra number of the `Position` frame that the peer sends on every new
    /// link, after a roll-back and to overdue neighbours; `None` if the policy sends such frames
    /// itself.
    fn position(&self, _agent: &Agent) -> Option<(u64, u64)> {
        None
    }

    /// A frame arrived from neighbour `k`.
    fn hear(
        &mut self,
        k: usize,
        frame: (Header, Body),
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) -> Result<(), ProtocolError>;

    /// Our own messages of the current exchange are ready.
    fn message_ready(&mut self, agent: &mut Agent, message: Outgoing);

    /// The next frame for neighbour `k`.
    fn frame_for(
        &mut self,
        k: usize,
        peer: usize,
        agent: &Agent,
        own: &PeerSettings,
    ) -> Option<PendingFrame>;

    /// True if the current round waits for neighbour `k`.
    fn awaits(&self, k: usize, peer: usize, agent: &Agent) -> bool;

    /// If nobody is awaited any more: mixes, and returns whose messages were used.
    fn advance(
        &mut self,
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) -> Option<Vec<usize>>;

    /// The timeout of neighbour `k` has passed.
    fn overdue(&mut self, k: usize, peer: usize, agent: &mut Agent);

    /// Nobody answers: repeats what may have been lost.
    fn repeat(&mut self, _agent: &Agent) {}

    /// Time has passed.
    fn tick(&mut self, _agent: &mut Agent, _own: &PeerSettings, _now: Duration) {}

    /// What to do next; `None` to wait.
    fn want(&self, agent: &Agent, own: &PeerSettings, now: Duration) -> Option<Want>;

    /// The state at the beginning of `round` is on disk.
    fn saved(&mut self, round: u64);

    /// The agent was put back to a saved state.
    fn rolled_back(&mut self, _agent: &Agent) {}

    /// True if no neighbour can need this agent any more, or if all rounds have been over for
    /// `timeout`.
    fn may_leave(&self, rounds: u64, timeout: Duration, now: Duration) -> bool;

    /// True if neighbour `k` has said that all its `rounds` are over.
    fn has_finished(&self, k: usize, rounds: u64) -> bool;

    /// What the user should know, since the last call.
    fn notes(&mut self) -> Vec<Note>;

    /// How many own messages are kept for sending again.
    fn kept(&self) -> usize {
        0
    }
}

/// Gives `agent` a message. A message that it has already (sent again after a restart, or
/// duplicated on the way) is dropped.
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
