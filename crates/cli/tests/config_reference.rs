//! The reference of the configuration: comments, schema and docs come from one source, and name
//! every key.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use consort_train::Config;
use serde_json::{Value, json};
use support::{consort, consort_in, names};

/// Keys that a user would look for, those without a default among them.
const SOME: [&str; 9] = [
    "#partition-seed = ",
    "#rounds = ",
    "#clip-norm = ",
    "#agent-samples = ",
    "#every-rounds = ",
    "label: ",
    "epochs = 30.0",
    "[schedule]",
    "milestones = [0.5, 0.75]",
];

#[test]
fn the_shown_configuration_has_a_comment_for_every_key_and_can_be_read_again() {
    let shown = consort("train --show-config").done().stdout;
    for part in SOME {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    let lines: Vec<&str> = shown.lines().collect();
    let is_key = |line: &str| line.contains(" = ") && !line.starts_with("# ");
    for (before, line) in lines.iter().zip(&lines[1..]) {
        assert!(!is_key(line) || before.starts_with("# "), "no comment above {line}");
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{shown}");
    assert_eq!(Config::from_toml(&shown, &[]).unwrap(), Config::from_toml("", &[]).unwrap());
}

#[test]
fn the_page_of_the_docs_is_the_reference() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("<!-- from the program: begin -->\n").unwrap();
    let (tables, _) = rest.split_once("<!-- from the program: end -->").unwrap();
    let expected = consort("train --config-reference").done().stdout;
    assert_eq!(tables, expected, "after a change: consort train --config-reference");
}

/// The configurations that are shown and made fit the schema; those with mistakes do not.
#[test]
fn the_schema_accepts_what_the_program_accepts() {
    let schema = consort("train --schema").done().json();
    let toml = |text: &str| serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
    let shown = consort("train --show-config").done().stdout;
    let own = "methods = ['dsgd', { method = 'gut', eta = 1, label = 'x' }]\nrounds = 3";
    for text in [&shown, "", own, "[evaluation]\nagent-samples = 0", "[schedule]\nshape = 'cosine'"]
    {
        assert_eq!(problem(&schema, &toml(text)), None, "{text}");
        Config::from_toml(text, &[]).unwrap();
    }
    for text in [
        "btach = 3",
        "batch = 3.5",
        "batch = 0",
        "eta = 0.0",
        "eta = 'abc'",
        "methods = 'gut'",
        "methods = []",
        "methods = [{ eta = 0.1 }]",
        "methods = [{ method = 'gut', labl = 'x' }]",
        "seeds = ['a']",
        "epochs = 1\nrounds = 2",
        "tensorboard = 'yes'",
        "schedule = 3",
        "[schedule]\nshape = 'cosin'",
        "[schedule]\nmilestones = [1.5]",
        "[schedule]\nwarmup = 1.0",
        "[evaluation]\nevery = 0",
    ] {
        assert!(problem(&schema, &toml(text)).is_some(), "{text}");
        Config::from_toml(text, &[]).unwrap_err();
    }
    // What an editor shows: descriptions, defaults and words to choose from.
    let of = |pointer: &str| schema.pointer(pointer).unwrap();
    assert_eq!(of("/properties/batch/default"), 32);
    assert_eq!(of("/properties/schedule/properties/shape/enum/2"), "cosine");
    for (name, property) in of("/properties").as_object().unwrap() {
        assert!(property["description"].as_str().unwrap().len() > 10, "{name}");
    }
}

/// The first thing in `value` that the schema refuses, by the words that our schema uses.
fn problem(schema: &Value, value: &Value) -> Option<String> {
    let told = |what: &str| Some(format!("{what}: {value}"));
    if let Some(choices) = schema["anyOf"].as_array() {
        let refused = choices.iter().all(|choice| problem(choice, value).is_some());
        return if refused { told("anyOf") } else { None };
    }
    if let Some(words) = schema["enum"].as_array() {
        return if words.contains(value) { None } else { told("enum") };
    }
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => panic!("a schema of type {other:?}"),
    };
    if !fits {
        return told("type");
    }
    if let Some(number) = value.as_f64() {
        let limit = |name: &str| schema[name].as_f64();
        let low = limit("minimum").is_some_and(|least| number < least);
        let low = low || limit("exclusiveMinimum").is_some_and(|least| number <= least);
        let high = limit("maximum").is_some_and(|most| number > most);
        let high = high || limit("exclusiveMaximum").is_some_and(|most| number >= most);
        return if low || high { told("limits") } else { None };
    }
    if let Some(items) = value.as_array() {
        if schema["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
            return told("minItems");
        }
        return items.iter().find_map(|item| problem(&schema["items"], item));
    }
    let table = value.as_object()?;
    let has = |key: &Value| table.contains_key(key.as_str().unwrap());
    let all = |keys: &Value| keys.as_array().is_some_and(|keys| keys.iter().all(has));
    if !schema["required"].is_null() && !all(&schema["required"]) {
        return told("required");
    }
    if all(&schema["not"]["required"]) {
        return told("not");
    }
    table.iter().find_map(|(key, value)| match schema["properties"].get(key) {
        Some(property) => problem(property, value),
        None if schema["additionalProperties"] == json!(false) => told(key),
        None => None,
    })
}

