//! An exported model computes what ours computes: read back by a small reader of our own, and,
//! where `CONSORT_TEST_PYTHON` names a Python that has them, run by onnxruntime and PyTorch.
//!
//! ```sh
//! python3 -m venv venv && venv/bin/pip install torch onnxruntime onnx safetensors numpy
//! CONSORT_TEST_PYTHON=$PWD/venv/bin/python cargo test -p consort-export
//! ```

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod reader;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use consort_export::{Batch, Exported, InputKind, OutputKind, Scaling, onnx, torch};
use consort_model::{Engine, Isa, ModelSpec, Parameters, TEMPLATE, save_safetensors, zoo};
use reader::OnnxFile;

/// Every model of the zoo that fits into seconds, the template, which has every kind of layer,
/// and one whose convolutions have groups, strides and no padding.
fn models() -> Vec<ModelSpec> {
    let names = ["lenet5", "vgg11", "resnet20", "mobilenet-v2", "mlp", "softmax", "digits-cnn"];
    let mut all: Vec<ModelSpec> =
        names.iter().map(|name| zoo::by_name(name, 10).unwrap()).collect();
    all.push(ModelSpec::from_toml(TEMPLATE).unwrap());
    let odd = r#"
        name = "odd sizes"
        input = [13, 17, 3]
        classes = 5
        layers = [
            { layer = "conv", out = 12, kernel = 4, stride = 3, groups = 3, bias = true },
            { layer = "group-norm", groups = 12 },
            { layer = "depthwise", kernel = 2 },
            { layer = "evonorm", groups = 1, form = "s0" },
            { layer = "max-pool", size = 2 },
            { layer = "block", body = [{ layer = "relu" }] },
            { layer = "flatten" },
            { layer = "linear", out = 5 },
        ]
    "#;
    all.push(ModelSpec::from_toml(odd).unwrap());
    all
}

/// Numbers from -1 to 1 that repeat nowhere near.
fn noise(seed: usize, count: usize) -> Vec<f32> {
    let value = |i: usize| (((i * 7919 + seed * 104_729 + 13) % 20_011) as f32 / 10_005.5) - 1.0;
    (0..count).map(value).collect()
}

struct Case {
    spec: ModelSpec,
    parameters: Parameters,
    flat: Vec<f32>,
    scaling: Scaling,
    /// Raw images as `[image, channel, row, column]`.
    raw: Vec<f32>,
    logits: Vec<f32>,
}

const IMAGES: usize = 3;

impl Case {
    /// Random parameters, those of normalisations too, and images.
    fn new(spec: ModelSpec) -> Self {
        let parameters = Parameters::new(&spec).unwrap();
        let mut flat = parameters.initial(3);
        let shaken = noise(1, flat.len());
        flat.iter_mut().zip(&shaken).for_each(|(x, &e)| *x += 0.05 * e);
        let [height, width, channels] = spec.input;
        let scaling = Scaling {
            mean: (0..channels).map(|c| 0.4 + 0.05 * c as f32).collect(),
            std: (0..channels).map(|c| 0.25 + 0.03 * c as f32).collect(),
        };
        let pixels = height * width * channels;
        let raw: Vec<f32> = noise(2, IMAGES * pixels).iter().map(|x| 0.5 + 0.5 * x).collect();
        // Channels innermost, scaled: what our engine takes.
        let mut images = vec![0.0; raw.len()];
        for (image, from) in images.chunks_exact_mut(pixels).zip(raw.chunks_exact(pixels)) {
            for c in 0..channels {
                for p in 0..height * width {
                    let value = from[c * height * width + p];
                    image[p * channels + c] = (value - scaling.mean[c]) / scaling.std[c];
                }
            }
        }
        let mut logits = vec![0.0; IMAGES * spec.classes];
        let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
        engine.predict(&flat, &images, &mut logits);
        Case { spec, parameters, flat, scaling, raw, logits }
    }

    fn exported(&self) -> Exported<'_> {
        Exported {
            spec: &self.spec,
            flat: &self.flat,
            scaling: Some(self.scaling.clone()),
            input: InputKind::Image,
            output: OutputKind::Classes,
            about: vec![
                ("consort".into(), format!("{} of a \"test\"", self.spec.name)),
                ("classes".into(), "[\"a\", \"é\"]".into()),
            ],
        }
    }
}

