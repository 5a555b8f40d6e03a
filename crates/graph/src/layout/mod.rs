//! How a topology is drawn, as data: where agents stand, how edges run.
//!
//! Nothing is drawn here; a renderer for SVG, a terminal or TikZ reads this.
//! Ring and Dyck graph stand as in the figure of the GUT paper, so that a reader of both
//! recognises them; a torus has its rows and columns as its name says. Irregular graphs (random
//! ones of no fixed degree, files) are drawn by forces.

mod forces;
mod lattice;
mod places;
mod tree;

use serde::Serialize;

use crate::graph::Graph;
use crate::spec::GraphSpec;
use crate::topology::Topology;

/// From the left to the right, below the straight line.
const BELOW: EdgeShape = EdgeShape::Bend(-35.0);

/// Positions and edges of a drawing.
///
/// ```
/// use consort_graph::{EdgeShape, GraphSpec, Layout};
/// let spec: GraphSpec = "ring:4".parse()?;
/// let layout = Layout::new(&spec, &spec.build(0)?);
/// assert!((layout.positions[0].1 - 1.0).abs() < 1e-12); // agent 0 on top
/// assert_eq!(layout.edges[0].shape, EdgeShape::Arc);
/// # Ok::<(), consort_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// `(x, y)` of every agent, within -1 to 1, y upwards.
    pub positions: Vec<(f64, f64)>,
    /// Every line to draw, once.
    pub edges: Vec<DrawnEdge>,
}

/// One line between two agents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DrawnEdge {
    /// Where the line starts (matters for bends and arrows).
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// How it runs.
    pub shape: EdgeShape,
    /// Dashed rather than solid.
    pub dashed: bool,
    /// With an arrow at `to`.
    pub directed: bool,
}

/// How a line runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeShape {
    /// The straight line.
    Straight,
    /// Along the circle around the origin on which both agents stand, the short way.
    Arc,
    /// Bent by so many degrees where it leaves and arrives; positive bends to
    /// the left as seen from `from`, as TikZ's `bend left`.
    Bend(f64),
}

impl Layout {
    /// The drawing of a topology; a time-varying one shows all arcs of a period.
    /// `topology` should be what `spec` built.
    pub fn new(spec: &GraphSpec, topology: &Topology) -> Layout {
        let graph = topology.union();
        let n = graph.agents();
        match *spec {
            GraphSpec::Torus { rows, columns } if rows.min(columns) > 1 && rows * columns == n => {
                lattice::torus(&graph, rows, columns)
            }
            GraphSpec::Grid { rows, columns } if rows * columns == n => {
                straight(&graph, lattice::places(rows, columns))
            }
            // The paper numbers the Dyck graph's agents one place further on.
            GraphSpec::Dyck => on_circle(&graph, places::circle(n, 1), true),
            GraphSpec::Petersen if n == 10 => straight(&graph, places::pentagon_and_pentagram()),
            GraphSpec::Star { .. } => straight(&graph, places::around_first(n)),
            GraphSpec::Chain { .. } if n <= places::LONGEST_LINE => {
                straight(&graph, places::line(n))
            }
            GraphSpec::Bipartite { left, .. } if left < n => {
                straight(&graph, places::two_columns(left, n - left))
            }
            GraphSpec::BinaryTree { .. } => match tree::places(&graph, 0) {
                Some(places) => straight(&graph, places),
                None => by_forces(&graph),
            },
            GraphSpec::SpanningTree { .. } => match tree::hanging_from_centre(&graph) {
                Some(places) => straight(&graph, places),
                None => by_forces(&graph),
            },
            GraphSpec::ErdosRenyi { .. }
            | GraphSpec::BarabasiAlbert { .. }
            | GraphSpec::File { .. } => by_forces(&graph),
            GraphSpec::DoubleBinaryTree { .. } => tree_pair(topology),
            GraphSpec::Hypercube { dimension } if dimension <= places::MOST_DIMENSIONS => {
                straight(&graph, places::nested_cubes(dimension))
            }
            _ => on_circle(&graph, places::circle(n, 0), false),
        }
    }

    fn with_edges(
        graph: &Graph,
        positions: Vec<(f64, f64)>,
        mut draw: impl FnMut(usize, usize) -> DrawnEdge,
    ) -> Layout {
        let edges = graph
            .arcs()
            .filter_map(|(i, j)| {
                let mutual = graph.is_undirected() || graph.has_arc(j, i);
                (!mutual || i < j).then(|| DrawnEdge { directed: !mutual, ..draw(i, j) })
            })
            .collect();
        Layout { positions, edges }
    }
}

fn plain(from: usize, to: usize) -> DrawnEdge {
    DrawnEdge { from, to, shape: EdgeShape::Straight, dashed: false, directed: false }
}

fn straight(graph: &Graph, positions: Vec<(f64, f64)>) -> Layout {
    Layout::with_edges(graph, positions, plain)
}

/// The first tree hangs from its root, agents in order from the left to the right; what the
/// second one adds is dashed, below the row where both its ends stand in one.
fn tree_pair(topology: &Topology) -> Layout {
    let graph = topology.union();
    let first = topology.at(0);
    let n = graph.agents();
    if n > places::LONGEST_PAIR {
        return on_circle(&graph, places::circle(n, 0), false);
    }
    let positions = places::in_order_tree(n);
    let heights: Vec<f64> = positions.iter().map(|place| place.1).collect();
    Layout::with_edges(&graph, positions, |i, j| {
        let shape = if heights[i] == heights[j] { BELOW } else { EdgeShape::Straight };
        DrawnEdge { shape, dashed: !first.has_arc(i, j), ..plain(i, j) }
    })
}

/// Neighbours stand near each other; too many agents stand on a circle.
fn by_forces(graph: &Graph) -> Layout {
    if graph.agents() > forces::MOST_AGENTS {
        return on_circle(graph, places::circle(graph.agents(), 0), false);
    }
    straight(graph, forces::places(graph))
}

/// Neighbours on the circle are joined along it, all others by chords.
fn on_circle(graph: &Graph, positions: Vec<(f64, f64)>, dashed_chords: bool) -> Layout {
    let n = graph.agents();
    Layout::with_edges(graph, positions, |i, j| {
        let apart = i.abs_diff(j);
        let adjacent = n > 2 && (apart == 1 || apart == n - 1);
        let shape = if adjacent { EdgeShape::Arc } else { EdgeShape::Straight };
        DrawnEdge { shape, dashed: dashed_chords && !adjacent, ..plain(i, j) }
    })
}

#[cfg(test)]
mod tests;
