//! How launches and agents end, and what they say until then: real processes are killed and stopped.

#![cfg(all(target_os = "linux", feature = "tls"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "a test gives up after a time")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use support::{Answer, command_in, consort_in, is_png, json_file};

/// Long enough for a busy machine; a test that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(240);
const LAUNCH: &str = "launch --plan lab/plan.toml --local";
/// Long enough that somebody can be killed on the way.
const RUN: &str = "--rounds 1500 --model mlp:64 --set evaluation.every=10";

/// A process whose lines can be waited for.
struct Running {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<()>,
}

impl Running {
    fn start(folder: &Path, line: &str) -> Self {
        let mut command = command_in(folder, line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let told = lines.clone();
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).unwrap();
            text
        });
        let stderr = std::thread::spawn(move || {
            BufReader::new(err).lines().for_each(|line| told.lock().unwrap().push(line.unwrap()));
        });
        Running { child, lines, stdout, stderr }
    }

    fn text(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// Waits until it has said all these parts in one line; returns the text from there on.
    #[track_caller]
    fn says(&self, parts: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            let lines = self.lines.lock().unwrap().clone();
            let said = |line: &String| parts.iter().all(|part| line.contains(part));
            if let Some(at) = lines.iter().position(said) {
                return lines[at..].join("\n");
            }
            assert!(begun.elapsed() < TIMEOUT, "{parts:?} never comes: {lines:#?}");
            sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    #[track_caller]
    fn ended(mut self) -> Answer {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > TIMEOUT {
                let _ = self.child.kill();
                panic!("it hangs: {}", self.text());
            }
            sleep(Duration::from_millis(10));
        };
        let (stdout, ()) = (self.stdout.join().unwrap(), self.stderr.join().unwrap());
        let stderr = self.lines.lock().unwrap().join("\n");
        assert!(!stderr.contains("panicked"), "{stderr}");
        Answer { code: status.code(), stdout, stderr }
    }
}

fn signal(id: u32, name: &str) {
    Command::new("kill").args([name, &id.to_string()]).status().unwrap();
}

/// A new plan in `lab` of a new folder, and its addresses.
fn lab(agents: usize, flags: &str) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let addresses = consort_transport::free_addresses(agents).unwrap();
    let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    let all = addresses.join(",");
    let line = format!("init lab --graph ring --transport tls --addresses {all} {flags}");
    consort_in(folder.path(), &line).done();
    (folder, addresses)
}

/// The ids of the processes of agents in `folder`: of agent `id`, or of all.
fn agent_processes(folder: &Path, id: Option<usize>) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // It may end while we look at it.
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let Ok(at) = fs::read_link(entry.path().join("cwd")) else { continue };
        let words: Vec<_> = line.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
        let number = words.iter().skip_while(|word| *word != "--id").nth(1);
        let is_it = words.get(1).is_some_and(|word| word == "agent")
            && at == folder.canonicalize().unwrap()
            && id.is_none_or(|id| number.is_some_and(|number| *number == id.to_string()));
        if is_it {
            found.push(process);
        }
    }
    found
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "{what} never happens");
        sleep(Duration::from_millis(10));
    }
}

/// The agents have evaluated their models at least once more than at the start.
fn under_way(folder: &Path) {
    let count = |id: usize| {
        let path = folder.join(format!("lab/agent-{id}/records.jsonl"));
        fs::read_to_string(path).map_or(0, |text| text.lines().count())
    };
    wait_until("the first evaluation", || count(0) > 1 && count(1) > 1);
}

/// The records and the model of a simulation of the run of [`lab`].
fn simulated(folder: &Path, agents: usize, flags: &str) -> (Vec<serde_json::Value>, Vec<u8>) {
    let line =
        format!("train --graph ring:{agents} --methods gut --seeds 1 {flags} --out simulated");
    consort_in(folder, &line).done();
    let trial = folder.join("simulated/trials/1-gut-seed-1");
    (records(&trial), fs::read(trial.join("model.safetensors")).unwrap())
}

