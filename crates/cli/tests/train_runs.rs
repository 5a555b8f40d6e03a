//! `consort train`: what a run writes, that it is the same bits for any number of threads, and
//! that what interrupts it does not show in the end.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use support::{Answer, command_in, consort_in, is_png, is_svg_with_text, json_file, names};

/// A run of two methods that takes a fraction of a second.
const SMALL: &str =
    "train --graph ring:4 --methods dsgd,qg-gutm --seeds 1,2 --epochs 2 --batch 64 --out run";

fn trained(line: &str) -> (tempfile::TempDir, Answer) {
    let temp = tempfile::tempdir().unwrap();
    let answer = consort_in(temp.path(), line).done();
    (temp, answer)
}

/// Everything that a run has found, times left out.
fn findings(run: &Path) -> Vec<(String, Vec<u8>)> {
    let trials = run.join("trials");
    let mut found = Vec::new();
    for trial in names(&trials) {
        let folder = trials.join(&trial);
        found.push((format!("{trial} model"), fs::read(folder.join("model.safetensors")).unwrap()));
        found.push((format!("{trial} records"), records_without_time(&folder).into_bytes()));
    }
    found
}

fn records_without_time(trial: &Path) -> String {
    let text = fs::read_to_string(trial.join("records.jsonl")).unwrap();
    let without = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("seconds");
        record.to_string() + "\n"
    };
    text.lines().map(without).collect()
}

#[track_caller]
fn assert_same(left: &Path, right: &Path) {
    let (left, right) = (findings(left), findings(right));
    assert!(!left.is_empty());
    for (left, right) in left.iter().zip(&right) {
        assert!(left == right, "{} and {} differ", left.0, right.0);
    }
    assert_eq!(left.len(), right.len());
}

#[test]
fn a_run_writes_records_models_tables_plots_and_a_report() {
    let (temp, answer) = trained(SMALL);
    let run = temp.path().join("run");
    for plot in ["accuracy", "train-loss", "consensus-distance", "partition"] {
        let svg = fs::read_to_string(run.join(format!("{plot}.svg"))).unwrap();
        assert!(is_svg_with_text(&svg), "{plot}");
        assert!(is_png(&fs::read(run.join(format!("{plot}.png"))).unwrap()), "{plot}");
    }
    let report = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(report.contains("QG-GUTm") && report.contains("--out run"));
    for table in ["table.txt", "table.md", "table.tex", "table.csv"] {
        assert!(fs::read_to_string(run.join(table)).unwrap().contains("QG-GUTm"), "{table}");
    }
    assert!(!run.join("accuracy-by-bytes.svg").exists(), "both methods send as much");
    let trials = ["1-dsgd-seed-1", "1-dsgd-seed-2", "2-qg-gutm-seed-1", "2-qg-gutm-seed-2"];
    assert_eq!(names(&run.join("trials")), trials);
    for trial in trials {
        let files = ["model.safetensors", "records.jsonl", "summary.json"];
        assert_eq!(names(&run.join("trials").join(trial)), files, "no checkpoint is left");
    }
    let summary = json_file(&run.join("summary.json"));
    assert_eq!(summary["parameters"], 4810);
    assert_eq!(summary["trials"].as_array().unwrap().len(), 4);
    assert!(answer.stdout.contains("DSGD") && answer.stdout.contains("are in run"));
    assert!(fs::read_to_string(run.join("config.toml")).unwrap().contains("graph = \"ring:4\""));
}

