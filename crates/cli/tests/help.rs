//! Help, the catalogue of methods, and readers that stop reading.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::pipe;
use std::path::Path;

use consort_algo::CATALOGUE;
use support::{Answer, command_in, consort};

const COMMANDS: [&str; 37] = [
    "",
    "train",
    "resume",
    "runs",
    "runs prune",
    "new",
    "init",
    "compare",
    "reproduce",
    "eval",
    "predict",
    "export",
    "model",
    "model list",
    "model show",
    "model template",
    "data",
    "data list",
    "data get",
    "data show",
    "data check",
    "consensus",
    "analyze",
    "theory",
    "graph",
    "methods",
    "key",
    "key new",
    "key show",
    "doctor",
    "completions",
    "man",
    "launch",
    "bench",
    "bench method",
    "bench step",
    "bench train",
];

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in COMMANDS {
        let mut texts = vec![format!("{command} --help"), format!("{command} -h")];
        if !command.starts_with("bench ") {
            texts.push(format!("help {command}"));
        }
        for line in texts {
            let answer = consort(&line).done();
            for part in ["Usage: consort", "Example", "  consort "] {
                assert!(answer.stdout.contains(part), "{line}: no {part:?}\n{}", answer.stdout);
            }
            assert!(answer.stderr.is_empty(), "{line}");
        }
    }
}

#[test]
fn every_example_in_the_help_is_a_command_that_parses() {
    for command in COMMANDS {
        let help = consort(&format!("{command} --help")).done().stdout;
        let examples = help.split("Example").last().unwrap();
        let examples: Vec<&str> =
            examples.lines().filter_map(|line| line.strip_prefix("  consort ")).collect();
        assert!(!examples.is_empty(), "{command}");
        for line in examples {
            // Two blanks begin a comment, and what follows `>` is for the shell. Help is given only
            // if all words before it parse.
            let line = line.split("  ").next().unwrap().split(" > ").next().unwrap();
            consort(&format!("{line} --help")).done();
        }
    }
}

#[test]
fn help_is_not_given_after_words_that_do_not_parse() {
    consort("graph ring:8 --bogus --help").failed(2, &["'--bogus'"]);
    consort("consensus --dim none --help").failed(2, &["'none'"]);
}

