//! Numbers that stop being finite, and where they do.

use thiserror::Error;

use crate::Parameters;

/// A number that is infinite or not a number, and where it was seen first.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("layer {layer} has a non-finite {what}")]
pub struct NonFinite {
    /// The layer, as in `2.body.0 (conv)`, or what stands in its place.
    pub layer: String,
    /// Output, loss or gradient.
    pub what: &'static str,
}

/// The last parameter, the first that the backward pass meets, whose gradient is not finite.
pub(super) fn in_gradient(parameters: &Parameters, grad: &[f32]) -> Result<(), NonFinite> {
    if all_finite(grad) {
        return Ok(());
    }
    let mut broken = parameters.iter().filter(|parameter| !all_finite(parameter.slice(grad)));
    let layer = broken.next_back().map_or_else(String::new, |parameter| parameter.name.clone());
    Err(NonFinite { layer, what: "gradient" })
}

/// Without a branch per number, so that it costs little beside a step.
pub(super) fn all_finite(numbers: &[f32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    let broken = |&x: &f32| u32::from(x.to_bits() & EXPONENT == EXPONENT);
    numbers.iter().map(broken).fold(0, |any, broken| any | broken) == 0
}
