//! An agent that is saved and rebuilt continues to the same bits: its tensors and its round
//! are its whole state.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::collections::HashSet;

use consort_algo::{Agent, Tensor};
use support::agents::{agents, bits, round_in_order};
use support::graphs;
use support::methods::every_variant;

const X0: [f32; 3] = [0.5, -0.25, 0.125];

/// What a checkpoint holds: the round, and every tensor by name.
type Saved = (u64, Vec<(String, Vec<f32>)>);

fn save(agent: &mut Agent) -> Saved {
    let round = agent.round();
    let tensors = agent.tensors();
    (round, tensors.iter().map(|t| (t.name.to_string(), t.values.to_vec())).collect())
}

/// Writes every tensor back by its name.
fn restore(agent: &mut Agent, (round, saved): &Saved) {
    for tensor in agent.tensors() {
        let (_, values) = saved.iter().find(|(name, _)| *name == tensor.name).unwrap();
        tensor.values.copy_from_slice(values);
    }
    agent.restore_round(*round);
}

/// Saved at the start and after each of the first eleven rounds; the step size changes
/// in between.
#[test]
fn a_restored_agent_continues_to_the_same_bits() {
    let w = graphs::random(6, 3, 1);
    for method in every_variant() {
        let mut uninterrupted = agents(&method, &w, &X0);
        let mut saved: Vec<Vec<Saved>> = Vec::new();
        for _ in 0..12 {
            saved.push(uninterrupted.iter_mut().map(save).collect());
            round_in_order(&mut uninterrupted, &w);
        }
        let expected: Vec<_> = uninterrupted.iter_mut().map(bits).collect();
        for (round, saved) in saved.iter().enumerate() {
            let mut restored = agents(&method, &w, &[7.0; 3]); // another model on purpose
            restored.iter_mut().zip(saved).for_each(|(agent, saved)| restore(agent, saved));
            (round..12).for_each(|_| round_in_order(&mut restored, &w));
            let got: Vec<_> = restored.iter_mut().map(bits).collect();
            assert_eq!(got, expected, "{method}, restored at round {round}");
        }
    }
}

/// A restored agent has dropped messages for later rounds and accepts them a second time.
#[test]
fn a_restored_agent_takes_early_messages_again() {
    let w = graphs::ring(4);
    let mut early = agents("gut", &w, &X0).remove(0);
    early.receive(1, 1, vec![1.0; 3].into()).unwrap();
    let saved = save(&mut early);
    restore(&mut early, &saved);
    early.receive(1, 1, vec![1.0; 3].into()).unwrap();
}

#[test]
fn tensor_names_are_unique_and_tensors_as_long_as_the_model() {
    let w = graphs::random(6, 3, 1);
    for method in every_variant() {
        for mut agent in agents(&method, &w, &X0) {
            let tensors = agent.tensors();
            let names: HashSet<&str> = tensors.iter().map(|t| &*t.name).collect();
            assert_eq!(names.len(), tensors.len(), "{method} has two tensors of one name");
            // The push-sum weight and a count of rounds are one word.
            let one_word =
                |t: &Tensor<'_>| matches!(&*t.name, "w" | "round" | "t") && t.values.len() == 1;
            let of_model = |t: &Tensor<'_>| t.values.len() == X0.len();
            assert!(tensors.iter().all(|t| of_model(t) || one_word(t)), "{method}");
            assert_eq!(tensors[0].name, "x", "{method}: the model comes first");
        }
    }
}
