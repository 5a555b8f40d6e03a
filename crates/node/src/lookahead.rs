//! How many rounds a neighbour can be ahead.
//!
//! While agent i is in round r, whoever hears it in round r + 1 cannot end that round; whoever
//! hears one of those in round r + 2 cannot end that one; and so on. A neighbour that is held up
//! after h steps has sent its message of round r + h and no later one. On a fixed undirected
//! graph all neighbours are held up at the first step.

use consort_graph::MixingMatrix;

/// Rounds that a sender of `agent` can be ahead of it; `weights` are those of all phases.
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
    // Nobody can be farther away than a period for every agent on the way.
    let farthest = agents * period;
    (0..period)
        .map(|start| steps_to_hold_up(weights, agent, start, &senders, farthest))
        .max()
        .unwrap_or(1)
}

/// Steps after which all `wanted` agents are held up by `agent`, which is in round `start`.
fn steps_to_hold_up(
    weights: &[MixingMatrix],
    agent: usize,
    start: usize,
    wanted: &[bool],
    farthest: usize,
) -> usize {
    let mut held = vec![false; wanted.len()];
    held[agent] = true;
    for step in 1..=farthest {
        let phase = &weights[(start + step) % weights.len()];
        let hears = |k: usize| phase.row(k).any(|(from, _)| held[from]);
        let next: Vec<bool> = (0..held.len()).map(|k| held[k] || hears(k)).collect();
        held = next;
        if held.iter().zip(wanted).all(|(&held, &wanted)| held || !wanted) {
            return step;
        }
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_graph::{GraphSpec, MixingSpec};

    fn of(graph: &str) -> Vec<usize> {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = "auto".parse::<MixingSpec>().unwrap().build_all(&topology).unwrap();
        (0..topology.agents()).map(|agent| lookahead(&weights, agent)).collect()
    }

    #[test]
    fn on_a_fixed_undirected_graph_it_is_one() {
        for graph in ["ring:8", "petersen", "star:5", "torus:3x4", "chain:2"] {
            assert!(of(graph).iter().all(|&ahead| ahead == 1), "{graph}");
        }
    }

    /// On the exponential graph of 8 agent i hears i - 1, i - 2 and i - 4. The way from i to
    /// i - 1 is 7 = 4 + 2 + 1 and takes three steps.
    #[test]
    fn on_a_directed_graph_it_is_the_longest_way_back() {
        assert!(of("exponential:8").iter().all(|&ahead| ahead == 3));
        assert!(of("one-peer-exponential:8").iter().all(|&ahead| (3..=6).contains(&ahead)));
    }
}
