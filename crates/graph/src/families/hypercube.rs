//! The hypercube: agents are joined when their numbers differ in one bit.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

/// 2^20 agents with 20 neighbours each is the largest that is built.
const MAX_DIMENSION: u32 = 20;

pub(crate) fn hypercube(dimension: u32) -> Result<Graph, GraphError> {
    if !(1..=MAX_DIMENSION).contains(&dimension) {
        return Err(GraphError::Impossible {
            kind: "hypercube",
            got: format!("dimension {dimension}"),
            remedy: "choose a dimension from 1 to 20",
        });
    }
    let agents = 1_usize << dimension;
    check_family("hypercube", 2, agents, agents as u64 * u64::from(dimension))?;
    let flips = (0..agents).flat_map(move |i| (0..dimension).map(move |bit| (i, i ^ (1 << bit))));
    Graph::from_edges(agents, flips.filter(|&(i, j)| i < j))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_the_dimension() {
        let cube = hypercube(3).unwrap();
        assert_eq!((cube.agents(), cube.degree_range()), (8, (3, 3)));
        assert!(hypercube(0).is_err() && hypercube(21).is_err());
    }
}
