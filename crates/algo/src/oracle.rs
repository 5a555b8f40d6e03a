//! The one thing an agent needs from a model and its data.

use alloc::string::String;
use core::fmt;

/// Loss and gradient at given parameters, on the agent's next mini-batch.
///
/// Implement it for a model of your own; everything else works on flat slices. The contract:
///
/// - **Flat.** A model is one slice of [`len`](Oracle::len) numbers. The oracle decides their
///   order, which must be the same for all agents.
/// - **Overwritten.** `grad` has arbitrary content on entry. On success the oracle has written
///   every entry; after an error the driver reads none of them.
/// - **Seeded.** The answer depends on `at`, the oracle's seed and the number of earlier calls,
///   and on nothing else: no clock, no global generator, no other thread. A run can
///   then be repeated bit by bit. Each call moves on to the next mini-batch, even if it fails.
/// - **Never a silent NaN.** A loss or gradient that is not finite is an
///   [`OracleError::NonFinite`], which can name the layer in which it arose. The driver checks
///   the answer as well, so a model that does not check itself is safe; the error is only less
///   precise.
///
/// ```
/// use consort_algo::{Oracle, OracleError};
///
/// /// The line `y = a x + b` through an agent's own points, one point per call.
/// struct Line {
///     points: Vec<(f32, f32)>,
///     calls: usize,
/// }
///
/// impl Oracle for Line {
///     fn len(&self) -> usize {
///         2 // a and b
///     }
///
///     fn loss_and_grad(&mut self, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
///         let (x, y) = self.points[self.calls % self.points.len()];
///         self.calls += 1;
///         let error = at[0] * x + at[1] - y;
///         grad.copy_from_slice(&[error * x, error]);
///         Ok(0.5 * error * error)
///     }
/// }
///
/// let mut line = Line { points: vec![(1.0, 3.0), (2.0, 5.0)], calls: 0 };
/// let mut grad = [f32::NAN; 2];
/// assert_eq!(line.loss_and_grad(&[0.0, 0.0], &mut grad)?, 4.5);
/// assert_eq!(grad, [-3.0, -3.0]);
/// # Ok::<(), OracleError>(())
/// ```
pub trait Oracle: Send {
    /// How many parameters the model has.
    fn len(&self) -> usize;

    /// True for a model without parameters.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the gradient at `at` into `grad` and returns the loss there. Both slices have
    /// [`len`](Oracle::len) entries.
    fn loss_and_grad(&mut self, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError>;
}

/// Why an oracle could not answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OracleError {
    /// Infinity or NaN, most often because the step size or mu is too large.
    NonFinite {
        /// What is not finite: `"loss"`, `"gradient"`, `"output"`.
        what: &'static str,
        /// The layer in which it arose, such as `2.body.0 (conv)`, if the oracle knows.
        layer: Option<String>,
    },
    /// The oracle could not compute, for example because data could not be read.
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
