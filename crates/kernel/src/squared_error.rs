//! The mean squared error over a batch, the loss of a regression.
//!
//! For outputs o and targets t, one number a row:
//!
//! ```text
//! loss     = mean over rows of (o - t)^2
//! doutputs = 2 (o - t) / rows
//! ```
//!
//! An output that is not finite makes the loss and its own gradient not finite: a run that has
//! diverged says so instead of going on. The bits are the same on every machine.

/// The mean squared error of a batch; writes its gradient.
///
/// # Panics
/// If a length does not fit.
pub fn squared_error(outputs: &[f32], targets: &[f32], doutputs: &mut [f32]) -> f32 {
    assert_eq!(doutputs.len(), outputs.len(), "a gradient for every output");
    let share = 1.0 / targets.len() as f64;
    for ((doutput, output), target) in doutputs.iter_mut().zip(outputs).zip(targets) {
        *doutput = (2.0 * share * (f64::from(*output) - f64::from(*target))) as f32;
    }
    squared_error_loss(outputs, targets)
}

/// The mean squared error alone, for evaluation.
///
/// # Panics
/// If there is not one output for every target.
pub fn squared_error_loss(outputs: &[f32], targets: &[f32]) -> f32 {
    assert_eq!(outputs.len(), targets.len(), "one output for every target");
    let square = |(output, target): (&f32, &f32)| (f64::from(*output) - f64::from(*target)).powi(2);
    let sum: f64 = outputs.iter().zip(targets).map(square).sum();
    (sum / targets.len() as f64) as f32
}
