//! `consort train --sweep`: every combination on validation samples, one table with the best of each
//! method, the command that runs it, and the same bits for any number of threads and interruptions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use support::{Answer, command_in, consort_in, json_file, names};

/// Two methods, six combinations, a fraction of a second each.
const SMALL: &str = "train --graph ring:4 --methods dsgd,gut --seeds 1,2 --epochs 2 --batch 64 \
                     --sweep eta=0.01,0.1 --sweep mu=0.5,0.9 --out run";

fn swept(line: &str) -> (tempfile::TempDir, Answer) {
    let temp = tempfile::tempdir().unwrap();
    let answer = consort_in(temp.path(), line).done();
    (temp, answer)
}

/// What a sweep has found, times left out: the results of all combinations, and all models.
fn findings(run: &Path) -> (Value, Vec<(String, Vec<u8>)>) {
    let mut found = json_file(&run.join("sweep.json"))["combinations"].take();
    for combination in found.as_array_mut().unwrap() {
        combination.as_object_mut().unwrap().remove("seconds");
    }
    let trials = run.join("trials");
    let model = |trial: String| {
        let model = fs::read(trials.join(&trial).join("model.safetensors")).unwrap();
        (trial, model)
    };
    (found, names(&trials).into_iter().map(model).collect())
}

