//! What the engine promises beside being right: no allocation, memory by a formula, the same
//! bits on any thread, agreement of all isas, and a name for what stops being finite.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use allocation_counter::measure;
use consort_model::{
    ConvAlgorithm, Engine, EvoNormForm, Init, Isa, Layer, ModelSpec, NonFinite, zoo,
};

/// The paper's four models and a few small ones.
fn models() -> Vec<ModelSpec> {
    let named = ["lenet5", "vgg11", "resnet20", "mobilenet-v2"];
    let mut all: Vec<ModelSpec> =
        named.iter().map(|name| zoo::by_name(name, 10).unwrap()).collect();
    all.extend([zoo::digits_cnn(10), zoo::softmax_regression([8, 8, 1], 10)]);
    all
}

/// Parameters, images and labels of a batch.
fn batch(spec: &ModelSpec, engine: &Engine, count: usize) -> (Vec<f32>, Vec<f32>, Vec<u32>) {
    let pixels = count * spec.input.iter().product::<usize>();
    let images = (0..pixels).map(|i| ((i * 7919) % 257) as f32 / 128.0 - 1.0).collect();
    let labels = (0..count).map(|i| (i * 3 % spec.classes) as u32).collect();
    (engine.parameters().initial(5), images, labels)
}

#[test]
fn a_step_allocates_nothing_after_construction() {
    for spec in models() {
        let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
        let (flat, images, labels) = batch(&spec, &engine, 3); // the last micro-batch is not full
        let mut grad = vec![0.0; flat.len()];
        let counted = measure(|| {
            engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
            engine.evaluate(&flat, &images, &labels);
        });
        assert_eq!(counted.count_total, 0, "{}: {} bytes", spec.name, counted.bytes_total);
    }
}

/// `memory_bytes` is `micro_batch * a + w`, and what the allocator gives out while an engine is
/// built is that, plus a little for names and lists.
#[test]
fn memory_is_what_the_formula_says() {
    for spec in models() {
        let bytes =
            |micro_batch| Engine::new(&spec, micro_batch, Isa::detect()).unwrap().memory_bytes();
        let (a, w) = (bytes(2) - bytes(1), 2 * bytes(1) - bytes(2));
        for micro_batch in [3, 5, 8] {
            assert_eq!(bytes(micro_batch), micro_batch * a + w, "{}", spec.name);
        }
        let mut engine = None;
        let counted = measure(|| engine = Some(Engine::new(&spec, 4, Isa::detect()).unwrap()));
        let (held, said) = (counted.bytes_current as f64, engine.unwrap().memory_bytes() as f64);
        assert!(held >= said, "{}: holds {held}, said {said}", spec.name);
        assert!(held < 1.05 * said + 65536.0, "{}: holds {held}, said {said}", spec.name);
    }
}

/// Every sum runs in an order that no vector's width changes, so machines with AVX2 and AVX-512
/// train the same model, bit by bit. Where there is no AVX-512, its form with plain vectors of 16
/// lanes takes its place.
#[test]
fn vectors_of_any_width_give_the_same_bits() {
    let real = Isa::available().filter(|isa| *isa != Isa::Portable);
    let fusing: Vec<Isa> = real.chain([Isa::PlainWide]).filter(|isa| isa.is_available()).collect();
    // Only an x86-64 machine without AVX2 has none of them.
    let Some((&first, others)) = fusing.split_first() else { return };
    assert!(!others.is_empty(), "{first} has nothing to be compared with");
    let [groups, channels] = [8, 40];
    let conv = |out, kernel| Layer::Conv {
        out,
        kernel,
        stride: 1,
        padding: kernel / 2,
        groups: 1,
        bias: true,
    };
    let odd = ModelSpec {
        name: "odd numbers of vectors".into(),
        input: [9, 21, 1],
        classes: 10,
        init: Init::HeFanOut,
        layers: vec![
            conv(12, 3),
            Layer::GroupNorm { groups: 4 },
            conv(channels, 5),
            Layer::Evonorm { form: EvoNormForm::S0, groups },
            conv(72, 1),
            Layer::Flatten,
            Layer::Linear { out: 10 },
        ],
    };
    for spec in models().into_iter().chain([odd]) {
        let bits = |isa: Isa| {
            let mut engine = Engine::new(&spec, 2, isa).unwrap();
            let (flat, images, labels) = batch(&spec, &engine, 3);
            let mut grad = vec![0.0; flat.len()];
            let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
            (loss.to_bits(), grad.iter().map(|g| g.to_bits()).collect::<Vec<u32>>())
        };
        let expected = bits(first);
        for &other in others {
            assert!(expected == bits(other), "{}: {first} and {other} differ", spec.name);
        }
    }
}

