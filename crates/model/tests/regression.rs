//! A model with one output and numbers as answers: the gradient is the slope of the mean squared error.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_model::{Answers, Engine, Isa, zoo};

fn noise(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| (((i + 31 * seed) * 7919 % 1009) as f32 / 504.5) - 1.0).collect()
}

/// For every parameter of a small network, by central differences. Measured were at most 3e-4 of the
/// largest gradient: the loss is an f32 near 1, in steps of 1.2e-7, over steps of 2e-3.
#[test]
fn the_gradient_is_the_slope_of_the_loss() {
    let spec = zoo::for_input("mlp:6", [1, 1, 5], 1).unwrap();
    let mut engine = Engine::new(&spec, 4, Isa::detect()).unwrap();
    let at = engine.parameters().initial(1);
    let (inputs, targets) = (noise(9 * 5, 1), noise(9, 2));
    let answers = Answers::Numbers(&targets);
    let mut grad = vec![0.0; at.len()];
    let loss = engine.loss_and_grad(&at, &inputs, answers, &mut grad).unwrap();
    assert_eq!(engine.evaluate(&at, &inputs, answers), (loss, 0));
    let largest = grad.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
    let step = 1e-3;
    for k in 0..at.len() {
        let mut loss_at = |sign: f32| {
            let mut moved = at.clone();
            moved[k] += sign * step;
            engine.evaluate(&moved, &inputs, answers).0
        };
        let slope = (loss_at(1.0) - loss_at(-1.0)) / (2.0 * step);
        assert!((slope - grad[k]).abs() < 2e-3 * largest, "{k}: {slope} {} {largest}", grad[k]);
    }
}

/// The loss of a linear model is what its equation gives, however the batch is cut.
#[test]
fn the_loss_is_the_mean_of_the_squares_for_any_micro_batch() {
    let spec = zoo::for_input("softmax", [1, 1, 3], 1).unwrap();
    let (inputs, targets) = (noise(7 * 3, 3), noise(7, 4));
    let flat = [0.5, -1.0, 2.0, 0.25];
    let output = |row: &[f32]| 0.5 * row[0] - row[1] + 2.0 * row[2] + 0.25;
    let squares = inputs.chunks(3).zip(&targets).map(|(row, t)| (output(row) - t).powi(2));
    let expected = squares.sum::<f32>() / 7.0;
    for micro_batch in [1, 2, 4, 7, 20] {
        let mut engine = Engine::new(&spec, micro_batch, Isa::detect()).unwrap();
        let (loss, correct) = engine.evaluate(&flat, &inputs, Answers::Numbers(&targets));
        assert!((loss - expected).abs() < 1e-6 * expected, "{micro_batch}: {loss} {expected}");
        assert_eq!(correct, 0);
    }
}
