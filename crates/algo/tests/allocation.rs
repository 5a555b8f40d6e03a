//! A round allocates nothing: the outgoing buffers alternate, the inboxes are reused, and all
//! state is there from the start.
//!
//! The counter wraps the global allocator and counts this thread only.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use allocation_counter::measure;
use consort_algo::{Agent, Outgoing};
use support::agents::{agents, neighbours};
use support::graphs;
use support::methods::every_variant;

const PARAMETERS: usize = 700; // more than one chunk of the weighted sum

/// A driver that has all its memory before it starts.
struct Driver {
    agents: Vec<Agent>,
    neighbours: Vec<Vec<usize>>,
    at: Vec<f32>,
    gradient: Vec<f32>,
    sent: Vec<Option<Outgoing>>,
}

impl Driver {
    fn round(&mut self, eta: f32) {
        for (agent, sent) in self.agents.iter_mut().zip(&mut self.sent) {
            agent.probe(&mut self.at);
            for (g, x) in self.gradient.iter_mut().zip(&self.at) {
                *g = 0.5 * x - agent.id() as f32;
            }
            *sent = Some(agent.gradient(&self.gradient, eta).unwrap().unwrap());
        }
        for (agent, neighbours) in self.agents.iter_mut().zip(&self.neighbours) {
            for &from in neighbours {
                if let Some(message) = &self.sent[from] {
                    agent
                        .receive(from, message.exchange, message.to_all().unwrap().clone())
                        .unwrap();
                }
            }
        }
        for (agent, sent) in self.agents.iter_mut().zip(&mut self.sent) {
            *sent = None; // drop each sent message, so that its memory is reused
            assert!(agent.advance());
        }
    }
}

#[test]
fn a_round_allocates_nothing_after_the_first_two() {
    let w = graphs::ring(4);
    for method in every_variant() {
        let mut driver = Driver {
            agents: agents(&method, &w, &vec![0.25; PARAMETERS]),
            neighbours: (0..4).map(|i| neighbours(&w, i)).collect(),
            at: vec![0.0; PARAMETERS],
            gradient: vec![0.0; PARAMETERS],
            sent: vec![None, None, None, None],
        };
        driver.round(0.05);
        driver.round(0.05);
        let counted = measure(|| (0..50).for_each(|_| driver.round(0.01)));
        assert_eq!(counted.count_total, 0, "{method} allocates in a round");
    }
}

/// This also holds when a neighbour is ahead: agent 1 still holds the message of round t while agent 0
/// writes the one of round t + 1, so two buffers are needed, and two are enough.
#[test]
fn an_agent_ahead_of_its_neighbour_allocates_nothing() {
    let mut pair = agents("gut", &graphs::complete(2), &[0.25; 8]);
    let gradient = [1.0; 8];
    let mut first = Some(pair[0].gradient(&gradient, 0.1).unwrap().unwrap());
    let mut rounds = |count: usize| {
        for _ in 0..count {
            let message = first.take().unwrap();
            pair[1].receive(0, message.exchange, message.to_all().unwrap().clone()).unwrap();
            let answer = pair[1].gradient(&gradient, 0.1).unwrap().unwrap();
            pair[0].receive(1, answer.exchange, answer.to_all().unwrap().clone()).unwrap();
            assert!(pair[0].advance());
            first = Some(pair[0].gradient(&gradient, 0.1).unwrap().unwrap());
            assert!(pair[1].advance());
        }
    };
    rounds(2);
    assert_eq!(measure(|| rounds(50)).count_total, 0);
}

/// The counter counts, so that the zero above means something.
#[test]
fn the_counter_sees_an_allocation() {
    assert!(measure(|| drop(std::hint::black_box(vec![1.0_f32; 8]))).count_total > 0);
}

/// A driver that never drops messages costs memory but causes no wrong numbers: the agent
/// takes a new buffer instead of writing into one that is still in use.
#[test]
fn a_message_somebody_holds_is_not_overwritten() {
    let w = graphs::ring(4);
    let mut agents = agents("dsgd", &w, &[0.25; 3]);
    let mut held = Vec::new();
    for _ in 0..6 {
        let sent: Vec<Outgoing> =
            agents.iter_mut().map(|a| a.gradient(&[1.0; 3], 0.1).unwrap().unwrap()).collect();
        for (i, agent) in agents.iter_mut().enumerate() {
            for from in neighbours(&w, i) {
                agent
                    .receive(from, sent[from].exchange, sent[from].to_all().unwrap().clone())
                    .unwrap();
            }
            assert!(agent.advance());
        }
        held.push((sent[0].to_all().unwrap().to_vec(), sent[0].to_all().unwrap().clone()));
    }
    assert!(held.iter().all(|(as_sent, now)| as_sent[..] == now[..]));
}
