//! Pictures of graphs: sound files, sane for one node and for a thousand, errors that name edges.

use consort_view::{
    NetworkPicture, NetworkStyle, PictureEdge, PictureEdgeShape, TextAs, ViewError, network_svg,
};
use std::f64::consts::TAU;

fn circle(n: usize) -> Vec<(f64, f64)> {
    (0..n).map(|i| TAU * i as f64 / n as f64).map(|a| (a.cos(), a.sin())).collect()
}

fn edge(from: usize, to: usize, shape: PictureEdgeShape) -> PictureEdge {
    PictureEdge { from, to, shape, dashed: from.is_multiple_of(2), directed: to.is_multiple_of(3) }
}

fn network(nodes: Vec<(f64, f64)>, edges: Vec<PictureEdge>) -> NetworkPicture {
    NetworkPicture { title: "Ring & <co>".into(), nodes, edges, labels: true }
}

fn svg(network: &NetworkPicture) -> Result<String, ViewError> {
    network_svg(network, &NetworkStyle::default()).map(|p| p.svg_with(TextAs::Outlines))
}

/// Well-formed, without text elements and NaN; returns how many paths carry this fill.
fn sound(svg: &str, fill: &str) -> usize {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    assert!(!svg.contains("NaN") && !svg.contains("<text"));
    document.descendants().filter(|n| n.attribute("fill") == Some(fill)).count()
}

#[test]
fn every_node_is_drawn_and_every_shape_is_sound() {
    for shape in [
        PictureEdgeShape::Straight,
        PictureEdgeShape::Arc,
        PictureEdgeShape::Bend(30.0),
        PictureEdgeShape::Bend(-150.0),
    ] {
        let edges = (0..16).map(|i| edge(i, (i + 1) % 16, shape)).collect();
        // The sheet itself is white too.
        assert_eq!(sound(&svg(&network(circle(16), edges)).unwrap(), "#ffffff"), 17);
    }
}

#[test]
fn one_node_two_in_one_place_and_a_line_are_sound() {
    sound(&svg(&network(vec![(3.0, 4.0)], vec![])).unwrap(), "#ffffff");
    let stacked = network(vec![(1.0, 1.0); 2], vec![edge(0, 1, PictureEdgeShape::Arc)]);
    sound(&svg(&stacked).unwrap(), "#ffffff");
    let line =
        network(vec![(0.0, 0.0), (1e9, 0.0)], vec![edge(0, 1, PictureEdgeShape::Bend(45.0))]);
    sound(&svg(&line).unwrap(), "#ffffff");
}

#[test]
fn a_thousand_nodes_and_ten_thousand_edges_stay_small() {
    let edges = (0..1000)
        .flat_map(|i| {
            (1..=10).map(move |hop| edge(i, (i + hop * 37) % 1000, PictureEdgeShape::Straight))
        })
        .collect();
    let text = svg(&network(circle(1000), edges)).unwrap();
    sound(&text, "#ffffff");
    assert!(text.len() < 2_000_000, "{}", text.len());
}

#[test]
fn bad_networks_are_named() {
    let error = |network: &NetworkPicture| svg(network).unwrap_err();
    assert!(matches!(error(&network(vec![], vec![])), ViewError::NothingToDraw { .. }));
    let far = network(
        circle(3),
        vec![edge(0, 1, PictureEdgeShape::Arc), edge(1, 3, PictureEdgeShape::Arc)],
    );
    assert!(matches!(error(&far), ViewError::BadEdge { edge: 1, to: 3, nodes: 3, .. }));
    let own = network(circle(3), vec![edge(2, 2, PictureEdgeShape::Straight)]);
    assert!(matches!(error(&own), ViewError::BadEdge { edge: 0, from: 2, .. }));
    let nowhere = network(vec![(0.0, 0.0), (f64::NAN, 0.0)], vec![]);
    assert!(matches!(error(&nowhere), ViewError::BadNode { node: 1, .. }));
    let broken = network(circle(3), vec![edge(0, 1, PictureEdgeShape::Bend(f64::NAN))]);
    assert!(matches!(error(&broken), ViewError::BadMeasure { .. }));
}
