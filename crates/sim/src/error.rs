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
    /// An oracle for a model of another size.
    #[error(
        "agent {agent}: its oracle has {got} parameters, but the starting model has {expected}"
    )]
    ModelSize {
        /// Whose oracle it is.
        agent: usize,
        /// How many parameters the starting model has.
        expected: usize,
        /// How many the oracle has.
        got: usize,
    },
    /// A loss, gradient or output that is infinite or not a number.
    #[error(
        "agent {agent}, round {round}: {}; \
         lower the step size or mu (`consort analyze` tells the stable range)",
        non_finite(what, layer.as_deref(), *parameter)
    )]
    NonFinite {
        /// Whose it is.
        agent: usize,
        /// The round.
        round: u64,
        /// Loss, gradient or output.
        what: &'static str,
        /// The layer, if the oracle has named it.
        layer: Option<String>,
        /// The first parameter whose gradient is not finite, if the driver has found it.
        parameter: Option<usize>,
    },
    /// An oracle that could not answer.
    #[error("agent {agent}, round {round}: {reason}")]
    Oracle {
        /// Whose it is.
        agent: usize,
        /// The round.
        round: u64,
        /// What the oracle says.
        reason: String,
    },
}

fn non_finite(what: &str, layer: Option<&str>, parameter: Option<usize>) -> String {
    match (layer, parameter) {
        (Some(layer), _) => format!("layer {layer} has a non-finite {what}"),
        (None, Some(k)) => format!("the {what} of parameter {k} is not finite"),
        (None, None) => format!("the {what} is not finite"),
    }
}
