//! `consort runs`, runs that become longer, and lines about the progress where there is no terminal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use support::{Answer, command_in, consort_in, json_file, names};

const QUICK: &str = "train --graph ring:4 --methods dsgd,qg-gutm --seeds 1 --batch 64";

fn trained(folder: &Path, line: &str) -> Answer {
    consort_in(folder, line).done()
}

/// The models and the records of all trials, times left out.
fn findings(run: &Path) -> Vec<(String, Vec<u8>, String)> {
    let of = |trial: String| {
        let folder = run.join("trials").join(&trial);
        let records = fs::read_to_string(folder.join("records.jsonl")).unwrap();
        let timeless = |line: &str| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("seconds");
            record.to_string() + "\n"
        };
        let records = records.lines().map(timeless).collect();
        (trial, fs::read(folder.join("model.safetensors")).unwrap(), records)
    };
    names(&run.join("trials")).into_iter().map(of).collect()
}

/// Starts `line` and kills it once a checkpoint of `trial` is there.
fn killed_with_a_checkpoint(folder: &Path, line: &str, trial: &str) {
    let mut child =
        command_in(folder, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let trial = folder.join(trial);
    let saved = || {
        let entries = fs::read_dir(&trial).into_iter().flatten().filter_map(Result::ok);
        let mut names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.any(|name| name.ends_with(".checkpoint"))
    };
    while !saved() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_finished_run_with_constant_steps_becomes_longer_with_the_bits_of_a_longer_one() {
    let temp = tempfile::tempdir().unwrap();
    let line = format!("{QUICK} --set schedule.shape=constant --set evaluation.every=2");
    trained(temp.path(), &format!("{line} --epochs 3 --out short"));
    trained(temp.path(), &format!("{line} --epochs 7 --out long"));
    trained(temp.path(), "resume short --epochs 5");
    let answer = trained(temp.path(), "resume short --epochs 7");
    assert!(answer.stderr.contains("continues after round 30 of 42"), "{}", answer.stderr);
    let [short, long] = ["short", "long"].map(|run| temp.path().join(run));
    assert!(findings(&short) == findings(&long), "models and records have the same bits");
    let config = |run: &Path| fs::read_to_string(run.join("config.toml")).unwrap();
    assert_eq!(config(&short), config(&long));
    assert_eq!(json_file(&short.join("run.json"))["lengthened"].as_array().unwrap().len(), 2);
    // The same command again, or without a length, changes nothing.
    trained(temp.path(), "resume short --epochs 7");
    trained(temp.path(), "resume short");
    assert!(findings(&short) == findings(&long));
    consort_in(temp.path(), "resume short --epochs 6").failed(2, &["already has 42 rounds"]);
    consort_in(temp.path(), "resume short --epochs -1").failed(2, &["epochs", "more than 0"]);
}

/// What was pruned is computed again: it takes longer, and has the same bits.
#[test]
fn a_run_whose_state_was_not_kept_becomes_longer_from_the_start() {
    let temp = tempfile::tempdir().unwrap();
    let line = format!("{QUICK} --set schedule.shape=constant");
    trained(temp.path(), &format!("{line} --rounds 12 --out short"));
    trained(temp.path(), &format!("{line} --rounds 20 --out long"));
    let listed = trained(temp.path(), "runs prune short --checkpoints").stdout;
    assert!(listed.contains("round-000000012.checkpoint") && listed.contains("--yes"), "{listed}");
    trained(temp.path(), "runs prune short --checkpoints --yes");
    let answer = trained(temp.path(), "resume short --rounds 20");
    assert!(answer.stderr.contains("computed again from the start"), "{}", answer.stderr);
    assert!(findings(&temp.path().join("short")) == findings(&temp.path().join("long")));
}

#[test]
fn a_run_whose_steps_depend_on_its_length_is_refused_with_the_reason() {
    let temp = tempfile::tempdir().unwrap();
    trained(temp.path(), &format!("{QUICK} --epochs 2 --out run"));
    let before = findings(&temp.path().join("run"));
    // 12 rounds, at a tenth from the seventh on.
    let parts = [
        "run cannot become longer",
        "milestones",
        "round 7 of 1-dsgd-seed-1",
        "step size 0.1000, but it had 0.0100",
        "consort train run/config.toml --epochs 4",
    ];
    consort_in(temp.path(), "resume run --epochs 4").failed(2, &parts);
    assert!(before == findings(&temp.path().join("run")), "nothing has changed");
    trained(temp.path(), "resume run");
}

/// Before its first milestone a run has the past of a longer one.
#[test]
#[cfg(unix)]
fn a_run_killed_before_its_first_milestone_becomes_longer() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:8 --methods gut --seeds 1 --set checkpoint.every-rounds=5 \
                --set evaluation.every=50 --set schedule.milestones=[0.9]";
    let trial = "run/trials/1-gut-seed-1";
    killed_with_a_checkpoint(temp.path(), &format!("{line} --rounds 1500 --out run"), trial);
    let state = trained(temp.path(), "runs run --json").json();
    assert_eq!(state[0]["state"], "stopped");
    // Shorter would not do.
    consort_in(temp.path(), "resume run --rounds 1000").failed(2, &["already has 1500 rounds"]);
    let mut child = command_in(temp.path(), "resume run --rounds 1600")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !fs::read_to_string(temp.path().join("run/config.toml")).unwrap().contains("1600") {
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = trained(temp.path(), "resume run");
    assert!(answer.stderr.contains("of 1600"), "{}", answer.stderr);
    trained(temp.path(), &format!("{line} --rounds 1600 --out long"));
    assert!(findings(&temp.path().join("run")) == findings(&temp.path().join("long")));
}

#[test]
fn runs_are_listed_with_state_accuracy_and_size_and_can_be_filtered() {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), "runs").failed(2, &["runs", "consort train"]);
    trained(temp.path(), &format!("{QUICK} --epochs 2 --set name=good"));
    let diverged = "train --graph ring:4 --methods dsgd --seeds 1 --epochs 2 --model softmax \
                    --eta 1e9 --set name=lost";
    assert_eq!(consort_in(temp.path(), diverged).code, Some(3));
    let line = "train --graph ring:4 --methods gut:mu=0.5 --seeds 1 --epochs 4000 \
                --set checkpoint.every-rounds=5 --out runs/deep/cut";
    killed_with_a_checkpoint(temp.path(), line, "runs/deep/cut/trials/1-gut-mu-0.5-seed-1");

    let all = trained(temp.path(), "runs --json").json();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 3);
    let of = |name: &str| all.iter().find(|run| run["path"] == format!("runs/{name}")).unwrap();
    let (good, lost, cut) = (of("good"), of("lost"), of("deep/cut"));
    assert_eq!((&good["state"], &good["trials_finished"]), (&"finished".into(), &2.into()));
    assert_eq!(good["best"]["of"], "averaged model");
    let best = &good["best"];
    let trial = if best["method"] == "dsgd" { "1-dsgd-seed-1" } else { "2-qg-gutm-seed-1" };
    let summary = temp.path().join(format!("runs/good/trials/{trial}/summary.json"));
    assert_eq!(best["accuracy"], json_file(&summary)["final_accuracy"]);
    assert!(good["bytes"].as_u64().unwrap() > 10_000);
    assert_eq!((&lost["state"], &lost["trials_diverged"]), (&"diverged".into(), &1.into()));
    assert_eq!(cut["state"], "stopped");
    assert!(cut["done"].as_f64().unwrap() < 0.5);

    let table = trained(temp.path(), "runs").stdout;
    for part in ["finished", "diverged", "stopped at ", "dsgd, qg-gutm", " % ", "kB"] {
        assert!(table.contains(part), "no {part:?} in:\n{table}");
    }
    assert!(table.contains("consort resume runs/deep/cut"), "{table}");
    let found = |filter: &str| -> Vec<String> {
        let runs = trained(temp.path(), &format!("runs {filter} --json")).json();
        let path = |run: &Value| run["path"].as_str().unwrap().replace("runs/", "");
        runs.as_array().unwrap().iter().map(path).collect()
    };
    assert_eq!(found("--state diverged"), ["lost"]);
    assert_eq!(found("--method gut"), ["deep/cut"]);
    assert_eq!(found("--method qg-gutm --data digits"), ["good"]);
    assert_eq!(found("--data mnist"), Vec::<String>::new());
    assert_eq!(found("runs/deep"), ["deep/cut"]);

    // A run at work is told from one that stopped.
    let lock = fs::File::open(temp.path().join("runs/deep/cut/.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(found("--state running"), ["deep/cut"]);
    let pruned = trained(temp.path(), "runs prune --all --yes");
    assert!(pruned.stderr.contains("runs/deep/cut is running"), "{}", pruned.stderr);
    drop(lock);
    assert_eq!(found(""), ["deep/cut"]);
    fs::write(temp.path().join("runs/deep/cut/config.toml"), "etta = 1").unwrap();
    let broken = trained(temp.path(), "runs").stdout;
    assert!(broken.contains("unreadable") && broken.contains("did you mean `eta`?"), "{broken}");
}

#[test]
fn prune_removes_what_it_listed_and_only_when_it_may() {
    let temp = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        trained(temp.path(), &format!("{QUICK} --epochs 1 --set name={name}"));
    }
    let a = temp.path().join("runs/a");
    fs::write(a.join("notes.md"), "mine").unwrap();
    consort_in(temp.path(), "runs prune").failed(2, &["--state", "--all"]);
    let before = names(&a);
    let listed = trained(temp.path(), "runs prune runs/a --all").stdout;
    for part in ["runs/a: finished", "trials/, 6 files", "report.html", "notes.md", "with --yes"] {
        assert!(listed.contains(part), "no {part:?} in:\n{listed}");
    }
    assert_eq!(names(&a), before, "nothing was removed");
    trained(temp.path(), "runs prune --older-than 1 --yes");
    assert_eq!(names(&a), before, "it is not that old");
    trained(temp.path(), "runs prune runs/a --all --yes");
    assert_eq!(names(&a), ["notes.md"], "what consort did not write stays");
    assert!(temp.path().join("runs/b/report.html").exists());
    trained(temp.path(), "runs prune --state finished --yes");
    assert_eq!(names(&temp.path().join("runs")), ["a"]);
}

