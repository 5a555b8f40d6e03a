//! The built-in models are the ones that the paper names, parameter by parameter.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use consort_model::{
    Init, Layer, ModelError, ModelSpec, Parameters, load_safetensors, save_safetensors, zoo,
};

fn count(name: &str, classes: usize) -> usize {
    Parameters::new(&zoo::by_name(name, classes).unwrap()).unwrap().len()
}

/// Paper, appendix "Network Architecture": LeNet-5 has 61,706 parameters, ResNet-20 0.27 M,
/// VGG-11 0.58 M, MobileNet-V2 2.3 M.
#[test]
fn the_papers_models_have_the_papers_sizes() {
    assert_eq!(count("lenet5", 10), 61_706);
    assert_eq!(count("resnet20", 10), 272_474);
    assert_eq!(count("vgg11", 10), 579_786);
    assert_eq!(count("mobilenet-v2", 10), 2_296_922);
    assert_eq!(count("mobilenet-v2-224", 10), 2_296_490);
    assert_eq!(count("resnet20", 100), 272_474 + 90 * 65);
}

#[test]
fn every_built_in_model_fits_together() {
    for name in zoo::NAMES {
        let spec = zoo::by_name(name, 10).unwrap();
        let parameters = Parameters::new(&spec).unwrap();
        let names: std::collections::HashSet<_> = parameters.iter().map(|p| &p.name).collect();
        assert_eq!(names.len(), parameters.iter().count(), "{name} repeats a parameter's name");
        let mut next = 0;
        for parameter in parameters.iter() {
            assert_eq!(parameter.offset, next, "{name}: {} leaves a gap", parameter.name);
            next += parameter.len();
        }
        assert_eq!(next, parameters.len());
    }
    for depth in [8, 14, 20, 26, 32, 56] {
        zoo::resnet(depth, 10).unwrap().output().unwrap();
    }
    let message = zoo::by_name("resnet21", 10).unwrap_err().to_string();
    assert!(message.contains("6k+2"), "{message}");
}

/// The names of the same layers as a `torch.nn.Sequential`.
#[test]
fn parameters_have_pytorchs_names_and_shapes() {
    let parameters = Parameters::new(&zoo::resnet(20, 10).unwrap()).unwrap();
    let shape = |name: &str| parameters.get(name).unwrap().shape.clone();
    assert_eq!(shape("0.weight"), [16, 3, 3, 3]);
    assert_eq!(shape("1.gamma"), [1, 16, 1, 1]);
    assert_eq!(shape("2.body.0.weight"), [16, 16, 3, 3]);
    assert_eq!(shape("5.skip.0.weight"), [32, 16, 1, 1]);
    assert_eq!(shape("13.weight"), [10, 64]);
    assert!(parameters.get("2.skip.0.weight").is_none());
}

/// The variance and the largest magnitude of a parameter's initial values.
fn variance_and_most(spec: &ModelSpec, name: &str) -> (f64, f64) {
    let parameters = Parameters::new(spec).unwrap();
    let flat = parameters.initial(5);
    let values = parameters.get(name).unwrap_or_else(|| panic!("{name}")).slice(&flat);
    let variance = values.iter().map(|v| f64::from(v * v)).sum::<f64>() / values.len() as f64;
    (variance, values.iter().map(|v| f64::from(v.abs())).fold(0.0, f64::max))
}

/// PyTorch's default: uniform within 1/sqrt(fan_in), whose variance is a third of the bound's
/// square.
fn is_torchs_default(spec: &ModelSpec, name: &str, fan_in: usize) {
    let (variance, most) = variance_and_most(spec, name);
    let (bound, len) =
        (1.0 / (fan_in as f64).sqrt(), Parameters::new(spec).unwrap().get(name).unwrap().len());
    assert!(most <= bound && most > bound * (1.0 - 6.0 / len as f64), "{name}: {most} {bound}");
    // Four standard deviations of the mean of `len` squares of uniform numbers.
    let tolerance = 4.0 * (4.0 / 5.0_f64).sqrt() / (len as f64).sqrt();
    assert!((variance / (bound * bound / 3.0) - 1.0).abs() < tolerance, "{name}: {variance}");
}

