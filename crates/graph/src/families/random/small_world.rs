//! Watts-Strogatz small worlds: a ring of near neighbours, some edges thrown far.

use std::collections::HashSet;

use super::until_connected;
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn watts_strogatz(
    agents: usize,
    neighbours: usize,
    probability: f64,
    seed: u64,
) -> Result<Graph, GraphError> {
    let arcs = (agents as u64).saturating_mul(neighbours as u64);
    check_family("watts-strogatz", 3, agents, arcs)?;
    let got = format!("{agents} agents, {neighbours} neighbours, probability {probability}");
    let possible = neighbours >= 2 && neighbours.is_multiple_of(2) && neighbours < agents;
    if !possible || !(0.0..=1.0).contains(&probability) {
        return Err(GraphError::Impossible {
            kind: "watts-strogatz",
            got,
            remedy: "choose an even K with 2 <= K < N and a probability from 0 to 1",
        });
    }
    let remedy = "choose more neighbours or a smaller probability";
    until_connected("watts-strogatz", got, remedy, seed, |draws| {
        let edges = rewired_ring(agents, neighbours / 2, probability, draws);
        let edges = edges.into_iter().map(|(i, j)| (i as usize, j as usize));
        Graph::from_edges(agents, edges).map(Some)
    })
}

/// Each edge `i -- i + s` keeps its near end; the far end moves with the
/// probability, to an agent that is not yet a neighbour.
fn rewired_ring(
    agents: usize,
    reach: usize,
    probability: f64,
    draws: &mut Draws,
) -> HashSet<(u32, u32)> {
    let edge = |i: usize, j: usize| (i.min(j) as u32, i.max(j) as u32);
    let lattice = || (1..=reach).flat_map(move |s| (0..agents).map(move |i| (i, (i + s) % agents)));
    let mut edges: HashSet<_> = lattice().map(|(i, j)| edge(i, j)).collect();
    let mut degrees = vec![2 * reach; agents];
    for (i, j) in lattice() {
        // An agent that already knows everyone has nobody to move to.
        if draws.unit() >= probability || degrees[i] == agents - 1 {
            continue;
        }
        let elsewhere = loop {
            let k = draws.below(agents);
            if k != i && !edges.contains(&edge(i, k)) {
                break k;
            }
        };
        edges.remove(&edge(i, j));
        edges.insert(edge(i, elsewhere));
        degrees[j] -= 1;
        degrees[elsewhere] += 1;
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::circulant::circulant;

    #[test]
    fn no_rewiring_is_a_circulant() {
        let ring = watts_strogatz(20, 4, 0.0, 9).unwrap();
        assert_eq!(ring, circulant(20, &[1, 2]).unwrap());
    }

    #[test]
    fn rewiring_keeps_the_number_of_edges() {
        let graph = watts_strogatz(50, 4, 0.5, 9).unwrap();
        assert_eq!(graph.arc_count(), 200);
        assert!(!graph.is_regular());
        assert_eq!(watts_strogatz(5, 4, 1.0, 9).unwrap().arc_count(), 20);
        assert!(watts_strogatz(20, 3, 0.1, 0).is_err());
    }
}
