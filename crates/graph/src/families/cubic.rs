//! Famous cubic graphs: Petersen, Dyck, and the graph that was run as Dyck.
//!
//! The Dyck graph is written in LCF notation: agents on a cycle, and agent `i`
//! has one chord, to `i + shifts[i mod k]`. `[5, -5, 13, -13]^8` is the graph in
//! the figure of the GUT paper. Its released code joins four rings of eight
//! instead, which is another cubic graph (diameter 6, not 5); both are offered,
//! because comparing with the published numbers needs the second.

use crate::error::GraphError;
use crate::graph::Graph;

/// The chords of the Dyck graph, repeated around the cycle of 32.
pub(crate) const DYCK_SHIFTS: [isize; 4] = [5, -5, 13, -13];

pub(crate) fn dyck() -> Result<Graph, GraphError> {
    from_lcf(32, &DYCK_SHIFTS)
}

/// Outer cycle 0..5, spokes to 5..10, inner pentagram.
pub(crate) fn petersen() -> Result<Graph, GraphError> {
    let edges = (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]);
    Graph::from_edges(10, edges)
}

/// Four rings A = 0..8, B = 8..16, C = 16..24, D = 24..32, joined A-B and C-D
/// at even places, A-C and B-D at odd ones.
pub(crate) fn dyck_as_run() -> Result<Graph, GraphError> {
    let rings = (0..32).map(|i| (i, i / 8 * 8 + (i + 1) % 8));
    let joints = (0..8).flat_map(|i| {
        let (a, b, c, d) = (i, i + 8, i + 16, i + 24);
        if i % 2 == 0 { [(a, b), (c, d)] } else { [(a, c), (b, d)] }
    });
    Graph::from_edges(32, rings.chain(joints))
}

fn from_lcf(agents: usize, shifts: &[isize]) -> Result<Graph, GraphError> {
    let edges = (0..agents).flat_map(|i| {
        let chord = (i as isize + shifts[i % shifts.len()]).rem_euclid(agents as isize);
        [(i, (i + 1) % agents), (i, chord as usize)]
    });
    Graph::from_edges(agents, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_are_cubic_and_connected() {
        for graph in [dyck().unwrap(), petersen().unwrap(), dyck_as_run().unwrap()] {
            assert_eq!(graph.degree_range(), (3, 3));
            assert!(graph.is_connected());
        }
    }

    #[test]
    fn the_run_graph_is_joined_as_the_released_list_of_edges() {
        let graph = dyck_as_run().unwrap();
        assert!(graph.has_arc(0, 8) && graph.has_arc(1, 17));
        assert!(graph.has_arc(9, 25) && graph.has_arc(16, 24));
        assert!(graph.has_arc(7, 0) && !graph.has_arc(7, 8));
    }
}
