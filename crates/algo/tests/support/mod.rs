//! Shared by the tests: graphs, losses, a dense `f64` algebra that does not use the crate, and
//! a team of agents that does.
#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

pub(crate) mod agents;
pub(crate) mod equations;
pub(crate) mod graphs;
pub(crate) mod local_steps;
pub(crate) mod losses;
pub(crate) mod matrix;
pub(crate) mod methods;
pub(crate) mod random;
pub(crate) mod staged_equations;
pub(crate) mod staged_team;
pub(crate) mod team;

/// The step sizes of a short training: a warm-up from 0.01 to 0.05 over the first five
/// rounds, and a decay to 0.005 halfway through.
pub(crate) fn warm_up_and_decay(rounds: usize) -> Vec<f32> {
    (0..rounds)
        .map(|round| match round {
            0..5 => 0.01 + 0.008 * round as f32,
            _ if round < rounds / 2 => 0.05,
            _ => 0.005,
        })
        .collect()
}
