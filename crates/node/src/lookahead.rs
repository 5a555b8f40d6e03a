//! How many rounds a neighbour can be ahead.
//!
//! While agent i is in round r, the agents that hear it in round r + 1 cannot end that round; the
//! agents that hear one of those in round r + 2 cannot end that round, and so on. An agent that is
//! blocked after h steps has sent its message of round r + h and no later one. On a fixed
//! undirected graph all neighbours are blocked after one step.

use consort_graph::MixingMatrix;

/// How many rounds a sender of `agent` can be ahead of it; `weights` has the matrices of all phases.
///
/// # Panics
/// If there is no such agent.
pub fn lookahead(weights: &[MixingMatrix], agent: usize) -> usize {
    let (period, agents) = (weights.len(), weights[0].agents());
    let mut senders = vec![false; agents];
    for phase in weights {
        phase
            .row(agent)
            .filter(|&(from, _)| from != agent)
            .for_each(|(from, _)| senders[from] = true);
    }
    // No path takes longer than one period per agent on it.
    let farthest = agents * period;
    (0..period)
        .map(|start| steps_to_block(weights, agent, start, &senders, farthest))
        .max()
        .unwrap_or(1)
}

/// The steps after which `agent`, which is in round `start`, blocks all `wanted` agents.
fn steps_to_block(
    weights: &[MixingMatrix],
    agent: usize,
    start: usize,
    wanted: &[bool],
    farthest: usize,
) -> usize {
    let mut blocked = vec![false; wanted.len()];
    blocked[agent] = true;
    for step in 1..=farthest {
        let phase = &weights[(start + step) % weights.len()];
        let hears = |k: usize| phase.row(k).any(|(from, _)| blocked[from]);
        let next: Vec<bool> = (0..blocked.len()).map(|k| blocked[k] || hears(k)).collect();
        blocked = next;
        if blocked.iter().zip(wanted).all(|(&blocked, &wanted)| blocked || !wanted) {
            return step;
        }
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_graph::{GraphSpec, MixingSpec};

    fn lookaheads(graph: &str) -> Vec<usize> {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = "auto".parse::<MixingSpec>().unwrap().build_all(&topology).unwrap();
        (0..topology.agents()).map(|agent| lookahead(&weights, agent)).collect()
    }

    #[test]
    fn on_a_fixed_undirected_graph_it_is_one() {
        for graph in ["ring:8", "petersen", "star:5", "torus:3x4", "chain:2"] {
            assert!(lookaheads(graph).iter().all(|&ahead| ahead == 1), "{graph}");
        }
    }

    /// On the exponential graph of 8 agent i hears i - 1, i - 2 and i - 4. The path from i to
    /// i - 1 is 7 = 4 + 2 + 1 and takes three steps.
    #[test]
    fn on_a_directed_graph_it_is_the_longest_return_path() {
        assert!(lookaheads("exponential:8").iter().all(|&ahead| ahead == 3));
        assert!(lookaheads("one-peer-exponential:8").iter().all(|&ahead| (3..=6).contains(&ahead)));
    }
}
