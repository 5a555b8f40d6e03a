//! What the protocol tells the user.

use std::fmt;

/// What the user should know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The neighbour has connected and runs the same plan.
    Met(usize),
    /// The neighbour's plan differs from ours.
    Differs(usize, Vec<String>),
    /// The link is gone, though the neighbour has neither finished nor left.
    Lost(usize),
    /// The neighbour has ended all rounds, needs nobody any more, and has closed its link.
    Finished(usize),
    /// The neighbour is late in this round; we wait for it.
    Late(usize, u64),
    /// The neighbour is late in this round; we continue without it.
    SetAside(usize, u64),
    /// The neighbour takes part again from this round on.
    Joined(usize, u64),
    /// This agent skips from one round to another, to catch up with its neighbours.
    Skipped(u64, u64),
    /// This agent had lost rounds; it took the mean of the models of so many neighbours.
    Adopted(usize, u64),
    /// This agent repeats its rounds from here, for a neighbour that lost them.
    RolledBack(u64),
    /// The neighbour sent something that is not a valid frame of this run.
    Garbage(usize, String),
    /// The neighbour left, for this reason.
    Left(usize, String),
    /// No neighbour takes part any more; we wait for one.
    Alone(u64),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Met(peer) => write!(f, "agent {peer} is connected and runs the same plan"),
            Note::Differs(peer, what) => {
                write!(f, "agent {peer} has a different plan: {}", what.join("; "))
            }
            Note::Lost(peer) => write!(f, "lost the link to agent {peer}"),
            Note::Finished(peer) => write!(f, "agent {peer} has finished"),
            Note::Late(peer, round) => write!(f, "waiting for agent {peer} in round {round}"),
            Note::SetAside(peer, round) => {
                write!(f, "agent {peer} is silent in round {round}: continuing without it")
            }
            Note::Joined(peer, round) => {
                write!(f, "agent {peer} takes part again from round {round}")
            }
            Note::Skipped(from, to) => write!(f, "skipping from round {from} to round {to}"),
            Note::Adopted(count, round) => {
                let models = match count {
                    1 => "the model of 1 neighbour".to_owned(),
                    _ => format!("the mean model of {count} neighbours"),
                };
                write!(f, "continuing from {models} in round {round}")
            }
            Note::RolledBack(round) => {
                write!(f, "a neighbour lost rounds: repeating them from round {round}")
            }
            Note::Garbage(peer, what) => write!(f, "agent {peer} sent an invalid frame: {what}"),
            Note::Left(peer, why) => write!(f, "agent {peer} left: {why}"),
            Note::Alone(round) => {
                write!(f, "no neighbour takes part in round {round}: waiting for one")
            }
        }
    }
}