/// He's rule over the outputs: normal with variance 2/(k k out), beyond any uniform bound.
fn is_he_over_outputs(spec: &ModelSpec, name: &str) {
    let parameters = Parameters::new(spec).unwrap();
    let parameter = parameters.get(name).unwrap();
    let [out, _, k, _] = parameter.shape[..] else { panic!("{name} is no convolution") };
    let expected = 2.0 / (k * k * out) as f64;
    let (variance, most) = variance_and_most(spec, name);
    let tolerance = 4.0 * 2.0_f64.sqrt() / (parameter.len() as f64).sqrt();
    assert!((variance / expected - 1.0).abs() < tolerance, "{name}: {variance} {expected}");
    assert!(most > 2.0 * expected.sqrt(), "{name}: {most}");
}

/// The released experiments initialise by model: LeNet-5 and MobileNet-V2 have PyTorch's
/// defaults everywhere, weights and biases.
#[test]
fn lenet5_and_mobilenet_v2_start_as_pytorch_does() {
    let lenet = zoo::lenet5();
    for (layer, fan_in) in [("0", 25), ("3", 150), ("7", 400), ("9", 120), ("11", 84)] {
        is_torchs_default(&lenet, &format!("{layer}.weight"), fan_in);
        is_torchs_default(&lenet, &format!("{layer}.bias"), fan_in);
    }
    let mobile = zoo::mobilenet_v2(10);
    is_torchs_default(&mobile, "0.weight", 27);
    let parameters = Parameters::new(&mobile).unwrap();
    let mut convolutions = 0;
    for parameter in parameters.iter() {
        if let [_, inputs, k, _] = parameter.shape[..]
            && parameter.name.ends_with(".weight")
        {
            is_torchs_default(&mobile, &parameter.name, inputs * k * k);
            convolutions += 1;
        }
    }
    assert!(convolutions > 50);
    let linear = parameters.iter().last().unwrap();
    assert_eq!(linear.shape, [10], "the bias of the linear layer comes last");
    is_torchs_default(&mobile, &linear.name, 1280);
}

/// VGG-11 and the ResNets: convolutions normal over their outputs, their biases zero, the linear
/// layer as PyTorch's, weight and bias.
#[test]
fn vgg11_and_resnets_start_normal_with_a_linear_layer_as_pytorchs() {
    let (vgg, resnet) = (zoo::vgg11(10), zoo::resnet(20, 10).unwrap());
    for (spec, inputs) in [(&vgg, 128), (&resnet, 64)] {
        let parameters = Parameters::new(spec).unwrap();
        let flat = parameters.initial(5);
        for parameter in parameters.iter().filter(|p| p.shape.len() == 4 && p.shape[0] > 1) {
            is_he_over_outputs(spec, &parameter.name);
            if let Some(bias) = parameters.get(&parameter.name.replace("weight", "bias")) {
                assert!(bias.slice(&flat).iter().all(|&v| v == 0.0), "{}", bias.name);
            }
        }
        let linear = parameters.iter().find(|p| p.shape == [10, inputs]).unwrap();
        is_torchs_default(spec, &linear.name, inputs);
        is_torchs_default(spec, &linear.name.replace("weight", "bias"), inputs);
    }
    assert!(Parameters::new(&vgg).unwrap().get("0.bias").is_some());
}

/// The seed decides everything; normalisations start as the identity.
#[test]
fn initial_values_follow_their_seed() {
    let parameters = Parameters::new(&zoo::vgg11(10)).unwrap();
    let flat = parameters.initial(5);
    assert_eq!(flat, parameters.initial(5));
    assert_ne!(flat, parameters.initial(6));
    assert!(parameters.get("1.gamma").unwrap().slice(&flat).iter().all(|&v| v == 1.0));
}

