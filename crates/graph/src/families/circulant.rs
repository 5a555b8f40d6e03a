//! Circulant graphs: `i` joined to `i + s` and `i - s` for every offset `s`.
//!
//! Ring, complete graph and what the authors of GUT ran as "torus" are all of
//! this kind. The offsets' common divisor with N decides whether the graph is
//! connected; an unconnected one is built as asked and the facts say so.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn circulant(agents: usize, offsets: &[usize]) -> Result<Graph, GraphError> {
    let arcs = (2 * offsets.len() as u64).saturating_mul(agents as u64);
    check_family("circulant", 2, agents, arcs)?;
    if let Some(offset) = offsets.iter().find(|&&offset| offset == 0 || offset >= agents) {
        return Err(GraphError::Impossible {
            kind: "circulant",
            got: format!("offset {offset} over {agents} agents"),
            remedy: "offsets run from 1 to N - 1",
        });
    }
    let edges = (0..agents).flat_map(|i| offsets.iter().map(move |s| (i, (i + s) % agents)));
    Graph::from_edges(agents, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_become_neighbours_on_both_sides() {
        let graph = circulant(32, &[1, 4]).unwrap();
        assert_eq!(graph.out_neighbours(0), &[1, 4, 28, 31]);
        assert!(circulant(8, &[0]).is_err() && circulant(8, &[8]).is_err());
        assert!(!circulant(8, &[2]).unwrap().is_connected());
    }
}
