//! The recursions of `modes` predict what the algorithms of `consort-algo` do: agents
//! that start on an eigenvector of W stay on it, and its size follows the recursion.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod variants;

use consort_algo::{Agent, Method, Outgoing, Recursion, Row, Site};
use consort_theory::modes::step;

/// A ring with weights 1/3: eigenvectors are cosines, eigenvalues (1 + 2 cos)/3.
const AGENTS: usize = 12;

/// Weights 1/3 over oneself and the two neighbours.
fn row(agent: usize) -> Row {
    let neighbours = [(agent + 1) % AGENTS, (agent + AGENTS - 1) % AGENTS];
    Row::new(agent, neighbours.map(|j| (j, 1.0 / 3.0)))
}

fn amplitudes(method: &Method, harmonic: usize, rounds: usize) -> Vec<f64> {
    let shape =
        |i: usize| (2.0 * std::f64::consts::PI * (harmonic * i) as f64 / AGENTS as f64).cos();
    let start: Vec<[f32; 1]> = (0..AGENTS).map(|i| [shape(i) as f32]).collect();
    let build = |i: usize| {
        let rows = vec![row(i)];
        let algorithm = method.build_staged(&start[i], &Site::new(AGENTS, &rows)).unwrap();
        let mut agent = Agent::staged(i, rows, 1, algorithm);
        agent.resync_with(|j| Some(&start[j]));
        agent
    };
    let mut agents: Vec<Agent> = (0..AGENTS).map(build).collect();
    let mut sizes = vec![1.0];
    for _ in 0..rounds {
        let give = |agent: &mut Agent| loop {
            if let Some(sent) = agent.gradient(&[0.0], 1.0).unwrap() {
                return sent;
            }
        };
        let mut sent: Vec<Outgoing> = agents.iter_mut().map(give).collect();
        while !sent.is_empty() {
            for agent in &mut agents {
                for from in agent.missing().collect::<Vec<_>>() {
                    let body = sent[from].body_for(agent.id()).unwrap().clone();
                    agent.receive(from, sent[from].exchange, body).unwrap();
                }
                assert!(agent.advance());
            }
            sent = agents.iter().filter_map(Agent::outgoing).collect();
        }
        sizes.push(f64::from(agents[0].params()[0])); // shape(0) = 1
    }
    sizes
}

#[test]
fn every_method_follows_its_mode_recursion() {
    // A step of its own for every agent leaves no mode as it is, and relaying is not mixing.
    let has_modes = |method: &Method| {
        !matches!(method.info().recursion, Recursion::AdaptiveGossip | Recursion::Relay)
    };
    for (name, method, mu) in variants::variants().into_iter().filter(|v| has_modes(&v.1)) {
        for harmonic in [1, 3, 5, 6] {
            let angle = 2.0 * std::f64::consts::PI * harmonic as f64 / AGENTS as f64;
            let l = (1.0 + 2.0 * angle.cos()) / 3.0;
            let sizes = amplitudes(&method, harmonic, 40);
            let mut state = [1.0_f64, 0.0, 0.0, 0.0];
            let mut largest: f64 = 1.0;
            for (round, size) in sizes.iter().enumerate() {
                largest = largest.max(state[0].abs());
                let off = (size - state[0]).abs() / largest;
                assert!(off < 2e-5, "{name}, l = {l:.3}, round {round}: {size} {}", state[0]);
                state = step(&method, mu, l, state);
            }
        }
    }
}
