//! Softmax and the mean cross-entropy over a batch.
//!
//! For logits l of one row with label k, m = max l:
//!
//! ```text
//! loss     = mean over rows of  m + ln(sum_j exp(l_j - m)) - l_k
//! dlogits  = (exp(l_j - m) / sum_i exp(l_i - m) - [j = k]) / rows
//! ```
//!
//! A row with a logit that is not finite has a loss and gradients of NaN: a run that has
//! diverged says so instead of going on. The gradient's bits are the same on every machine;
//! the loss uses the system's logarithm.

use crate::exp::exp;

/// The mean cross-entropy of `labels.len()` rows of `classes` logits; writes its gradient.
///
/// # Panics
/// If a length does not fit, or a label is not below `classes`.
pub fn cross_entropy(logits: &[f32], classes: usize, labels: &[u32], dlogits: &mut [f32]) -> f32 {
    check(logits, classes, labels);
    assert_eq!(dlogits.len(), logits.len(), "a gradient for every logit");
    let share = 1.0 / labels.len() as f64;
    let mut loss = 0.0;
    let rows = logits.chunks_exact(classes).zip(dlogits.chunks_exact_mut(classes));
    for ((logits, dlogits), &label) in rows.zip(labels) {
        let (log_sum, sum, largest) = log_sum_exp(logits);
        let scale = share / sum;
        for (dlogit, &logit) in dlogits.iter_mut().zip(logits) {
            *dlogit = (f64::from(exp::<false>(logit - largest)) * scale) as f32;
        }
        dlogits[label as usize] -= share as f32;
        loss += log_sum - f64::from(logits[label as usize]);
    }
    (loss * share) as f32
}

/// The mean cross-entropy alone, for evaluation.
///
/// # Panics
/// If a length does not fit, or a label is not below `classes`.
pub fn cross_entropy_loss(logits: &[f32], classes: usize, labels: &[u32]) -> f32 {
    check(logits, classes, labels);
    let mut loss = 0.0;
    for (logits, &label) in logits.chunks_exact(classes).zip(labels) {
        loss += log_sum_exp(logits).0 - f64::from(logits[label as usize]);
    }
    (loss / labels.len() as f64) as f32
}

/// The class with the largest logit of every row, the first of equals; a row of NaN alone
/// gives class 0.
///
/// # Panics
/// If `classes` is 0 and there are logits.
pub fn predictions(logits: &[f32], classes: usize) -> impl Iterator<Item = u32> {
    logits.chunks_exact(classes).map(|row| {
        let mut best = 0;
        for (class, &logit) in row.iter().enumerate() {
            if logit > row[best] || (row[best].is_nan() && !logit.is_nan()) {
                best = class;
            }
        }
        best as u32
    })
}

/// Rows whose prediction is their label.
///
/// # Panics
/// If the logits are not `labels.len()` rows of `classes`.
pub fn correct(logits: &[f32], classes: usize, labels: &[u32]) -> usize {
    assert_eq!(logits.len(), labels.len() * classes, "a row of logits for every label");
    predictions(logits, classes).zip(labels).filter(|(class, label)| class == *label).count()
}

/// (ln sum exp l, sum exp(l - max l), max l), the first two NaN unless all are finite.
fn log_sum_exp(logits: &[f32]) -> (f64, f64, f32) {
    let mut largest = f32::NEG_INFINITY;
    let mut finite = true;
    for &logit in logits {
        largest = largest.max(logit);
        finite &= logit.is_finite();
    }
    if !finite {
        return (f64::NAN, f64::NAN, largest);
    }
    let mut sum = 0.0;
    for &logit in logits {
        sum += f64::from(exp::<false>(logit - largest));
    }
    (f64::from(largest) + sum.ln(), sum, largest)
}

fn check(logits: &[f32], classes: usize, labels: &[u32]) {
    assert_eq!(logits.len(), labels.len() * classes, "a row of logits for every label");
    for &label in labels {
        assert!((label as usize) < classes, "label {label} among {classes} classes");
    }
}