#[test]
fn the_version_is_the_packages() {
    let version = consort("--version").done().stdout;
    assert_eq!(version.trim(), format!("consort {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_catalogue_lists_every_method_with_all_its_facts() {
    let catalogue = consort("methods --json").done().json();
    let catalogue = catalogue.as_array().unwrap();
    let names: Vec<&str> = catalogue.iter().map(|m| m["name"].as_str().unwrap()).collect();
    let known: Vec<&str> = CATALOGUE.iter().map(|info| info.name).collect();
    assert_eq!(names, known);
    for method in catalogue {
        for key in ["title", "source", "update", "sends", "graphs"] {
            let text = method[key].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{}: no {key}", method["name"]);
        }
        let traffic = method["traffic"].as_f64().unwrap();
        let name = method["name"].as_str().unwrap();
        let sends_two = ["gt", "mt", "k-gt", "cga", "ngc"].contains(&name);
        assert_eq!(traffic, if sends_two { 2.0 } else { 1.0 }, "{name}");
        assert!((1..=8).contains(&method["memory_copies"].as_u64().unwrap()), "{method}");
        let parameters = method["parameters"].as_array().unwrap();
        assert!(!parameters.is_empty(), "{method}");
        for parameter in parameters {
            for key in ["name", "default", "range", "meaning"] {
                let text = parameter[key].as_str().unwrap_or_default();
                assert!(!text.is_empty() && text != "-", "{}: {parameter}", method["name"]);
            }
        }
    }
}

#[test]
fn the_table_of_methods_has_a_line_for_each() {
    let table = consort("methods").done().stdout;
    for method in CATALOGUE.iter().map(|info| info.name) {
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(method));
        assert!(line.is_some(), "no {method} in:\n{table}");
    }
}

#[test]
fn every_default_of_a_method_is_a_value_it_accepts() {
    for method in CATALOGUE.iter().map(|info| info.name) {
        let info = consort(&format!("methods {method} --json")).done().json();
        for parameter in info["parameters"].as_array().unwrap() {
            let [name, value] = ["name", "default"].map(|key| parameter[key].as_str().unwrap());
            let value = if value == "beta" { "0.9" } else { value };
            let spec = format!("{method}:{name}={value}");
            consort(&format!("analyze --graph ring:4 --method {spec}")).done();
        }
    }
}

#[test]
fn one_method_shows_its_parameters_with_defaults() {
    let text = consort("methods qg-gutm").done().stdout;
    assert!(text.starts_with("QG-GUTm (qg-gutm)"), "{text}");
    let (_, parameters) = text.split_once("\n  parameters\n").unwrap();
    let default = |name: &str| {
        let line = parameters.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.unwrap_or_else(|| panic!("no {name} in:\n{text}")).to_string()
    };
    for (name, value) in [("mu", "default 0.05"), ("beta", "default 0.9"), ("gamma", "default 1")] {
        assert!(default(name).contains(value), "{}", default(name));
    }
    for name in ["mu_q", "reading", "form", "nesterov", "gradient_at", "memory"] {
        assert!(default(name).contains("default"), "{}", default(name));
    }
    for part in ["from", "update", "sends", "memory", "graphs"] {
        assert!(text.contains(&format!("\n  {part} ")), "no {part} in:\n{text}");
    }
}

#[test]
fn the_bench_measures_what_it_is_asked_to() {
    // `beat` is the former word.
    for word in ["method", "beat"] {
        let line = format!("bench {word} --params 500 --seconds 0.001 --methods gut,gt --json");
        check_the_bench_of_methods(&line);
    }
}

fn check_the_bench_of_methods(line: &str) {
    let results = consort(line).done().json();
    let names: Vec<&str> =
        results.as_array().unwrap().iter().map(|r| r["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["gut", "gt"]);
    for result in results.as_array().unwrap() {
        assert_eq!(result["params"], 500);
        assert!(result["round_ns"].as_f64().unwrap() > 0.0, "{result}");
        assert!(result["memory_bytes"].as_u64().unwrap() >= 4 * 500, "{result}");
    }
}

/// As in `consort methods | head -1`.
#[test]
fn a_reader_that_went_away_is_no_error() {
    let lines = [
        "methods",
        "methods --json",
        "graph --list",
        "graph dyck",
        "train --dry-run",
        "data list",
        "--help",
    ];
    for line in lines {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = command_in(Path::new("."), line).stdout(writer).output().unwrap();
        let answer = Answer::of(output).done();
        assert!(answer.stderr.is_empty(), "{line}: {}", answer.stderr);
    }
}

#[test]
fn bench_step_tells_speed_and_memory_of_a_model_and_refuses_unknown_ones() {
    // `--piece` and, below, `--path` are the former words of `--micro-batch` and `--isa`.
    let line = "bench step --model lenet5 --threads 1 --batch 2 --piece 1 --seconds 0.01 --json";
    let value: serde_json::Value = serde_json::from_str(&consort(line).done().stdout).unwrap();
    assert_eq!(value["parameters"], 61_706);
    let numbers = [
        "images_per_s",
        "step_ms_min",
        "step_ms_median",
        "gflop_per_s",
        "peak_gflop_per_s",
        "share_of_peak",
        "memory_bytes_per_agent",
    ];
    for number in numbers {
        assert!(value[number].as_f64().unwrap() > 0.0, "{number}");
    }
    assert_eq!(value["micro_batch"], 1);
    let line = "bench step --model lenet5 --batch 2 --micro-batch 1 --seconds 0.01 --isa portable --profile";
    let profile = consort(line).done().stdout;
    for part in ["portable instructions", "forward", "backward", "max-pool", "3 conv", "share"] {
        assert!(profile.contains(part), "no {part:?} in:\n{profile}");
    }
    let refused = consort("bench step --model lenet5 --path sse9");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("'sse9'") && refused.stderr.contains("portable"));
    let refused = consort("bench step --model resnet21");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("6k+2"), "{}", refused.stderr);
}

/// The digits are built in, so nothing has to be downloaded or made up.
#[test]
fn bench_train_tells_how_fast_a_run_is_beside_its_steps_and_where_the_time_goes() {
    let line = "bench train --model mlp --graph ring:4 --threads 2 --seconds 0.05 --json";
    let value: serde_json::Value = serde_json::from_str(&consort(line).done().stdout).unwrap();
    assert_eq!(value["data"], "digits");
    assert_eq!((&value["agents"], &value["made_up"]), (&4.into(), &false.into()));
    for number in ["steps_images_per_s", "rounds_images_per_s", "run_images_per_s"] {
        assert!(value[number].as_f64().unwrap() > 0.0, "{number}");
    }
    assert!(value["run_share_of_steps"].as_f64() < value["rounds_share_of_steps"].as_f64());
    for part in ["step", "gradient", "batches", "method", "evaluation", "rest"] {
        assert!(value["ms_per_batch"][part].as_f64().unwrap() > 0.0, "{part} in {value}");
    }
    let table = consort("bench train --model mlp --graph ring:4 --seconds 0.01").done().stdout;
    for part in ["4 agents", "of steps", "gradient", "digits"] {
        assert!(table.contains(part), "no {part:?} in:\n{table}");
    }
}

/// The table in the docs is the catalogue; after a change: `consort methods --markdown`.
#[test]
fn the_docs_list_every_method_as_the_catalogue_does() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let (_, rest) = text.split_once("<!-- from the catalogue: begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- from the catalogue: end -->").unwrap();
    assert_eq!(table, consort("methods --markdown").done().stdout);
}
