//! Grid and torus: agent `r * columns + c` sits in row `r`, column `c`.
//!
//! The torus wraps around. A side of 2 already joins its two ends, and a side
//! of 1 would join an agent to itself, so neither wraps: `torus:1xC` is the ring
//! of C, and in `torus:2xC` the two rows are joined by one edge a column.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn grid(rows: usize, columns: usize) -> Result<Graph, GraphError> {
    check("grid", rows, columns)?;
    Graph::from_edges(rows * columns, lattice_edges(rows, columns))
}

pub(crate) fn torus(rows: usize, columns: usize) -> Result<Graph, GraphError> {
    check("torus", rows, columns)?;
    let wrap_columns = (0..rows).map(move |r| (r * columns, r * columns + columns - 1));
    let wrap_rows = (0..columns).map(move |c| (c, (rows - 1) * columns + c));
    // from_edges drops the loops and repeats that sides of 1 and 2 produce.
    let edges = lattice_edges(rows, columns).chain(wrap_columns).chain(wrap_rows);
    Graph::from_edges(rows * columns, edges)
}

fn check(kind: &str, rows: usize, columns: usize) -> Result<(), GraphError> {
    let agents = rows.saturating_mul(columns);
    check_family(kind, 2, agents, 4_u64.saturating_mul(agents as u64))
}

fn lattice_edges(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |r| {
        (0..columns).flat_map(move |c| {
            let here = r * columns + c;
            let right = (c + 1 < columns).then_some((here, here + 1));
            let below = (r + 1 < rows).then_some((here, here + columns));
            right.into_iter().chain(below)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::elementary::ring;

    #[test]
    fn a_torus_has_degree_four_and_thin_ones_less() {
        assert_eq!(torus(4, 8).unwrap().degree_range(), (4, 4));
        assert_eq!(torus(2, 5).unwrap().degree_range(), (3, 3));
        assert_eq!(torus(2, 2).unwrap().degree_range(), (2, 2));
        assert_eq!(torus(1, 6).unwrap(), ring(6).unwrap());
        assert_eq!(torus(6, 1).unwrap(), ring(6).unwrap());
    }

    #[test]
    fn a_grid_has_borders() {
        let grid = grid(3, 4).unwrap();
        assert_eq!((grid.arc_count() / 2, grid.degree_range()), (17, (2, 4)));
    }

    #[test]
    fn empty_sides_are_errors() {
        assert!(torus(0, 4).is_err() && grid(4, 0).is_err() && torus(1, 1).is_err());
        assert!(torus(usize::MAX, 3).is_err());
    }
}
