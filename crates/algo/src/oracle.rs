//! The one thing an agent needs from a model and its data.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Which mini-batch: whose data it is drawn from, in which round, for which step of the round.
///
/// It names the mini-batch completely, so the same draw at the same point has the same gradient,
/// whoever asks, on whichever thread, before or after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Draw {
    /// The agent whose data it is.
    pub agent: usize,
    /// The round, from 0.
    pub round: u64,
    /// The step within the round, from 0; most methods take one.
    pub step: u32,
}

impl Draw {
    /// The first mini-batch of an agent's round.
    pub fn new(agent: usize, round: u64) -> Self {
        Draw { agent, round, step: 0 }
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {}, round {}", self.agent, self.round)?;
        match self.step {
            0 => Ok(()),
            step => write!(f, ", step {step}"),
        }
    }
}

/// Loss and gradient of every agent, at given parameters, on a given mini-batch.
///
/// Implement it for a model of your own; everything else works on flat slices. The contract:
///
/// - **Flat.** A model is one slice of [`len`](Oracle::len) numbers. What stands where is the
///   oracle's business; it must be the same for all agents.
/// - **Overwritten.** `grad` holds anything on entry. On success every entry is the gradient;
///   after an error the driver reads none of them.
/// - **Pure.** The answer depends on the draw, on `at` and on the oracle's seed, and on nothing
///   else: no clock, no global generator, no count of calls. A run can then be repeated bit by bit,
///   on any number of threads, and go on from any round.
/// - **Shared.** Threads ask at the same time, hence `&self`. An oracle that needs room to compute
///   in keeps it per thread.
/// - **Never a silent NaN.** A loss or gradient that is not finite is an
///   [`OracleError::NonFinite`], which can name the layer in which it arose. A driver checks
///   what comes back as well ([`checked_gradient`](crate::checked_gradient)), so a model that
///   cannot check itself is safe, only less precise.
///
/// ```
/// use consort_algo::{Draw, Oracle, OracleError};
///
/// /// The line `y = a x + b` through each agent's own points, one point a round.
/// struct Lines {
///     points: Vec<Vec<(f32, f32)>>,
/// }
///
/// impl Oracle for Lines {
///     fn len(&self) -> usize {
///         2 // a and b
///     }
///
///     fn loss_and_grad(
///         &self,
///         draw: Draw,
///         at: &[f32],
///         grad: &mut [f32],
///     ) -> Result<f32, OracleError> {
///         let own = &self.points[draw.agent];
///         let (x, y) = own[draw.round as usize % own.len()];
///         let error = at[0] * x + at[1] - y;
///         grad.copy_from_slice(&[error * x, error]);
///         Ok(0.5 * error * error)
///     }
/// }
///
/// let lines = Lines { points: vec![vec![(1.0, 3.0), (2.0, 5.0)]] };
/// let mut grad = [f32::NAN; 2];
/// assert_eq!(lines.loss_and_grad(Draw::new(0, 0), &[0.0, 0.0], &mut grad)?, 4.5);
/// assert_eq!(grad, [-3.0, -3.0]);
/// # Ok::<(), OracleError>(())
/// ```
pub trait Oracle: Send + Sync {
    /// How many parameters the model has.
    fn len(&self) -> usize;

    /// True for a model without parameters.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lengths of the model's tensors, in their order; empty means one tensor.
    fn tensors(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Writes the gradient at `at` on the mini-batch of `draw` into `grad` and returns the loss
    /// there. Both slices have [`len`](Oracle::len) entries.
    fn loss_and_grad(&self, draw: Draw, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError>;
}

/// Why an oracle has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OracleError {
    /// Infinity or NaN, most often because the step size or mu is too large.
    NonFinite {
        /// What is not finite: `"loss"`, `"gradient"`, `"output"`.
        what: &'static str,
        /// Where it arose, as in `2.body.0 (conv)`, if the oracle knows.
        layer: Option<String>,
    },
    /// There is nothing to compute with: data that cannot be read, say.
    Failed {
        /// What happened, and what to do about it.
        reason: String,
    },
}

impl fmt::Display for OracleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OracleError::NonFinite { what, layer: Some(layer) } => {
                write!(f, "layer {layer} has a non-finite {what}")
            }
            OracleError::NonFinite { what, layer: None } => write!(f, "the {what} is not finite"),
            OracleError::Failed { reason } => f.write_str(reason),
        }
    }
}

impl core::error::Error for OracleError {}
