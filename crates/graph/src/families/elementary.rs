//! Ring (in both directions or in one), chain, star, complete: the graphs everyone knows.
//!
//! A ring of two is a single edge. A complete graph of one is allowed: it is
//! the lone learner that every decentralised run is compared with.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn ring(agents: usize) -> Result<Graph, GraphError> {
    check_family("ring", 2, agents, 2_u64.saturating_mul(agents as u64))?;
    Graph::from_edges(agents, (0..agents).map(|i| (i, (i + 1) % agents)))
}

/// Everyone sends to the next agent alone. Of two agents each is the other's next.
pub(crate) fn directed_ring(agents: usize) -> Result<Graph, GraphError> {
    check_family("directed-ring", 2, agents, agents as u64)?;
    Graph::from_arcs(agents, (0..agents).map(|i| (i, (i + 1) % agents)))
}

pub(crate) fn chain(agents: usize) -> Result<Graph, GraphError> {
    check_family("chain", 2, agents, 2_u64.saturating_mul(agents as u64))?;
    Graph::from_edges(agents, (1..agents).map(|i| (i - 1, i)))
}

pub(crate) fn star(agents: usize) -> Result<Graph, GraphError> {
    check_family("star", 2, agents, 2_u64.saturating_mul(agents as u64))?;
    Graph::from_edges(agents, (1..agents).map(|i| (0, i)))
}

pub(crate) fn complete(agents: usize) -> Result<Graph, GraphError> {
    let arcs = (agents as u64).saturating_mul((agents as u64).saturating_sub(1));
    check_family("complete", 1, agents, arcs)?;
    Graph::from_edges(agents, (0..agents).flat_map(|i| (0..i).map(move |j| (j, i))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rings_make_sense() {
        assert_eq!(ring(2).unwrap().arc_count(), 2);
        assert_eq!(ring(3).unwrap(), complete(3).unwrap());
        assert!(matches!(ring(1), Err(GraphError::TooFewAgents { got: 1, .. })));
        assert!(ring(0).is_err());
    }

    #[test]
    fn a_directed_ring_goes_one_way() {
        let ring = directed_ring(5).unwrap();
        assert_eq!((ring.out_neighbours(4), ring.in_neighbours(0)), (&[0][..], &[4][..]));
        assert!(!ring.is_undirected() && ring.is_regular() && ring.is_connected());
        assert!(directed_ring(2).unwrap().is_undirected());
        assert!(directed_ring(1).is_err());
    }

    #[test]
    fn absurd_sizes_are_refused_before_allocating() {
        assert!(matches!(ring(10_000_001), Err(GraphError::TooLarge { what: "agents", .. })));
        assert!(matches!(complete(100_000), Err(GraphError::TooLarge { what: "arcs", .. })));
        assert!(ring(usize::MAX / 2).is_err());
        assert!(complete(usize::MAX).is_err());
    }

    #[test]
    fn shapes() {
        assert_eq!(chain(4).unwrap().degree_range(), (1, 2));
        assert_eq!(star(5).unwrap().degree_range(), (1, 4));
        assert_eq!(complete(5).unwrap().degree_range(), (4, 4));
        assert_eq!(complete(1).unwrap().arc_count(), 0);
    }
}
