//! `consort train --transport mpi`: the ranks of a job end with the simulator's bits, also after
//! a rank was killed and the job started again. Needs `mpirun`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "a test gives up after a time")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Answer, consort_in, names};

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

#[test]
fn eight_ranks_end_with_the_simulators_bits() {
    let temp = tempfile::tempdir().unwrap();
    let what = "--graph ring:8 --methods gut,dsgd --seeds 3,4 --rounds 25 --model mlp:16";
    let line = format!("train {what} --transport mpi --out job");
    let answer = Answer::of(job_in(temp.path(), &line).output().unwrap()).done();
    assert!(answer.stdout.contains("dsgd") && answer.stdout.contains("report.html"), "{answer:?}");
    consort_in(temp.path(), &format!("train {what} --out run")).done();
    assert_same_models(temp.path(), "job");
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
    // The last that was started with these words is a rank, and no other test's.
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
}

#[test]
fn a_job_of_another_size_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:5 --methods gut --transport mpi --out job";
    let answer = Answer::of(job_in(temp.path(), line).output().unwrap());
    assert_ne!(answer.code, Some(0));
    assert!(answer.stderr.contains("ring:5 has 5 agents, the job has 8 ranks"), "{answer:?}");
}
