//! What the driver tells the protocol, and what the protocol tells the user.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What an agent does when a neighbour stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Wait for it: the models are those of the simulator, bit by bit, even if agents are
    /// killed and restarted on the way.
    Wait,
    /// Go on without it: it is set aside at both ends, and joins again with full models.
    Continue,
}

/// A run, as one agent's protocol sees it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When neighbours stay silent.
    pub policy: Policy,
    /// How many rounds there are.
    pub rounds: u64,
    /// What must be equal at all agents: compared as text when two meet.
    pub shared: Arc<str>,
    /// Rounds between two states that are saved; bounds what is kept to be sent again.
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

impl Settings {
    /// All that are linked, ascending.
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

/// What the protocol wants of its driver next.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// The gradient of the round under way: [`Peer::gradient`](crate::Peer::gradient).
    Gradient,
    /// The state on disk: save it, then call [`Peer::saved`](crate::Peer::saved).
    Save,
    /// A saved state of this round or an earlier one: restore the newest (or the first model),
    /// then call [`Peer::rolled_back`](crate::Peer::rolled_back).
    RollBack {
        /// No later than this.
        at_most: u64,
    },
    /// Frames, or time to pass until then.
    Wait {
        /// When to call [`Peer::tick`](crate::Peer::tick), on the driver's clock.
        until: Duration,
    },
    /// Nothing: all rounds are over, here and at the neighbours.
    Done,
    /// An end: the run cannot go on, as the text says. The state can be saved.
    Fail(String),
}

/// What the user should know of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The neighbour runs the same plan.
    Met(usize),
    /// The neighbour's plan differs from ours.
    Differs(usize, Vec<String>),
    /// The link is gone.
    Lost(usize),
    /// The neighbour is late; it is waited for.
    Late(usize, u64),
    /// The neighbour is late; the round goes on without it.
    SetAside(usize, u64),
    /// The neighbour takes part again from this round on.
    Joined(usize, u64),
    /// This agent skips from one round to another, where its neighbours are.
    Skipped(u64, u64),
    /// This agent had lost rounds, and took the mean of so many neighbours' models.
    Adopted(usize, u64),
    /// This agent does its rounds again from here, for a neighbour that lost them.
    RolledBack(u64),
    /// The neighbour sent what no honest one sends.
    Garbage(usize, String),
    /// The neighbour left, for this reason.
    Left(usize, String),
    /// Nobody is left to learn with; waiting.
    Alone(u64),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Met(peer) => write!(f, "agent {peer} is here, with the same plan"),
            Note::Differs(peer, what) => {
                write!(f, "agent {peer} has another plan: {}", what.join("; "))
            }
            Note::Lost(peer) => write!(f, "lost the link to agent {peer}"),
            Note::Late(peer, round) => write!(f, "waiting for agent {peer} in round {round}"),
            Note::SetAside(peer, round) => {
                write!(f, "agent {peer} is silent in round {round}: going on without it")
            }
            Note::Joined(peer, round) => write!(f, "agent {peer} joins in round {round}"),
            Note::Skipped(from, to) => write!(f, "skipping from round {from} to round {to}"),
            Note::Adopted(count, round) => {
                let s = if *count == 1 { "" } else { "s" };
                write!(f, "took up the model of {count} neighbour{s} in round {round}")
            }
            Note::RolledBack(round) => {
                write!(f, "a neighbour lost rounds: doing them again from round {round}")
            }
            Note::Garbage(peer, what) => write!(f, "agent {peer} sent garbage: {what}"),
            Note::Left(peer, why) => write!(f, "agent {peer} left: {why}"),
            Note::Alone(round) => {
                write!(f, "no neighbour is left in round {round}: waiting for one")
            }
        }
    }
}
