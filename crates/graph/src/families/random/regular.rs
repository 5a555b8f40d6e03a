//! Random regular graphs by pairing (Steger and Wormald 1999).
//!
//! Every agent has `degree` open ends. The ends are shuffled and paired; pairs
//! that would be loops or repeats go back into the pot for the next pass, and a
//! pot that no longer changes ends the draw. Above half density the complement
//! is drawn instead, because there the pot would almost never empty.

use std::collections::HashSet;

use super::until_connected;
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

/// Passes without a single new edge before a draw is given up.
const STUCK_AFTER: usize = 20;

pub(crate) fn regular(agents: usize, degree: usize, seed: u64) -> Result<Graph, GraphError> {
    let arcs = (agents as u64).saturating_mul(degree as u64);
    check_family("random-regular", 2, agents, arcs)?;
    let got = format!("{agents} agents of degree {degree}");
    if !exists(agents, degree) {
        return Err(GraphError::Impossible {
            kind: "random-regular",
            got,
            remedy: "choose 1 <= D < N with N * D even",
        });
    }
    let remedy = "choose a degree of at least 3 (degree 1 never connects more than two agents)";
    until_connected("random-regular", got, remedy, seed, |draws| drawn(agents, degree, draws))
}

/// Is there any graph with so many agents, all of this degree?
pub(super) fn exists(agents: usize, degree: usize) -> bool {
    (1..agents).contains(&degree) && (agents.is_multiple_of(2) || degree.is_multiple_of(2))
}

/// One draw, connected or not; `None` when stuck.
pub(super) fn drawn(
    agents: usize,
    degree: usize,
    draws: &mut Draws,
) -> Result<Option<Graph>, GraphError> {
    let complement = degree > (agents - 1) / 2;
    let drawn_degree = if complement { agents - 1 - degree } else { degree };
    let Some(edges) = pair_ends(agents, drawn_degree, draws) else { return Ok(None) };
    if !complement {
        return Graph::from_edges(agents, in_order(edges)).map(Some);
    }
    let all = (0..agents).flat_map(|j| (0..j).map(move |i| (i as u32, j as u32)));
    let missing = all.filter(|pair| !edges.contains(pair));
    Graph::from_edges(agents, missing.map(|(i, j)| (i as usize, j as usize))).map(Some)
}

/// A set of edges that gives every agent the degree, or `None` when stuck.
fn pair_ends(agents: usize, degree: usize, draws: &mut Draws) -> Option<HashSet<(u32, u32)>> {
    let mut edges = HashSet::with_capacity(agents * degree / 2);
    let mut open: Vec<u32> =
        (0..agents).flat_map(|i| std::iter::repeat_n(i as u32, degree)).collect();
    let mut idle_passes = 0;
    while !open.is_empty() {
        draws.shuffle(&mut open);
        let mut returned = Vec::new();
        for pair in open.chunks_exact(2) {
            let edge = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            if edge.0 == edge.1 || !edges.insert(edge) {
                returned.extend_from_slice(pair);
            }
        }
        idle_passes = if returned.len() == open.len() { idle_passes + 1 } else { 0 };
        if idle_passes == STUCK_AFTER {
            return None;
        }
        open = returned;
    }
    Some(edges)
}

/// The set's order differs from run to run; the graph sorts, so it may.
fn in_order(edges: HashSet<(u32, u32)>) -> impl Iterator<Item = (usize, usize)> {
    edges.into_iter().map(|(i, j)| (i as usize, j as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_degrees_are_the_degree() {
        for (agents, degree) in [(2, 1), (10, 3), (50, 4), (9, 8), (20, 13), (40, 19)] {
            let graph = regular(agents, degree, 3).unwrap();
            assert_eq!(graph.degree_range(), (degree, degree));
            assert!(graph.is_connected());
        }
    }

    #[test]
    fn impossible_ones_are_refused() {
        assert!(matches!(regular(9, 3, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(regular(4, 4, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(regular(10, 1, 0), Err(GraphError::NeverConnected { .. })));
    }
}