/// The record of an evaluation: every number is there, and bytes are those of the messages.
#[test]
fn records_hold_what_was_measured() {
    let (temp, _) = trained(SMALL);
    let text = fs::read_to_string(temp.path().join("run/trials/1-dsgd-seed-1/records.jsonl"));
    let text = text.unwrap();
    let records: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    // 1,437 samples over 4 agents are 359 each, 6 batches of 64; evaluations at epochs 0, 1, 2.
    let rounds: Vec<u64> = records.iter().map(|r| r["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [0, 6, 12]);
    let last = &records[2];
    assert_eq!(last["epoch"], 2.0);
    assert_eq!(last["bytes_sent"], 12 * 2 * 4 * 4810); // rounds, neighbours, bytes, parameters
    assert!(last["train_loss"].as_f64().unwrap() < 2.4);
    assert!(last["gradient_norm"].as_f64().unwrap() > 0.0);
    let of = |key: &str| last["agents"][key].as_f64().unwrap();
    assert!(of("min") <= of("mean") && of("mean") <= of("max") && of("max") <= 1.0);
    assert_eq!(records[0]["consensus_distance"], 0.0);
    assert!(last["consensus_distance"].as_f64().unwrap() > 0.0);
    // Half of the run at 0.1, a quarter at 0.01, the rest at 0.001.
    assert_eq!(records[0]["eta"], 0.1);
    assert!((last["eta"].as_f64().unwrap() - 0.001).abs() < 1e-12);
}

#[test]
fn threads_do_not_change_a_bit() {
    let (one, _) = trained(&format!("{SMALL} --threads 1"));
    let (three, _) = trained(&format!("{SMALL} --threads 3"));
    assert_same(&one.path().join("run"), &three.path().join("run"));
}

/// Killed with SIGKILL again and again at whatever moment, then resumed on another number of
/// threads, a run ends in the same bits as one that was left alone.
#[test]
#[cfg(unix)]
fn a_killed_run_resumes_to_the_same_bits() {
    let line = "train --graph ring:8 --methods gut,qg-gutm --seeds 1 --epochs 40 --out run \
                --set checkpoint.every-rounds=5 --set evaluation.every=2";
    let (whole, _) = trained(line);
    let temp = tempfile::tempdir().unwrap();
    let mut command = line.to_string();
    let mut kills = 0;
    for delay in [40, 90, 150, 60, 230, 110, 310, 180] {
        let mut child = command_in(temp.path(), &command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(delay));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap_or(());
        child.wait().unwrap();
        if ended {
            break;
        }
        kills += 1;
        if temp.path().join("run/config.toml").exists() {
            command = format!("resume run --threads {}", 1 + kills % 3);
        } else {
            // Killed before it had said what it would do: there is nothing to resume.
            let _ = fs::remove_dir_all(temp.path().join("run"));
        }
    }
    consort_in(temp.path(), &command).done();
    assert_same(&whole.path().join("run"), &temp.path().join("run"));
}

/// Ctrl-C ends the round, saves, and says how to go on.
#[test]
#[cfg(unix)]
fn ctrl_c_saves_and_says_how_to_go_on() {
    let line = "train --graph ring:8 --methods gut --seeds 1 --epochs 400 --out run";
    let temp = tempfile::tempdir().unwrap();
    let child = command_in(temp.path(), line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let records = temp.path().join("run/trials/1-gut-seed-1/records.jsonl");
    while !records.exists() {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(30));
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.stderr.contains("consort resume run"), "{}", answer.stderr);
    let trial = temp.path().join("run/trials/1-gut-seed-1");
    assert!(names(&trial).iter().any(|name| name.ends_with(".checkpoint")), "{:?}", names(&trial));

    let resumed = consort_in(temp.path(), "resume run").done();
    assert!(resumed.stderr.contains("continues after round"), "{}", resumed.stderr);
    let (whole, _) = trained(line);
    assert_same(&whole.path().join("run"), &temp.path().join("run"));
    // Resuming a finished run changes nothing.
    consort_in(temp.path(), "resume run").done();
    assert_same(&whole.path().join("run"), &temp.path().join("run"));
}

#[test]
fn a_diverging_method_is_reported_and_the_others_go_on() {
    let line = "train --graph ring:4 --methods gut:mu=0.9,reading=printed,dsgd --seeds 1 \
                --epochs 60 --eta 0.5 --out run";
    let (temp, answer) = trained(line);
    assert!(answer.stderr.contains("warning: gut"), "{}", answer.stderr);
    assert!(answer.stderr.contains("diverged: round"), "{}", answer.stderr);
    let summary = json_file(&temp.path().join("run/summary.json"));
    let reason = summary["trials"][0]["diverged"].as_str().unwrap();
    assert!(reason.contains("round") && reason.contains("loss"), "{reason}");
    assert!(summary["trials"][1].get("diverged").is_none());
    assert!(summary["trials"][1]["final_accuracy"].as_f64().unwrap() > 0.5);
    assert!(fs::read_to_string(temp.path().join("run/report.html")).unwrap().contains("DIVERGES"));
}

/// Nothing came out: the results say so, and so does the exit code.
#[test]
fn a_run_in_which_everything_diverged_fails() {
    let temp = tempfile::tempdir().unwrap();
    let line = "train --graph ring:4 --methods dsgd --seeds 1,2 --epochs 2 --model softmax \
                --eta 1e9 --out run";
    let answer = consort_in(temp.path(), line);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    assert!(answer.stderr.contains("error: every trial diverged: lower eta"), "{answer:?}");
    assert!(answer.stdout.contains("2, all diverged"), "{answer:?}");
    assert!(temp.path().join("run/report.html").exists());
    assert_eq!(consort_in(temp.path(), "resume run").code, Some(3));
}

/// A network that died is named wherever its result stands.
#[test]
fn a_collapsed_trial_is_named_in_log_table_report_and_summary() {
    let line = "train --graph ring:4 --methods dsgd,gut --seeds 5 --epochs 5 --model mlp:16 \
                --eta 30 --out run";
    let (temp, answer) = trained(line);
    assert!(answer.stderr.contains("COLLAPSED, at chance level"), "{}", answer.stderr);
    assert!(answer.stderr.contains("all units of layer 1 (linear) are dead"), "{}", answer.stderr);
    assert!(answer.stdout.contains("1, collapsed"), "{}", answer.stdout);
    let summary = json_file(&temp.path().join("run/summary.json"));
    assert!(summary["trials"][0]["collapsed"].as_str().unwrap().contains("dead"));
    let report = fs::read_to_string(temp.path().join("run/report.html")).unwrap();
    assert!(report.contains("DSGD, seed 5, collapsed: at chance level"));
    let both = consort_in(temp.path(), "compare run").done().stdout;
    assert!(both.contains("1, collapsed") && !both.contains('*'), "{both}");
}

#[test]
fn a_dry_run_warns_of_long_steps() {
    let warned = |line: &str| trained(line).1.stdout.contains("warning: qg-gutm: momentum makes");
    assert!(warned("train --dry-run --methods qg-gutm,gut"));
    for helped in ["--eta 0.01", "--set clip-norm=5", "--set schedule.warmup=0.1"] {
        assert!(!warned(&format!("train --dry-run --methods qg-gutm,gut {helped}")), "{helped}");
    }
}

/// SAM doubles the gradients; an exact average costs each of 16 agents 2 15/16 models.
#[test]
fn a_dry_run_counts_sam_and_exact_averages() {
    let line = "train --dry-run --methods dsgd --set sam=0.05 --set schedule.mix.exact-every=10 \
                --set schedule.mix.shape=step-size";
    let (_temp, answer) = trained(&format!("{line} --json"));
    let plan = answer.json();
    let method = &plan["methods"][0];
    assert_eq!((&method["rounds"], &method["gradients_per_round"]), (&90.into(), &2.into()));
    assert_eq!(method["mixing"], "gamma by eta^1, exact every 10");
    let model = 4 * 4810;
    let sent = method["bytes_per_agent"].as_u64().unwrap();
    assert_eq!(sent, 90 * 2 * model + 9 * 2 * 15 * model / 16);
    let (_temp, answer) = trained(line);
    assert!(answer.stdout.contains("mixing"), "{}", answer.stdout);
}

/// What averaging gains stands in the table, the records and the summary.
#[test]
fn a_run_tells_what_averaging_the_models_gains() {
    let (temp, answer) = trained(SMALL);
    assert!(answer.stdout.contains("Gain of averaging (points)"), "{}", answer.stdout);
    let run = temp.path().join("run");
    let summary = json_file(&run.join("summary.json"));
    let trial = &summary["trials"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let gain = number(&trial["final_accuracy"]) - number(&trial["agents_accuracy"]["mean"]);
    assert!((number(&trial["averaging_gain"]) - gain).abs() < 1e-9, "{trial}");
    let csv = fs::read_to_string(run.join("table.csv")).unwrap();
    assert!(csv.contains("averaging_gain_mean"), "{csv}");
    assert!(fs::read_to_string(run.join("report.html")).unwrap().contains("Gain of averaging"));
}

#[test]
fn a_dry_run_tells_the_plan_and_writes_nothing() {
    let (temp, answer) = trained("train --dry-run --methods gut,gt");
    assert!(names(temp.path()).is_empty());
    let told = ["4810 parameters", "ring:16", "16 agents", "dirichlet:0.1", "STABLE", "memory"];
    for part in told {
        assert!(answer.stdout.contains(part), "no {part:?} in:\n{}", answer.stdout);
    }
    let (_temp, answer) = trained("train --dry-run --methods gut,gt --json");
    let plan = answer.json();
    assert_eq!(plan["methods"][0]["rounds"], 90);
    let sent = |k: usize| plan["methods"][k]["bytes_per_agent_and_round"].as_u64().unwrap();
    assert_eq!((sent(0), sent(1)), (2 * 4 * 4810, 2 * sent(0))); // GT sends twice as much
    assert!(plan["seconds"].as_f64().unwrap() > 0.0);
}

/// Local steps take as many mini-batches and send as many times less; RelaySGD takes a spanning
/// tree of the ring, and centralised SGD hears everybody.
#[test]
fn a_dry_run_knows_what_a_round_is() {
    let methods = "dsgd,dsgd:steps=3,cga,relaysgd,sgd";
    let (_temp, answer) = trained(&format!("train --dry-run --methods {methods} --json"));
    let plan = answer.json();
    let fact = |k: usize, key: &str| plan["methods"][k][key].as_u64().unwrap();
    let rounds: Vec<u64> = (0..5).map(|k| fact(k, "rounds")).collect();
    assert_eq!(rounds, [90, 30, 90, 90, 90]);
    let gradients: Vec<u64> = (0..5).map(|k| fact(k, "gradients_per_round")).collect();
    assert_eq!(gradients, [1, 3, 3, 1, 1]);
    let sent: Vec<u64> = (0..5).map(|k| fact(k, "bytes_per_agent")).collect();
    let (message, relayed) = (4 * 4810, 4 * 4811);
    assert_eq!(sent[..3], [90 * 2 * message, 30 * 2 * message, 90 * 2 * 2 * message]);
    // A chain of 16 has 30 directed links; all-to-all is 15 messages an agent.
    assert_eq!(sent[3..], [90 * 30 * relayed / 16, 90 * 15 * message]);
}

/// Every method trains, on the graph it is given or the one it makes of it.
#[test]
fn every_method_trains() {
    let names: Vec<&str> = consort_algo::CATALOGUE.iter().map(|info| info.name).collect();
    // D2 diverges on this ring; its forms with a smaller gamma are ED and EDM.
    let names: Vec<&str> = names.into_iter().filter(|&name| name != "d2").collect();
    let line = format!(
        "train --methods {},d2:gamma=0.9 --seeds 1 --epochs 3 --model mlp:16 --eta 0.05 \
         --graph ring:8 --partition iid --out run",
        names.join(",")
    );
    let (temp, _) = trained(&line);
    let summary = fs::read_to_string(temp.path().join("run/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let trials = summary["trials"].as_array().unwrap();
    assert_eq!(trials.len(), names.len() + 1);
    for trial in trials {
        // Ten classes: a guess has ln 10 = 2.3026. The least, Rule-b, gets to 2.289.
        assert!(trial["final_loss"].as_f64().unwrap() < 2.295, "{trial}");
    }
}

#[test]
fn the_shown_configuration_makes_the_same_run() {
    let (temp, answer) = trained(&SMALL.replace("--out run", "--show-config"));
    fs::write(temp.path().join("my.toml"), answer.stdout).unwrap();
    consort_in(temp.path(), "train my.toml --out run").done();
    let (direct, _) = trained(SMALL);
    assert_same(&direct.path().join("run"), &temp.path().join("run"));
}

#[test]
fn runs_can_be_compared_and_models_evaluated() {
    let (temp, _) = trained(SMALL);
    consort_in(temp.path(), &SMALL.replace("--out run", "--eta 0.2 --out other")).done();
    let both = consort_in(temp.path(), "compare run other --out figures").done();
    for part in ["DSGD, η = 0.1", "DSGD, η = 0.2", "QG-GUTm", "±"] {
        assert!(both.stdout.contains(part), "no {part:?} in:\n{}", both.stdout);
    }
    assert!(is_png(&fs::read(temp.path().join("figures/accuracy.png")).unwrap()));
    let one = consort_in(temp.path(), "compare run --format latex").done();
    assert!(one.stdout.contains("\\begin{tabular}"), "{}", one.stdout);
    let trials = consort_in(temp.path(), "compare run --format json").done().json();
    let accuracy = &trials[0]["final_accuracy"];

    let model = "run/trials/1-dsgd-seed-1/model.safetensors";
    let found = consort_in(temp.path(), &format!("eval {model} --json")).done().json();
    assert_eq!(&found["accuracy"], accuracy, "the run's own figure");
    fs::copy(temp.path().join(model), temp.path().join("alone.safetensors")).unwrap();
    // The file says itself what it is; the user may say it, too.
    for flags in ["", "--data digits", "--data digits --model mlp"] {
        let told = consort_in(temp.path(), &format!("eval alone.safetensors {flags} --json"));
        assert_eq!(&told.done().json()["accuracy"], accuracy);
    }
    let wrong = consort_in(temp.path(), "eval alone.safetensors --data digits --model digits-cnn");
    wrong.failed(2, &["alone.safetensors"]);
}

#[test]
fn event_files_are_written_on_demand() {
    let (temp, _) = trained(&format!("{SMALL} --tensorboard"));
    let files = names(&temp.path().join("run/trials/1-dsgd-seed-1"));
    let events: Vec<_> = files.iter().filter(|name| name.starts_with("events.out.")).collect();
    assert_eq!(events.len(), 1, "{files:?}");
}

/// What cannot be used is refused before anything is written.
#[test]
fn bad_input_is_refused_with_what_and_where() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("bad.toml"), "epocs = 3").unwrap();
    fs::write(temp.path().join("worse.toml"), "epochs = [").unwrap();
    let cases: [(&str, &[&str]); 16] = [
        ("train nowhere.toml", &["nowhere.toml", "does not exist", "bad.toml"]),
        ("train bad.toml", &["bad.toml", "epocs", "did you mean `epochs`?"]),
        ("train worse.toml", &["worse.toml", "line 1"]),
        ("train --set eta", &["--set eta", "key=value"]),
        ("train --set etta=1", &["etta", "did you mean `eta`?"]),
        ("train --eta -1", &["eta", "more than 0"]),
        ("train --batch 0", &["batch", "at least 1"]),
        ("train --graph rnig:4", &["rnig", "did you mean \"ring\"?"]),
        ("train --methods gutt", &["gutt", "did you mean"]),
        ("train --methods gut,gut", &["two methods are called gut"]),
        ("train --data digts", &["digts", "did you mean `digits`?"]),
        ("train --data folder:nowhere", &["nowhere"]),
        ("train --partition dirichlet:-1", &["dirichlet", "-1"]),
        ("train --model lenet6", &["lenet6", "lenet5"]),
        ("train --model lenet5", &["lenet5", "8x8x1", "does not fit"]), // digits are too small
        ("train --graph ring:5000", &["5000", "1438", "fewer agents"]),
    ];
    for (line, parts) in cases {
        consort_in(temp.path(), line).failed(2, parts);
    }
    consort_in(temp.path(), "resume nowhere").failed(2, &["nowhere", "is not a run"]);
    consort_in(temp.path(), "compare nowhere").failed(2, &["nowhere", "is not a run"]);
    consort_in(temp.path(), "eval nowhere.safetensors").failed(2, &["nowhere.safetensors"]);
    assert_eq!(names(temp.path()), ["bad.toml", "worse.toml"], "nothing was written");
}

/// A run never writes over another one, and two processes never into one.
#[test]
fn a_folder_belongs_to_one_run() {
    let (temp, _) = trained(SMALL);
    let before = findings(&temp.path().join("run"));
    consort_in(temp.path(), SMALL).failed(2, &["run", "nothing was overwritten"]);
    assert!(before == findings(&temp.path().join("run")));
    let line = SMALL.replace("--out run", "--set name=mine");
    for folder in ["mine", "mine-2"] {
        let answer = consort_in(temp.path(), &line).done();
        assert!(answer.stdout.contains(&format!("runs/{folder}")), "{}", answer.stdout);
    }
    let lock = fs::File::open(temp.path().join("run/.lock")).unwrap();
    lock.lock().unwrap();
    consort_in(temp.path(), "resume run").failed(2, &["another consort", "run"]);
}
