//! Linear layers against their equations in `f64`, and against differences of them.

mod images;

use consort_kernel::Isa;
use consort_kernel::linear::{Gradient, Linear};
use images::{assert_close, differences, dot, isas, noise, same_bits, wide};
use proptest::prelude::*;

fn reference(layer: Linear, x: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    let rows = x.chunks(layer.inputs);
    rows.flat_map(|x| {
        weights.chunks(layer.inputs).zip(bias).map(|(w, b)| dot(x, w) + b).collect::<Vec<_>>()
    })
    .collect()
}

/// x, weights, bias, dy.
fn operands(layer: Linear, rows: usize) -> [Vec<f32>; 4] {
    let Linear { inputs, outputs } = layer;
    [
        noise(rows * inputs, 1),
        noise(inputs * outputs, 2),
        noise(outputs, 3),
        noise(rows * outputs, 4),
    ]
}

/// y, dx, dW, db.
fn run(isa: Isa, layer: Linear, rows: usize, [x, w, b, dy]: [&[f32]; 4]) -> [Vec<f32>; 4] {
    let mut y = vec![9.0; dy.len()];
    let mut dx = vec![9.0; x.len()];
    let (mut dw, mut db) = (vec![9.0; w.len()], vec![9.0; b.len()]);
    layer.forward(isa, rows, x, w, b, &mut y);
    layer.input_gradient(isa, rows, dy, w, &mut dx);
    layer.weight_gradient(isa, rows, x, dy, &mut dw, &mut db, Gradient::Overwrite);
    [y, dx, dw, db]
}

fn check(layer: Linear, rows: usize) {
    let all = operands(layer, rows);
    let [x, w, b, dy] = all.each_ref().map(|values| wide(values));
    let Linear { inputs, outputs } = layer;
    let y = reference(layer, &x, &w, &b);
    let (mut dx, mut dw, mut db) = (vec![0.0; x.len()], vec![0.0; w.len()], vec![0.0; b.len()]);
    for row in 0..rows {
        for o in 0..outputs {
            let dy = dy[row * outputs + o];
            db[o] += dy;
            for i in 0..inputs {
                dx[row * inputs + i] += dy * w[o * inputs + i];
                dw[o * inputs + i] += dy * x[row * inputs + i];
            }
        }
    }
    for isa in isas() {
        let got = run(isa, layer, rows, all.each_ref().map(|values| &values[..]));
        for (got, want) in got.iter().zip([&y, &dx, &dw, &db]) {
            assert_close(&format!("{layer:?} x {rows}"), got, want, 2e-6);
        }
        let [_, _, mut dw_twice, mut db_twice] = got.clone();
        let (x, dy) = (&all[0], &all[3]);
        let how = Gradient::Accumulate;
        layer.weight_gradient(isa, rows, x, dy, &mut dw_twice, &mut db_twice, how);
        for (twice, once) in dw_twice.iter().zip(&got[2]) {
            assert_eq!(*twice, once + once);
        }
        let twice: Vec<f64> = db.iter().map(|db| 2.0 * db).collect();
        assert_close("db", &db_twice, &twice, 2e-6);
    }
}

proptest! {
    #![proptest_config(images::cases(48))]

    #[test]
    fn is_its_equation(inputs in 1usize..70, outputs in 1usize..40, rows in 0usize..12) {
        check(Linear { inputs, outputs }, rows);
    }

    #[test]
    fn a_row_does_not_know_its_batch(
        inputs in 1usize..70, outputs in 1usize..40, rows in 1usize..12,
    ) {
        let layer = Linear { inputs, outputs };
        let all = operands(layer, rows);
        for isa in isas() {
            let [y, dx, _, _] = run(isa, layer, rows, all.each_ref().map(|values| &values[..]));
            let [x, w, b, dy] = &all;
            for row in 0..rows {
                let (x, dy) = (&x[row * inputs..][..inputs], &dy[row * outputs..][..outputs]);
                let one = run(isa, layer, 1, [x, w, b, dy]);
                prop_assert!(same_bits(&one[0], &y[row * outputs..][..outputs]));
                prop_assert!(same_bits(&one[1], &dx[row * inputs..][..inputs]));
            }
        }
    }
}

#[test]
fn the_layers_of_the_models() {
    for (inputs, outputs) in [(400, 120), (120, 84), (84, 10), (64, 10), (1280, 10), (128, 10)] {
        check(Linear { inputs, outputs }, 32);
        check(Linear { inputs, outputs }, 1);
    }
}

#[test]
fn the_gradients_are_the_differences() {
    let (layer, rows) = (Linear { inputs: 19, outputs: 7 }, 3);
    let all = operands(layer, rows);
    let [x, w, b, dy] = all.each_ref().map(|values| wide(values));
    let want = [
        reference(layer, &x, &w, &b),
        differences(&x, |x| dot(&reference(layer, x, &w, &b), &dy)),
        differences(&w, |w| dot(&reference(layer, &x, w, &b), &dy)),
        differences(&b, |b| dot(&reference(layer, &x, &w, b), &dy)),
    ];
    for isa in isas() {
        let got = run(isa, layer, rows, all.each_ref().map(|values| &values[..]));
        for (got, want) in got.iter().zip(&want) {
            assert_close("a gradient", got, want, 1e-5);
        }
    }
}