fn records(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The averaged model has the simulation's bits, and so have its results in every round.
fn equals_the_simulation(folder: &Path, agents: usize, flags: &str) {
    let (expected, model) = simulated(folder, agents, flags);
    assert!(fs::read(folder.join("lab/model.safetensors")).unwrap() == model, "other bits");
    let got = records(&folder.join("lab"));
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(&expected) {
        for key in ["round", "epoch", "test_accuracy", "test_loss", "consensus_distance"] {
            let [got, expected] = [got, expected].map(|record| record[key].as_f64().unwrap());
            // The last digit may be lost on the way through a file: measured at most 1.2e-16.
            assert!((got - expected).abs() <= 1e-15 * expected.abs(), "{key}: {got}, {expected}");
        }
        let [gain, averaged, own] =
            [&got["averaging_gain"], &got["test_accuracy"], &got["agents"]["mean"]]
                .map(|number| number.as_f64().unwrap());
        // Through a file, as above: at most an ulp or two of an accuracy.
        assert!((averaged - own - gain).abs() <= 1e-15, "{got}");
    }
}

#[test]
fn a_killed_agent_is_shown_at_once_and_restarted_and_the_bits_are_the_simulations() {
    let (temp, _) = lab(4, &format!("--method gut {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, LAUNCH);
    under_way(folder);
    signal(agent_processes(folder, Some(2))[0], "-KILL");
    let killed = Instant::now();
    let said = launch.says(&["agent 2 was killed by signal 9"]);
    assert!(said.contains("starting it again in 1 s (restart 1 of 3)"), "{said}");
    assert!(killed.elapsed() < Duration::from_secs(10), "at once, even on a busy machine");
    let answer = launch.ended().done();
    assert!(answer.stdout.contains("the averaged model: "), "{}", answer.stdout);
    equals_the_simulation(folder, 4, RUN);
    report_is_that_of_train(folder);
}

/// The plan's folder has the files that `train` writes, and they tell the same.
fn report_is_that_of_train(folder: &Path) {
    let (lab, train) = (folder.join("lab"), folder.join("simulated"));
    let of_run = ["config.toml", "run.json", "partition-seed-1.json", "trials", ".lock"];
    for name in support::names(&train) {
        assert!(of_run.contains(&name.as_str()) || lab.join(&name).exists(), "no {name}");
    }
    for name in ["accuracy.csv", "consensus-distance.csv", "table.md", "partition.svg"] {
        let [here, there] = [&lab, &train].map(|at| fs::read_to_string(at.join(name)).unwrap());
        let cells = |text: &str| text.matches([',', '|']).count();
        assert_eq!(cells(&here), cells(&there), "{name}:\n{here}\n{there}");
    }
    assert!(is_png(&fs::read(lab.join("accuracy.png")).unwrap()));
    let report = fs::read_to_string(lab.join("report.html")).unwrap();
    assert!(report.contains("consort launch --plan lab/plan.toml --local"));
    let [here, there] = [&lab, &train].map(|at| json_file(&at.join("summary.json")));
    for key in ["data", "partition", "graph", "model", "parameters"] {
        assert_eq!(here[key], there[key]);
    }
    let [here, there] = [here, there].map(|summary| summary["trials"][0].clone());
    for key in ["method", "label", "seed", "final_accuracy", "best_accuracy", "bytes_sent"] {
        assert_eq!(here[key], there[key], "{key}");
    }
    // `compare` ranks it beside the simulation, and now it knows the best evaluation too.
    let rows = consort_in(folder, "compare lab simulated --format json").done().json();
    assert_eq!(rows[0]["best_accuracy"], rows[1]["best_accuracy"]);
    let left = |id: usize| support::names(&lab.join(format!("agent-{id}")));
    assert!((0..4).all(|id| left(id).iter().all(|name| !name.starts_with("evaluated-"))));
}

#[test]
fn without_restarts_the_command_is_printed_and_it_brings_the_agent_back() {
    let (temp, _) = lab(3, &format!("--method gut {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, &format!("{LAUNCH} --restarts 0"));
    under_way(folder);
    signal(agent_processes(folder, Some(1))[0], "-KILL");
    launch.says(&["agent 1 was killed by signal 9", "Agents 0 and 2 wait for it."]);
    launch.says(&["agents 0 and 2 wait for agent 1", "agent 1 is dead"]);
    let command = launch.says(&["agent --plan lab/plan-local.toml --id 1"]);
    let command = command.lines().next().unwrap().trim().to_string();
    let words = command.split_once(' ').unwrap().1;
    let agent = Running::start(folder, words);
    launch.says(&["agent 1 takes part again"]);
    launch.ended().done();
    let answer = agent.ended().done();
    assert!(answer.stdout.contains("agent 1 has finished"), "{answer:?}");
    equals_the_simulation(folder, 3, RUN);
}

#[test]
fn under_continue_the_others_finish_without_a_dead_agent_and_the_results_say_so() {
    let (temp, _) = lab(4, &format!("--method gut --policy continue {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, &format!("{LAUNCH} --restarts 0"));
    under_way(folder);
    signal(agent_processes(folder, Some(2))[0], "-KILL");
    launch.says(&["agent 2 was killed by signal 9", "Agents 0, 1 and 3 continue without it."]);
    let answer = launch.ended();
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let averaged = "the averaged model of agents 0, 1 and 3: ";
    assert!(answer.stdout.contains(averaged), "{}", answer.stdout);
    let last = answer.stderr.lines().last().unwrap();
    assert!(last.starts_with("error: agent 2 was killed by signal 9"), "{last}");
    assert!(last.ends_with("agents 0, 1 and 3 finished"), "{last}");
    let names = support::names(&folder.join("lab"));
    assert!(
        ["report.html", "model.safetensors"].iter().all(|name| names.contains(&(*name).into()))
    );
}

#[test]
fn restarts_are_counted_and_then_the_others_wait_until_ctrl_c() {
    let (temp, _) = lab(3, &format!("--method gut {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, &format!("{LAUNCH} --restarts 1"));
    under_way(folder);
    let first = agent_processes(folder, Some(0))[0];
    signal(first, "-KILL");
    launch.says(&["agent 0 was killed by signal 9", "restart 1 of 1"]);
    let mut second = Vec::new();
    wait_until("the restart", || {
        second = agent_processes(folder, Some(0));
        second.iter().any(|id| *id != first)
    });
    signal(second[0], "-KILL");
    launch.says(&[
        "agent 0 was killed by signal 9",
        ", after 1 restart. Agents 1 and 2 wait for it.",
    ]);
    launch.says(&["agent --plan lab/plan-local.toml --id 0"]);
    launch.signal("-INT");
    let answer = launch.ended();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let goes_on =
        format!("Run the same command again to continue:\n  consort {LAUNCH} --restarts 1");
    assert!(answer.stderr.contains(&goes_on), "{}", answer.stderr);
    consort_in(folder, LAUNCH).done();
    equals_the_simulation(folder, 3, RUN);
}

#[test]
fn a_killed_launch_leaves_no_agents_and_goes_on_to_the_same_bits() {
    let (temp, _) = lab(3, &format!("--method gut {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, LAUNCH);
    under_way(folder);
    launch.signal("-KILL");
    assert_eq!(launch.ended().code, None);
    // At once: the new agents wait for those that still save.
    consort_in(folder, LAUNCH).done();
    wait_until("the end of all agents", || agent_processes(folder, None).is_empty());
    equals_the_simulation(folder, 3, RUN);
}

#[test]
fn a_second_ctrl_c_ends_all_at_once() {
    let (temp, _) = lab(3, &format!("--method gut {RUN}"));
    let folder = temp.path();
    let launch = Running::start(folder, LAUNCH);
    under_way(folder);
    signal(agent_processes(folder, Some(1))[0], "-STOP"); // it cannot save now
    launch.signal("-INT");
    launch.says(&["press Ctrl-C again to end at once"]);
    launch.signal("-INT");
    let begun = Instant::now();
    assert_eq!(launch.ended().code, Some(130));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    wait_until("the end of all agents", || agent_processes(folder, None).is_empty());
}

#[test]
fn two_launches_of_one_plan_do_not_run_at_the_same_time() {
    let (temp, _) = lab(2, &format!("--method gut {RUN}"));
    let launch = Running::start(temp.path(), LAUNCH);
    launch.says(&["2 agents on ring:2"]);
    consort_in(temp.path(), LAUNCH).failed(2, &["another consort process is running in lab"]);
    launch.signal("-INT");
    launch.ended();
}

#[test]
fn what_would_fail_again_is_not_restarted() {
    let (temp, _) = lab(3, "--method gut --rounds 300 --model mlp:8 --eta 1e30");
    let answer = consort_in(temp.path(), LAUNCH);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    assert!(answer.stderr.contains("diverged"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("starting it again"), "{}", answer.stderr);
    // A key that everybody can read is refused by the agent.
    let (temp, _) = lab(3, "--method dsgd --rounds 300 --model mlp:8");
    let key = temp.path().join("lab/keys/agent-1.key");
    let open = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644);
    fs::set_permissions(&key, open).unwrap();
    let answer = consort_in(temp.path(), LAUNCH);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    for part in ["error: agent 1 ended with exit code 2", "chmod 600"] {
        assert!(answer.stderr.contains(part), "no {part:?} in: {}", answer.stderr);
    }
    assert!(!answer.stderr.contains("starting it again"), "{}", answer.stderr);
}

/// The commands of agents that run by themselves.
fn agent(id: usize) -> String {
    format!("agent --plan lab/plan.toml --id {id} --key lab/keys/agent-{id}.key --threads 1")
}

#[test]
fn an_agent_that_waits_says_for_whom_and_where_it_listens_without_an_end() {
    let (temp, addresses) = lab(2, &format!("--method gut {RUN}"));
    let first = Running::start(temp.path(), &agent(0));
    let whom = format!("waiting for agent 1 ({}) to connect", addresses[1]);
    let where_ = format!("listening on {}", addresses[0]);
    let said = first.says(&[&whom, &where_]);
    assert!(!said.contains(" left"), "nobody knows when it ends: {said}");
    // The other comes, both run, and its user stops it: the first says so, in plain words.
    let second = Running::start(temp.path(), &agent(1));
    under_way(temp.path());
    second.signal("-INT");
    let stopped = second.ended();
    assert_eq!(stopped.code, Some(130), "{stopped:?}");
    let again = format!("Run the same command again to continue:\n  consort {}", agent(1));
    assert!(stopped.stderr.contains(&again), "{}", stopped.stderr);
    first.says(&["agent 1 left: its user stopped it"]);
    let whom = format!("waiting for agent 1 ({}), which is not connected", addresses[1]);
    first.says(&["round ", &whom, &where_]);
    let second = Running::start(temp.path(), &agent(1));
    let answers = [first.ended().done(), second.ended().done()];
    for (id, answer) in answers.iter().enumerate() {
        assert!(answer.stdout.contains(&format!("agent {id} has finished")), "{answer:?}");
        assert!(!answer.stderr.contains("lost the link"), "{}", answer.stderr);
        assert!(answer.stderr.contains(" of 1500, loss "), "a line on the way: {}", answer.stderr);
    }
}

#[test]
fn a_normal_end_is_called_so() {
    let (temp, _) = lab(4, "--method gut --rounds 60 --model mlp:8");
    let agents: Vec<Running> = (0..4).map(|id| Running::start(temp.path(), &agent(id))).collect();
    for (id, one) in agents.into_iter().enumerate() {
        let answer = one.ended().done();
        assert!(answer.stdout.contains(&format!("agent {id} has finished")), "{answer:?}");
        assert!(!answer.stderr.contains("lost the link"), "{}", answer.stderr);
    }
    let launched = consort_in(temp.path(), LAUNCH).done();
    assert!(!launched.stderr.contains("lost the link"), "{}", launched.stderr);
}

#[test]
fn agents_with_data_of_their_own_get_a_report_without_a_common_test() {
    let temp = tempfile::tempdir().unwrap();
    let addresses = consort_transport::free_addresses(2).unwrap();
    let all = addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",");
    let line = format!(
        "init lab --graph ring --transport tls --method gut --rounds 20 --model mlp:4 \
         --addresses {all}"
    );
    consort_in(temp.path(), &line).done();
    let plan = temp.path().join("lab/plan.toml");
    let mut text = fs::read_to_string(&plan).unwrap();
    for (id, address) in addresses.iter().enumerate() {
        let table: PathBuf = temp.path().join(format!("own-{id}.csv"));
        let row = |k: usize| format!("{}.5,{},{}\n", k * (id + 1), 50 - k, ["a", "b"][k % 2]);
        fs::write(&table, format!("x,y,label\n{}", (0..40).map(row).collect::<String>())).unwrap();
        let here = format!("address = \"{address}\"");
        let data = format!("{here}\ndata = \"csv:{}\"", table.display());
        assert!(text.contains(&here), "{text}");
        text = text.replace(&here, &data);
    }
    fs::write(&plan, text).unwrap();
    consort_in(temp.path(), LAUNCH).done();
    let summary = json_file(&temp.path().join("lab/summary.json"));
    assert_eq!(summary["data"], "own data of 2 agents");
    assert!(summary["trials"][0].get("final_accuracy").is_none(), "{summary}");
    assert!(summary["trials"][0]["agents_accuracy"]["mean"].is_f64(), "{summary}");
    let report = fs::read_to_string(temp.path().join("lab/report.html")).unwrap();
    assert!(report.contains("own data of 2 agents"));
    let names = support::names(&temp.path().join("lab"));
    assert!(names.iter().any(|name| name == "agents-accuracy.png"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("partition")), "{names:?}");
}
