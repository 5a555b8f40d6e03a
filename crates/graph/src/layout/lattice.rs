//! Grid and torus: rows by columns as named, agent 0 at the top left, numbered along the rows.
//!
//! `torus:4x8` has four rows of eight. Edges that wrap around are dashed and bent, so that they
//! pass beside the row or the column that they close: along a row above it, down a column to its
//! left.

use super::{DrawnEdge, EdgeShape, Layout, plain};
use crate::graph::Graph;

const COLUMN_BEND: f64 = 30.0;
const ROW_BEND: f64 = 20.0;

pub(super) fn torus(graph: &Graph, rows: usize, columns: usize) -> Layout {
    Layout::with_edges(graph, places(rows, columns), |i, j| {
        let ((ri, ci), (rj, cj)) = (cell(i, columns), cell(j, columns));
        if ri.abs_diff(rj) + ci.abs_diff(cj) == 1 {
            return plain(i, j);
        }
        // A wrapping edge: from the bottom upwards, or from the left to the right.
        let (from, to, bend) = if ci == cj {
            (i.max(j), i.min(j), COLUMN_BEND)
        } else {
            (i.min(j), i.max(j), ROW_BEND)
        };
        DrawnEdge { shape: EdgeShape::Bend(bend), dashed: true, ..plain(from, to) }
    })
}

pub(super) fn places(rows: usize, columns: usize) -> Vec<(f64, f64)> {
    let step = 2.0 / (rows.max(columns).max(2) - 1) as f64;
    let centred = |k: usize, count: usize| (k as f64 - (count - 1) as f64 / 2.0) * step;
    (0..rows * columns)
        .map(|i| {
            let (row, column) = cell(i, columns);
            (centred(column, columns), -centred(row, rows))
        })
        .collect()
}

/// Row from the top and column from the left.
fn cell(agent: usize, columns: usize) -> (usize, usize) {
    (agent / columns, agent % columns)
}
