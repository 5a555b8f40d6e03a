//! The engine computes what PyTorch computes, and the same bits however a batch is cut.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_kernel::Isa;
use consort_model::{Engine, EvoNormForm, Init, Layer, ModelSpec, zoo};
use serde_json::Value;

/// The formula of `golden/make.py`.
fn fill(count: usize, phase: f64, scale: f64) -> Vec<f32> {
    let value = |i: usize| {
        let i = i as f64;
        (scale * (0.7 * i + (0.013 * i * i) % 6.0 + phase).sin()) as f32
    };
    (0..count).map(value).collect()
}

fn formula_parameters(engine: &Engine) -> Vec<f32> {
    let mut flat = vec![0.0; engine.parameters().len()];
    for (k, parameter) in engine.parameters().iter().enumerate() {
        let (name, shape) = (&parameter.name, &parameter.shape);
        let is_norm = name.ends_with("gamma") || name.ends_with("beta");
        let fan: f64 = shape[1..].iter().product::<usize>() as f64;
        let scale = if is_norm || shape.len() == 1 { 0.1 } else { 1.5 / fan.sqrt() };
        let lift = if name.ends_with("gamma") { 1.0 } else { 0.0 };
        let values = fill(parameter.len(), k as f64, scale);
        let part = &mut flat[parameter.offset..][..parameter.len()];
        part.iter_mut().zip(values).for_each(|(p, v)| *p = v + lift);
    }
    flat
}

/// Loss and every parameter's gradient against PyTorch in f64 (`golden/make.py`). Of each
/// gradient its length and its product with a fixed vector are compared, relative to the
/// length; f32 with EvoNorm through 20 and more layers leaves 2e-3 at the most.
#[test]
fn loss_and_gradients_are_pytorchs() {
    let golden: Value = serde_json::from_str(include_str!("golden/pytorch.json")).unwrap();
    for isa in [Isa::detect(), Isa::Portable] {
        for name in ["lenet5", "resnet20", "vgg11", "mobilenet-v2", "everything"] {
            let spec = zoo::by_name(name, 10).unwrap_or_else(|_| everything());
            let mut engine = Engine::new(&spec, 2, isa).unwrap();
            let flat = formula_parameters(&engine);
            let images = fill(3 * spec.input.iter().product::<usize>(), 0.5, 1.0);
            let mut grad = vec![0.0; flat.len()];
            let loss = engine.loss_and_grad(&flat, &images, &[3, 7, 0], &mut grad).unwrap();
            let expected = golden[name]["loss"].as_f64().unwrap();
            assert!((f64::from(loss) / expected - 1.0).abs() < 1e-4, "{name}: {loss} {expected}");
            for (k, parameter) in engine.parameters().iter().enumerate() {
                let values = parameter.slice(&grad);
                let length = values.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
                let along = fill(values.len(), 100.0 + k as f64, 1.0);
                let product: f64 =
                    values.iter().zip(along).map(|(&g, a)| f64::from(g) * f64::from(a)).sum();
                let kept = &golden[name]["gradients"][&parameter.name];
                let (want_length, want_product) =
                    (kept[0].as_f64().unwrap(), kept[1].as_f64().unwrap());
                let size = want_length.max(1e-7);
                let off = ((length - want_length) / size).abs();
                let off_product = (product - want_product).abs()
                    / (size * (values.len() as f64).sqrt().min(30.0));
                assert!(off < 2e-3, "{isa} {name} {}: {length} {want_length}", parameter.name);
                assert!(
                    off_product < 2e-3,
                    "{isa} {name} {}: {product} {want_product}",
                    parameter.name
                );
            }
        }
    }
}

/// Every kind of layer, several readers of one value, a strided block without a skip.
fn everything() -> ModelSpec {
    let conv = |out, kernel, stride, groups, bias| Layer::Conv {
        out,
        kernel,
        stride,
        padding: kernel / 2,
        groups,
        bias,
    };
    let layers = vec![
        conv(16, 3, 1, 1, true),
        Layer::Evonorm { groups: 8, form: EvoNormForm::S0 },
        Layer::Block { body: vec![Layer::Relu, conv(16, 3, 1, 2, false)], skip: Some(vec![]) },
        Layer::Block {
            body: vec![Layer::GroupNorm { groups: 4 }, conv(24, 1, 2, 1, false)],
            skip: Some(vec![Layer::AveragePool { size: 2 }, conv(24, 1, 1, 1, false)]),
        },
        Layer::Block {
            body: vec![Layer::Depthwise { kernel: 3, stride: 2, padding: 1 }],
            skip: None,
        },
        Layer::MaxPool { size: 2 },
        Layer::Flatten,
        Layer::Linear { out: 12 },
        Layer::Relu,
        Layer::Linear { out: 8 },
    ];
    ModelSpec {
        name: "everything".into(),
        input: [16, 16, 3],
        classes: 8,
        init: Init::HeFanOut,
        layers,
    }
}

