//! `consort init`: a plan that can be read, keys that nobody else can read, nothing overwritten.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use consort_node::{NetworkPlan, Policy, TransportKind, read_key};
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
    consort_in(temp.path(), "init lab --agents 3").failed(1, &parts);
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