#[test]
fn every_combination_is_in_the_table_and_the_best_of_each_method_is_named() {
    let (temp, answer) = swept(SMALL);
    let run = temp.path().join("run");
    let sweep = json_file(&run.join("sweep.json"));
    let all = sweep["combinations"].as_array().unwrap();
    let chosen = |c: &Value| (c["method"].to_string(), c["values"].to_string());
    let text = |method: &str, values: &str| (format!("{method:?}"), values.to_string());
    // DSGD has no mu, so it is tried with two values and GUT with four.
    let expected = [
        text("dsgd", r#"{"eta":"0.01"}"#),
        text("dsgd", r#"{"eta":"0.1"}"#),
        text("gut", r#"{"eta":"0.01","mu":"0.5"}"#),
        text("gut", r#"{"eta":"0.01","mu":"0.9"}"#),
        text("gut", r#"{"eta":"0.1","mu":"0.5"}"#),
        text("gut", r#"{"eta":"0.1","mu":"0.9"}"#),
    ];
    assert_eq!(all.iter().map(chosen).collect::<Vec<_>>(), expected);
    for combination in all {
        assert_eq!(combination["seeds"], 2);
        let accuracy = combination["accuracy"]["mean"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&accuracy), "{combination}");
    }
    // Twelve steps of 0.1 learn more than twelve of 0.01.
    let best = sweep["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    assert!(best.iter().all(|best| best["values"]["eta"] == "0.1"), "{best:?}");
    for table in ["table.txt", "table.md", "table.tex", "table.csv"] {
        let table = fs::read_to_string(run.join(table)).unwrap();
        assert!(table.contains("gut") && table.contains("0.01"), "{table}");
    }
    assert_eq!(names(&run.join("trials")).len(), 12);
    for part in ["trained on 1293 samples", "compared on 145 others", "Validation (%)", " *"] {
        assert!(answer.stdout.contains(part), "no {part:?} in:\n{}", answer.stdout);
    }
    let edge = "the largest eta that was tried is the best of dsgd (0.1), gut (0.1)";
    assert!(answer.stdout.contains(edge), "{}", answer.stdout);
}

/// The accuracy of a sweep is not that of the test set: no record has one.
#[test]
fn a_sweep_never_looks_at_the_test_set() {
    let (temp, _) = swept(
        "train --graph ring:4 --methods dsgd --seeds 1 --epochs 2 \
                           --sweep eta=0.1,0.3 --out run",
    );
    let trials = temp.path().join("run/trials");
    assert_eq!(names(&trials), ["1-dsgd-eta-0.1-seed-1", "2-dsgd-eta-0.3-seed-1"]);
    for trial in names(&trials) {
        let records = fs::read_to_string(trials.join(trial).join("records.jsonl")).unwrap();
        for line in records.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            assert!(record["validation"]["accuracy"].is_f64(), "{line}");
            for test in ["test_accuracy", "test_loss", "agents", "agents_loss"] {
                assert!(record.get(test).is_none(), "{test} in {line}");
            }
        }
    }
}

/// The command that is printed for a method runs this method with its best values on all samples.
#[test]
fn the_printed_command_runs_the_best_on_all_samples() {
    let (temp, answer) = swept(SMALL);
    let sweep = json_file(&temp.path().join("run/sweep.json"));
    let best = &sweep["best"][1];
    let command = best["command"].as_str().unwrap();
    assert!(answer.stdout.contains(command), "{}", answer.stdout);
    assert!(!command.contains("sweep") && !command.contains("validation"), "{command}");
    let line = command.strip_prefix("consort ").unwrap();
    let config = consort_in(temp.path(), &format!("{line} --show-config")).done().stdout;
    let mu = best["values"]["mu"].as_str().unwrap();
    assert!(config.contains(&format!("eta = {}", best["values"]["eta"].as_str().unwrap())));
    // 0.9 is the default of mu.
    let method = if mu == "0.9" { "gut".to_string() } else { format!("gut:mu={mu}") };
    assert!(config.contains(&format!("methods = [\"{method}\"]")), "{config}");
    assert!(config.contains("seeds = [1, 2]") && config.contains("epochs = 2.0"), "{config}");
    let all = sweep["command"].as_str().unwrap();
    assert_eq!(all, "consort train run/best.toml");
    let both = consort_in(temp.path(), "train run/best.toml --out final").done();
    assert!(both.stdout.contains("DSGD") && both.stdout.contains("GUT"), "{}", both.stdout);
    let summary = json_file(&temp.path().join("final/summary.json"));
    assert_eq!(summary["trials"].as_array().unwrap().len(), 4);
    assert!(summary["trials"][0]["final_accuracy"].is_f64());
}

#[test]
fn threads_do_not_change_a_bit_of_a_sweep() {
    let line = SMALL.replace("1,2", "1");
    let (one, _) = swept(&format!("{line} --threads 1"));
    let (three, _) = swept(&format!("{line} --threads 3"));
    assert!(findings(&one.path().join("run")) == findings(&three.path().join("run")));
}

/// Killed with SIGKILL at whatever moment and resumed, a sweep ends as one that was left alone.
#[test]
#[cfg(unix)]
fn a_killed_sweep_resumes_to_the_same_bits() {
    let line = "train --graph ring:8 --methods gut --seeds 1 --epochs 20 --out run \
                --set checkpoint.every-rounds=5 --sweep eta=0.03,0.1,0.3";
    let (whole, _) = swept(line);
    let temp = tempfile::tempdir().unwrap();
    let mut command = line.to_string();
    for delay in [60, 150, 90, 250] {
        let mut child = command_in(temp.path(), &command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(delay));
        child.kill().unwrap_or(());
        child.wait().unwrap();
        if temp.path().join("run/config.toml").exists() {
            command = "resume run --threads 2".into();
        } else {
            let _ = fs::remove_dir_all(temp.path().join("run"));
        }
    }
    consort_in(temp.path(), &command).done();
    assert!(findings(&whole.path().join("run")) == findings(&temp.path().join("run")));
    // A sweep that is done is not run again, and shows the same table.
    let again = consort_in(temp.path(), "resume run").done();
    assert!(again.stdout.contains("The best of each method"), "{}", again.stdout);
}

/// Ctrl-C saves and says how to continue.
#[test]
#[cfg(unix)]
fn a_stopped_sweep_says_how_to_go_on() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:16 --methods gut,dsgd --seeds 1 --epochs 3000 --out run \
                --sweep eta=0.1,0.3";
    let child = command_in(temp.path(), line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !temp.path().join("run/trials/1-gut-eta-0.1-seed-1/records.jsonl").exists() {
        sleep(Duration::from_millis(20));
    }
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.stderr.contains("consort resume run"), "{}", answer.stderr);
}

#[test]
fn a_sweep_is_a_file_too() {
    let temp = tempfile::tempdir().unwrap();
    let text = "graph = 'ring:4'\nepochs = 1\nseeds = [1]\nvalidation = 0.25
        methods = [{ method = 'qg-gutm', label = 'ours', eta = 0.02 }, 'dsgd']
        [sweep]\nschedule.factor = [0.1, 0.5]\nours.mu = [0.01, 'auto']\nours.eta = ['0.5x', '2x']";
    fs::write(temp.path().join("sweep.toml"), text).unwrap();
    let answer = consort_in(temp.path(), "train sweep.toml --out run --json").done();
    let found = answer.json();
    assert_eq!(found["keys"], serde_json::json!(["eta", "mu", "schedule.factor"]));
    let all = found["combinations"].as_array().unwrap();
    assert_eq!(all.len(), 2 * 2 * 2 + 2);
    assert_eq!(all[0]["values"]["eta"], "0.01");
    assert_eq!(all[9]["values"], serde_json::json!({ "schedule.factor": "0.5" }));
    // A quarter of every class of 1,438 samples; rounding ten times may add or take five.
    let (apart, stay) = (&found["validation_samples"], &found["training_samples"]);
    assert!((355..=365).contains(&apart.as_u64().unwrap()), "{apart}");
    assert_eq!(apart.as_u64().unwrap() + stay.as_u64().unwrap(), 1438);
    let config = consort_in(temp.path(), "train sweep.toml --show-config").done().stdout;
    fs::write(temp.path().join("again.toml"), config).unwrap();
    let again = consort_in(temp.path(), "train again.toml --show-config").done().stdout;
    assert_eq!(again, fs::read_to_string(temp.path().join("again.toml")).unwrap());
}

/// What diverges, and what a method refuses, is a row of the table and ends nothing.
#[test]
fn what_diverges_or_is_refused_is_shown_as_such() {
    let (temp, answer) = swept(
        "train --graph ring:4 --methods dsgd,qg-dsgdm --seeds 1 --epochs 2 --model mlp:16 \
         --sweep eta=0.1,1e30 --sweep graph=ring:4,directed-ring:5 --out run",
    );
    let all = json_file(&temp.path().join("run/sweep.json"))["combinations"].take();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 8);
    let of = |key: &'static str| all.iter().map(move |c| !c[key].is_null() && c[key] != 0);
    assert_eq!(of("diverged").filter(|lost| *lost).count(), 3, "{all:?}");
    let refused: Vec<bool> = of("refused").collect();
    assert_eq!(refused.iter().filter(|refused| **refused).count(), 2, "{refused:?}");
    assert!(all[5]["refused"].as_str().unwrap().contains("undirected"), "{}", all[5]);
    assert!(answer.stdout.contains("1, all diverged") && answer.stdout.contains("refused"));
    let lost = "train --graph ring:4 --methods dsgd --seeds 1 --epochs 2 --sweep eta=1e30,1e31";
    let answer = consort_in(temp.path(), lost);
    answer.failed_after_work(3, "no combination learned anything");
}

#[test]
fn a_sweep_can_be_planned_without_running() {
    let temp = tempfile::tempdir().unwrap();
    let line = SMALL.replace("--out run", "--dry-run");
    let answer = consort_in(temp.path(), &line).done();
    for part in ["6 combinations, 12 trials", "gut, eta=0.1, mu=0.9", "test set is not used"] {
        assert!(answer.stdout.contains(part), "no {part:?} in:\n{}", answer.stdout);
    }
    assert!(names(temp.path()).is_empty(), "nothing was written");
}

/// A run with validation samples trains on the others, and reports both.
#[test]
fn a_run_with_validation_reports_validation_and_test() {
    let (temp, answer) = swept(
        "train --graph ring:4 --methods dsgd --seeds 1 --epochs 2 --validation 0.2 --out run",
    );
    assert!(answer.stdout.contains("Validation (%)"), "{}", answer.stdout);
    let run = temp.path().join("run");
    let trial = &json_file(&run.join("summary.json"))["trials"][0];
    assert!(trial["final_accuracy"].is_f64() && trial["validation"]["accuracy"].is_f64());
    assert!(run.join("validation-accuracy.png").exists());
    // Agents share out what remains of 1,438 samples when a fifth of every class is set apart.
    let partition = json_file(&run.join("partition-seed-1.json"));
    let held = partition["samples"].as_u64().unwrap();
    assert!((1145..=1156).contains(&held), "{held}");
}

/// A preset of `consort reproduce` in place of a configuration, and a sweep in place of a run.
#[test]
fn a_file_or_folder_of_another_kind_is_told_apart() {
    let temp = tempfile::tempdir().unwrap();
    let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/table-1.toml");
    fs::copy(preset, temp.path().join("mine.toml")).unwrap();
    let told = consort_in(temp.path(), "train mine.toml");
    told.failed(2, &["mine.toml is a preset", "consort reproduce table-1"]);
    let line = "train --graph ring:4 --methods dsgd --seeds 1 --epochs 1 --sweep eta=0.1 --out run";
    consort_in(temp.path(), line).done();
    let told = consort_in(temp.path(), "compare run");
    told.failed(2, &["run is a sweep", "run/table.txt"]);
    let told = consort_in(temp.path(), "resume run --epochs 5");
    told.failed(2, &["run is a sweep", "cannot become longer", "--epochs 5"]);
    let listed = consort_in(temp.path(), "runs . --json").done().json();
    let run = &listed[0];
    assert_eq!(
        (&run["state"], &run["trials_finished"]),
        (&"finished".into(), &1.into()),
        "{listed}"
    );
    assert!(
        names(&temp.path().join("run/trials/1-dsgd-eta-0.1-seed-1"))
            .iter()
            .all(|name| !name.ends_with(".checkpoint"))
    );
    fs::write(temp.path().join("sweep.toml"), "methods = ['gut']\n[sweep]\nmu = [0.5]").unwrap();
    let told = consort_in(temp.path(), "init lab --config sweep.toml --agents 4 --seed 1");
    told.failed(2, &["sweep", "consort train"]);
}

/// R² has no samples of its own to be chosen by.
#[test]
fn a_regression_is_not_swept_and_says_why() {
    let temp = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|k| format!("{k},{}\n", 2 * k)).collect();
    fs::write(temp.path().join("double.csv"), format!("x,y\n{rows}")).unwrap();
    let line = "train --data csv:double.csv:target=y --graph ring:2 --methods dsgd --model mlp:4";
    for flag in ["--sweep eta=0.1,0.2", "--validation 0.1"] {
        let told = consort_in(temp.path(), &format!("{line} {flag}"));
        told.failed(2, &["the number `y` is predicted", "Leave `validation` and the sweep out"]);
    }
    assert_eq!(names(temp.path()), ["double.csv"], "nothing was written");
}

/// What cannot be swept is refused before anything is written.
#[test]
fn bad_sweeps_are_refused_with_what_and_why() {
    let temp = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&str]); 10] = [
        ("--sweep etta=1,2", &["etta", "did you mean `eta`?"]),
        ("--sweep gut.muu=1", &["muu", "did you mean `mu`?"]),
        ("--sweep eta=fast", &["eta=fast", "expected a number"]),
        ("--sweep batch=1.5", &["batch=1.5", "expected a whole number"]),
        ("--sweep mu=3", &["mu=3", "mu"]),
        ("--sweep eta", &["--sweep eta", "key=value,value"]),
        ("--sweep codec=sign", &["codec", "no method of this sweep has this parameter"]),
        ("--sweep seeds=1,2", &["seeds", "anyway"]),
        ("--sweep graph=rnig:4", &["rnig", "did you mean \"ring\"?"]),
        ("--validation 1", &["validation", "below 1"]),
    ];
    for (flags, parts) in cases {
        consort_in(temp.path(), &format!("train --methods dsgd,gut {flags}")).failed(2, parts);
    }
    assert!(names(temp.path()).is_empty(), "nothing was written");
}
