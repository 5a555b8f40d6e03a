//! A round without one neighbour: its weight moves to the agent's own model.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{Agent, Method, Row};

fn agent(method: &str, id: usize, row: &[(usize, f64)], x: f32) -> Agent {
    let method: Method = method.parse().unwrap();
    let row = Row::new(id, row.iter().copied());
    let senders = row.senders().len();
    Agent::new(id, vec![row], 1, method.build(&[x], senders).unwrap())
}

#[test]
fn the_weight_of_an_absent_neighbour_moves_to_the_agent_itself() {
    // 0 - 1 - 2 with weights 1/4; agent 2 is silent.
    let mut middle = agent("dsgd", 1, &[(0, 0.25), (2, 0.25)], 1.0);
    middle.gradient(&[0.0], 0.1).unwrap();
    middle.receive(0, 0, [5.0].into()).unwrap();
    assert!(!middle.advance());
    assert_eq!(middle.missing().collect::<Vec<_>>(), [2]);
    middle.mark_absent(2);
    assert!(middle.receive(2, 0, [9.0].into()).is_err(), "too late");
    assert!(middle.advance());
    assert_eq!(middle.params(), [0.75 * 1.0 + 0.25 * 5.0]);
    // The next round waits for both again.
    middle.gradient(&[0.0], 0.1).unwrap();
    assert_eq!(middle.missing().collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn what_one_end_used_alone_is_retracted() {
    let methods = ["dsgd", "dsgd:gradient_at=local", "qg-dsgdm:form=quasi-global", "decentlam"];
    for method in methods {
        let mut ends = [agent(method, 0, &[(1, 0.5)], 1.0), agent(method, 1, &[(0, 0.5)], 3.0)];
        let sent = [0, 1].map(|id: usize| {
            ends[id].gradient(&[0.0], 0.1).unwrap().unwrap().to_all().unwrap().clone()
        });
        ends[0].receive(1, 0, sent[1].clone()).unwrap();
        ends[1].mark_absent(0);
        assert!(ends[0].advance() && ends[1].advance());
        let sum = |ends: &[Agent; 2]| ends[0].params()[0] + ends[1].params()[0];
        assert_eq!(sum(&ends), 5.0, "{method}: one end used the edge alone");
        ends[0].retract(1, &sent[1], &sent[0]);
        assert_eq!(sum(&ends), 4.0, "{method}: as if neither had");
    }
}

/// DecentLaM's momentum has taken up what is retracted, so it gives that back too.
#[test]
fn a_retraction_leaves_nothing_in_the_momentum() {
    let mut one = agent("decentlam", 0, &[(1, 0.5)], 1.0);
    let sent = one.gradient(&[0.0], 0.1).unwrap().unwrap().to_all().unwrap().clone();
    let theirs = [3.0_f32];
    one.receive(1, 0, theirs.into()).unwrap();
    assert!(one.advance());
    one.retract(1, &theirs, &sent);
    for _ in 0..5 {
        one.gradient(&[0.0], 0.1).unwrap();
        one.mark_absent(1);
        assert!(one.advance());
    }
    assert_eq!(one.params(), [1.0], "where it was before it heard the other");
}

#[test]
fn a_tracked_neighbourhood_is_measured_anew_without_the_absent() {
    // After a resync GUT takes its gradient at the mixed model of those that are there.
    let mut middle = agent("gut:mu=0.5", 1, &[(0, 0.25), (2, 0.25)], 1.0);
    let models = [[5.0_f32], [9.0]];
    let mut at = [0.0];
    middle.resync_with(|j| [Some(&models[0][..]), None, Some(&models[1][..])][j]);
    middle.probe(&mut at);
    assert_eq!(at, [0.5 * 1.0 + 0.25 * 5.0 + 0.25 * 9.0]);
    middle.resync_with(|j| (j == 0).then_some(&models[0][..]));
    middle.probe(&mut at);
    assert_eq!(at, [0.75 * 1.0 + 0.25 * 5.0]);
    middle.resync_with(|_| None);
    middle.probe(&mut at);
    assert_eq!(at, [1.0]);
    assert!(middle.adopt(&[7.0]) && middle.params() == [7.0]);
    assert!(!middle.adopt(&[7.0, 7.0]), "another length");
}
