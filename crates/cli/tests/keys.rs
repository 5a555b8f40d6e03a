//! Keys that every site makes itself, and plans that contain only their public halves.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use consort_node::{NetworkPlan, read_key};
use support::{consort_in, names};

fn plan_in(folder: &Path) -> NetworkPlan {
    NetworkPlan::from_toml(&fs::read_to_string(folder.join("plan.toml")).unwrap()).unwrap()
}

/// Makes a key as a site does; its public half is in NAME.pub.
fn site(folder: &Path, name: &str) -> String {
    let public = consort_in(folder, &format!("key new {name}.key")).done().stdout;
    fs::write(folder.join(format!("{name}.pub")), &public).unwrap();
    public.trim().to_string()
}

#[test]
fn a_key_is_made_shown_and_never_overwritten() {
    let temp = tempfile::tempdir().unwrap();
    let answer = consort_in(temp.path(), "key new site.key").done();
    assert!(answer.stderr.contains("stays on this machine"), "{}", answer.stderr);
    let path = temp.path().join("site.key");
    let public = read_key(&path).unwrap().public().unwrap().to_string();
    assert_eq!(answer.stdout, format!("{public}\n"), "nothing but the public half");
    assert_eq!(consort_in(temp.path(), "key show site.key").done().stdout, answer.stdout);
    let secret = fs::read_to_string(&path).unwrap();
    assert!(!secret.contains(&public));
    consort_in(temp.path(), "key new site.key").failed(2, &["site.key", "never overwritten"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), secret);
    consort_in(temp.path(), "key show stie.key").failed(2, &["did you mean site.key?"]);
    consort_in(temp.path(), "key new no/such.key").failed(2, &["no/such.key"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o644);
        consort_in(temp.path(), "key show site.key").failed(2, &["chmod 600"]);
    }
}

#[test]
fn a_plan_of_public_keys_makes_no_secret_key() {
    let temp = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| site(temp.path(), name));
    let line = format!("init lab --public-key hospital-a=a.pub --public-key hospital-b={b}");
    let answer = consort_in(temp.path(), &line).done();
    for part in ["agent 0", "hospital-a", "agent 1", "hospital-b", "no secret", "--key SITE.key"] {
        assert!(answer.stdout.contains(part), "no {part:?} in: {}", answer.stdout);
    }
    assert_eq!(names(&temp.path().join("lab")), ["plan.toml"], "no folder of keys");
    let plan = plan_in(&temp.path().join("lab"));
    assert_eq!(plan.run.graph, "ring:2");
    let keys: Vec<String> = plan.agents.iter().map(|agent| agent.key.to_string()).collect();
    assert_eq!(keys, [a, b]);
}

#[test]
fn agents_without_a_given_key_get_one() {
    let temp = tempfile::tempdir().unwrap();
    let own = site(temp.path(), "own");
    consort_in(temp.path(), "init lab --agents 3 --public-key 1=own.pub").done();
    let lab = temp.path().join("lab");
    assert_eq!(names(&lab.join("keys")), ["agent-0.key", "agent-2.key"]);
    let plan = plan_in(&lab);
    assert_eq!(plan.agents[1].key.to_string(), own);
    let key = read_key(&lab.join("keys/agent-2.key")).unwrap();
    assert_eq!(key.public().unwrap(), plan.agents[2].key);
}

#[test]
fn a_file_lists_keys_and_addresses() {
    let temp = tempfile::tempdir().unwrap();
    let keys = ["a", "b", "c"].map(|name| site(temp.path(), name));
    let line = |k: usize| format!("{} 192.0.2.{k}:7400  # site {k}\n", keys[k]);
    let text = format!("# our sites\n{}{}\n{}", line(0), line(1), line(2));
    fs::write(temp.path().join("sites.txt"), text).unwrap();
    consort_in(temp.path(), "init lab --public-keys sites.txt").done();
    let plan = plan_in(&temp.path().join("lab"));
    assert_eq!((plan.run.graph.as_str(), plan.agents.len()), ("ring:3", 3));
    for (k, agent) in plan.agents.iter().enumerate() {
        assert_eq!(agent.key.to_string(), keys[k]);
        assert_eq!(agent.addresses[0].to_string(), format!("192.0.2.{k}:7400"));
    }
    assert!(!temp.path().join("lab/keys").exists());
}

#[test]
fn keys_that_cannot_be_used_are_refused_and_leave_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let a = site(temp.path(), "a");
    fs::write(temp.path().join("short.txt"), format!("{a}\n12\n")).unwrap();
    fs::write(temp.path().join("some.txt"), format!("{a} x:1\n{a}\n")).unwrap();
    let before = names(temp.path());
    for (arguments, parts) in [
        ("--public-key a", &["--public-key a", "NAME=KEY"][..]),
        ("--public-key x=a.pbu", &["a.pbu", "neither a file nor a public key"]),
        ("--public-key x=a.key", &["secret key", "must not leave", "consort key show a.key"]),
        ("--agents 2 --public-key 2=a.pub", &["only 2 agents", "0 to 1"]),
        (
            "--agents 3 --public-key 0=a.pub --public-key 0=a.pub",
            &["two public keys are for agent 0"],
        ),
        ("--agents 2 --public-key x=a.pub --public-key y=a.pub", &["agents 0 and 1"]),
        ("--public-keys short.txt", &["short.txt, line 2", "not a public key"]),
        ("--public-keys some.txt", &["2 keys and 1 addresses"]),
        ("--public-keys none.txt", &["none.txt does not exist; did you mean some.txt?"]),
    ] {
        consort_in(temp.path(), &format!("init lab {arguments}")).failed(2, parts);
        assert_eq!(names(temp.path()), before, "{arguments}");
    }
}
