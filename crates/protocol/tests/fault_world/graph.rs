//! Who hears whom: an undirected graph, a directed one, or one that changes from round to round.

use consort_algo::Row;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What kind of graph a history has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Undirected edges; Metropolis weights.
    Undirected,
    /// Every agent hears the one before it and some others, which need not hear it.
    Directed,
    /// Directed, with different edges in every phase.
    Changing,
    /// A tree; Metropolis weights.
    Tree,
    /// Two trees, one after the other.
    TwoTrees,
}

/// The rows of W, per agent and phase.
pub(crate) fn rows(shape: Shape, n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<Vec<Row>> {
    match shape {
        Shape::Undirected => undirected(n, true, rng).into_iter().map(|row| vec![row]).collect(),
        Shape::Tree => undirected(n, false, rng).into_iter().map(|row| vec![row]).collect(),
        Shape::TwoTrees => {
            let second = undirected(n, false, rng);
            let both = undirected(n, false, rng).into_iter().zip(second);
            both.map(|(a, b)| vec![a, b]).collect()
        }
        Shape::Directed => (0..n).map(|i| vec![directed(i, n, true, rng)]).collect(),
        Shape::Changing => {
            let phases = rng.random_range(2..=3);
            let of = |i: usize, rng: &mut Xoshiro256PlusPlus| {
                (0..phases).map(|phase| directed(i, n, phase == 0, rng)).collect()
            };
            (0..n).map(|i| of(i, rng)).collect()
        }
    }
}

/// A tree, so that the graph is connected, and perhaps some more edges.
fn undirected(n: usize, cycles: bool, rng: &mut Xoshiro256PlusPlus) -> Vec<Row> {
    let mut edges: Vec<(usize, usize)> = (1..n).map(|i| (rng.random_range(0..i), i)).collect();
    let more = if cycles { rng.random_range(0..=n) } else { 0 };
    for _ in 0..more {
        let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
        let edge = (a.min(b), a.max(b));
        if a != b && !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    let degree = |i: usize| edges.iter().filter(|e| e.0 == i || e.1 == i).count();
    let row = |i: usize| {
        let near = edges.iter().filter(|e| e.0 == i || e.1 == i);
        Row::new(i, near.map(|&(a, b)| (a + b - i, 1.0 / (1 + degree(a).max(degree(b))) as f64)))
    };
    (0..n).map(row).collect()
}

/// Equal weights on some others, always including the one before it if `in_a_ring`.
fn directed(i: usize, n: usize, in_a_ring: bool, rng: &mut Xoshiro256PlusPlus) -> Row {
    let before = (i + n - 1) % n;
    let mut heard = |j: usize| (in_a_ring && j == before) || rng.random_bool(0.3);
    let others: Vec<usize> = (0..n).filter(|&j| j != i && heard(j)).collect();
    let weight = 1.0 / (1 + others.len()) as f64;
    Row::new(i, others.into_iter().map(|j| (j, weight)))
}

/// All pairs that need a link.
pub(crate) fn pairs(rows: &[Vec<Row>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (i, phases) in rows.iter().enumerate() {
        for &j in phases.iter().flat_map(Row::senders).filter(|&&j| j != i) {
            pairs.push((i.min(j), i.max(j)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whom an agent hears, per phase.
pub(crate) fn senders(phases: &[Row], id: usize) -> Vec<Vec<usize>> {
    let of = |row: &Row| row.senders().iter().copied().filter(|&j| j != id).collect();
    phases.iter().map(of).collect()
}

/// Who hears an agent, per phase.
pub(crate) fn listeners(rows: &[Vec<Row>], id: usize) -> Vec<Vec<usize>> {
    let hears = |phase: usize, j: usize| j != id && rows[j][phase].senders().contains(&id);
    (0..rows[0].len()).map(|phase| (0..rows.len()).filter(|&j| hears(phase, j)).collect()).collect()
}