/// The gradient is the slope of the loss: along random directions, by central differences.
#[test]
fn the_gradient_is_the_slope_of_the_loss() {
    for spec in [zoo::digits_cnn(10), zoo::softmax_regression([8, 8, 1], 10)] {
        let mut engine = Engine::new(&spec, 3, Isa::detect()).unwrap();
        let flat = engine.parameters().initial(3);
        let images = fill(4 * spec.input.iter().product::<usize>(), 0.1, 1.0);
        let labels = [1, 4, 0, 2];
        let mut grad = vec![0.0; flat.len()];
        engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
        for phase in [0.0, 1.0, 2.0] {
            let direction = fill(flat.len(), phase, 1.0);
            let step = 2e-3 / (flat.len() as f32).sqrt();
            let mut at = |sign: f32| {
                let moved: Vec<f32> =
                    flat.iter().zip(&direction).map(|(x, d)| x + sign * step * d).collect();
                f64::from(engine.evaluate(&moved, &images, &labels).0)
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * f64::from(step));
            let product: f64 =
                grad.iter().zip(&direction).map(|(&g, &d)| f64::from(g) * f64::from(d)).sum();
            let size = grad.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
            let off = (slope - product).abs() / size;
            assert!(off < 0.03, "{}: {slope} {product}, off by {off} of {size}", spec.name);
        }
    }
}

/// However a batch is cut, loss and gradient agree to the rounding of their sums.
#[test]
fn the_size_of_a_micro_batch_does_not_show() {
    for spec in [everything(), zoo::resnet(8, 10).unwrap(), zoo::lenet5()] {
        let labels = [1, 4, 0, 2, 3];
        let images = fill(5 * spec.input.iter().product::<usize>(), 0.1, 1.0);
        let run = |micro_batch| {
            let mut engine = Engine::new(&spec, micro_batch, Isa::detect()).unwrap();
            let flat = engine.parameters().initial(3);
            let mut grad = vec![0.0; flat.len()];
            let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
            (loss, grad)
        };
        let (whole_loss, whole) = run(5);
        for micro_batch in [1, 2, 3] {
            let (loss, grad) = run(micro_batch);
            assert!((loss - whole_loss).abs() < 1e-6 * whole_loss, "{}", spec.name);
            let largest = whole.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
            let apart =
                grad.iter().zip(&whole).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(
                apart <= 2e-6 * largest,
                "{}, micro-batch {micro_batch}: {apart} of {largest}",
                spec.name
            );
        }
    }
}

/// Two rows of layers that run in blocks of channels; with a `break_up`, which does nothing,
/// in the middle of each, they do not.
fn wide_rows(break_up: bool) -> ModelSpec {
    let pointwise =
        |out, stride, bias| Layer::Conv { out, kernel: 1, stride, padding: 0, groups: 1, bias };
    let nothing = Layer::AveragePool { size: 1 };
    let depthwise = |stride| Layer::Depthwise { kernel: 3, stride, padding: 1 };
    let mut layers = vec![
        pointwise(96, 1, true),
        Layer::GroupNorm { groups: 4 },
        nothing.clone(),
        Layer::Relu,
        depthwise(1),
        Layer::Evonorm { groups: 8, form: EvoNormForm::S0 },
        pointwise(16, 2, true),
        Layer::Block {
            body: vec![
                pointwise(192, 1, false),
                Layer::Evonorm { groups: 8, form: EvoNormForm::HardSigmoid },
                nothing.clone(),
                depthwise(1),
                Layer::Relu,
                pointwise(16, 1, false),
            ],
            skip: Some(vec![]),
        },
        Layer::Flatten,
        Layer::Linear { out: 5 },
    ];
    if !break_up {
        layers.retain(|layer| *layer != nothing);
        for layer in &mut layers {
            if let Layer::Block { body, .. } = layer {
                body.retain(|layer| *layer != nothing);
            }
        }
    }
    ModelSpec {
        name: "wide rows".into(),
        input: [24, 24, 3],
        classes: 5,
        init: Init::HeFanOut,
        layers,
    }
}

/// Blocks of channels, of which most is computed twice rather than kept, change nothing but
/// the order of a sum, and need less memory.
#[test]
fn blocks_of_channels_add_up_to_all() {
    let images = fill(5 * 24 * 24 * 3, 0.1, 1.0);
    let run = |spec: &ModelSpec, micro_batch, isa| {
        let mut engine = Engine::new(spec, micro_batch, isa).unwrap();
        let flat = engine.parameters().initial(3);
        let mut grad = vec![0.0; flat.len()];
        let loss = engine.loss_and_grad(&flat, &images, &[1, 4, 0, 2, 3], &mut grad).unwrap();
        (loss, grad, engine)
    };
    for isa in [Isa::detect(), Isa::Portable] {
        let (whole_loss, whole, of_whole) = run(&wide_rows(true), 5, isa);
        let largest = whole.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
        for micro_batch in [1, 2, 3, 5] {
            let (loss, grad, engine) = run(&wide_rows(false), micro_batch, isa);
            assert!((loss - whole_loss).abs() < 2e-6 * whole_loss, "{loss} {whole_loss}");
            let apart =
                grad.iter().zip(&whole).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(
                apart <= 1e-5 * largest,
                "{isa}, micro-batch {micro_batch}: {apart} of {largest}"
            );
            assert_eq!(engine.flops_per_image(), of_whole.flops_per_image());
            assert!(2 * engine.memory_bytes() < of_whole.memory_bytes());
        }
    }
}
