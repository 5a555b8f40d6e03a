//! Agents as real processes: the simulator's bits, through kills; strangers get no round.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "a test gives up after a time")]

mod support;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Answer, command_in, consort_in, json_file};

/// Long enough for a busy machine; a test that needs it has found a hang.
const PATIENCE: Duration = Duration::from_secs(240);

/// A plan at free ports, and how to run its agents.
struct Lab {
    folder: tempfile::TempDir,
    agents: usize,
}

impl Lab {
    fn new(agents: usize, flags: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let addresses = consort_transport::free_addresses(agents).unwrap();
        let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        let addresses = addresses.join(",");
        let line = format!("init lab --agents {agents} --addresses {addresses} {flags}");
        consort_in(folder.path(), &line).done();
        Lab { folder, agents }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("lab").join(name)
    }

    fn start(&self, id: usize) -> Child {
        self.start_with(id, "plan.toml", &format!("keys/agent-{id}.key"))
    }

    fn start_with(&self, id: usize, plan: &str, key: &str) -> Child {
        let line = format!("agent --plan lab/{plan} --id {id} --key lab/{key} --threads 1 --json");
        let mut command = command_in(self.folder.path(), &line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn start_all(&self) -> Vec<Child> {
        (0..self.agents).map(|id| self.start(id)).collect()
    }

    /// The round of the newest checkpoint or record of an agent.
    fn round(&self, id: usize) -> u64 {
        let records = fs::read_to_string(self.path(&format!("agent-{id}/records.jsonl")));
        let records = records.unwrap_or_default();
        let round = |line: &str| {
            let record: Option<serde_json::Value> = serde_json::from_str(line).ok();
            record.and_then(|record| record["round"].as_u64())
        };
        records.lines().filter_map(round).next_back().unwrap_or(0)
    }

    fn model(&self, id: usize) -> Vec<u8> {
        fs::read(self.path(&format!("agent-{id}/model.safetensors"))).unwrap()
    }

    /// The floats of an agent's model.
    fn floats(&self, id: usize) -> Vec<f32> {
        let bytes = self.model(id);
        let header = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        bytes[8 + header..].as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
    }

    /// The agents' models after `consort train` of the same run would have ended so: the run of
    /// the plan again, without any trouble, in a folder of its own.
    fn undisturbed(&self) -> Vec<Vec<u8>> {
        let clean = tempfile::tempdir().unwrap();
        let lab = clean.path().join("lab");
        fs::create_dir_all(lab.join("keys")).unwrap();
        fs::copy(self.path("plan.toml"), lab.join("plan.toml")).unwrap();
        for id in 0..self.agents {
            let key = format!("keys/agent-{id}.key");
            fs::copy(self.path(&key), lab.join(&key)).unwrap();
        }
        consort_in(clean.path(), "launch --plan lab/plan.toml --local").done();
        let model =
            |id: usize| fs::read(lab.join(format!("agent-{id}/model.safetensors"))).unwrap();
        (0..self.agents).map(model).collect()
    }
}

/// Waits for all, within reason; what each answered.
fn ended(children: Vec<Child>) -> Vec<Answer> {
    let begun = Instant::now();
    let mut children = children;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        if begun.elapsed() > PATIENCE {
            children.iter_mut().for_each(|child| drop(child.kill()));
            let answers: Vec<Answer> = children.into_iter().map(answer).collect();
            panic!("the agents hang: {answers:#?}");
        }
        sleep(Duration::from_millis(20));
    }
    children.into_iter().map(answer).collect()
}

fn answer(child: Child) -> Answer {
    Answer::of(child.wait_with_output().unwrap())
}

/// Reads what a child says without end, so that it never waits for us.
fn drained(mut child: Child) -> Child {
    for mut pipe in [
        child.stdout.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>),
        child.stderr.take().map(|err| Box::new(err) as Box<dyn std::io::Read + Send>),
    ]
    .into_iter()
    .flatten()
    {
        std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
    }
    child
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what} never happens");
        sleep(Duration::from_millis(10));
    }
}

