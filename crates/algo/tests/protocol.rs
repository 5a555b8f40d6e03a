//! Input that does not fit is refused with the exact reason and changes nothing: the run
//! continues to the same bits as if it had never arrived.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::sync::Arc;

use consort_algo::{Agent, ProtocolError};
use support::agents::{agent, agents, bits, neighbours, round_in_order, take_gradient};
use support::graphs;

const METHOD: &str = "gut:mu=0.5";
const X0: [f32; 3] = [0.5, -0.25, 0.125];
/// On a ring of five, agent 2 hears 1 and 3.
const AGENT: usize = 2;

fn body(floats: usize) -> Arc<[f32]> {
    vec![9.0; floats].into()
}

/// Disturbs agent 2 at three moments of round 4 (before its gradient, after it, and with
/// all messages there), and checks that nobody can tell afterwards.
fn refused_without_a_trace(disturb: impl Fn(&mut Agent, Moment)) {
    let w = graphs::ring(5);
    let mut calm = agents(METHOD, &w, &X0);
    let mut disturbed = agents(METHOD, &w, &X0);
    for round in 0..10 {
        round_in_order(&mut calm, &w);
        if round != 4 {
            round_in_order(&mut disturbed, &w);
            continue;
        }
        disturb(&mut disturbed[AGENT], Moment::BeforeTheGradient);
        let sent: Vec<_> = disturbed.iter_mut().map(take_gradient).collect();
        disturb(&mut disturbed[AGENT], Moment::AfterTheGradient);
        for i in 0..5 {
            for j in neighbours(&w, i) {
                disturbed[i]
                    .receive(j, sent[j].exchange, sent[j].to_all().unwrap().clone())
                    .unwrap();
            }
        }
        disturb(&mut disturbed[AGENT], Moment::WithAllMessages);
        assert!(disturbed.iter_mut().all(Agent::advance));
    }
    for (calm, disturbed) in calm.iter_mut().zip(&mut disturbed) {
        assert_eq!(calm.round(), disturbed.round());
        assert_eq!(bits(calm), bits(disturbed));
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Moment {
    BeforeTheGradient,
    AfterTheGradient,
    WithAllMessages,
}

#[test]
fn a_message_of_a_past_round_is_refused() {
    refused_without_a_trace(|agent, _| {
        let refused = ProtocolError::StrayRound { agent: 2, from: 1, expected: (4, 5), got: 3 };
        assert_eq!(agent.receive(1, 3, body(3)), Err(refused));
    });
}

#[test]
fn a_message_from_too_far_ahead_is_refused() {
    refused_without_a_trace(|agent, _| {
        let refused = ProtocolError::StrayRound { agent: 2, from: 1, expected: (4, 5), got: 6 };
        assert_eq!(agent.receive(1, 6, body(3)), Err(refused));
    });
}

#[test]
fn a_second_message_of_a_round_is_refused() {
    refused_without_a_trace(|agent, moment| {
        if moment == Moment::WithAllMessages {
            for from in [1, 3] {
                let refused = ProtocolError::Duplicate { agent: 2, from, round: 4 };
                assert_eq!(agent.receive(from, 4, body(3)), Err(refused));
            }
        }
    });
}

#[test]
fn a_second_message_of_the_next_round_is_refused() {
    let w = graphs::ring(5);
    let mut early = agent(METHOD, &w, AGENT, &X0);
    early.receive(1, 1, body(3)).unwrap();
    let refused = ProtocolError::Duplicate { agent: 2, from: 1, round: 1 };
    assert_eq!(early.receive(1, 1, body(3)), Err(refused));
}

#[test]
fn a_stranger_is_refused() {
    refused_without_a_trace(|agent, _| {
        for from in [0, 4, 77] {
            for round in [4, 5] {
                let refused = ProtocolError::Stranger { agent: 2, from, round };
                assert_eq!(agent.receive(from, round, body(3)), Err(refused));
            }
        }
    });
}

/// An agent hears itself through its own gradient, not through the network.
#[test]
fn a_message_from_the_agent_itself_is_refused() {
    refused_without_a_trace(|agent, _| {
        let refused = ProtocolError::Stranger { agent: 2, from: 2, round: 4 };
        assert_eq!(agent.receive(2, 4, body(3)), Err(refused));
    });
}

#[test]
fn a_message_of_the_wrong_length_is_refused() {
    refused_without_a_trace(|agent, _| {
        for got in [0, 2, 4] {
            let refused = ProtocolError::Length { agent: 2, from: 3, round: 5, expected: 3, got };
            assert_eq!(agent.receive(3, 5, body(got)), Err(refused));
        }
    });
}

/// GT sends two floats per parameter; one per parameter is then the wrong length.
#[test]
fn the_length_of_a_message_is_the_methods_not_the_models() {
    let w = graphs::ring(5);
    let mut gt = agent("gt", &w, AGENT, &X0);
    let refused = ProtocolError::Length { agent: 2, from: 1, round: 0, expected: 6, got: 3 };
    assert_eq!(gt.receive(1, 0, body(3)), Err(refused));
    gt.receive(1, 0, body(6)).unwrap();
}

#[test]
fn a_second_gradient_is_refused() {
    refused_without_a_trace(|agent, moment| {
        if moment != Moment::BeforeTheGradient {
            let refused = ProtocolError::GradientTwice { agent: 2, round: 4 };
            assert_eq!(agent.gradient(&[9.0; 3], 0.1).unwrap_err(), refused);
        }
    });
}

#[test]
fn a_gradient_of_the_wrong_length_is_refused() {
    refused_without_a_trace(|agent, moment| {
        if moment == Moment::BeforeTheGradient {
            for got in [0, 2, 4] {
                let refused = ProtocolError::GradientLength { agent: 2, expected: 3, got };
                assert_eq!(agent.gradient(&vec![9.0; got], 0.1).unwrap_err(), refused);
            }
        }
    });
}

#[test]
fn an_agent_waits_for_its_gradient_and_for_every_neighbour() {
    let w = graphs::ring(5);
    let mut waiting = agent(METHOD, &w, AGENT, &X0);
    let missing = |agent: &Agent| agent.missing().collect::<Vec<_>>();
    assert_eq!(missing(&waiting), [1, 2, 3]);
    waiting.receive(3, 0, body(3)).unwrap();
    waiting.receive(1, 0, body(3)).unwrap();
    assert_eq!(missing(&waiting), [2]);
    assert!(!waiting.advance());
    take_gradient(&mut waiting);
    assert!(missing(&waiting).is_empty());
    assert!(waiting.advance());
    assert_eq!((waiting.round(), waiting.advance()), (1, false));
    assert_eq!(missing(&waiting), [1, 2, 3]);
}

/// Every refusal is a sentence with the numbers a reader needs.
#[test]
fn refusals_explain_themselves() {
    let stray = ProtocolError::StrayRound { agent: 2, from: 1, expected: (4, 5), got: 9 };
    for part in ["agent 2", "agent 1", "round 9", "4 to 5"] {
        assert!(stray.to_string().contains(part), "{stray} lacks '{part}'");
    }
    let length = ProtocolError::Length { agent: 2, from: 1, round: 4, expected: 3, got: 7 };
    for part in ["agent 2", "agent 1", "round 4", "7 floats", "expected 3"] {
        assert!(length.to_string().contains(part), "{length} lacks '{part}'");
    }
}
