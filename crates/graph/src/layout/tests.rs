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

/// Four rows of eight, numbered along the rows from the top left; what wraps around is dashed.
#[test]
fn the_torus_has_rows_and_columns_as_named() {
    let torus = layout("torus:4x8");
    let [first, second, below] = [0, 1, 8].map(|i| torus.positions[i]);
    assert!(second.0 > first.0 && second.1 == first.1, "agent 1 is right of agent 0");
    assert!(below.1 < first.1 && below.0 == first.0, "agent 8 is below agent 0");
    assert!((second.0 - first.0 - (first.1 - below.1)).abs() < 1e-12, "squares");
    assert!(has(&torus, 0, 7, EdgeShape::Bend(20.0), true), "above the first row");
    assert!(has(&torus, 24, 0, EdgeShape::Bend(30.0), true), "left of the first column");
    assert!(has(&torus, 0, 1, EdgeShape::Straight, false));
    assert_eq!(torus.edges.iter().filter(|edge| edge.dashed).count(), 12);
    let upright = layout("torus:8x4");
    assert!(upright.positions[4].1 < upright.positions[0].1);
    assert!(has(&upright, 0, 3, EdgeShape::Bend(20.0), true));
    assert!(has(&upright, 28, 0, EdgeShape::Bend(30.0), true));
    let grid = layout("grid:2x3");
    assert!(
        grid.positions[3].1 < grid.positions[0].1 && grid.positions[3].0 == grid.positions[0].0
    );
}

/// A cycle read from a file is drawn as a circle, a path as a line, and in a random graph those who
/// are joined stand nearer than the others.
#[test]
fn irregular_graphs_are_drawn_by_forces() {
    let of = |edges: Vec<(usize, usize)>, n: usize| {
        super::forces::places(&Graph::from_edges(n, edges).unwrap())
    };
    let cycle = of((0..12).map(|i| (i, (i + 5) % 12)).collect(), 12);
    for (x, y) in cycle {
        // Measured: 0.999 to 1.000; the frame is 1 in both directions.
        assert!((0.9..1.1).contains(&x.hypot(y)), "{x} {y}");
    }
    let path = of((1..9).map(|i| (i - 1, i)).collect(), 9);
    // Measured: 0.082.
    assert!(path.iter().all(|p| p.1.abs() < 0.15), "{path:?}");
    assert!(path.windows(2).all(|p| (p[1].0 - p[0].0).abs() > 0.2), "{path:?}");

    for text in ["erdos-renyi:40:0.1", "barabasi-albert:40:2"] {
        let drawn = layout(text);
        let away = |i: usize, j: usize| {
            let (a, b) = (drawn.positions[i], drawn.positions[j]);
            (a.0 - b.0).hypot(a.1 - b.1)
        };
        let joined: Vec<f64> = drawn.edges.iter().map(|e| away(e.from, e.to)).collect();
        let all: Vec<f64> =
            (0..40).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| away(i, j)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // Measured: 0.52 (Erdos-Renyi) and 0.50 (Barabasi-Albert) of the mean distance.
        assert!(mean(&joined) < 0.65 * mean(&all), "{text}: {} {}", mean(&joined), mean(&all));
        assert_eq!(drawn, layout(text), "the same graph has the same picture");
    }
}

#[test]
fn parts_that_are_not_joined_and_twins_stand_apart() {
    let graph = Graph::from_edges(9, [(0, 1), (0, 2), (0, 3), (0, 4), (5, 6), (6, 7)]).unwrap();
    let places = super::forces::places(&graph);
    for (i, a) in places.iter().enumerate() {
        assert!(a.0.abs() <= 1.0 + 1e-9 && a.1.abs() <= 1.0 + 1e-9);
        for b in &places[..i] {
            assert!((a.0 - b.0).hypot(a.1 - b.1) > 0.05, "{places:?}");
        }
    }
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
        "barabasi-albert:60:2",
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