/// The same run by the simulator and by eight processes: one file, byte by byte.
fn equals_the_simulator(transport: &str) {
    let run = "--seed 3 --method gut --rounds 30 --model mlp:16";
    let lab = Lab::new(8, &format!("--graph ring --transport {transport} {run}"));
    let launched = consort_in(lab.folder.path(), "launch --plan lab/plan.toml --local").done();
    assert!(launched.stdout.contains("the averaged model"), "{}", launched.stdout);
    let line = "train --graph ring:8 --methods gut --seeds 3 --rounds 30 --model mlp:16 --out run";
    consort_in(lab.folder.path(), line).done();
    let simulated = lab.folder.path().join("run/trials/1-gut-seed-3/model.safetensors");
    assert!(fs::read(simulated).unwrap() == fs::read(lab.path("model.safetensors")).unwrap());
    let records = fs::read_to_string(lab.path("agent-5/records.jsonl")).unwrap();
    assert!(records.lines().count() > 2);
    compares_like_with_like(&lab);
    let links = fs::read_to_string(lab.path("agent-5/links.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        links.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    let floats = lab.floats(0).len() as u64;
    for link in last["links"].as_array().unwrap() {
        assert!(link["bytes_sent"].as_u64().unwrap() >= 30 * 4 * floats, "{link}");
        assert_eq!(link["connections"], 1, "{link}");
    }
    let rounds: u64 = lines.iter().map(|line| line["rounds"].as_u64().unwrap()).sum();
    let compute: f64 = lines.iter().map(|line| line["times"]["compute"].as_f64().unwrap()).sum();
    assert!(rounds == 30 && compute > 0.0, "{rounds} rounds, {compute} s");
}

/// What `compare` says of the plan beside its simulation, of one agent, and of a plan whose models
/// nobody has averaged.
fn compares_like_with_like(lab: &Lab) {
    let rows = |line: &str| -> Vec<serde_json::Value> {
        let answer = consort_in(lab.folder.path(), &format!("compare {line} --format json"));
        answer.done().json().as_array().unwrap().clone()
    };
    let both = rows("lab run");
    for figure in ["final_accuracy", "final_loss", "data"] {
        assert!(!both[1][figure].is_null(), "{both:?}");
        assert_eq!(both[0][figure], both[1][figure], "the averaged models have the same bits");
    }
    let one = &rows("lab/agent-5")[0];
    assert!(one.get("final_accuracy").is_none() && one.get("final_loss").is_none(), "{one}");
    let (own, all) = (&one["agents_accuracy"], &both[0]["agents_accuracy"]);
    assert_eq!(own["min"], own["max"]);
    assert!(all["min"].as_f64() <= own["mean"].as_f64(), "{own} of {all}");
    assert!(own["mean"].as_f64() <= all["max"].as_f64(), "{own} of {all}");
    // What was put together from other agents than these is not theirs.
    let file = lab.path("records.jsonl");
    let kept = fs::read_to_string(&file).unwrap();
    let mut last: serde_json::Value = serde_json::from_str(kept.lines().last().unwrap()).unwrap();
    last["seconds"] = 1e6.into();
    fs::write(&file, last.to_string()).unwrap();
    let other = &rows("lab")[0];
    assert!(other.get("final_accuracy").is_none(), "{other}");
    assert_eq!(other["agents_accuracy"], *all);
    fs::write(&file, kept).unwrap();
}

#[cfg(feature = "tls")]
#[test]
fn eight_processes_over_tls_end_with_the_simulators_bits() {
    equals_the_simulator("tls");
}

#[cfg(feature = "iroh")]
#[test]
fn eight_processes_over_iroh_end_with_the_simulators_bits() {
    equals_the_simulator("iroh");
}

/// Kills one of four agents with -9 and starts it again, so often, spread over the run whatever
/// the speed of the machine; whom and when exactly, a seed says.
fn kill_and_restart(lab: &Lab, kills: u64, rounds: u64) -> Vec<Answer> {
    let mut children: Vec<Child> = lab.start_all().into_iter().map(drained).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut under_way = 0;
    for kill in 0..kills {
        let due = kill * rounds / (kills + 6);
        wait_until("the next kill", || (0..lab.agents).any(|id| lab.round(id) >= due));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (victim, pause) = ((seed >> 33) as usize % lab.agents, (seed >> 40) % 30);
        sleep(Duration::from_millis(pause));
        let ended = lab.path(&format!("agent-{victim}/summary.json")).exists();
        under_way += u64::from(!ended);
        children[victim].kill().unwrap(); // SIGKILL
        children[victim].wait().unwrap();
        sleep(Duration::from_millis((seed >> 50) % 100));
        children[victim] = drained(lab.start(victim));
    }
    assert!(under_way >= kills / 2, "only {under_way} kills before the end");
    ended(children)
}

#[cfg(feature = "tls")]
#[test]
fn killed_twenty_times_a_waiting_run_ends_with_the_same_bits() {
    let flags = "--graph ring --transport tls --method gut --model mlp:64 \
                 --set evaluation.every=2 --set checkpoint.every-rounds=20";
    const ROUNDS: u64 = 1500;
    let lab = Lab::new(4, &format!("{flags} --rounds {ROUNDS}"));
    for (id, answer) in kill_and_restart(&lab, 20, ROUNDS).into_iter().enumerate() {
        assert_eq!(answer.code, Some(0), "agent {id}: {}", answer.stderr);
    }
    for (id, expected) in lab.undisturbed().iter().enumerate() {
        assert!(lab.model(id) == *expected, "agent {id} has other bits");
    }
}

#[cfg(feature = "tls")]
#[test]
fn killed_twenty_times_a_continuing_run_ends_and_the_models_agree() {
    let flags = "--graph complete --transport tls --method gut --policy continue \
                 --model mlp:64 --set evaluation.every=2 --set checkpoint.every-rounds=20";
    const ROUNDS: u64 = 3000;
    let lab = Lab::new(4, &format!("{flags} --rounds {ROUNDS}"));
    for (id, answer) in kill_and_restart(&lab, 20, ROUNDS).into_iter().enumerate() {
        assert_eq!(answer.code, Some(0), "agent {id}: {}", answer.stderr);
    }
    let models: Vec<Vec<f32>> = (0..4).map(|id| lab.floats(id)).collect();
    let norm = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    for (id, model) in models.iter().enumerate().skip(1) {
        let apart: Vec<f32> = model.iter().zip(&models[0]).map(|(x, y)| x - y).collect();
        let apart = norm(&apart) / norm(&models[0]);
        assert!(apart < 0.2, "agent {id} is {apart} away from agent 0");
    }
    for id in 0..4 {
        let summary = json_file(&lab.path(&format!("agent-{id}/summary.json")));
        assert!(summary.get("final_accuracy").is_none(), "an agent alone cannot know it");
        let own = summary["agents_accuracy"]["mean"].as_f64().unwrap();
        assert!(own > 0.85, "agent {id}: {summary}");
    }
}

#[cfg(feature = "tls")]
#[test]
fn an_agent_with_another_key_never_gets_a_round() {
    let lab = Lab::new(3, "--graph ring --transport tls --method dsgd --rounds 40 --model mlp:8");
    // The stranger has the plan, but not the key of agent 2: it writes its own into its copy.
    let stranger = Lab::new(3, "--graph ring");
    fs::copy(stranger.path("keys/agent-2.key"), lab.path("keys/stranger.key")).unwrap();
    let keys = |path: PathBuf| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("key = "));
        lines.map(str::to_string).collect()
    };
    let (true_key, false_key) =
        (&keys(lab.path("plan.toml"))[2], &keys(stranger.path("plan.toml"))[2]);
    let forged = fs::read_to_string(lab.path("plan.toml")).unwrap().replace(true_key, false_key);
    fs::write(lab.path("forged.toml"), forged).unwrap();
    let honest: Vec<Child> = vec![lab.start(0), lab.start(1)];
    let mut false_one = lab.start_with(2, "forged.toml", "keys/stranger.key");
    sleep(Duration::from_secs(3));
    assert_eq!([lab.round(0), lab.round(1), lab.round(2)], [0, 0, 0]);
    let _ = false_one.kill();
    let heard = answer(false_one);
    assert!(!heard.stdout.contains("\"round\":1,"), "{}", heard.stdout);
    fs::remove_dir_all(lab.path("agent-2")).unwrap();
    let mut all = honest;
    all.push(lab.start(2));
    let answers = ended(all);
    assert!(answers.iter().all(|answer| answer.code == Some(0)), "{answers:#?}");
    assert!(answers[0].stdout.contains("stranger"), "{}", answers[0].stdout);
}

