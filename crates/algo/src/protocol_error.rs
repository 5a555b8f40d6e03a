//! What an agent refuses, and why.

use core::fmt;

/// Why the protocol refused an input. The agent's state is as before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A message from an agent that is not a neighbour in that round.
    Stranger {
        /// Who refused it.
        agent: usize,
        /// Who sent it.
        from: usize,
        /// The round it claims.
        round: u64,
    },
    /// A message of a round that is over or too far ahead.
    StrayRound {
        /// Who refused it.
        agent: usize,
        /// Who sent it.
        from: usize,
        /// The first and the last round that are accepted now.
        expected: (u64, u64),
        /// The round it claims.
        got: u64,
    },
    /// A second message for the same round.
    Duplicate {
        /// Who refused it.
        agent: usize,
        /// Who sent it.
        from: usize,
        /// The round it claims.
        round: u64,
    },
    /// A message of the wrong length.
    Length {
        /// Who refused it.
        agent: usize,
        /// Who sent it.
        from: usize,
        /// The round it claims.
        round: u64,
        /// How many floats a message has here.
        expected: usize,
        /// How many it had.
        got: usize,
    },
    /// A gradient of the wrong length.
    GradientLength {
        /// Whose gradient it is.
        agent: usize,
        /// How many parameters the model has.
        expected: usize,
        /// How many floats came.
        got: usize,
    },
    /// A second gradient in the same round.
    GradientTwice {
        /// Whose gradient it is.
        agent: usize,
        /// The current round.
        round: u64,
    },
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Stranger { agent, from, round } => write!(
                f,
                "agent {agent} got a message of round {round} from agent {from}, \
                 which is not one of its neighbours in that round"
            ),
            Self::StrayRound { agent, from, expected: (first, last), got } => write!(
                f,
                "agent {agent} got a message of round {got} from agent {from}; \
                 expected rounds {first} to {last}"
            ),
            Self::Duplicate { agent, from, round } => write!(
                f,
                "agent {agent} got a second message of round {round} from agent {from}; \
                 the first one is kept"
            ),
            Self::Length { agent, from, round, expected, got } => write!(
                f,
                "agent {agent} got a message of {got} floats from agent {from} in round {round}; \
                 expected {expected}"
            ),
            Self::GradientLength { agent, expected, got } => write!(
                f,
                "agent {agent} was given a gradient of {got} floats; \
                 its model has {expected} parameters"
            ),
            Self::GradientTwice { agent, round } => {
                write!(f, "agent {agent} was given a second gradient in round {round}")
            }
        }
    }
}

impl core::error::Error for ProtocolError {}
