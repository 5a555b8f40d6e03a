//! `consort init`: a valid plan, keys that nobody else can read, nothing overwritten.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use consort_node::{NetworkPlan, TransportKind, read_key};
use consort_protocol::Policy;
use support::{consort_in, names};

fn plan_in(folder: &Path) -> NetworkPlan {
    NetworkPlan::from_toml(&fs::read_to_string(folder.join("plan.toml")).unwrap()).unwrap()
}

#[test]
fn a_plan_and_keys_that_belong_together() {
    let temp = tempfile::tempdir().unwrap();
    let line = "init lab --agents 5 --graph ring --method gut:mu=0.5 --model mlp:8 --seed 7 \
                --rounds 40 --transport tls --policy continue --base-port 9000 --set batch=8";
    let answer = consort_in(temp.path(), line).done();
    for part in [
        "5 agents on ring:5, gut:mu=0.5, seed 7",
        "consort launch --plan lab/plan.toml --local",
        "consort agent --plan lab/plan.toml --id 3 --key lab/keys/agent-3.key",
    ] {
        assert!(answer.stdout.contains(part), "no {part:?} in: {}", answer.stdout);
    }
    let folder = temp.path().join("lab");
    let plan = plan_in(&folder);
    assert_eq!((plan.transport, plan.policy), (TransportKind::Tls, Policy::Continue));
    assert_eq!((plan.run.rounds, plan.run.batch, plan.seed()), (Some(40), 8, 7));
    assert_eq!(plan.agents.len(), 5);
    for (id, agent) in plan.agents.iter().enumerate() {
        let key = read_key(&folder.join(format!("keys/agent-{id}.key"))).unwrap();
        assert_eq!(key.public().unwrap(), agent.key);
        assert_eq!(agent.addresses[0].to_string(), format!("127.0.0.1:{}", 9000 + id));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| fs::metadata(folder.join(path)).unwrap().permissions().mode();
        assert_eq!(mode("keys/agent-0.key") & 0o777, 0o600);
        assert_eq!(mode("keys") & 0o777, 0o700);
    }
}

#[test]
fn a_plan_or_a_key_is_never_overwritten() {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), "init lab --agents 3").done();
    let before = fs::read(temp.path().join("lab/plan.toml")).unwrap();
    let key = fs::read(temp.path().join("lab/keys/agent-0.key")).unwrap();
    consort_in(temp.path(), "init lab --agents 3").failed(2, &["lab/plan.toml", "already"]);
    assert_eq!(fs::read(temp.path().join("lab/plan.toml")).unwrap(), before);
    fs::remove_file(temp.path().join("lab/plan.toml")).unwrap();
    let parts = ["agent-0.key", "never overwritten"];
    consort_in(temp.path(), "init lab --agents 3").failed(2, &parts);
    assert!(!temp.path().join("lab/plan.toml").exists(), "a plan without its keys");
    assert_eq!(fs::read(temp.path().join("lab/keys/agent-0.key")).unwrap(), key);
}

#[test]
fn graph_addresses_and_configuration_decide_the_agents() {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), "init a").done();
    assert_eq!(plan_in(&temp.path().join("a")).run.graph, "ring:8");
    consort_in(temp.path(), "init b --graph torus:2x3 --host ::1").done();
    let plan = plan_in(&temp.path().join("b"));
    assert_eq!(plan.agents[5].addresses[0].to_string(), "[::1]:7405");
    consort_in(temp.path(), "init c --graph complete --addresses x:1,y:2,192.0.2.7:3").done();
    let plan = plan_in(&temp.path().join("c"));
    assert_eq!((plan.run.graph.as_str(), plan.agents.len()), ("complete:3", 3));
    let config = "graph = 'petersen'\nmethods = ['dsgd']\nseeds = [4]\neta = 0.02";
    fs::write(temp.path().join("run.toml"), config).unwrap();
    consort_in(temp.path(), "init d --config run.toml --batch 4").done();
    let plan = plan_in(&temp.path().join("d"));
    assert_eq!((plan.agents.len(), plan.seed(), plan.run.eta), (10, 4, 0.02));
    assert_eq!(plan.run.batch, 4);
}

