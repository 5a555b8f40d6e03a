//! A gradient that is safe to train on: every number of it is finite.

use alloc::string::{String, ToString};
use core::fmt;

use crate::{Draw, Oracle, OracleError};

/// What a mini-batch told besides the gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchReport {
    /// The loss there.
    pub loss: f32,
    /// The square of the gradient's norm.
    pub squared_grad: f64,
}

/// The reports of all gradients of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchReports {
    loss: f64,
    squared_grad: f64,
    count: u32,
}

impl BatchReports {
    /// One more gradient.
    pub fn add(&mut self, report: BatchReport) {
        self.loss += f64::from(report.loss);
        self.squared_grad += report.squared_grad;
        self.count += 1;
    }

    /// The mean of them; that of one is itself, bit by bit.
    pub fn mean(&self) -> BatchReport {
        let count = f64::from(self.count);
        let (loss, squared_grad) = ((self.loss / count) as f32, self.squared_grad / count);
        BatchReport { loss, squared_grad }
    }
}

/// Asks `oracle` for a gradient, and checks what comes back.
///
/// # Errors
/// If there is no answer, or a number in it is not finite: with agent, round and, where it is
/// known, layer or parameter.
pub fn checked_gradient(
    oracle: &dyn Oracle,
    draw: Draw,
    at: &[f32],
    grad: &mut [f32],
) -> Result<BatchReport, GradientError> {
    let loss = oracle.loss_and_grad(draw, at, grad);
    check_gradient(draw, loss, grad)
}

/// The second half of [`checked_gradient`], for a driver that times the two apart.
///
/// # Errors
/// As there.
pub fn check_gradient(
    draw: Draw,
    answer: Result<f32, OracleError>,
    grad: &[f32],
) -> Result<BatchReport, GradientError> {
    let non_finite =
        |what, layer, parameter| GradientError::NonFinite { draw, what, layer, parameter };
    let loss = answer.map_err(|error| match error {
        OracleError::NonFinite { what, layer } => non_finite(what, layer, None),
        other => GradientError::Failed { draw, reason: other.to_string() },
    })?;
    // An oracle that does not check itself is found out here, before any neighbour hears of it.
    if !loss.is_finite() {
        return Err(non_finite("loss", None, None));
    }
    let squared_grad = squared_norm(grad);
    if !squared_grad.is_finite() {
        let broken = grad.iter().position(|g| !g.is_finite());
        return Err(non_finite("gradient", None, broken));
    }
    Ok(BatchReport { loss, squared_grad })
}

/// Why an agent has no gradient to go on with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GradientError {
    /// A loss, gradient or output that is infinite or not a number.
    NonFinite {
        /// Whose it is, and when.
        draw: Draw,
        /// Loss, gradient or output.
        what: &'static str,
        /// The layer, if the oracle has named it.
        layer: Option<String>,
        /// The parameter, if it is an entry of the gradient.
        parameter: Option<usize>,
    },
    /// The oracle could not answer.
    Failed {
        /// Whose it is, and when.
        draw: Draw,
        /// What the oracle said.
        reason: String,
    },
}

impl fmt::Display for GradientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradientError::NonFinite { draw, what, layer, parameter } => {
                write!(f, "{draw}: ")?;
                match (layer, parameter) {
                    (Some(layer), _) => write!(f, "layer {layer} has a non-finite {what}"),
                    (None, Some(k)) => write!(f, "the {what} of parameter {k} is not finite"),
                    (None, None) => write!(f, "the {what} is not finite"),
                }?;
                f.write_str(
                    "; lower the step size or mu (`consort analyze` tells the stable range)",
                )
            }
            GradientError::Failed { draw, reason } => write!(f, "{draw}: {reason}"),
        }
    }
}

impl core::error::Error for GradientError {}

/// `|v|²`, in as many sums as a vector register needs to be kept busy. Finite numbers have a
/// finite one, since no f32 squared comes near the largest f64.
fn squared_norm(v: &[f32]) -> f64 {
    const LANES: usize = 16;
    let square = |v: f32| f64::from(v) * f64::from(v);
    let mut sums = [0.0_f64; LANES];
    let chunks = v.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|&v| square(v)).sum();
    for chunk in chunks {
        for (sum, &v) in sums.iter_mut().zip(chunk) {
            *sum += square(v);
        }
    }
    sums.iter().sum::<f64>() + rest
}
