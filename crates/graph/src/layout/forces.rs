//! Irregular graphs: agents pull and push each other until they are about as far apart as they are
//! in the graph.
//!
//! The drawing minimises the stress of Kamada and Kawai (1989), `Σ (|p_i - p_j| - d_ij)² / d_ij²`
//! with the distances `d_ij` in hops, by majorisation (Gansner, Koren, North 2004): every step
//! moves each agent to the weighted mean of the places where the others want it, and never makes
//! the stress larger. It starts from classical scaling, so the same graph always has the same
//! picture; nothing is random.

use std::f64::consts::TAU;

use crate::graph::Graph;

/// Every step goes through all pairs; more agents would take seconds.
pub(super) const MOST_AGENTS: usize = 1000;
const STEPS: usize = 300;
/// Steps that find the two main directions of the distances.
const TURNS: usize = 60;
/// Steps that part agents which stand on each other.
const SWEEPS: usize = 80;
/// The stress falls by less than this share: it is done.
const STILL: f64 = 1e-6;

/// The places of the agents within -1 to 1, in their own proportions.
pub(super) fn places(graph: &Graph) -> Vec<(f64, f64)> {
    let n = graph.agents();
    if n < 3 {
        return (0..n).map(|i| (super::places::spread(i, n), 0.0)).collect();
    }
    let distances = distances(graph);
    let mut places = scaled(&distances, n);
    let mut before = f64::INFINITY;
    for _ in 0..STEPS {
        pull(&mut places, &distances);
        let stress = stress(&places, &distances);
        if before - stress < STILL * stress {
            break;
        }
        before = stress;
    }
    let mut places = super::places::fit(level(places));
    part(&mut places);
    super::places::fit(places)
}

/// Hops between all pairs, arrows both ways. Parts that are not joined stand a little farther apart
/// than their members.
fn distances(graph: &Graph) -> Vec<f64> {
    let n = graph.agents();
    let mut near = vec![Vec::new(); n];
    for (i, j) in graph.arcs() {
        near[i].push(j);
        near[j].push(i);
    }
    let mut distances = vec![f64::INFINITY; n * n];
    for start in 0..n {
        let row = &mut distances[start * n..(start + 1) * n];
        row[start] = 0.0;
        let mut queue = vec![start];
        let mut next = 0;
        while next < queue.len() {
            let i = queue[next];
            next += 1;
            for &j in &near[i] {
                if row[j].is_infinite() {
                    row[j] = row[i] + 1.0;
                    queue.push(j);
                }
            }
        }
    }
    let finite = distances.iter().copied().filter(|d| d.is_finite());
    let apart = finite.fold(1.0, f64::max) + 1.0;
    distances.into_iter().map(|d| if d.is_finite() { d } else { apart }).collect()
}