/// A user's TOML chooses either; without a word it is PyTorch's.
#[test]
fn a_model_in_toml_says_how_it_starts() {
    let model = |init: &str| {
        let layers = "[[layers]]\nlayer = 'conv'\nout = 8\nkernel = 3\nbias = true\n\
                      [[layers]]\nlayer = 'flatten'\n[[layers]]\nlayer = 'linear'\nout = 4\n";
        let head = "name = 'own'\ninput = [8, 8, 2]\nclasses = 4\n";
        ModelSpec::from_toml(&format!("{head}{init}{layers}"))
    };
    is_torchs_default(&model("").unwrap(), "0.weight", 18);
    is_torchs_default(&model("init = 'torch'\n").unwrap(), "0.bias", 18);
    is_he_over_outputs(&model("init = 'he-fan-out'\n").unwrap(), "0.weight");
    let told = model("init = 'xavier'\n").unwrap_err().to_string();
    assert!(told.contains("he-fan-out") && told.contains("torch"), "{told}");
}

#[test]
fn a_model_written_in_toml_is_the_built_in_one() {
    for name in zoo::NAMES {
        let spec = zoo::by_name(name, 10).unwrap();
        let text = toml::to_string(&spec).unwrap();
        assert_eq!(ModelSpec::from_toml(&text).unwrap(), spec, "{name}:\n{text}");
    }
    let text = r#"
        name = "tiny"
        input = [8, 8, 1]
        classes = 10
        [[layers]]
        layer = "conv"
        out = 8
        kernel = 3
        padding = 1
        [[layers]]
        layer = "evonorm"
        [[layers]]
        layer = "flatten"
        [[layers]]
        layer = "linear"
        out = 10
    "#;
    let tiny = ModelSpec::from_toml(text).unwrap();
    assert_eq!(Parameters::new(&tiny).unwrap().len(), 72 + 16 + 10 * 512 + 10);
}

#[test]
fn a_layer_that_does_not_fit_is_named() {
    let message = |layers: Vec<Layer>| {
        let spec = ModelSpec {
            name: "m".into(),
            input: [8, 8, 3],
            classes: 10,
            init: Init::HeFanOut,
            layers,
        };
        spec.output().unwrap_err().to_string()
    };
    let conv =
        |kernel| Layer::Conv { out: 4, kernel, stride: 1, padding: 0, groups: 1, bias: false };
    assert!(message(vec![conv(9)]).contains("layer 0: a window of 9x9 does not fit 8x8"));
    let message_2 = message(vec![conv(3), Layer::Evonorm { groups: 8, form: Default::default() }]);
    assert!(message_2.contains("layer 1: 8 groups do not divide 4"), "{message_2}");
    assert!(message(vec![Layer::Linear { out: 10 }]).contains("put flatten before it"));
    let block = Layer::Block { body: vec![conv(3)], skip: Some(vec![]) };
    assert!(message(vec![block]).contains("layer 0: the skip gives an image of 8x8"));
    assert!(message(vec![Layer::Flatten]).contains("expected a row of 10 numbers, one per class"));
    let typo = ModelSpec::from_toml("name='m'\ninput=[8,8,1]\nclasses=2\n[[layers]]\nlayer='cnov'");
    assert!(matches!(typo, Err(ModelError::Description { .. })));
}

#[test]
fn weights_survive_a_safetensors_file_and_foreign_files_are_refused() {
    let parameters = Parameters::new(&zoo::lenet5()).unwrap();
    let flat = parameters.initial(1);
    let about = BTreeMap::from([("model".to_string(), "lenet5".to_string())]);
    let bytes = save_safetensors(&parameters, &flat, &about).unwrap();
    assert_eq!(load_safetensors(&parameters, &bytes).unwrap(), flat);

    let other = Parameters::new(&zoo::vgg11(10)).unwrap();
    let refused = load_safetensors(&other, &bytes).unwrap_err();
    assert!(matches!(refused, ModelError::TensorShape { .. } | ModelError::MissingTensor { .. }));
    for cut in [0, 7, 100, bytes.len() - 1] {
        assert!(load_safetensors(&parameters, &bytes[..cut]).is_err(), "cut at {cut}");
    }
    let short = save_safetensors(&parameters, &flat[1..], &BTreeMap::new());
    assert!(matches!(short, Err(ModelError::Length { .. })));
}
