//! Numbers that stop being finite, and where they do.

use consort_algo::OracleError;
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

impl From<NonFinite> for OracleError {
    fn from(broken: NonFinite) -> Self {
        OracleError::NonFinite { what: broken.what, layer: Some(broken.layer) }
    }
}

#[cfg(test)]
mod tests {
    use consort_kernel::Isa;

    use crate::{Engine, zoo};

    /// A parameter that is NaN is never silent, whichever it is: no ReLU or maximum hides it.
    #[test]
    fn a_parameter_that_is_nan_is_told_with_a_layer() {
        for name in ["softmax", "mlp", "digits-cnn", "lenet5", "resnet8"] {
            let spec = zoo::by_name(name, 10).unwrap();
            let pixels: usize = spec.input.iter().product();
            let image: Vec<f32> =
                (0..pixels).map(|i| ((i * 13 + 7) % 17) as f32 / 8.0 - 1.0).collect();
            let mut engine = Engine::new(&spec, 1, Isa::detect()).unwrap();
            let mut at = engine.parameters().initial(1);
            let mut grad = vec![0.0; at.len()];
            let firsts: Vec<(usize, String)> =
                engine.parameters().iter().map(|p| (p.offset, p.name.clone())).collect();
            for (k, parameter) in firsts {
                let before = std::mem::replace(&mut at[k], f32::NAN);
                let answer = engine.loss_and_grad(&at, &image, &[3], &mut grad);
                assert!(answer.is_err(), "{name}, {parameter}: {answer:?}");
                at[k] = before;
                // What went wrong once does not stay in the engine.
                let again = engine.loss_and_grad(&at, &image, &[3], &mut grad);
                assert!(again.is_ok(), "{name} after {parameter}: {again:?}");
            }
        }
    }
}
