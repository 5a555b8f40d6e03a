//! Grid and torus: the longer side upright, agent 0 at the bottom left.
//!
//! As in the paper's figure, a 4 by 8 torus has four columns and eight rows that
//! stand half as far apart. Edges that wrap around are dashed: up a column they
//! bend left by 30 degrees, back along a row they bend right by 20.

use super::{DrawnEdge, EdgeShape, Layout, plain};
use crate::graph::Graph;

const COLUMN_BEND: f64 = 30.0;
const ROW_BEND: f64 = -20.0;

pub(super) fn torus(graph: &Graph, rows: usize, columns: usize) -> Layout {
    Layout::with_edges(graph, places(rows, columns), |i, j| {
        let ((xi, yi), (xj, yj)) = (cell(i, rows, columns), cell(j, rows, columns));
        if xi.abs_diff(xj) + yi.abs_diff(yj) == 1 {
            return plain(i, j);
        }
        // A wrapping edge: from the bottom upwards, or from the right to the left.
        let (from, to, bend) = if xi == xj {
            if yi < yj { (i, j, COLUMN_BEND) } else { (j, i, COLUMN_BEND) }
        } else if xi > xj {
            (i, j, ROW_BEND)
        } else {
            (j, i, ROW_BEND)
        };
        DrawnEdge { shape: EdgeShape::Bend(bend), dashed: true, ..plain(from, to) }
    })
}

pub(super) fn places(rows: usize, columns: usize) -> Vec<(f64, f64)> {
    let (wide, high) = (rows.min(columns), rows.max(columns));
    let up = 2.0 / (high.max(2) - 1) as f64;
    let across = (2.0 * up).min(2.0 / (wide.max(2) - 1) as f64);
    let centred = |k: usize, count: usize, step: f64| (k as f64 - (count - 1) as f64 / 2.0) * step;
    (0..rows * columns)
        .map(|i| {
            let (x, y) = cell(i, rows, columns);
            (centred(x, wide, across), centred(y, high, up))
        })
        .collect()
}

/// Column and row on the drawing, from the left and from the bottom.
fn cell(agent: usize, rows: usize, columns: usize) -> (usize, usize) {
    let (r, c) = (agent / columns, agent % columns);
    if rows < columns { (r, c) } else { (c, r) }
}
