//! The recursions of `modes` predict what the algorithms of `consort-algo` do: agents
//! that start on an eigenvector of W stay on it, and its size follows the recursion.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod variants;

use consort_algo::{Algorithm, Inbox, Method, Recursion};
use consort_theory::modes::step;

/// A ring with weights 1/3: eigenvectors are cosines, eigenvalues (1 + 2 cos)/3.
const AGENTS: usize = 12;

struct Ring<'a> {
    agent: usize,
    messages: &'a [Vec<f32>],
}

impl Ring<'_> {
    fn sender(&self, k: usize) -> usize {
        (self.agent + AGENTS + k - 1) % AGENTS
    }
}

impl Inbox for Ring<'_> {
    fn senders(&self) -> usize {
        3
    }
    fn own(&self) -> usize {
        1
    }
    fn weight(&self, _: usize) -> f32 {
        1.0 / 3.0
    }
    fn message(&self, k: usize) -> &[f32] {
        &self.messages[self.sender(k)]
    }
}

fn amplitudes(method: &Method, harmonic: usize, rounds: usize) -> Vec<f64> {
    let shape =
        |i: usize| (2.0 * std::f64::consts::PI * (harmonic * i) as f64 / AGENTS as f64).cos();
    let start: Vec<Vec<f32>> = (0..AGENTS).map(|i| vec![shape(i) as f32]).collect();
    let mut agents: Vec<Box<dyn Algorithm>> =
        start.iter().map(|x0| method.build(x0, 3).unwrap()).collect();
    for (agent, algorithm) in agents.iter_mut().enumerate() {
        algorithm.resync(&Ring { agent, messages: &start });
    }
    let mut sizes = vec![1.0];
    let mut messages = vec![vec![0.0; agents[0].message_len()]; AGENTS];
    for _ in 0..rounds {
        for (algorithm, message) in agents.iter_mut().zip(&mut messages) {
            algorithm.local_step(&[0.0], 1.0, message);
        }
        for (agent, algorithm) in agents.iter_mut().enumerate() {
            algorithm.mix(&Ring { agent, messages: &messages }, 1.0);
        }
        sizes.push(f64::from(agents[0].params()[0])); // shape(0) = 1
    }
    sizes
}

#[test]
fn every_method_follows_its_mode_recursion() {
    // A step of its own for every agent leaves no mode as it is.
    let has_modes = |method: &Method| method.info().recursion != Recursion::AdaptiveGossip;
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
