//! The mean squared error against its equation in `f64`, and against differences of it.

mod images;

use consort_kernel::squared_error::{squared_error, squared_error_loss};
use images::{assert_close, differences, noise, wide};
use proptest::prelude::*;

fn reference(outputs: &[f64], targets: &[f32]) -> f64 {
    let mut loss = 0.0;
    for (output, &target) in outputs.iter().zip(targets) {
        loss += (output - f64::from(target)) * (output - f64::from(target));
    }
    loss / targets.len() as f64
}

proptest! {
    #![proptest_config(images::cases(64))]

    /// Rounded once: measured are 6e-8 for the loss and 4e-9 for the gradient, whose differences
    /// are what limits it.
    #[test]
    fn is_its_equation(rows in 1usize..40, scale in 0.1f32..20.0) {
        let outputs: Vec<f32> = noise(rows, 1).iter().map(|x| x * scale).collect();
        let targets = noise(rows, 2);
        let mut gradient = vec![9.0; rows];
        let loss = squared_error(&outputs, &targets, &mut gradient);
        assert_close("loss", &[loss], &[reference(&wide(&outputs), &targets)], 1e-6);
        prop_assert_eq!(loss, squared_error_loss(&outputs, &targets));
        let want = differences(&wide(&outputs), |outputs| reference(outputs, &targets));
        assert_close("doutputs", &gradient, &want, 5e-7);
    }
}

#[test]
fn what_is_not_finite_shows_in_the_loss() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut gradient = [0.0; 2];
        assert!(!squared_error(&[0.5, bad], &[1.0, 1.0], &mut gradient).is_finite());
        assert!(gradient[0] == -0.5 && !gradient[1].is_finite(), "{gradient:?}");
    }
    // A square beyond the largest float is infinite, too.
    assert_eq!(squared_error_loss(&[3e38], &[0.0]), f32::INFINITY);
}
