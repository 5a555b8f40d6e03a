//! A trained model is used outside of its run: `predict`, `export`, `eval`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{consort_in, run_page, without_metadata, write_png};

/// Bright on the left or on the right, with some noise.
fn shape(path: &Path, size: [usize; 2], left: bool, seed: usize) {
    write_png(path, size, &|y, x| {
        let bright = (x < size[1] / 2) == left;
        let noise = ((y * 31 + x * 17 + seed * 7919) % 61) as u8;
        if bright { 180 + noise } else { 20 + noise }
    });
}

/// A folder of images with two classes, and new ones.
fn shapes(folder: &Path) {
    for k in 0..30 {
        for (class, left) in [("left side", true), ("right side", false)] {
            shape(&folder.join(format!("shapes/{class}/{k}.png")), [8, 8], left, k);
        }
    }
    for k in 0..3 {
        shape(&folder.join(format!("new/left-{k}.png")), [8, 8], true, 100 + k);
        shape(&folder.join(format!("new/more/right-{k}.png")), [8, 8], false, 200 + k);
    }
}

const TRAIN: &str = "--graph ring:4 --partition iid --methods dsgd --seeds 1 --eta 0.1 \
                     --batch 8 --out run --json";

/// A model of shapes, in a folder of its own without its run.
fn model_of_shapes(folder: &Path) -> PathBuf {
    shapes(folder);
    let line = format!("train --data folder:shapes:size=8 --model mlp:8 {TRAIN} --rounds 60");
    consort_in(folder, &line).done();
    let alone = folder.join("elsewhere");
    fs::create_dir(&alone).unwrap();
    let model = folder.join("run/trials/1-dsgd-seed-1/model.safetensors");
    fs::copy(model, alone.join("m.safetensors")).unwrap();
    alone
}

