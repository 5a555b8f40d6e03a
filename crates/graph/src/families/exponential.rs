//! Exponential graphs: everyone sends to the agents 1, 2, 4, 8, ... ahead.
//!
//! All hops at once is the static graph; one hop a round is the one-peer
//! sequence, which for N a power of two averages exactly in one period.
//! Both are directed.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn exponential(agents: usize) -> Result<Graph, GraphError> {
    check("exponential", agents)?;
    let arcs = (0..agents).flat_map(|i| hops(agents).map(move |hop| (i, (i + hop) % agents)));
    Graph::from_arcs(agents, arcs)
}

/// One graph per hop, shortest first.
pub(crate) fn one_peer(agents: usize) -> Result<Vec<Graph>, GraphError> {
    check("one-peer-exponential", agents)?;
    hops(agents)
        .map(|hop| Graph::from_arcs(agents, (0..agents).map(|i| (i, (i + hop) % agents))))
        .collect()
}

fn check(kind: &str, agents: usize) -> Result<(), GraphError> {
    check_family(kind, 2, agents, (agents as u64).saturating_mul(hops(agents).count() as u64))
}

/// The powers of two below `agents`.
fn hops(agents: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS).map(|k| 1_usize << k).take_while(move |&hop| hop < agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_powers_of_two() {
        let graph = exponential(10).unwrap();
        assert_eq!(graph.out_neighbours(9), &[0, 1, 3, 7]);
        assert!(!graph.is_undirected() && graph.is_regular() && graph.is_connected());
    }

    #[test]
    fn the_one_peer_sequence_has_one_graph_a_hop() {
        assert_eq!(one_peer(8).unwrap().len(), 3);
        assert_eq!(one_peer(9).unwrap().len(), 4);
        assert_eq!(one_peer(2).unwrap().len(), 1);
        assert!(one_peer(1).is_err());
    }
}
