//! From a graph to a picture of it.

use consort_graph::{EdgeShape, GraphSpec, Layout, Topology};
use consort_view::{NetworkPicture, PictureEdge};

/// With more arcs a picture shows nothing.
pub(crate) const MOST_ARCS: usize = 50_000;

/// The graph as a picture; `None` if it has too many arcs.
pub(crate) fn network_picture(spec: &GraphSpec, topology: &Topology) -> Option<NetworkPicture> {
    if topology.union().arcs().count() > MOST_ARCS {
        return None;
    }
    let layout = Layout::new(spec, topology);
    let edges = layout.edges.iter().map(|edge| PictureEdge {
        from: edge.from,
        to: edge.to,
        shape: match edge.shape {
            EdgeShape::Straight => consort_view::PictureEdgeShape::Straight,
            EdgeShape::Arc => consort_view::PictureEdgeShape::Arc,
            EdgeShape::Bend(degrees) => consort_view::PictureEdgeShape::Bend(degrees),
        },
        dashed: edge.dashed,
        directed: edge.directed,
    });
    Some(NetworkPicture {
        title: topology.name().to_string(),
        nodes: layout.positions.clone(),
        edges: edges.collect(),
        labels: true,
    })
}
