//! Models of one's own: looking at what is there, a template to start from, errors that say all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use support::{consort, consort_in, run_page};

#[test]
fn the_list_has_every_built_in_model_with_its_size() {
    let text = consort("model list").done().stdout;
    for (name, parameters) in
        [("lenet5", "61706"), ("vgg11", "579786"), ("resnet20", "272474"), ("softmax", "650")]
    {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(parameters), "{line}");
    }
    let rows = consort("model list --json").done().json();
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, consort_model::zoo::NAMES);
    assert_eq!(rows[0]["input"], serde_json::json!([28, 28, 1]));
}

/// The numbers of LeNet-5, counted by hand: 2 x 25 x 6 x 28² for the first convolution.
#[test]
fn a_model_shows_its_layers_shapes_parameters_and_operations() {
    let text = consort("model show lenet5").done().stdout;
    for part in ["lenet5: LeNet-5", "28x28x1", "61706 (247 kB)", "0.833 MFLOP", "memory"] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    let shown = consort("model show lenet5 --json").done().json();
    let layers = shown["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 12);
    assert_eq!(layers[0]["kind"], "conv");
    assert_eq!(layers[0]["output"], "28x28x6");
    assert_eq!(layers[0]["parameters"], 156);
    assert_eq!(layers[0]["flops"], 2 * 25 * 6 * 28 * 28);
    assert_eq!(layers[11]["flops"], 2 * 84 * 10);
    let all: u64 = layers.iter().map(|layer| layer["flops"].as_u64().unwrap()).sum();
    assert_eq!(shown["flops_per_image"], all);
    assert!(shown["memory_bytes_per_thread"].as_u64().unwrap() > 1 << 20);
}

#[test]
fn a_model_is_shown_for_other_inputs_and_classes_and_for_a_dataset() {
    let shown = |line: &str| consort(&format!("model show {line} --json")).done().json();
    let small = shown("resnet8 --input 64x64x3 --classes 5");
    assert_eq!((&small["input"], &small["classes"]), (&serde_json::json!([64, 64, 3]), &5.into()));
    let digits = shown("mlp:32 --data digits");
    assert_eq!(digits["parameters"], 64 * 32 + 32 + 330);
    consort("model show lenet5 --input 28").failed(2, &["28x28x1"]);
    consort("model show lenet5 --input 4x4x1").failed(2, &["layer 3", "does not fit"]);
    consort("model show lenet4").failed(2, &["did you mean 'lenet5'?", "consort model list"]);
}

/// What is printed as TOML is the same model again.
#[test]
fn a_built_in_model_as_toml_is_one_of_ones_own() {
    let temp = tempfile::tempdir().unwrap();
    for name in ["lenet5", "resnet8", "mobilenet-v2"] {
        let toml = consort(&format!("model show {name} --toml")).done().stdout;
        fs::write(temp.path().join("own.toml"), toml).unwrap();
        let own = consort_in(temp.path(), "model show own.toml --json").done().json();
        let built_in = consort(&format!("model show {name} --json")).done().json();
        assert_eq!(own, built_in, "{name}");
    }
}

#[test]
fn the_template_is_a_model_that_trains() {
    let temp = tempfile::tempdir().unwrap();
    let template = consort("model template").done().stdout;
    fs::write(temp.path().join("own.toml"), &template).unwrap();
    let shown = consort_in(temp.path(), "model show own.toml").done().stdout;
    for part in ["4.body.2", "depthwise", "group-norm", "average-pool", "7770"] {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    let small = template.replace("[28, 28, 1]", "[8, 8, 1]").replace("size = 7", "size = 2");
    fs::write(temp.path().join("small.toml"), small).unwrap();
    let line = "train --data digits --model small.toml --graph ring:4 --methods gut --seeds 1 \
                --rounds 4 --out run --json";
    consort_in(temp.path(), line).done();
    let saved = "model show run/trials/1-gut-seed-1/model.safetensors";
    let text = consort_in(temp.path(), saved).done().stdout;
    for part in
        ["own trained on digits over ring:4", "classes     0, 1, 2", "mean 0.305", "consort "]
    {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn all_that_is_wrong_with_a_model_is_told_at_once_wherever_it_is_used() {
    let temp = tempfile::tempdir().unwrap();
    let wrong = "name = 'own'\nclases = 10\n[[layers]]\nlayer = 'conv'\noutt = 4\nkernel = 3\n\
                 [[layers]]\nlayer = 'lineer'\n";
    fs::write(temp.path().join("own.toml"), wrong).unwrap();
    let parts = [
        "own.toml",
        "`clases`, did you mean `classes`?",
        "`input` is missing",
        "layer 0 (conv): `out` is missing",
        "did you mean `out`?",
        "layer 1: there is no kind \"lineer\", did you mean `linear`?",
    ];
    for line in
        ["model show own.toml", "train --model own.toml", "train --dry-run --model own.toml"]
    {
        consort_in(temp.path(), line).failed(2, &parts);
    }
    // The bench does not repeat the name, which stands in the command.
    consort_in(temp.path(), "bench step --model own.toml").failed(2, &parts[1..]);
}

#[test]
fn a_missing_file_is_called_missing_everywhere() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("mine.toml"), "").unwrap();
    fs::write(temp.path().join("plain.safetensors"), [8, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    for line in [
        "model show nofile.toml",
        "train --model nofile.toml",
        "train --dry-run --model nofile.toml",
        "bench step --model nofile.toml",
        "bench train --model nofile.toml",
        "train --model models/nofile.toml",
    ] {
        let parts = ["nofile.toml: there is no such file", "consort model template >"];
        let answer = consort_in(temp.path(), line).failed(2, &parts);
        assert!(!answer.stderr.contains("unknown model"), "{line}: {}", answer.stderr);
        if !line.contains("models/") {
            assert!(answer.stderr.contains("mine.toml"), "{line}: {}", answer.stderr);
        }
    }
    consort_in(temp.path(), "model show no.safetensors").failed(2, &["no.safetensors"]);
    consort_in(temp.path(), "model show plain.safetensors").failed(2, &["safetensors file"]);
}

#[test]
fn a_model_of_ones_own_is_measured_by_the_bench() {
    let temp = tempfile::tempdir().unwrap();
    let template = consort("model template").done().stdout;
    fs::write(temp.path().join("own.toml"), template).unwrap();
    let line = "bench step --model own.toml --threads 1 --batch 2 --seconds 0.01 --json";
    assert_eq!(consort_in(temp.path(), line).done().json()["parameters"], 7770);
}

#[test]
fn the_page_about_own_models_works_as_written() {
    let temp = tempfile::tempdir().unwrap();
    assert!(run_page("own-model.md", temp.path()) >= 8);
}