#[test]
fn what_cannot_be_planned_is_refused_and_leaves_nothing() {
    for (arguments, parts) in [
        ("--agents 4 --graph ring:8", &["graph ring:8 has 8 agents, the plan lists 4"][..]),
        ("--agents 4 --graph rnig", &["rnig", "did you mean \"ring\"?"]),
        ("--agents 4 --graph dyck", &["dyck has 32 agents"]),
        ("--agents 4 --method gt --policy continue", &["gt", "never forgets a lost message"]),
        ("--agents 4 --method gutt", &["gutt"]),
        ("--agents 4 --partition some", &["some"]),
        ("--agents 4 --base-port 65533", &["--base-port 65533", "4 agents"]),
        ("--agents 2 --addresses a:1,b", &["b is not host:port", "no port"]),
        ("--agents 3 --addresses a:1,b:1", &["ring:3 has 3 agents, the plan lists 2"]),
        ("--agents 4 --set seeds=[1,2]", &["run.seeds", "exactly one seed"]),
        ("--agents 4 --config nowhere.toml", &["nowhere.toml"]),
    ] {
        let temp = tempfile::tempdir().unwrap();
        consort_in(temp.path(), &format!("init lab {arguments}")).failed(2, parts);
        assert!(names(temp.path()).is_empty(), "{arguments}: {:?}", names(temp.path()));
    }
}

/// A table with so many rows of two classes.
fn csv(folder: &Path, rows: usize) {
    let row = |k: usize| format!("{k}.5,{},{}\n", rows - k, ["a", "b"][k % 2]);
    let text = format!("x,y,label\n{}", (0..rows).map(row).collect::<String>());
    fs::write(folder.join("own.csv"), text).unwrap();
}

#[test]
fn the_data_are_checked_before_anything_is_written() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path();
    fs::create_dir(at.join("empty")).unwrap();
    csv(at, 6);
    let refused = |flags: &str, parts: &[&str]| {
        consort_in(at, &format!("init lab --data-dir empty {flags}")).failed(2, parts);
        assert!(!at.join("lab").exists(), "{flags}");
    };
    let elsewhere = "add --no-check";
    refused("--data cifar10", &["consort data get cifar10", elsewhere]);
    refused("--data cifar11", &["did you mean `cifar10`?"]);
    refused("--data csv:nowhere.csv", &["nowhere.csv", elsewhere]);
    refused("--data csv:own.csv --agents 8 --model mlp:4 --partition iid", &["samples"]);
    refused("--data csv:own.csv --agents 2 --model lenet5", &["lenet5"]);
    fs::write(at.join("own.csv"), "x,y,label\n1,2,a\n1,b\n").unwrap();
    refused("--data csv:own.csv --agents 2 --model mlp:4", &["damaged", "consort data check"]);
    // On the machines of the agents they may be there, whatever is here.
    let line = "init lab --agents 3 --data cifar10 --data-dir empty --no-check";
    let answer = consort_in(at, line).done();
    for part in ["cifar10: not checked", "consort data get cifar10", "--data-dir empty"] {
        assert!(answer.stdout.contains(part), "no {part:?} in: {}", answer.stdout);
    }
}

#[test]
fn what_was_checked_is_told() {
    let temp = tempfile::tempdir().unwrap();
    csv(temp.path(), 60);
    let line = "init lab --agents 4 --data csv:own.csv --model mlp:4 --partition iid";
    let answer = consort_in(temp.path(), line).done();
    let data = format!("csv:{}", temp.path().join("own.csv").display());
    let told = format!("{data}: 48 training samples, 12 for each agent; mlp:4 has ");
    assert!(answer.stdout.contains(&told), "{}", answer.stdout);
    assert!(answer.stdout.contains(&format!("with the same data, {data}")), "{}", answer.stdout);
    assert!(answer.stderr.is_empty(), "{}", answer.stderr);
}

#[test]
fn addresses_that_cannot_work_are_refused_and_strange_ones_are_warned_of() {
    let temp = tempfile::tempdir().unwrap();
    let init = |name: &str, addresses: &str| {
        let line = format!("init {name} --graph complete --addresses {addresses}");
        consort_in(temp.path(), &line)
    };
    let parts = ["agents 0 and 2 have the same address lab1:7400"];
    init("a", "lab1:7400,lab2:7400,lab1:7400").failed(2, &parts);
    init("a", "0.0.0.0:7400,192.0.2.1:7400").failed(2, &["nobody can connect to 0.0.0.0:7400"]);
    assert!(!temp.path().join("a").exists());
    let warned = |name: &str, addresses: &str, part: &str| {
        let answer = init(name, addresses).done();
        assert!(answer.stderr.starts_with("warning: "), "{}", answer.stderr);
        assert!(answer.stderr.contains(part), "no {part:?} in: {}", answer.stderr);
    };
    // The name is reserved: no machine has it.
    let unknown = "cannot look up lab.invalid (agents 0 and 1) from here";
    warned("b", "lab.invalid:7400,lab.invalid:7401", unknown);
    let same = "agents 0 and 1 seem to have the same address 127.0.0.1:7400";
    warned("c", "127.0.0.1:7400,localhost:7400", same);
    let alone = "only agents on the same machine can connect to agent 1";
    warned("d", "192.0.2.1:7400,127.0.0.1:7400", alone);
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = busy.local_addr().unwrap();
    warned("e", &format!("{at},127.0.0.1:1"), &format!("another program uses {at} now"));
}