/// Classical scaling (Torgerson 1952): the two main axes of the doubly centred squares of the
/// distances, by power iteration. Agents with equal distances to all others would stand in one
/// place for ever, so everyone is moved a little, each another way.
fn scaled(distances: &[f64], n: usize) -> Vec<(f64, f64)> {
    let square = |i: usize, j: usize| distances[i * n + j].powi(2);
    let means: Vec<f64> =
        (0..n).map(|i| (0..n).map(|j| square(i, j)).sum::<f64>() / n as f64).collect();
    let whole = means.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = (0..n * n)
        .map(|k| -0.5 * (square(k / n, k % n) - means[k / n] - means[k % n] + whole))
        .collect();
    // Large negative values must not win; the largest row sum bounds them.
    let shift = (0..n)
        .map(|i| centred[i * n..(i + 1) * n].iter().map(|v| v.abs()).sum::<f64>())
        .fold(0.0, f64::max);
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for axis in 0..2 {
        // Any start that is not perpendicular to the axis; this one is no symmetry's.
        let mut v: Vec<f64> = (0..n)
            .map(|i| ((i * i + (axis + 1) * i + 1) as f64 * 0.754_877).fract() - 0.5)
            .collect();
        for _ in 0..TURNS {
            for other in &axes {
                let along: f64 = v.iter().zip(other).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let turned: Vec<f64> = (0..n)
                .map(|i| {
                    let row = &centred[i * n..(i + 1) * n];
                    row.iter().zip(&v).map(|(c, x)| c * x).sum::<f64>() + 0.1 * shift * v[i]
                })
                .collect();
            let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length == 0.0 {
                break;
            }
            v = turned.into_iter().map(|x| x / length).collect();
        }
        axes.push(v);
    }
    let far = distances.iter().copied().fold(1.0, f64::max) * (n as f64).sqrt() / 2.0;
    (0..n)
        .map(|i| {
            let angle = TAU * 0.618_034 * i as f64;
            (far * axes[0][i] + 0.1 * angle.cos(), far * axes[1][i] + 0.1 * angle.sin())
        })
        .collect()
}

/// One step: every agent in turn moves to where the others want it.
fn pull(places: &mut [(f64, f64)], distances: &[f64]) {
    let n = places.len();
    for i in 0..n {
        let (mut x, mut y, mut weights) = (0.0, 0.0, 0.0);
        for j in (0..n).filter(|j| *j != i) {
            let wanted = distances[i * n + j];
            let weight = 1.0 / (wanted * wanted);
            let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
            let now = dx.hypot(dy).max(1e-9);
            x += weight * (places[j].0 + wanted * dx / now);
            y += weight * (places[j].1 + wanted * dy / now);
            weights += weight;
        }
        places[i] = (x / weights, y / weights);
    }
}

fn stress(places: &[(f64, f64)], distances: &[f64]) -> f64 {
    let n = places.len();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let of = |(i, j): (usize, usize)| {
        let (a, b, wanted) = (places[i], places[j], distances[i * n + j]);
        ((a.0 - b.0).hypot(a.1 - b.1) / wanted - 1.0).powi(2)
    };
    pairs.map(of).sum()
}

/// Moves agents apart that stand on each other: where there are more than a place has room for, the
/// stress does not mind.
fn part(places: &mut [(f64, f64)]) {
    let n = places.len();
    let least = (0.9 / (n as f64).sqrt()).min(0.12);
    for _ in 0..SWEEPS {
        let mut moved = false;
        for i in 0..n {
            for j in 0..i {
                let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
                let now = dx.hypot(dy);
                if now >= 0.999 * least {
                    continue;
                }
                // In one place, any direction does; each pair takes another.
                let angle = TAU * 0.618_034 * (i * n + j) as f64;
                let (ux, uy) =
                    if now > 1e-9 { (dx / now, dy / now) } else { (angle.cos(), angle.sin()) };
                let by = (least - now) / 2.0;
                places[i] = (places[i].0 + by * ux, places[i].1 + by * uy);
                places[j] = (places[j].0 - by * ux, places[j].1 - by * uy);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

/// Turned so that the drawing is as wide as it can be, with agent 0 in its upper half.
fn level(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let n = places.len() as f64;
    let (mx, my) = places.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let centred: Vec<(f64, f64)> = places.iter().map(|p| (p.0 - mx, p.1 - my)).collect();
    let sum = |f: fn(&(f64, f64)) -> f64| centred.iter().map(f).sum::<f64>();
    let (xx, xy, yy) = (sum(|p| p.0 * p.0), sum(|p| p.0 * p.1), sum(|p| p.1 * p.1));
    let angle = -0.5 * (2.0 * xy).atan2(xx - yy);
    let (cos, sin) = (angle.cos(), angle.sin());
    let turned: Vec<(f64, f64)> =
        centred.iter().map(|p| (p.0 * cos - p.1 * sin, p.0 * sin + p.1 * cos)).collect();
    let flip = if turned[0].1 < 0.0 { -1.0 } else { 1.0 };
    turned.into_iter().map(|(x, y)| (x, flip * y)).collect()
}