/// Without a terminal there is a line now and then, with what is left.
#[test]
fn without_a_terminal_there_are_lines_about_the_progress() {
    let temp = tempfile::tempdir().unwrap();
    let line = format!("{QUICK} --epochs 30 --out run --progress-every 0.000001");
    let answer = trained(temp.path(), &line);
    let lines: Vec<&str> = answer.stderr.lines().filter(|l| l.contains("left")).collect();
    assert!(lines.len() > 10, "{}", answer.stderr);
    for part in ["dsgd, seed 1: round ", " of 180", "averaged model", "all: ", " so far, "] {
        assert!(lines.iter().any(|line| line.contains(part)), "no {part:?} in {lines:?}");
    }
    assert!(lines.last().unwrap().contains("all: 100 %"), "{lines:?}");
    let quiet = trained(temp.path(), &line.replace("0.000001", "0").replace("run", "quiet"));
    assert!(!quiet.stderr.contains("left"), "{}", quiet.stderr);
    consort_in(temp.path(), &line.replace("0.000001", "-1")).failed(2, &["seconds, 0 or more"]);
}

#[test]
fn a_folder_with_a_run_is_refused_without_advice_that_does_not_exist() {
    let temp = tempfile::tempdir().unwrap();
    trained(temp.path(), &format!("{QUICK} --epochs 1 --out run"));
    let again = consort_in(temp.path(), &format!("{QUICK} --epochs 1 --out run"));
    let again = again.failed(2, &["run already has a run", "consort resume run", "--out"]);
    assert!(!again.stderr.contains("--overwrite"), "{}", again.stderr);
    fs::create_dir(temp.path().join("other")).unwrap();
    fs::write(temp.path().join("other/x"), "").unwrap();
    let taken = consort_in(temp.path(), &format!("{QUICK} --epochs 1 --out other"));
    let taken = taken.failed(2, &["other is not empty", "--out"]);
    assert!(!taken.stderr.contains("--overwrite"), "{}", taken.stderr);
    // A typo in the name of a run.
    consort_in(temp.path(), "resume rnu").failed(2, &["rnu does not exist; did you mean run?"]);
}

/// If no checkpoint can be used, nobody says that one is.
#[test]
#[cfg(unix)]
fn damaged_checkpoints_are_told_with_what_is_used_instead() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:4 --methods gut --seeds 1 --rounds 600 \
                --set checkpoint.every-rounds=5 --out run";
    let trial = temp.path().join("run/trials/1-gut-seed-1");
    killed_with_a_checkpoint(temp.path(), line, "run/trials/1-gut-seed-1");
    for name in names(&trial).iter().filter(|name| name.ends_with(".checkpoint")) {
        fs::write(trial.join(name), "damaged").unwrap();
    }
    let answer = trained(temp.path(), "resume run");
    assert!(answer.stderr.contains("begins again with the first round"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("the one before"), "{}", answer.stderr);
}
