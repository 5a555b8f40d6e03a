//! What can go wrong in a simulation.

use consort_algo::{MethodError, ProtocolError};
use thiserror::Error;

/// Why a simulation cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimError {
    /// The method cannot be built.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The round protocol was violated.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// Parts that do not fit together.
    #[error("expected {expected} {what}, one per agent, got {got}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many agents there are.
        expected: usize,
        /// How many came.
        got: usize,
    },
    /// A loss or gradient that is not a number.
    #[error(
        "agent {agent} has a non-finite {what} in round {round}; \
         lower the step size or mu (`consort analyze` tells the stable range)"
    )]
    NonFinite {
        /// Whose it is.
        agent: usize,
        /// The round.
        round: u64,
        /// Loss or gradient.
        what: &'static str,
    },
}
