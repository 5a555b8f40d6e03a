//! One agent's checkpoints: the same bits as an uninterrupted run, from any saved round; damaged
//! and foreign checkpoints are skipped.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use consort_algo::Agent;
use consort_node::{AgentFolder, AgentWork};
use support::{data_dir, plan, small_run, text};

/// Rounds of one agent whose neighbours always send what it sends itself.
fn rounds(work: &mut AgentWork, agent: &mut Agent, until: u64) {
    let (mut at, mut grad) = (vec![0.0; work.parameters()], vec![0.0; work.parameters()]);
    while agent.round() < until {
        agent.probe(&mut at);
        work.loss_and_grad(agent, &at, &mut grad).unwrap();
        let sent = agent.gradient(&grad, work.eta(agent.round())).unwrap().unwrap();
        for from in work.neighbours() {
            agent.receive(from, sent.exchange, sent.to_all().unwrap().clone()).unwrap();
        }
        drop(sent);
        assert!(agent.advance());
    }
}

fn state(agent: &mut Agent) -> Vec<(String, Vec<u32>)> {
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect();
    agent.tensors().iter().map(|t| (t.name.to_string(), bits(t.values))).collect()
}

fn work() -> AgentWork {
    AgentWork::new(&plan(&text("", &small_run("qg-gutm"), 8)), 2, &data_dir(), 1).unwrap()
}

#[test]
fn an_agent_goes_on_from_any_round_that_was_saved() {
    let temp = tempfile::tempdir().unwrap();
    let mut work = work();
    let folder = AgentFolder::open(temp.path(), work.run_id(), 2, 3).unwrap();
    let mut agent = work.agent().unwrap();
    for round in [2, 4, 6, 8, 10] {
        rounds(&mut work, &mut agent, round);
        folder.save(&mut agent, work.since(), round as f64).unwrap();
    }
    assert_eq!(folder.saved_rounds().unwrap(), [6, 8, 10], "the last three");
    rounds(&mut work, &mut agent, 15);
    let (expected, expected_since) = (state(&mut agent), work.since());

    for (at_most, expected_round) in [(u64::MAX, 10), (10, 10), (9, 8), (6, 6)] {
        let mut agent = work.agent().unwrap();
        let mut tell = |told: &str| panic!("{told}");
        let restored = match at_most {
            u64::MAX => folder.restore_newest(&mut agent, &mut tell),
            _ => folder.restore_at_most(&mut agent, at_most, &mut tell),
        };
        let restored = restored.unwrap().unwrap();
        assert_eq!((restored.round, restored.seconds), (expected_round, expected_round as f64));
        assert_eq!(agent.round(), expected_round);
        work.restore_since(restored.since);
        rounds(&mut work, &mut agent, 15);
        assert!(state(&mut agent) == expected, "from round {expected_round}");
        assert_eq!(work.since(), expected_since);
    }
    let before = folder.restore_at_most(&mut agent, 5, &mut |told| panic!("{told}")).unwrap();
    assert_eq!(before, None);
    assert!(state(&mut agent) == expected, "nothing was touched");
}

/// When an agent has gone back and is saved again, its old later checkpoints are removed.
#[test]
fn saving_after_going_back_removes_later_rounds() {
    let temp = tempfile::tempdir().unwrap();
    let mut work = work();
    let folder = AgentFolder::open(temp.path(), 7, 2, 3).unwrap();
    let mut agent = work.agent().unwrap();
    for round in [2, 4, 6] {
        rounds(&mut work, &mut agent, round);
        folder.save(&mut agent, work.since(), 0.0).unwrap();
    }
    folder.restore_at_most(&mut agent, 2, &mut |told| panic!("{told}")).unwrap().unwrap();
    assert_eq!(folder.saved_rounds().unwrap(), [2, 4, 6], "until it is saved again");
    rounds(&mut work, &mut agent, 3);
    folder.save(&mut agent, work.since(), 0.0).unwrap();
    assert_eq!(folder.saved_rounds().unwrap(), [2, 3]);
    folder.forget_checkpoints().unwrap();
    assert!(folder.saved_rounds().unwrap().is_empty());
}

#[test]
fn what_is_damaged_is_passed_over_and_another_agents_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let mut work = work();
    let folder = AgentFolder::open(temp.path(), 7, 2, 3).unwrap();
    let mut agent = work.agent().unwrap();
    for round in [1, 2, 3] {
        rounds(&mut work, &mut agent, round);
        folder.save(&mut agent, work.since(), 0.0).unwrap();
    }
    let file = |round: u64| temp.path().join(format!("round-{round:09}.checkpoint"));
    let mut bytes = fs::read(file(3)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file(3), &bytes).unwrap();
    fs::copy(file(1), file(2)).unwrap();
    let mut told = Vec::new();
    let restored = folder.restore_newest(&mut agent, &mut |words| told.push(words.to_string()));
    assert_eq!(restored.unwrap().unwrap().round, 1);
    assert!(told[0].contains("is damaged") && told[1].contains("is of round 1"), "{told:?}");

    for (run, id) in [(8, 2), (7, 3)] {
        let refused = AgentFolder::open(temp.path(), run, id, 3).unwrap_err().to_string();
        let expected = format!("holds run 0000000000000007, agent 2, and this is run {run:016x}");
        assert!(refused.contains(&expected) && refused.contains("--out"), "{refused}");
    }
}