fn predictions(value: &Value) -> Vec<(String, String, f64)> {
    let one = |value: &Value| {
        let text = |key: &str| value[key].as_str().unwrap().to_string();
        (text("input"), text("class"), value["probability"].as_f64().unwrap())
    };
    value["predictions"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn images_that_the_model_has_not_seen_get_their_classes() {
    let temp = tempfile::tempdir().unwrap();
    let alone = model_of_shapes(temp.path());
    let told = consort_in(&alone, "predict m.safetensors ../new --format json --logits").done();
    assert!(!told.stderr.contains("scaled"), "{}", told.stderr);
    let value = told.json();
    let all = predictions(&value);
    assert_eq!(all.len(), 6);
    for (input, class, probability) in &all {
        let side = if input.contains("left-") { "left side" } else { "right side" };
        assert_eq!(class, side, "{input}");
        assert!((0.5..=1.0).contains(probability));
    }
    let first = &value["predictions"][0];
    assert_eq!(first["top"].as_array().unwrap().len(), 2);
    let logits: Vec<f64> =
        first["logits"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let softmax = 1.0 / (1.0 + (logits[1] - logits[0]).exp());
    assert!((softmax - first["probability"].as_f64().unwrap()).abs() < 1e-9);
    // One at a time, on one thread: the same, but for the order of sums (measured: no difference).
    for (input, class, probability) in &all {
        let line = format!("predict m.safetensors {input} --format json --threads 1");
        let one = predictions(&consort_in(&alone, &line).done().json());
        assert_eq!((&one[0].0, &one[0].1, one.len()), (input, class, 1));
        assert!((one[0].2 - probability).abs() < 1e-6, "{input}");
    }
    let table = consort_in(&alone, "predict m.safetensors ../new --top 1").done().stdout;
    assert!(table.lines().next().unwrap().starts_with("input"), "{table}");
    assert_eq!(table.matches("left side").count(), 3, "{table}");
    let csv = consort_in(&alone, "predict m.safetensors ../new --format csv").done().stdout;
    let header = "input,line,class,probability,p(left side),p(right side)";
    assert_eq!((csv.lines().next(), csv.lines().count()), (Some(header), 7));
}

#[test]
fn images_of_another_size_are_scaled_and_it_is_said() {
    let temp = tempfile::tempdir().unwrap();
    let alone = model_of_shapes(temp.path());
    shape(&alone.join("large.png"), [32, 48], true, 1);
    let told = consort_in(&alone, "predict m.safetensors large.png --format json").done();
    assert!(told.stderr.contains("1 of 1 images scaled to 8x8"), "{}", told.stderr);
    assert!(told.stderr.contains("large.png of 32x48"), "{}", told.stderr);
    let value = told.json();
    assert_eq!(value["predictions"][0]["scaled_from"], serde_json::json!([32, 48]));
    assert_eq!(predictions(&value)[0].1, "left side");
}

#[test]
fn what_cannot_be_used_costs_no_other_its_answer() {
    let temp = tempfile::tempdir().unwrap();
    let alone = model_of_shapes(temp.path());
    fs::write(temp.path().join("new/broken.png"), b"\x89PNG\r\n\x1a\nnothing").unwrap();
    let told = consort_in(&alone, "predict m.safetensors ../new --format json");
    let told = told.failed(1, &["broken.png", "1 of 7 samples"]);
    assert_eq!(predictions(&told.json()).len(), 6);
    consort_in(&alone, "predict m.safetensors nowhere.png")
        .failed(2, &["nowhere.png: there is no"]);
    fs::create_dir(alone.join("empty")).unwrap();
    consort_in(&alone, "predict m.safetensors empty").failed(2, &["empty: there is no image"]);
    fs::rename(temp.path().join("shapes"), temp.path().join("moved")).unwrap();
    let parts = ["shapes", "was trained on", "--data DATA"];
    consort_in(&alone, "eval m.safetensors").failed(2, &parts);
    consort_in(&alone, "eval m.safetensors --data folder:../moved").done();
    consort_in(&alone, "predict nomodel.safetensors x.png").failed(2, &["nomodel.safetensors"]);
}

/// Rows of two numbers and a word; the class is the sign of their sum.
fn table(
    rows: usize,
    seed: usize,
    header: &str,
    line: impl Fn(f64, f64, &str) -> String,
) -> String {
    let row = |k: usize| {
        let k = k + seed;
        let (x, y) = ((k * 37 % 101) as f64 / 50.0 - 1.0, (k * 53 % 97) as f64 / 4.8 - 10.0);
        line(x, y, if 10.0 * x + y > 0.0 { "up" } else { "down" })
    };
    format!("{header}\n{}", (0..rows).map(row).collect::<String>())
}

fn model_of_a_table(folder: &Path) {
    let text = table(400, 0, "x,y,label", |x, y, class| format!("{x},{y},{class}\n"));
    fs::write(folder.join("own.csv"), text).unwrap();
    consort_in(folder, &format!("train --data csv:own.csv --model mlp:16 {TRAIN} --rounds 60"))
        .done();
    fs::copy(
        folder.join("run/trials/1-dsgd-seed-1/model.safetensors"),
        folder.join("m.safetensors"),
    )
    .unwrap();
}

#[test]
fn rows_of_a_table_are_found_by_the_names_of_its_columns() {
    let temp = tempfile::tempdir().unwrap();
    model_of_a_table(temp.path());
    let here = |line: &str| consort_in(temp.path(), line);
    // Other columns before, between and behind, in another order, with the answer to compare.
    let text = table(50, 1000, "answer,y,note,x", |x, y, class| format!("{class},{y},-,{x}\n"));
    fs::write(temp.path().join("new.csv"), &text).unwrap();
    let value = here("predict m.safetensors new.csv --format json").done().json();
    let all = predictions(&value);
    let answers: Vec<&str> = text.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    let right = all.iter().zip(&answers).filter(|((_, class, _), answer)| class == *answer).count();
    assert!(right >= 45, "{right} of 50 are right"); // measured: 50
    assert_eq!(value["predictions"][0]["line"], 2);
    let plain = table(50, 1000, "", |x, y, _| format!("{x},{y}\n"));
    fs::write(temp.path().join("plain.csv"), plain.trim_start()).unwrap();
    let plain = predictions(&here("predict m.safetensors plain.csv --format json").done().json());
    let classes = |all: &[(String, String, f64)]| {
        all.iter().map(|(_, class, p)| (class.clone(), *p)).collect::<Vec<_>>()
    };
    assert_eq!(classes(&plain), classes(&all), "without a header: the columns in their order");

    fs::write(temp.path().join("less.csv"), "X,z\n1,2\n").unwrap();
    let parts = ["lacks columns", "`x` (is it `X`?)", "`y`", "it has `X`, `z`"];
    here("predict m.safetensors less.csv").failed(2, &parts);
    fs::write(temp.path().join("bad.csv"), "x,y\n1,2\none,2\n").unwrap();
    let bad = here("predict m.safetensors bad.csv --format csv");
    let bad = bad.failed(1, &["bad.csv, line 3: `x`: expected a number, got `one`", "1 of 2"]);
    assert_eq!(bad.stdout.lines().count(), 2);
    here("predict m.safetensors .").failed(2, &["is a folder"]);
}

/// Words and a target: the answer is a number in the unit of the table.
#[test]
fn a_regression_predicts_numbers_in_the_unit_of_its_target() {
    let temp = tempfile::tempdir().unwrap();
    let row = |k: usize| {
        let (size, town) = (30 + k * 37 % 120, ["bonn", "ulm"][k * 5 % 7 % 2]);
        (size, town, 2000 * size + if town == "ulm" { 50_000 } else { 0 })
    };
    let priced = |k: usize| {
        let (size, town, price) = row(k);
        format!("{size},{town},{price}\n")
    };
    let text = format!("size,town,price\n{}", (0..240).map(priced).collect::<String>());
    fs::write(temp.path().join("flats.csv"), text).unwrap();
    let data = "--data csv:flats.csv:target=price --model mlp:16";
    consort_in(temp.path(), &format!("train {data} {TRAIN} --rounds 300")).done();
    let model = "run/trials/1-dsgd-seed-1/model.safetensors";
    let new = |k: usize| format!("{},{}\n", row(k).1, row(k).0);
    let text = format!("town,size\n{}", (1000..1020).map(new).collect::<String>());
    fs::write(temp.path().join("new.csv"), text).unwrap();
    let line = format!("predict {model} new.csv");
    let told = consort_in(temp.path(), &format!("{line} --format json")).done().json();
    for (k, prediction) in (1000..1020).zip(told["predictions"].as_array().unwrap()) {
        let (value, price) = (prediction["value"].as_f64().unwrap(), row(k).2 as f64);
        // Prices go from 60,000 to 350,000; their standard deviation is about 74,000.
        assert!((value - price).abs() < 30_000.0, "{value} for {price}");
    }
    let table = consort_in(temp.path(), &line).done().stdout;
    assert!(table.lines().next().unwrap().ends_with("price"), "{table}");
    let csv = consort_in(temp.path(), &format!("{line} --format csv")).done().stdout;
    assert_eq!(csv.lines().next(), Some("input,line,price"));
    let told =
        consort_in(temp.path(), &format!("export {model} --onnx m.onnx --torch m.py")).done();
    assert!(told.stderr.contains("rows [batch, 3] in the units of the table; gives the value"));
    let onnx = fs::read(temp.path().join("m.onnx")).unwrap();
    let has = |part: &[u8]| onnx.windows(part.len()).any(|window| window == part);
    assert!(has(b"[\"size\",\"town=bonn\",\"town=ulm\"]") && has(b"target.mean"));
    let unknown = temp.path().join("far.csv");
    fs::write(unknown, "size,town\n50,bonn\n50,rome\n").unwrap();
    let told = consort_in(temp.path(), &format!("predict {model} far.csv"));
    told.failed(1, &["far.csv, line 3: `town`: expected one of `bonn`, `ulm`, got `rome`"]);
}

/// What is needed to use a model stands in the file, readable by any program.
#[test]
fn the_file_of_a_model_says_what_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let alone = model_of_shapes(temp.path());
    let bytes = fs::read(alone.join("m.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let text = |key: &str| header["__metadata__"][key].as_str().unwrap().to_string();
    assert_eq!(text("classes"), r#"["left side","right side"]"#);
    assert_eq!(text("task"), r#"{"task":"classification"}"#);
    assert!(text("method").starts_with("dsgd") && text("graph") == "ring:4" && text("seed") == "1");
    assert_eq!(text("version"), env!("CARGO_PKG_VERSION"));
    assert!(text("model").contains("layer = \"linear\""), "{}", text("model"));
    assert!(text("data").contains("shapes"), "{}", text("data"));
    let input: Value = serde_json::from_str(&text("input")).unwrap();
    assert_eq!(input["kind"], "image");
    let channels = input["mean"].as_array().unwrap().len();
    assert_eq!(input["std"].as_array().unwrap().len(), channels);
    assert!(text("consort").contains("mlp trained on shapes over ring:4 by dsgd"));
}

/// Files of older versions work in the folder of their run, and elsewhere with what they lack.
#[test]
fn an_old_file_says_what_it_lacks_and_how_to_say_it() {
    let temp = tempfile::tempdir().unwrap();
    let here = |line: &str| consort_in(temp.path(), line);
    here(&format!("train --data digits --model mlp:16 {TRAIN} --rounds 60")).done();
    let path = temp.path().join("run/trials/1-dsgd-seed-1/model.safetensors");
    let new = fs::read(&path).unwrap();
    fs::write(temp.path().join("new.safetensors"), &new).unwrap();
    fs::write(&path, without_metadata(&new)).unwrap();
    fs::write(temp.path().join("old.safetensors"), without_metadata(&new)).unwrap();
    write_png(&temp.path().join("digit.png"), [8, 8], &|y, x| (30 * y + x) as u8);

    let in_run = "run/trials/1-dsgd-seed-1/model.safetensors";
    let evaluated = |line: &str| {
        let mut value = here(&format!("{line} --json")).done().json();
        value["file"] = Value::Null;
        value
    };
    let by_card = evaluated("eval new.safetensors");
    assert_eq!(evaluated(&format!("eval {in_run}")), by_card);
    assert_eq!(evaluated("eval old.safetensors --data digits --model mlp:16"), by_card);
    let predicted = |line: &str| predictions(&here(&format!("{line} --format json")).done().json());
    let by_card = predicted("predict new.safetensors digit.png");
    assert_eq!(predicted(&format!("predict {in_run} digit.png")), by_card);
    let flags = "predict old.safetensors digit.png --data digits --model mlp:16";
    assert_eq!(predicted(flags), by_card);
    for command in ["eval old.safetensors", "predict old.safetensors digit.png"] {
        here(command).failed(2, &["old.safetensors", "on what data", "older version", "--data"]);
        let parts = ["old.safetensors", "which model", "--model"];
        here(&format!("{command} --data digits")).failed(2, &parts);
        let wrong = here(&format!("{command} --data digits --model digits-cnn"));
        wrong.failed(2, &["old.safetensors", "no tensor"]);
    }
    here("model show old.safetensors").failed(2, &["does not say which model"]);
}

/// Beside the models of a networked run lies its plan.
#[test]
fn eval_reads_the_plan_beside_an_old_model() {
    let temp = tempfile::tempdir().unwrap();
    let here = |line: &str| consort_in(temp.path(), line);
    here("init lab --agents 4 --graph ring --rounds 5 --model mlp:8 --method dsgd").done();
    here("train --model mlp:8 --graph ring:4 --methods dsgd --seeds 1 --rounds 5 --out run").done();
    let model = fs::read(temp.path().join("run/trials/1-dsgd-seed-1/model.safetensors")).unwrap();
    let told = here("eval run/trials/1-dsgd-seed-1/model.safetensors --json").done().json();
    fs::create_dir_all(temp.path().join("lab/agent-2")).unwrap();
    for place in ["lab/model.safetensors", "lab/agent-2/model.safetensors"] {
        fs::write(temp.path().join(place), without_metadata(&model)).unwrap();
        let again = here(&format!("eval {place} --json")).done().json();
        assert_eq!(again["accuracy"], told["accuracy"]);
    }
}

/// New data are scaled as those on which the model was trained, and their classes count as its.
#[test]
fn eval_on_other_data_keeps_the_scaling_of_the_model() {
    let temp = tempfile::tempdir().unwrap();
    model_of_a_table(temp.path());
    // Only large values: scaled by themselves, half of them would look small. And "down" is rare.
    let text = table(900, 0, "x,y,label", |x, y, class| match y > 4.0 {
        true => format!("{x},{y},{class}\n"),
        false => String::new(),
    });
    fs::write(temp.path().join("large.csv"), text).unwrap();
    let line = "eval m.safetensors --data csv:large.csv --json";
    let told = consort_in(temp.path(), line).done().json();
    let accuracy = told["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}"); // measured: 1; scaled by themselves 0.60
    let text = table(40, 0, "x,y,label", |x, y, class| {
        format!("{x},{y},{}\n", class.replace("down", "sideways"))
    });
    fs::write(temp.path().join("strange.csv"), text).unwrap();
    let parts = ["no class `sideways`", "down, up"];
    consort_in(temp.path(), "eval m.safetensors --data csv:strange.csv").failed(2, &parts);
}

#[test]
fn a_model_is_exported_for_other_programs() {
    let temp = tempfile::tempdir().unwrap();
    let alone = model_of_shapes(temp.path());
    let line = "export m.safetensors --onnx m.onnx --torch m.py";
    let told = consort_in(&alone, line).done().stderr;
    assert!(
        told.contains("m.onnx: takes images [batch, ") && told.contains("from 0 to 1"),
        "{told}"
    );
    let onnx = fs::read(alone.join("m.onnx")).unwrap();
    let has = |part: &[u8]| onnx.windows(part.len()).any(|window| window == part);
    assert!(has(b"Gemm") && has(b"probabilities") && has(b"left side"));
    assert!(!has(temp.path().to_string_lossy().as_bytes()), "no path of this machine");
    let source = fs::read_to_string(alone.join("m.py")).unwrap();
    for part in ["nn.Linear(", "CLASSES = [\"left side\",\"right side\"]", "def load(path):"] {
        assert!(source.contains(part), "no {part:?} in:\n{source}");
    }
    consort_in(&alone, "export m.safetensors --onnx s.onnx --scaled --batch 4").done();
    consort_in(&alone, "export m.safetensors").failed(2, &["--onnx"]);
    consort_in(&alone, "export m.safetensors --onnx x --batch 0").failed(2, &["dynamic"]);
}

#[test]
fn the_page_about_using_a_model_works_as_written() {
    let temp = tempfile::tempdir().unwrap();
    for k in 0..30 {
        for (class, left) in [("left", true), ("right", false)] {
            shape(&temp.path().join(format!("photos/{class}/{k}.png")), [8, 8], left, k);
        }
    }
    shape(&temp.path().join("new/a.png"), [8, 8], true, 77);
    shape(&temp.path().join("new/b.png"), [20, 20], false, 78);
    let text = table(400, 0, "x,y,label", |x, y, class| format!("{x},{y},{class}\n"));
    fs::write(temp.path().join("own.csv"), text).unwrap();
    let text = table(5, 500, "x,y", |x, y, _| format!("{x},{y}\n"));
    fs::write(temp.path().join("new.csv"), text).unwrap();
    assert!(run_page("use-a-model.md", temp.path()) >= 8);
}