#[cfg(feature = "tls")]
#[test]
fn a_plan_that_differs_is_named_line_by_line() {
    let lab = Lab::new(2, "--graph ring --transport tls --method dsgd --rounds 9 --model mlp:8");
    let text = fs::read_to_string(lab.path("plan.toml")).unwrap();
    let other = text.replace("eta = 0.1", "eta = 0.3");
    assert_ne!(text, other);
    fs::write(lab.path("other.toml"), other).unwrap();
    let children = vec![lab.start(0), lab.start_with(1, "other.toml", "keys/agent-1.key")];
    let answers = ended(children);
    for (answer, words) in answers.iter().zip(["here 0.1, there 0.3", "here 0.3, there 0.1"]) {
        assert_eq!(answer.code, Some(1), "{answer:#?}");
        assert!(
            answer.stderr.contains("run.eta: ") && answer.stderr.contains(words),
            "{answer:#?}"
        );
    }
}

/// A network that died is named, also where every agent has a process of its own.
#[cfg(feature = "tls")]
#[test]
fn a_launched_run_that_collapsed_says_so() {
    let flags = "--graph ring --transport tls --method dsgd --rounds 60 --model mlp:16 --eta 30";
    let lab = Lab::new(4, flags);
    let launched = consort_in(lab.folder.path(), "launch --plan lab/plan.toml --local").done();
    let told = "COLLAPSED, at chance level";
    assert!(launched.stdout.contains(told), "{launched:?}");
    let summary = fs::read_to_string(lab.path("summary.json")).unwrap();
    assert!(summary.contains("all units of layer 1 (linear) are dead"), "{summary}");
    let own = fs::read_to_string(lab.path("agent-2/summary.json")).unwrap();
    assert!(own.contains("are dead"), "{own}");
    let compared = consort_in(lab.folder.path(), "compare lab").done().stdout;
    assert!(compared.contains("1, collapsed"), "{compared}");
    let evaluated =
        consort_in(lab.folder.path(), "eval lab/model.safetensors --data digits --model mlp:16");
    assert!(evaluated.done().stdout.contains(told));
}

