//! What can go wrong in a simulation.

use consort_algo::{GradientError, MethodError, ProtocolError};
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
    /// An oracle for a model of another size.
    #[error("the oracle has {got} parameters, but the starting model has {expected}")]
    ModelSize {
        /// How many parameters the starting model has.
        expected: usize,
        /// How many the oracle has.
        got: usize,
    },
    /// A gradient that no round can go on with.
    #[error(transparent)]
    Gradient(#[from] GradientError),
}

impl SimError {
    /// True if a number grew beyond all bounds: the method's fault, not the machine's.
    pub fn is_divergence(&self) -> bool {
        matches!(self, SimError::Gradient(GradientError::NonFinite { .. }))
    }
}