#[test]
fn every_parameter_is_in_the_onnx_file_and_every_name_leads_somewhere() {
    for spec in models() {
        let case = Case::new(spec);
        for batch in [Batch::Dynamic, Batch::Fixed(4)] {
            let file = OnnxFile::read(&onnx(&case.exported(), batch).unwrap());
            assert_eq!((file.ir_version, file.operator_set), (8, 17));
            for parameter in case.parameters.iter() {
                let (shape, values) = file.tensor(&parameter.name);
                assert_eq!(values, parameter.slice(&case.flat), "{}", parameter.name);
                let count: i64 = shape.iter().product();
                assert_eq!(count as usize, parameter.len(), "{}", parameter.name);
            }
            file.check_names();
            let first = match batch {
                Batch::Dynamic => "batch".to_string(),
                Batch::Fixed(images) => images.to_string(),
            };
            let [height, width, channels] = case.spec.input.map(|side| side.to_string());
            let expected = ("image".to_string(), vec![first.clone(), channels, height, width]);
            assert_eq!(file.inputs, [expected]);
            let classes = case.spec.classes.to_string();
            let outputs = ["logits", "probabilities"]
                .map(|name| (name.to_string(), vec![first.clone(), classes.clone()]));
            assert_eq!(file.outputs, outputs);
            assert_eq!(file.about["classes"], "[\"a\", \"é\"]");
        }
    }
}

/// The measured differences are at most 2.2e-6, of logits of up to 2.4.
#[test]
fn onnxruntime_and_pytorch_give_our_logits() {
    let Some(python) = std::env::var_os("CONSORT_TEST_PYTHON") else {
        println!("skipped: CONSORT_TEST_PYTHON names no Python with torch and onnxruntime");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/same_logits.py");
    for spec in models() {
        let case = Case::new(spec);
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let floats = |values: &[f32]| {
            values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
        };
        std::fs::write(at("model.onnx"), onnx(&case.exported(), Batch::Dynamic).unwrap()).unwrap();
        std::fs::write(at("model.py"), torch(&case.exported(), "model.safetensors").unwrap())
            .unwrap();
        let weights = save_safetensors(&case.parameters, &case.flat, &BTreeMap::new()).unwrap();
        std::fs::write(at("model.safetensors"), weights).unwrap();
        std::fs::write(at("images.f32"), floats(&case.raw)).unwrap();
        let [height, width, channels] = case.spec.input;
        let shape = [IMAGES, channels, height, width].map(|side| side.to_string());
        let output =
            Command::new(&python).arg(&script).arg(temp.path()).args(shape).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {told}", case.spec.name);
        let theirs: BTreeMap<String, Vec<f32>> = serde_json::from_slice(&output.stdout).unwrap();
        for program in ["onnxruntime", "torch"] {
            let Some(theirs) = theirs.get(program) else {
                println!("{}: {program} is not installed", case.spec.name);
                continue;
            };
            let off = case.logits.iter().zip(theirs).map(|(a, b)| (a - b).abs());
            let off = off.fold(0.0, f32::max);
            let largest = case.logits.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            println!("{:14} {program:12} off {off:.1e} of {largest:.2}", case.spec.name);
            assert_eq!(case.logits.len(), theirs.len());
            assert!(off < 1e-4, "{}: {program} is off by {off}", case.spec.name);
            assert!(largest > 0.1, "{}: nothing but zeros proves nothing", case.spec.name);
        }
    }
}

/// Tables come in as rows, and a regression's answer in the unit of its target.
#[test]
fn a_table_is_a_row_and_a_number_has_its_unit() {
    let spec = zoo::for_input("mlp:8", [1, 1, 5], 1).unwrap();
    let parameters = Parameters::new(&spec).unwrap();
    let flat = parameters.initial(1);
    let scaling = Scaling { mean: vec![1.0; 5], std: vec![2.0; 5] };
    let output = OutputKind::Number { mean: 100.0, std: 7.0 };
    let (input, about) = (InputKind::Table, Vec::new());
    let exported =
        Exported { spec: &spec, flat: &flat, scaling: Some(scaling), input, output, about };
    let file = OnnxFile::read(&onnx(&exported, Batch::Dynamic).unwrap());
    file.check_names();
    assert_eq!(file.inputs, [("columns".to_string(), vec!["batch".into(), "5".into()])]);
    assert_eq!(file.outputs, [("value".to_string(), vec!["batch".into(), "1".into()])]);
    assert_eq!(file.tensor("target.mean").1, [100.0]);
    let source = torch(&exported, "m.safetensors").unwrap();
    assert!(source.contains("return super().forward(x) * 7.0 + 100.0"), "{source}");
    let short = Exported { scaling: Some(Scaling { mean: vec![], std: vec![] }), ..exported };
    let told = onnx(&short, Batch::Dynamic).unwrap_err().to_string();
    assert!(told.contains("0 numbers, expected 5"), "{told}");
}