#[cfg(all(unix, feature = "tls"))]
#[test]
fn ctrl_c_saves_and_the_same_command_goes_on_to_the_same_bits() {
    let flags = "--graph ring --transport tls --method gut --rounds 1500 --model mlp:64 \
                 --set evaluation.every=10";
    let lab = Lab::new(4, flags);
    let mut command = command_in(lab.folder.path(), "launch --plan lab/plan.toml --local");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("the first evaluation", || lab.round(0) > 0);
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    let answer = answer(child);
    assert_eq!(answer.code, Some(130), "{answer:#?}");
    assert!(answer.stderr.contains("continues"), "{}", answer.stderr);
    consort_in(lab.folder.path(), "launch --plan lab/plan.toml --local").done();
    for (id, expected) in lab.undisturbed().iter().enumerate() {
        assert!(lab.model(id) == *expected, "agent {id} has other bits");
    }
}

#[test]
fn bad_input_is_named() {
    let lab = Lab::new(2, "--graph ring --rounds 9 --model mlp:8");
    let at = lab.folder.path();
    let agent = "agent --plan lab/plan.toml";
    let try_it = |line: &str, parts: &[&str]| {
        consort_in(at, line).failed(2, parts);
    };
    try_it("agent --plan none.toml --id 0 --key k", &["none.toml"]);
    try_it(&format!("{agent} --id 7 --key lab/keys/agent-0.key"), &["no agent 7", "0 to 1"]);
    try_it(&format!("{agent} --id 0 --key none.key"), &["none.key"]);
    try_it(&format!("{agent} --id 0 --key lab/keys/agent-1.key"), &["not the key of agent 0"]);
    try_it(&format!("{agent} --id 0 --key lab/keys/agent-0.key --data csv:x"), &["--data is for"]);
    try_it("launch --plan lab/plan.toml", &["--local"]);
    try_it("launch --plan lab/plan.toml --local --keys nowhere", &["nowhere/agent-0.key"]);
    fs::remove_file(Path::new(at).join("lab/keys/agent-1.key")).unwrap();
    try_it("launch --plan lab/plan.toml --local", &["agent-1.key"]);
}
