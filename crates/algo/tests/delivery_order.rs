//! The bits do not depend on the order in which messages arrive.
//!
//! Agents on a random graph work at their own pace: messages overtake each other, and a
//! neighbour may be one round ahead. The result has the bits of a run in lockstep.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use consort_algo::{Agent, Outgoing};
use proptest::prelude::*;
use support::agents::{agents, bits, neighbours, round_in_order, take_gradient};
use support::graphs;
use support::matrix::Matrix;
use support::methods::every_variant;
use support::random::Random;

const X0: [f32; 3] = [0.5, -0.25, 0.125];

/// What can happen next.
enum Event {
    Gradient(usize),
    Delivery(usize),
    Advance(usize),
}

/// Runs all agents to the end of round `rounds - 1`, one random event at a time, and
/// returns how many messages arrived before their round had begun.
fn run_at_random(agents: &mut [Agent], w: &Matrix, rounds: u64, random: &mut Random) -> usize {
    let mut stepped = vec![false; agents.len()];
    let mut in_flight: Vec<(usize, usize, Outgoing)> = Vec::new();
    let mut early = 0;
    loop {
        let mut events: Vec<Event> = (0..in_flight.len()).map(Event::Delivery).collect();
        for (i, agent) in agents.iter().enumerate() {
            if !stepped[i] && agent.round() < rounds {
                events.push(Event::Gradient(i));
            } else if stepped[i] && agent.missing().next().is_none() {
                events.push(Event::Advance(i));
            }
        }
        if events.is_empty() {
            break;
        }
        match events[random.below(events.len())] {
            Event::Gradient(i) => {
                let message = take_gradient(&mut agents[i]);
                in_flight.extend(neighbours(w, i).into_iter().map(|to| (to, i, message.clone())));
                stepped[i] = true;
            }
            Event::Delivery(at) => {
                let (to, from, message) = in_flight.swap_remove(at);
                early += usize::from(message.exchange > agents[to].round());
                agents[to]
                    .receive(from, message.exchange, message.to_all().unwrap().clone())
                    .unwrap();
            }
            Event::Advance(i) => {
                assert!(agents[i].advance());
                stepped[i] = false;
            }
        }
    }
    assert!(agents.iter().all(|agent| agent.round() == rounds));
    early
}

fn in_order(method: &str, w: &Matrix, rounds: u64) -> Vec<Agent> {
    let mut agents = agents(method, w, &X0);
    (0..rounds).for_each(|_| round_in_order(&mut agents, w));
    agents
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_order_of_delivery_gives_the_same_bits(
        variant in 0..every_variant().len(),
        agent_count in 2..7_usize,
        extra_edges in 0..6_usize,
        graph_seed: u64,
        schedule_seed: u64,
    ) {
        let method = &every_variant()[variant];
        let w = graphs::random(agent_count, extra_edges, graph_seed);
        let mut shuffled = agents(method, &w, &X0);
        run_at_random(&mut shuffled, &w, 12, &mut Random::new(schedule_seed));
        for (expected, agent) in in_order(method, &w, 12).iter_mut().zip(&mut shuffled) {
            prop_assert_eq!(bits(expected), bits(agent), "{}", method);
        }
    }
}

/// The random schedule above lets neighbours run ahead; otherwise it would not test the second
/// inbox.
#[test]
fn a_random_schedule_delivers_messages_one_round_early() {
    let w = graphs::ring(5);
    let mut shuffled = agents("gut", &w, &X0);
    let early = run_at_random(&mut shuffled, &w, 50, &mut Random::new(1));
    assert!(early > 20, "only {early} of 500 messages came early");
}
