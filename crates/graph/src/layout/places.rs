//! Where agents stand: circles, columns, cubes.

use std::f64::consts::{PI, TAU};

/// Up to this length a chain is a straight line; longer ones need the circle's room.
pub(super) const LONGEST_LINE: usize = 16;
/// Up to this size the trees of a pair are drawn in a row of all agents.
pub(super) const LONGEST_PAIR: usize = 40;
/// Up to this dimension a hypercube is drawn as cubes within cubes.
pub(super) const MOST_DIMENSIONS: u32 = 5;

/// Clockwise from the top, the first agent `skipped` places further on.
pub(super) fn circle(n: usize, skipped: usize) -> Vec<(f64, f64)> {
    if n == 1 {
        return vec![(0.0, 0.0)];
    }
    (0..n).map(|i| on_circle((i + skipped) as f64 / n as f64, 1.0)).collect()
}

/// Agent 0 in the middle, the others around it.
pub(super) fn around_first(n: usize) -> Vec<(f64, f64)> {
    let others = (1..n).map(|i| on_circle((i - 1) as f64 / (n - 1) as f64, 1.0));
    std::iter::once((0.0, 0.0)).chain(others).collect()
}

/// From the left to the right.
pub(super) fn line(n: usize) -> Vec<(f64, f64)> {
    (0..n).map(|i| (spread(i, n), 0.0)).collect()
}

/// Agents from the left to the right, as high as their place in a binary tree that is numbered
/// in order: leaves, which are odd, at the bottom, agent 0 on top.
pub(super) fn in_order_tree(n: usize) -> Vec<(f64, f64)> {
    let levels = n.ilog2() as f64 + 1.0;
    let height = |i: usize| if i == 0 { levels } else { f64::from(i.trailing_zeros()) };
    (0..n).map(|i| (spread(i, n), 1.2 * height(i) / levels - 0.6)).collect()
}

/// The first side on the left, the second on the right, both from the top.
pub(super) fn two_columns(left: usize, right: usize) -> Vec<(f64, f64)> {
    let column = |x: f64, count: usize| (0..count).map(move |i| (x, -spread(i, count)));
    column(-0.6, left).chain(column(0.6, right)).collect()
}

/// The Petersen graph's usual face.
pub(super) fn pentagon_and_pentagram() -> Vec<(f64, f64)> {
    let ring = |radius: f64| (0..5).map(move |i| on_circle(f64::from(i) / 5.0, radius));
    ring(1.0).chain(ring(0.5)).collect()
}

/// Every bit moves an agent by its own vector: a square, a cube seen askew, two
/// cubes side by side, four cubes.
pub(super) fn nested_cubes(dimension: u32) -> Vec<(f64, f64)> {
    const STEPS: [(f64, f64); MOST_DIMENSIONS as usize] =
        [(1.0, 0.0), (0.0, 1.0), (0.42, 0.31), (2.0, 0.23), (-0.27, 1.9)];
    let place = |agent: u32| {
        let bits = STEPS.iter().enumerate().filter(|(bit, _)| agent >> bit & 1 == 1);
        bits.fold((0.0, 0.0), |(x, y), (_, step)| (x + step.0, y + step.1))
    };
    fit((0..1_u32 << dimension).map(place).collect())
}

/// `turn` of a whole turn, clockwise from the top.
fn on_circle(turn: f64, radius: f64) -> (f64, f64) {
    let angle = PI / 2.0 - TAU * turn;
    (radius * angle.cos(), radius * angle.sin())
}

/// The `i`-th of `count` places from -1 to 1; a single one in the middle.
pub(super) fn spread(i: usize, count: usize) -> f64 {
    if count == 1 { 0.0 } else { 2.0 * i as f64 / (count - 1) as f64 - 1.0 }
}

/// Centres the places and scales them into -1 to 1, keeping their proportions.
pub(super) fn fit(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let values = || places.iter().map(pick);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (bottom, top)) = (range(|p| p.0), range(|p| p.1));
    let scale = 2.0 / (right - left).max(top - bottom).max(f64::MIN_POSITIVE);
    let (x0, y0) = ((left + right) / 2.0, (bottom + top) / 2.0);
    places.iter().map(|&(x, y)| ((x - x0) * scale, (y - y0) * scale)).collect()
}
