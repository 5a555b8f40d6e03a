//! The mixing matrices of the tests, dense, built from their definitions alone.

use super::matrix::Matrix;
use super::random::Random;

/// Each agent hears the one before and the one after it: weights 1/3.
pub(crate) fn ring(n: usize) -> Matrix {
    metropolis(n, (0..n).map(|i| (i, (i + 1) % n)))
}

/// Each agent hears the one before and the one after it, if there is one.
pub(crate) fn chain(n: usize) -> Matrix {
    metropolis(n, (1..n).map(|i| (i - 1, i)))
}

/// The Dyck graph, 32 agents: a cycle with the chords of the LCF code
/// [5, -5, 13, -13]^8. Weights 1/4.
pub(crate) fn dyck() -> Matrix {
    let cycle = (0..32).map(|i| (i, (i + 1) % 32));
    let chords = (0..32).map(|i| (i, (32 + i as isize + [5, -5, 13, -13][i % 4]) as usize % 32));
    metropolis(32, cycle.chain(chords))
}

/// A grid whose opposite sides meet: weights 1/5.
pub(crate) fn torus(rows: usize, cols: usize) -> Matrix {
    let agent = move |r: usize, c: usize| (r % rows) * cols + c % cols;
    let grid = (0..rows * cols).map(move |at| (at / cols, at % cols));
    let edges = grid
        .flat_map(move |(r, c)| [(agent(r, c), agent(r + 1, c)), (agent(r, c), agent(r, c + 1))]);
    metropolis(rows * cols, edges)
}

/// Everybody hears everybody: weights 1/n.
pub(crate) fn complete(n: usize) -> Matrix {
    metropolis(n, (0..n).flat_map(|i| (0..i).map(move |j| (i, j))))
}

/// A random connected graph: a random tree and `extra` random edges, so that the
/// degrees, and with them the Metropolis weights, differ.
pub(crate) fn random(n: usize, extra: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let mut edges: Vec<(usize, usize)> = (1..n).map(|i| (i, random.below(i))).collect();
    edges.extend((0..extra).map(|_| (random.below(n), random.below(n))));
    metropolis(n, edges.into_iter())
}

/// Everybody sends to the next one: weights 1/2.
pub(crate) fn directed_ring(n: usize) -> Matrix {
    pushed(n, (0..n).map(|i| (i, (i + 1) % n)))
}

/// Everybody sends to one other: 1 ahead, then 2, then 4, and so on in turns. Weights 1/2.
pub(crate) fn one_peer_exponential(n: usize) -> Vec<Matrix> {
    let hops = (0..).map(|k| 1_usize << k).take_while(|&hop| hop < n);
    hops.map(|hop| pushed(n, (0..n).map(|i| (i, (i + hop) % n)))).collect()
}

/// Everybody sends to those 1, 2, 4, 8, ... ahead.
pub(crate) fn directed_exponential(n: usize) -> Matrix {
    let hops = || (0..).map(|k| 1_usize << k).take_while(|&hop| hop < n);
    pushed(n, (0..n).flat_map(|i| hops().map(move |hop| (i, (i + hop) % n))))
}

/// A directed ring and random arcs, so that agents send to and hear differently many.
pub(crate) fn digraph(n: usize, extra: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let mut arcs: Vec<(usize, usize)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
    arcs.extend((0..extra).map(|_| (random.below(n), random.below(n))));
    pushed(n, arcs.into_iter())
}

/// Column-stochastic weights: every sender splits itself evenly over those it sends to and itself.
fn pushed(n: usize, arcs: impl Iterator<Item = (usize, usize)>) -> Matrix {
    let mut sends = vec![vec![false; n]; n];
    arcs.for_each(|(from, to)| sends[from][to] = true);
    (0..n).for_each(|i| sends[i][i] = true);
    let share: Vec<f64> =
        sends.iter().map(|to| 1.0 / to.iter().filter(|&&arc| arc).count() as f64).collect();
    Matrix::from_fn(n, n, |i, j| if sends[j][i] { share[j] } else { 0.0 })
}

/// The same for weights whose rows sum to 1: everybody takes evenly of those it hears and itself.
pub(crate) fn pulled(p: &Matrix) -> Matrix {
    let heard = |i: usize| p.row(i).iter().filter(|&&weight| weight != 0.0).count() as f64;
    Matrix::from_fn(p.rows, p.rows, |i, j| if p.at(i, j) != 0.0 { 1.0 / heard(i) } else { 0.0 })
}

/// `W <- (1-gamma) I + gamma W`.
pub(crate) fn slowed(w: &Matrix, gamma: f64) -> Matrix {
    (1.0 - gamma) * Matrix::identity(w.rows) + gamma * w
}

/// Metropolis weights `1/(1 + max(degree_i, degree_j))`; the rest stays with the agent.
/// On a graph with equal degrees they are the paper's uniform weights.
fn metropolis(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Matrix {
    let mut adjacent = vec![vec![false; n]; n];
    for (i, j) in edges.filter(|(i, j)| i != j) {
        adjacent[i][j] = true;
        adjacent[j][i] = true;
    }
    let degree: Vec<usize> =
        adjacent.iter().map(|row| row.iter().filter(|&&edge| edge).count()).collect();
    let mut w = Matrix::from_fn(n, n, |i, j| {
        if adjacent[i][j] { 1.0 / (1 + degree[i].max(degree[j])) as f64 } else { 0.0 }
    });
    for i in 0..n {
        let heard: f64 = w.row(i).iter().sum();
        w.set(i, i, 1.0 - heard);
    }
    w
}
