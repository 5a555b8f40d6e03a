//! Trees: a binary tree, two of them that share the work, and a tree inside any graph.
//!
//! In a double binary tree every agent is a leaf of at least one tree, so nobody sends and
//! receives more than four models in both together (Sanders, Speck, Traeff, "Two-tree
//! algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 2009;
//! NCCL's double binary trees, and a topology of RelaySGD). The first tree numbers agents
//! in order, so that odd ones are leaves:
//!
//! ```text
//!                 0                       the parent of a place whose lowest set bit is b:
//!                 └───────8               flip b and set the next bit;
//!             ┌───────────┴───┐           where that place does not exist, only flip b
//!             4              12
//!         ┌───┴───┐       ┌───┴───┐       the second tree is the first one read backwards
//!         2       6      10      13       (an even number of agents) or with everyone
//!       ┌─┴─┐   ┌─┴─┐   ┌─┴─┐             moved on by one (an odd number)
//!       1   3   5   7   9  11
//! ```

use crate::distances::centre;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;
use crate::topology::Topology;

/// Agent `i` hangs from agent `(i - 1) / 2`.
pub(crate) fn binary(agents: usize) -> Result<Graph, GraphError> {
    check_family("binary-tree", 2, agents, 2_u64.saturating_mul(agents as u64))?;
    Graph::from_edges(agents, (1..agents).map(|i| ((i - 1) / 2, i)))
}

/// Two trees over the same agents: inside one, at a leaf of the other.
pub(crate) fn double_binary(agents: usize) -> Result<Vec<Graph>, GraphError> {
    check_family("double-binary-tree", 2, agents, 4_u64.saturating_mul(agents as u64))?;
    let edges = || (1..agents).map(|place| (parent_in_order(place, agents), place));
    let moved = |place: usize| {
        if agents.is_multiple_of(2) { agents - 1 - place } else { (place + 1) % agents }
    };
    let first = Graph::from_edges(agents, edges())?;
    let second = Graph::from_edges(agents, edges().map(|(i, j)| (moved(i), moved(j))))?;
    Ok(vec![first, second])
}

/// The parent of every place but 0 in the tree of the picture.
fn parent_in_order(place: usize, agents: usize) -> usize {
    let lowest = 1 << place.trailing_zeros();
    let up = (place ^ lowest) | (lowest << 1);
    if up < agents { up } else { place ^ lowest }
}

/// The breadth-first tree of a graph, from its centre.
pub(crate) fn spanning(topology: &Topology) -> Result<Graph, GraphError> {
    let refused = |why: &str| {
        let got = format!("{}, which {why}", topology.name());
        let remedy = "take the tree of a fixed, connected graph without directions";
        Err(GraphError::Impossible { kind: "spanning-tree", got, remedy })
    };
    match topology.as_fixed() {
        None => refused("changes every round"),
        Some(graph) if !graph.is_undirected() => refused("is directed"),
        Some(graph) if !graph.is_connected() => refused("is not connected"),
        Some(graph) => breadth_first(graph),
    }
}

/// Of several agents that are equally near to the centre, everyone hangs from the one that
/// was reached first.
fn breadth_first(graph: &Graph) -> Result<Graph, GraphError> {
    let root = centre(graph);
    let mut parent = vec![None; graph.agents()];
    let mut queue = vec![root];
    let mut edges = Vec::with_capacity(graph.agents());
    let mut head = 0;
    while head < queue.len() {
        let i = queue[head];
        head += 1;
        for &j in graph.out_neighbours(i) {
            let j = j as usize;
            if j != root && parent[j].is_none() {
                parent[j] = Some(i);
                edges.push((i, j));
                queue.push(j);
            }
        }
    }
    Graph::from_edges(graph.agents(), edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::elementary::{chain, complete, ring};
    use crate::families::lattice::grid;

    #[test]
    fn a_binary_tree_is_a_heap() {
        let tree = binary(7).unwrap();
        assert_eq!(tree.out_neighbours(1), &[0, 3, 4]);
        assert_eq!((tree.arc_count(), tree.degree_range()), (12, (1, 3)));
        assert!(binary(1).is_err());
    }

    #[test]
    fn nobody_is_inside_both_trees_of_a_pair() {
        for agents in 2..=300 {
            let trees = double_binary(agents).unwrap();
            for tree in &trees {
                assert!(tree.is_connected());
                assert_eq!(tree.arc_count(), 2 * (agents - 1), "a tree of {agents}");
                assert!(tree.degree_range().1 <= 3);
            }
            for i in 0..agents {
                let [a, b] = [0, 1].map(|t: usize| trees[t].out_neighbours(i).len());
                assert!(a.min(b) == 1 && a + b <= 4, "agent {i} of {agents}: {a} and {b}");
            }
        }
    }

    #[test]
    fn the_picture_of_fourteen() {
        let tree = &double_binary(14).unwrap()[0];
        assert_eq!(tree.out_neighbours(8), &[0, 4, 12]);
        assert_eq!(tree.out_neighbours(12), &[8, 10, 13]);
        assert_eq!(tree.out_neighbours(0), &[8]);
    }

    #[test]
    fn a_spanning_tree_hangs_from_the_centre() {
        let tree = breadth_first(&ring(9).unwrap()).unwrap();
        assert_eq!((tree.arc_count(), tree.degree_range()), (16, (1, 2)));
        assert_eq!(breadth_first(&chain(5).unwrap()).unwrap(), chain(5).unwrap());
        let star = breadth_first(&complete(6).unwrap()).unwrap();
        assert_eq!(star.out_neighbours(0).len(), 5);
        let tree = breadth_first(&grid(3, 3).unwrap()).unwrap();
        assert_eq!(tree.out_neighbours(4), &[1, 3, 5, 7]);
    }

    #[test]
    fn what_has_no_spanning_tree_is_refused() {
        let tree_of = |graph: Graph| spanning(&Topology::fixed("mine", graph));
        for (graph, why) in [
            (Graph::from_edges(3, [(0, 1)]), "mine, which is not connected"),
            (Graph::from_arcs(3, [(0, 1), (1, 2), (2, 0)]), "mine, which is directed"),
        ] {
            let message = tree_of(graph.unwrap()).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
        let pairs = double_binary(4).unwrap();
        let message =
            spanning(&Topology::periodic("pair", pairs).unwrap()).unwrap_err().to_string();
        assert!(message.contains("pair, which changes every round"), "{message}");
    }
}
