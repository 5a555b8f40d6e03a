//! Agents with the round protocol around them.

use consort_algo::{Agent, Method, Row};

use super::matrix::Matrix;

/// One agent per row of W, all starting from `x0`.
pub(crate) fn agents(method: &str, w: &Matrix, x0: &[f32]) -> Vec<Agent> {
    (0..w.rows).map(|i| agent(method, w, i, x0)).collect()
}

/// Agent `i` of the graph behind W, which takes messages one round early.
pub(crate) fn agent(method: &str, w: &Matrix, i: usize, x0: &[f32]) -> Agent {
    let method: Method = method.parse().unwrap();
    let row = row_of(&method, w, i);
    let algorithm = method.build(x0, row.senders().len()).unwrap();
    Agent::new(i, vec![row], 1, algorithm)
}

/// Row `i` of W as `method` uses it.
pub(crate) fn row_of(method: &Method, w: &Matrix, i: usize) -> Row {
    let heard = (0..w.rows).map(|j| (j, w.at(i, j))).filter(|&(_, weight)| weight != 0.0);
    let sent = (0..w.rows).map(|j| (j, w.at(j, i))).filter(|&(_, weight)| weight != 0.0);
    if method.name.is_push_sum() { Row::from_columns(i, heard, sent) } else { Row::new(i, heard) }
}

/// The neighbours of agent `i`, itself not included.
pub(crate) fn neighbours(w: &Matrix, i: usize) -> Vec<usize> {
    (0..w.rows).filter(|&j| j != i && w.at(i, j) != 0.0).collect()
}

/// A gradient that depends on agent, round and place, without any rounding of its own
/// that could differ between two runs.
pub(crate) fn some_gradient(agent: usize, round: u64, at: &[f32]) -> Vec<f32> {
    let phase = |k: usize| ((agent * 31 + k * 17) as u64 + round * 7) % 13;
    at.iter().enumerate().map(|(k, x)| 0.5 * x - 0.25 + phase(k) as f32 / 16.0).collect()
}

/// A step size that changes on the way.
pub(crate) fn some_eta(round: u64) -> f32 {
    if round < 7 { 0.05 } else { 0.0125 }
}

/// One round of everybody, messages in the order of the agents' numbers.
pub(crate) fn round_in_order(agents: &mut [Agent], w: &Matrix) {
    let sent: Vec<_> = agents.iter_mut().map(take_gradient).collect();
    for i in 0..agents.len() {
        for j in neighbours(w, i) {
            agents[i].receive(j, sent[j].exchange, sent[j].to_all().unwrap().clone()).unwrap();
        }
        assert!(agents[i].advance());
    }
}

/// Steps 1 and 2 of a round.
pub(crate) fn take_gradient(agent: &mut Agent) -> consort_algo::Outgoing {
    let mut at = vec![0.0; agent.params().len()];
    agent.probe(&mut at);
    let gradient = some_gradient(agent.id(), agent.round(), &at);
    agent.gradient(&gradient, some_eta(agent.round())).unwrap().unwrap()
}

/// Everything an agent remembers, as bits, with the names.
pub(crate) fn bits(agent: &mut Agent) -> Vec<(String, Vec<u32>)> {
    let as_bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
    agent.tensors().iter().map(|t| (t.name.to_string(), as_bits(t.values))).collect()
}
