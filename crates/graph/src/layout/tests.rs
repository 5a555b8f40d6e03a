//! Drawings against the paper's figure, and the sanity of all others.

use super::*;

fn layout(text: &str) -> Layout {
    let spec: GraphSpec = text.parse().unwrap();
    Layout::new(&spec, &spec.build(1).unwrap())
}

fn has(layout: &Layout, from: usize, to: usize, shape: EdgeShape, dashed: bool) -> bool {
    layout.edges.contains(&DrawnEdge { from, to, shape, dashed, directed: false })
}

#[test]
fn the_ring_runs_clockwise_from_the_top() {
    let ring = layout("ring:16");
    assert!(ring.positions[4].0 > 0.999, "a quarter turn is on the right");
    assert!(ring.edges.iter().all(|edge| edge.shape == EdgeShape::Arc && !edge.dashed));
    assert_eq!(ring.edges.len(), 16);
}

/// The figure's chord from its node 1 to its node 20, counted from 1.
#[test]
fn the_dyck_graph_has_the_papers_chords() {
    let dyck = layout("dyck");
    let at_paper_node = |paper: usize| {
        let turn = (paper - 1) as f64 / 32.0 * std::f64::consts::TAU;
        let place = (turn.sin(), turn.cos());
        let near = |p: &(f64, f64)| (p.0 - place.0).hypot(p.1 - place.1) < 1e-9;
        dyck.positions.iter().position(near).unwrap()
    };
    for (a, b) in [(1, 20), (4, 17), (9, 28), (16, 29), (2, 7), (6, 11), (30, 3)] {
        let (a, b) = (at_paper_node(a), at_paper_node(b));
        assert!(has(&dyck, a.min(b), a.max(b), EdgeShape::Straight, true));
    }
    assert_eq!(dyck.edges.iter().filter(|edge| edge.dashed).count(), 16);
}

/// Four columns, eight rows at half the distance; (1) -> (29) bends left by 30,
/// (4) -> (1) bends right by 20.
#[test]
fn the_torus_stands_as_in_the_paper() {
    let torus = layout("torus:4x8");
    let (columns, rows) =
        (torus.positions[8].0 - torus.positions[0].0, torus.positions[1].1 - torus.positions[0].1);
    assert!((columns - 2.0 * rows).abs() < 1e-12 && rows > 0.0);
    assert!(has(&torus, 0, 7, EdgeShape::Bend(30.0), true));
    assert!(has(&torus, 24, 0, EdgeShape::Bend(-20.0), true));
    assert!(has(&torus, 0, 1, EdgeShape::Straight, false));
    assert_eq!(torus.edges.iter().filter(|edge| edge.dashed).count(), 12);
    let turned = layout("torus:8x4");
    assert!(has(&turned, 0, 28, EdgeShape::Bend(30.0), true));
    assert!(has(&turned, 3, 0, EdgeShape::Bend(-20.0), true));
}

#[test]
fn arrows_only_where_the_way_back_is_missing() {
    let exponential = layout("exponential:8");
    // Hops 1 and 2 are one-way, hop 4 meets itself halfway round.
    assert_eq!(exponential.edges.iter().filter(|edge| edge.directed).count(), 16);
    assert_eq!(exponential.edges.iter().filter(|edge| !edge.directed).count(), 4);
    assert_eq!(layout("one-peer-exponential:8").edges.len(), 20);
}

#[test]
fn parents_hang_above_the_middle_of_their_children() {
    let tree = layout("binary-tree:7");
    let [root, left, right] = [0, 1, 2].map(|i| tree.positions[i]);
    assert!((root.0 - (left.0 + right.0) / 2.0).abs() < 1e-12 && root.1 > left.1);
    assert_eq!(left.1, right.1);
    assert!(tree.positions[3].0 < tree.positions[4].0 && tree.positions[3].1 < left.1);
    let spanning = layout("spanning-tree:grid:3x3");
    let top = spanning.positions.iter().map(|place| place.1).fold(f64::MIN, f64::max);
    assert_eq!(spanning.positions[4].1, top, "the centre of the grid is the root");
}

#[test]
fn the_second_tree_of_a_pair_is_dashed() {
    let pair = layout("double-binary-tree:14");
    assert!(has(&pair, 4, 8, EdgeShape::Straight, false));
    assert!(has(&pair, 5, 9, EdgeShape::Bend(-35.0), true), "4 and 8, read backwards");
    assert!(
        pair.positions[0].1 > pair.positions[8].1 && pair.positions[8].1 > pair.positions[12].1
    );
    let dashed = pair.edges.iter().filter(|edge| edge.dashed).count();
    assert_eq!((pair.edges.len() - dashed, dashed), (13, 10), "2-3, 6-7 and 10-11 are in both");
}

#[test]
fn every_kind_is_drawn_apart_and_in_the_frame() {
    for text in [
        "ring:2",
        "chain:5",
        "chain:40",
        "star:6",
        "complete:1",
        "complete:7",
        "torus:1x5",
        "torus:2x2",
        "torus:3x3",
        "grid:1x4",
        "grid:5x3",
        "hypercube:1",
        "hypercube:3",
        "hypercube:4",
        "hypercube:5",
        "hypercube:6",
        "circulant:12:1,3",
        "bipartite:3x5",
        "bipartite:1x1",
        "petersen",
        "dyck",
        "dyck-as-run",
        "torus-as-run",
        "binary-tree:2",
        "binary-tree:31",
        "binary-tree:200",
        "spanning-tree:torus:4x8",
        "spanning-tree:star:9",
        "spanning-tree:chain:9",
        "double-binary-tree:2",
        "double-binary-tree:14",
        "double-binary-tree:41",
        "directed-ring:5",
        "base:1:1",
        "base:25:1",
        "equi-static:25:4:directed",
        "equi-dyn:25",
        "random-matching:9",
        "random-regular-dyn:12:3",
        "random-digraph:16:3",
        "random-regular:10:3",
        "erdos-renyi:10:0.5",
    ] {
        let layout = layout(text);
        for (i, &(x, y)) in layout.positions.iter().enumerate() {
            assert!(x.abs() <= 1.0 + 1e-9 && y.abs() <= 1.0 + 1e-9, "{text}: {i} at {x}, {y}");
            for &(u, v) in &layout.positions[..i] {
                assert!((x - u).hypot(y - v) > 0.03, "{text}: {i} on top of another");
            }
        }
    }
}
