//! The cross-entropy against its equation in `f64`, and against differences of it.

mod images;

use consort_kernel::softmax::{correct, cross_entropy, cross_entropy_loss, predictions};
use images::{assert_close, differences, noise, wide};
use proptest::prelude::*;

fn reference(logits: &[f64], classes: usize, labels: &[u32]) -> f64 {
    let mut loss = 0.0;
    for (row, &label) in logits.chunks(classes).zip(labels) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|l| (l - largest).exp()).sum();
        loss += largest + sum.ln() - row[label as usize];
    }
    loss / labels.len() as f64
}

proptest! {
    #![proptest_config(images::cases(64))]

    #[test]
    fn is_its_equation(classes in 1usize..30, rows in 1usize..9, scale in 0.1f32..20.0) {
        let logits: Vec<f32> = noise(rows * classes, 1).iter().map(|x| x * scale).collect();
        let labels: Vec<u32> = (0..rows).map(|row| (row * 7 % classes) as u32).collect();
        let mut gradient = vec![9.0; logits.len()];
        let loss = cross_entropy(&logits, classes, &labels, &mut gradient);
        let exact = reference(&wide(&logits), classes, &labels);
        assert_close("loss", &[loss], &[exact], 1e-6);
        prop_assert_eq!(loss, cross_entropy_loss(&logits, classes, &labels));
        let want = differences(&wide(&logits), |logits| reference(logits, classes, &labels));
        assert_close("dlogits", &gradient, &want, 5e-7);
        for row in gradient.chunks(classes) {
            prop_assert!(row.iter().sum::<f32>().abs() < 1e-6);
        }
    }
}

#[test]
fn large_logits_do_not_overflow() {
    let mut gradient = [0.0; 3];
    let loss = cross_entropy(&[3e38, -3e38, 3e38], 3, &[0], &mut gradient);
    assert!((loss - 2f32.ln()).abs() < 1e31, "{loss}"); // one ulp of 3e38
    assert_eq!(gradient[0], -0.5);
    assert_eq!(gradient[2], 0.5);
    let loss = cross_entropy(&[1000.0, 0.0, -1000.0], 3, &[1], &mut gradient);
    assert_eq!(loss, 1000.0);
}

#[test]
fn what_is_not_finite_shows_in_the_loss() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in 0..3 {
            let mut logits = [0.5, 1.0, -1.0];
            logits[place] = bad;
            let mut gradient = [0.0; 3];
            assert!(!cross_entropy(&logits, 3, &[1], &mut gradient).is_finite());
            assert!(gradient.iter().all(|g| g.is_nan()));
            assert!(!cross_entropy_loss(&logits, 3, &[1]).is_finite());
            assert!(predictions(&logits, 3).all(|class| class < 3));
        }
    }
}

#[test]
fn the_first_of_equal_logits_is_the_prediction() {
    let logits = [1.0, 2.0, 2.0, 0.0, 0.0, 0.0, f32::NAN, 1.0, 3.0];
    assert_eq!(predictions(&logits, 3).collect::<Vec<_>>(), [1, 0, 2]);
    assert_eq!(correct(&logits, 3, &[1, 0, 0]), 2);
}
