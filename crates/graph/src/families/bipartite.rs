//! The complete bipartite graph: `0..left` joined to each of the `right` others.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn complete_bipartite(left: usize, right: usize) -> Result<Graph, GraphError> {
    let agents = left.saturating_add(right);
    let arcs = 2_u64.saturating_mul(left as u64).saturating_mul(right as u64);
    check_family("bipartite", 2, agents, arcs)?;
    if left == 0 || right == 0 {
        return Err(GraphError::Impossible {
            kind: "bipartite",
            got: format!("sides of {left} and {right}"),
            remedy: "give both sides at least one agent",
        });
    }
    Graph::from_edges(agents, (0..left).flat_map(|a| (left..agents).map(move |b| (a, b))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_do_not_talk_among_themselves() {
        let graph = complete_bipartite(2, 3).unwrap();
        assert_eq!(graph.out_neighbours(1), &[2, 3, 4]);
        assert_eq!(graph.out_neighbours(4), &[0, 1]);
        assert!(complete_bipartite(0, 3).is_err());
    }
}