/// Agents share nothing: whichever thread runs an engine, and whatever it ran before, the
/// bits of loss and gradient are those of a new engine on its own.
#[test]
fn the_same_bits_on_any_thread_and_after_any_other_batch() {
    for spec in [zoo::resnet(8, 10).unwrap(), zoo::lenet5(), zoo::digits_cnn(10)] {
        let alone = |count: usize| {
            let mut engine = Engine::new(&spec, 4, Isa::detect()).unwrap();
            let (flat, images, labels) = batch(&spec, &engine, count);
            let mut grad = vec![0.0; flat.len()];
            let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
            (loss.to_bits(), grad.iter().map(|g| g.to_bits()).collect::<Vec<u32>>())
        };
        let counts = [5, 1, 8, 3, 5, 7, 2, 6];
        let expected: Vec<_> = counts.iter().map(|&count| alone(count)).collect();
        for threads in [1, 2, 3] {
            let got: Vec<_> = std::thread::scope(|scope| {
                let share = |thread: usize| {
                    let spec = &spec;
                    scope.spawn(move || {
                        let mut engine = Engine::new(spec, 4, Isa::detect()).unwrap();
                        let mine = counts.iter().enumerate().skip(thread).step_by(threads);
                        mine.map(|(agent, &count)| {
                            let (flat, images, labels) = batch(spec, &engine, count);
                            let mut grad = vec![0.0; flat.len()];
                            let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad);
                            let grad = grad.iter().map(|g| g.to_bits()).collect::<Vec<u32>>();
                            (agent, (loss.unwrap().to_bits(), grad))
                        })
                        .collect::<Vec<_>>()
                    })
                };
                let workers: Vec<_> = (0..threads).map(share).collect();
                let mut all: Vec<_> =
                    workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
                all.sort_by_key(|(agent, _)| *agent);
                all.into_iter().map(|(_, result)| result).collect()
            });
            assert!(got == expected, "{}: {threads} threads", spec.name);
        }
    }
}

/// All isas and all methods of convolution agree: 1e-4 of the largest gradient (2.4e-5 was
/// measured for F(4x4) through ResNet-20, 4e-6 for the others).
#[test]
fn paths_and_methods_of_convolution_agree() {
    for spec in models() {
        let run = |isa, algorithm| {
            let mut engine = Engine::with_algorithm(&spec, 2, isa, algorithm).unwrap();
            assert_eq!(engine.isa(), isa);
            let (flat, images, labels) = batch(&spec, &engine, 3);
            let mut grad = vec![0.0; flat.len()];
            let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
            (loss, grad)
        };
        let (loss, grad) = run(Isa::Portable, ConvAlgorithm::Direct);
        let largest = grad.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
        let methods = [ConvAlgorithm::Auto, ConvAlgorithm::Direct, ConvAlgorithm::Winograd2];
        for (isa, algorithm) in methods.map(|method| (Isa::detect(), method)).into_iter().chain([
            (Isa::Portable, ConvAlgorithm::Winograd2),
            (Isa::Portable, ConvAlgorithm::Winograd4),
        ]) {
            let (other_loss, other) = run(isa, algorithm);
            let name = &spec.name;
            assert!((loss - other_loss).abs() < 1e-5 * loss, "{name} {isa} {algorithm:?}");
            let apart =
                grad.iter().zip(&other).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(apart < 1e-4 * largest, "{name} {isa} {algorithm:?}: {apart} of {largest}");
        }
    }
}

