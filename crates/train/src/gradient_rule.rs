//! What is done to a gradient before the method sees it: SAM (`sharpness.rs`), clipping, then weight
//! decay.
//!
//! The order is PyTorch's: `clip_grad_norm_` shortens the gradient of the loss, and the optimizer
//! adds the decay to what is left.

/// SAM, clipping and weight decay of one method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientRule {
    /// How much of the model is added to its gradient.
    pub weight_decay: f64,
    /// The longest gradient, over all parameters together; a longer one is shortened to it.
    pub clip_norm: Option<f64>,
    /// SAM: how far uphill of the model its gradient is taken; 0: at the model.
    pub sam: f64,
}

impl GradientRule {
    /// How many gradients of the loss one of the method's costs.
    pub fn gradients(&self) -> usize {
        if self.sam > 0.0 { 2 } else { 1 }
    }

    /// Turns the gradient of the loss at `at` into what the method is given.
    pub fn apply(&self, at: &[f32], grad: &mut [f32]) {
        if let Some(longest) = self.clip_norm {
            let norm = norm(grad);
            if norm > longest {
                let factor = (longest / norm) as f32;
                grad.iter_mut().for_each(|g| *g *= factor);
            }
        }
        let decay = self.weight_decay as f32;
        if decay != 0.0 {
            for (g, x) in grad.iter_mut().zip(at) {
                *g += decay * x;
            }
        }
    }
}

/// Summed in one order and in f64: the same on every machine.
pub(crate) fn norm(grad: &[f32]) -> f64 {
    grad.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(rule: GradientRule, at: [f32; 2], mut grad: [f32; 2]) -> [f32; 2] {
        rule.apply(&at, &mut grad);
        grad
    }

    #[test]
    fn a_longer_gradient_is_shortened_and_keeps_its_direction() {
        let rule = GradientRule { clip_norm: Some(1.0), ..GradientRule::default() };
        assert_eq!(applied(rule, [9.0, 9.0], [3.0, 4.0]), [0.6, 0.8]);
        assert_eq!(applied(rule, [9.0, 9.0], [0.6, -0.7]), [0.6, -0.7]);
        assert_eq!(applied(rule, [9.0, 9.0], [0.0, 0.0]), [0.0, 0.0]);
        // Squares of these overflow f32.
        let [a, b] = applied(rule, [0.0, 0.0], [3e30, 4e30]);
        assert!((a - 0.6).abs() < 1e-6 && (b - 0.8).abs() < 1e-6, "{a}, {b}");
    }

    /// As PyTorch does it: the decay is neither measured nor shortened.
    #[test]
    fn weight_decay_is_added_after_clipping() {
        let rule =
            GradientRule { clip_norm: Some(1.0), weight_decay: 0.5, ..GradientRule::default() };
        assert_eq!(applied(rule, [2.0, -4.0], [3.0, 4.0]), [1.6, -1.2]);
    }
}