#[test]
fn a_mistake_in_a_file_is_told_in_plain_words_with_its_line() {
    let temp = tempfile::tempdir().unwrap();
    for (text, parts) in [
        ("\neta = 'abc'", ["my.toml: line 2: eta: expected a number, got \"abc\"", ""]),
        ("methods = 'gut'", ["line 1: methods: expected a list, as in [\"gut\"]", ""]),
        ("batch = 3.5", ["line 1: batch: expected a whole number, got 3.5", ""]),
        ("[schedul]\nfactor = 1", ["`schedul`", "did you mean `schedule`?"]),
    ] {
        fs::write(temp.path().join("my.toml"), text).unwrap();
        consort_in(temp.path(), "train my.toml").failed(2, &parts);
    }
    consort("train --set eta=abc").failed(2, &["error: eta: expected a number, got \"abc\""]);
    consort("train --set schedul=3").failed(2, &["did you mean `schedule`?"]);
}

#[test]
fn a_number_that_is_none_is_refused_in_plain_words() {
    let parts = ["'3.5'", "--rounds", "expected a whole number"];
    consort("train --rounds 3.5").failed(2, &parts);
    consort("train --seeds 1,x").failed(2, &["'x'", "--seeds", "expected a whole number"]);
    consort("train --eta much").failed(2, &["'much'", "--eta", "expected a number"]);
    consort("train --batch").failed(2, &["--batch"]);
    consort("train --threads x").failed(2, &["'x'", "expected a whole number"]);
}

#[test]
fn a_missing_configuration_is_answered_with_what_is_there() {
    let temp = tempfile::tempdir().unwrap();
    for name in ["study.toml", "other.toml", "notes.txt"] {
        fs::write(temp.path().join(name), "").unwrap();
    }
    let line = "train stduy.toml";
    consort_in(temp.path(), line).failed(2, &["stduy.toml", "did you mean study.toml?"]);
    let answer = consort_in(temp.path(), "train nothing-like-it.toml");
    let answer = answer.failed(2, &["other.toml, study.toml", "consort new DIR"]);
    assert!(!answer.stderr.contains("notes"), "{}", answer.stderr);
    consort_in(temp.path(), "train no/such.toml").failed(2, &["nor does the folder no"]);
}

#[test]
fn a_new_study_can_be_trained_as_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let line = "new study --graph ring:4 --epochs 1 --set seeds=1 --set methods=gut";
    let answer = consort_in(temp.path(), line).done();
    assert!(answer.stdout.contains("consort train run.toml"), "{}", answer.stdout);
    let folder = temp.path().join("study");
    assert_eq!(names(&folder), ["README.md", "consort.schema.json", "run.toml"]);
    let text = fs::read_to_string(folder.join("run.toml")).unwrap();
    assert!(text.starts_with("#:schema ./consort.schema.json\n"), "{text}");
    let schema = fs::read_to_string(folder.join("consort.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema, consort("train --schema").done().json());
    consort_in(&folder, "train run.toml").done();
    assert_eq!(names(&folder.join("runs")), ["digits-ring-4"]);
    // Every command in the README can be parsed.
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let commands: Vec<&str> = readme.lines().filter(|l| l.starts_with("consort ")).collect();
    assert!(commands.len() >= 5, "{readme}");
    for command in commands {
        let words = command.split('#').next().unwrap().trim_start_matches("consort ");
        consort(&format!("{words} --help")).done();
    }
    consort_in(temp.path(), "new study").failed(2, &["run.toml", "not overwritten"]);
    consort_in(temp.path(), "new other --set etta=1").failed(2, &["did you mean `eta`?"]);
    assert_eq!(names(temp.path()), ["study"]);
}
