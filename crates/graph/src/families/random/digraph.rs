//! Random directed graphs: everyone sends to equally many, but not everyone hears as many.
//!
//! One arc of everybody follows a cycle through all agents in random order, so the graph is
//! strongly connected whatever else is drawn; the other arcs go to distinct random agents.
//! In-degrees then differ, and averaging weights with which rows *and* columns sum to 1
//! are no longer at hand: the case that push-sum methods are made for.

use std::collections::BTreeSet;

use super::until_connected;
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn digraph(agents: usize, out_degree: usize, seed: u64) -> Result<Graph, GraphError> {
    let arcs = (agents as u64).saturating_mul(out_degree as u64);
    check_family("random-digraph", 2, agents, arcs)?;
    let got = format!("{agents} agents that send to {out_degree} others");
    if out_degree == 0 || out_degree >= agents {
        let remedy = "choose 1 <= OUT < N";
        return Err(GraphError::Impossible { kind: "random-digraph", got, remedy });
    }
    // A cycle and the complete graph are regular, whatever is drawn.
    let can_differ = out_degree > 1 && out_degree + 1 < agents;
    let remedy = "choose more agents";
    until_connected("random-digraph", got, remedy, seed, |draws| {
        let graph = Graph::from_arcs(agents, arcs_of_a_draw(agents, out_degree, draws))?;
        Ok(Some(graph).filter(|graph| !(can_differ && graph.is_regular())))
    })
}

fn arcs_of_a_draw(agents: usize, out_degree: usize, draws: &mut Draws) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..agents).collect();
    draws.shuffle(&mut order);
    let mut after = vec![0; agents];
    for (place, &agent) in order.iter().enumerate() {
        after[agent] = order[(place + 1) % agents];
    }
    let mut arcs = Vec::with_capacity(agents * out_degree);
    for (agent, &next) in after.iter().enumerate() {
        arcs.push((agent, next));
        let taken = [agent.min(next), agent.max(next)];
        let others = distinct(out_degree - 1, agents - 2, draws);
        // The numbers of the others, without the agent itself and its successor.
        let number = |mut k: usize| {
            k += usize::from(k >= taken[0]);
            k + usize::from(k >= taken[1])
        };
        arcs.extend(others.into_iter().map(|k| (agent, number(k))));
    }
    arcs
}

/// `count` distinct numbers below `bound`, every set equally likely (Floyd's method).
fn distinct(count: usize, bound: usize, draws: &mut Draws) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    for last in bound - count..bound {
        let candidate = draws.below(last + 1);
        if !chosen.insert(candidate) {
            chosen.insert(last);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_degrees_agree_and_in_degrees_do_not() {
        for (agents, out_degree) in [(4, 2), (8, 2), (20, 3), (9, 7)] {
            for seed in 0..20 {
                let graph = digraph(agents, out_degree, seed).unwrap();
                assert_eq!(graph.degree_range(), (out_degree, out_degree));
                assert!(graph.is_connected() && !graph.is_regular() && !graph.is_undirected());
            }
        }
    }

    #[test]
    fn the_extremes_are_regular() {
        let cycle = digraph(7, 1, 3).unwrap();
        assert!(cycle.is_regular() && cycle.is_connected());
        assert_eq!(digraph(7, 6, 3).unwrap().arc_count(), 42);
        assert_eq!(digraph(2, 1, 3).unwrap().arc_count(), 2);
        assert!(matches!(digraph(7, 7, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(digraph(7, 0, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(digraph(1, 1, 0), Err(GraphError::TooFewAgents { .. })));
    }

    #[test]
    fn floyds_method_meets_every_set() {
        let mut draws = Draws::seeded(2);
        let mut seen = BTreeSet::new();
        for _ in 0..200 {
            let set = distinct(2, 4, &mut draws);
            assert!(set.len() == 2 && set.iter().all(|&k| k < 4));
            seen.insert(set);
        }
        assert_eq!(seen.len(), 6);
    }
}
