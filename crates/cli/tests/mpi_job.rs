//! `consort train --transport mpi`: the ranks of a job end with the simulator's bits, even after
//! a rank was killed and the job started again. Needs `mpirun`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "a test gives up after a time")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Answer, consort_in, json_file, names};

/// The binary as eight ranks, about to run in `folder`.
fn job_in(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", "8"]);
    command.arg(env!("CARGO_BIN_EXE_consort")).args(line.split_whitespace());
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn assert_same_models(folder: &Path, job: &str) {
    for trial in names(&folder.join("run/trials")) {
        let model = |run: &str| {
            fs::read(folder.join(run).join("trials").join(&trial).join("model.safetensors"))
                .unwrap()
        };
        assert!(model("run") == model(job), "{trial} has other bits");
    }
}

/// The lines of a file of records.
fn records(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The averaged models have equal bits, so their results must be equal in every file.
fn assert_same_results(folder: &Path, job: &str) {
    let trials = |run: &str| json_file(&folder.join(run).join("summary.json"))["trials"].clone();
    let (of_job, of_run) = (trials(job), trials("run"));
    let names = names(&folder.join("run/trials"));
    assert_eq!(of_job.as_array().unwrap().len(), names.len());
    for (told, expected) in of_job.as_array().unwrap().iter().zip(of_run.as_array().unwrap()) {
        for figure in ["final_accuracy", "final_loss"] {
            assert!(expected[figure].is_f64(), "{expected}");
            assert_eq!(told[figure], expected[figure], "{told}");
        }
        assert!(told["best_accuracy"].is_null(), "measured at the end alone: {told}");
        assert_ne!(told["final_loss"], told["agents_loss"]["mean"], "{told}");
    }
    for name in names {
        let file = |run: &str, file: &str| folder.join(run).join("trials").join(&name).join(file);
        let told = json_file(&file(job, "summary.json"));
        let of_job = records(&file(job, "records.jsonl"));
        let of_run = records(&file("run", "records.jsonl"));
        assert_eq!(of_job.len(), of_run.len());
        for (record, expected) in of_job.iter().zip(&of_run) {
            assert_eq!(record["round"], expected["round"]);
            assert!(record["agents"]["min"].as_f64() <= record["agents"]["max"].as_f64());
        }
        let (last, before) = of_job.split_last().unwrap();
        assert!(before.iter().all(|record| record.get("test_accuracy").is_none()), "{before:?}");
        let expected = of_run.last().unwrap();
        for (figure, total) in [("test_accuracy", "final_accuracy"), ("test_loss", "final_loss")] {
            assert_eq!(last[figure], expected[figure], "{name}");
            assert_eq!(told[total], expected[figure], "{name}");
        }
    }
}

#[test]
fn eight_ranks_end_with_the_simulators_bits() {
    let temp = tempfile::tempdir().unwrap();
    let what = "--graph ring:8 --methods gut,dsgd --seeds 3,4 --rounds 25 --model mlp:16";
    let line = format!("train {what} --transport mpi --out job");
    let answer = Answer::of(job_in(temp.path(), &line).output().unwrap()).done();
    assert!(answer.stdout.contains("DSGD") && answer.stdout.contains("report.html"), "{answer:?}");
    consort_in(temp.path(), &format!("train {what} --out run")).done();
    assert_same_models(temp.path(), "job");
    assert_same_results(temp.path(), "job");
    // The columns of the averaged model are those of the simulation, digit by digit.
    let columns = |run: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(temp.path().join(run).join("table.csv")).unwrap();
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
        let lines: Vec<Vec<String>> = text.lines().map(fields).collect();
        let wanted = ["label", "accuracy_mean", "accuracy_std", "loss_mean", "loss_std"];
        let place = |name: &&str| lines[0].iter().position(|heading| heading == name).unwrap();
        let places: Vec<usize> = wanted.iter().map(place).collect();
        lines.iter().map(|line| places.iter().map(|&k| line[k].clone()).collect()).collect()
    };
    assert_eq!(columns("job"), columns("run"));
    let report = fs::read_to_string(temp.path().join("job/report.html")).unwrap();
    let trials = json_file(&temp.path().join("run/summary.json"))["trials"].clone();
    for trial in trials.as_array().unwrap() {
        let shown = format!("<td>{:.2}</td>", 100.0 * trial["final_accuracy"].as_f64().unwrap());
        assert!(report.contains(&shown), "{shown} of the averaged model is in the list of seeds");
    }
    for words in ["Averaged model (%)", "was measured only at the end"] {
        assert!(report.contains(words), "{words}");
    }
    for plot in ["accuracy", "agents-accuracy", "agents-test-loss"] {
        assert!(temp.path().join(format!("job/{plot}.svg")).exists(), "{plot}");
    }
    // The same seeds and configuration: the same result, which must not count twice.
    consort_in(temp.path(), "compare job run").failed(2, &["job and", "gut with seed 3"]);
}

#[test]
fn a_job_whose_rank_was_killed_goes_on_to_the_same_bits() {
    let temp = tempfile::tempdir().unwrap();
    let what = "--graph ring:8 --methods gut --seeds 3 --rounds 1500 --model mlp:16 \
                --set checkpoint.every-rounds=20 --set evaluation.every=20";
    let line = format!("train {what} --transport mpi --out killed-job");
    let child = job_in(temp.path(), &line).spawn().unwrap();
    let records = temp.path().join("killed-job/trials/1-gut-seed-3/agent-5/records.jsonl");
    let begun = Instant::now();
    while fs::read_to_string(&records).unwrap_or_default().lines().count() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "the job does not begin");
        sleep(Duration::from_millis(20));
    }
    // The last process with these arguments is a rank, and not of another test.
    let words = ["-f", "--", "--transport mpi --out killed-job"];
    let ranks = Command::new("pgrep").args(words).output().unwrap().stdout;
    let victim = String::from_utf8(ranks).unwrap().lines().next_back().unwrap().to_string();
    Command::new("kill").args(["-9", &victim]).status().unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_ne!(answer.code, Some(0), "a rank that dies ends the job");
    let line = "resume killed-job --transport mpi";
    Answer::of(job_in(temp.path(), line).output().unwrap()).done();
    consort_in(temp.path(), &format!("train {what} --out run")).done();
    assert_same_models(temp.path(), "killed-job");
    assert_same_results(temp.path(), "killed-job");
}

#[test]
fn a_job_of_another_size_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:5 --methods gut --transport mpi --out job";
    let answer = Answer::of(job_in(temp.path(), line).output().unwrap());
    assert_ne!(answer.code, Some(0));
    assert!(answer.stderr.contains("ring:5 has 5 agents, the job has 8 ranks"), "{answer:?}");
}