/// Image, weight, overflow and gradient: each names its layer, and the engine works on.
#[test]
fn what_is_not_finite_is_reported_with_its_layer() {
    let spec = zoo::resnet(8, 10).unwrap();
    let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
    let (flat, images, labels) = batch(&spec, &engine, 3);
    let mut grad = vec![0.0; flat.len()];
    let good = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();

    let mut with_nan = images.clone();
    *with_nan.last_mut().unwrap() = f32::NAN; // in the second micro-batch
    let error = engine.loss_and_grad(&flat, &with_nan, &labels, &mut grad).unwrap_err();
    assert!(error.layer.starts_with("0 (the images"), "{error}");

    for (name, layer) in [
        ("0.weight", "0 (conv)"),
        ("2.body.3.gamma", "2.body.3 (evonorm)"),
        ("3.skip.0.weight", "3.skip.0 (conv)"),
    ] {
        let mut broken = flat.clone();
        broken[engine.parameters().get(name).unwrap().offset] = f32::INFINITY;
        let error = engine.loss_and_grad(&broken, &images, &labels, &mut grad).unwrap_err();
        assert_eq!(error, NonFinite { layer: layer.into(), what: "output" }, "{name}");
        assert_eq!(error.to_string(), format!("layer {layer} has a non-finite output"));
    }

    // Finite outputs whose gradient overflows in the backward pass.
    let linear = |out| Layer::Linear { out };
    let spec = ModelSpec {
        name: "overflow".into(),
        input: [1, 1, 2],
        classes: 2,
        init: Init::HeFanOut,
        layers: vec![Layer::Flatten, linear(2), linear(2), linear(2)],
    };
    let mut steep = Engine::new(&spec, 1, Isa::detect()).unwrap();
    let mut weights = vec![0.0; steep.parameters().len()];
    for (name, value) in [("1.weight", 1e-30), ("2.weight", 1e25), ("3.weight", 1e25)] {
        let parameter = steep.parameters().get(name).unwrap();
        weights[parameter.offset] = value; // its other weights stay zero
    }
    let mut grad_of_steep = vec![0.0; weights.len()];
    let error = steep.loss_and_grad(&weights, &[1.0, 1.0], &[1], &mut grad_of_steep).unwrap_err();
    assert_eq!(error.what, "gradient");
    assert!(error.layer.starts_with("1."), "{error}");

    let again = engine.loss_and_grad(&flat, &images, &labels, &mut grad).unwrap();
    assert_eq!(good.to_bits(), again.to_bits(), "an error leaves nothing behind");
}

/// A layer that runs in blocks of channels has one name, in whichever block it breaks.
#[test]
fn what_is_not_finite_in_a_block_of_channels_is_reported_with_its_layer() {
    let spec = zoo::by_name("mobilenet-v2", 10).unwrap();
    let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
    let (flat, images, labels) = batch(&spec, &engine, 2);
    let mut grad = vec![0.0; flat.len()];
    for (name, layer) in [
        ("4.body.0.weight", "4.body.0 (conv)"),
        ("4.body.1.gamma", "4.body.1 (evonorm)"),
        ("4.body.2.weight", "4.body.2 (depthwise conv)"),
        ("4.body.4.weight", "4.body.4 (conv)"),
    ] {
        let parameter = engine.parameters().get(name).unwrap();
        for at in [parameter.offset, parameter.offset + parameter.len() - 1] {
            let mut broken = flat.clone();
            broken[at] = f32::INFINITY;
            let error = engine.loss_and_grad(&broken, &images, &labels, &mut grad).unwrap_err();
            assert_eq!(error, NonFinite { layer: layer.into(), what: "output" }, "{name}");
        }
    }
}
