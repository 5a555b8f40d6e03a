//! The methods with several gradients, several exchanges or a message for each neighbour, a second
//! time: dense, `f64`, agent by agent, from the printed equations. Nothing but the names comes from
//! the crate.

use consort_algo::{Compression, GradientAt, Method, MethodName, Reading};

use super::equations::{Setting, check_coded};
use super::matrix::Matrix;

/// The first probes and the models of every round.
pub(crate) type Rounds = Vec<(Matrix, Matrix)>;

/// Runs the equation that `method` names. `trees` are the graphs that take turns, of a method that
/// relays; `tensors` the lengths of the model's tensors, of one that looks at them.
pub(crate) fn run(
    method: &Method,
    on: &Setting<'_>,
    trees: &[Matrix],
    tensors: &[usize],
) -> Rounds {
    use MethodName::*;
    let printed = method.reading == Reading::Printed;
    let codec = if method.name.codes_messages() { method.codec } else { Compression::None };
    // What is left to send is a sum over all rounds, and so are its rounding errors. Measured: 8e-5.
    let rounding = 4e-4;
    let crossed = Crossed::new(codec, rounding, on);
    match method.name {
        RelaySgd | RelaySgdm | RelaySgdmN => relaysgd(method, on, trees),
        Cga | CompCga => {
            let bound = if printed { 0.0 } else { 0.5 };
            cga(on, method.beta, bound, method.gradient_at, tensors, crossed)
        }
        Ngc | CompNgc => ngc(on, method.alpha, method.beta, printed, crossed),
        KGt => k_gt(on, method.steps, method.outer),
        Led => led(on, method.steps, method.dual),
        _ => panic!("{} is in equations.rs", method.name.as_str()),
    }
}

/// RelaySGD, Algorithm 1, with one tree for each part of the model. `m[i][j]` is what i sent to j.
fn relaysgd(method: &Method, on: &Setting<'_>, trees: &[Matrix]) -> Rounds {
    let (n, d) = (on.w.rows, on.x0.cols);
    let part = d.div_ceil(trees.len());
    let beta = if method.name == MethodName::RelaySgd { 0.0 } else { method.beta };
    let nesterov = method.name == MethodName::RelaySgdmN;
    let near = |t: usize, i: usize, j: usize| i != j && trees[t].at(i, j) != 0.0;
    let mut x = on.x0.clone();
    let mut v = Matrix::zeros(n, d);
    let mut relayed = vec![vec![vec![vec![0.0; d + 1]; n]; n]; trees.len()];
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let probe = x.clone();
        let g = on.losses.gradients(&probe);
        v = beta * &v + &g;
        let step = if nesterov { &g + beta * &v } else { v.clone() };
        let h = &x - f64::from(eta) * step;
        for (t, last) in relayed.iter_mut().enumerate() {
            let columns = t * part..((t + 1) * part).min(d);
            let mut now = vec![vec![vec![0.0; d + 1]; n]; n];
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| near(t, i, j)) {
                for k in columns.clone() {
                    now[i][j][k] = h.at(i, k);
                }
                now[i][j][d] = 1.0;
                for k in (0..n).filter(|&k| near(t, k, i) && k != j) {
                    for (sum, value) in now[i][j].iter_mut().zip(&last[k][i]) {
                        *sum += value;
                    }
                }
            }
            for i in 0..n {
                let heard: Vec<usize> = (0..n).filter(|&j| near(t, j, i)).collect();
                let c: f64 = heard.iter().map(|&j| now[j][i][d]).sum();
                for k in columns.clone() {
                    let sum: f64 = heard.iter().map(|&j| now[j][i][k]).sum();
                    let agents = n as f64;
                    let value = match method.missing.to_string().as_str() {
                        "own" => ((agents - c) * h.at(i, k) + sum) / agents,
                        "start" => {
                            (h.at(i, k) + sum + (agents - 1.0 - c) * on.x0.at(i, k)) / agents
                        }
                        _ => (h.at(i, k) + sum) / (1.0 + c),
                    };
                    x.set(i, k, value);
                }
            }
            *last = now;
        }
        rounds.push((probe, x.clone()));
    }
    rounds
}

/// True for the methods whose equations are in this file.
pub(crate) fn has(name: MethodName) -> bool {
    use MethodName::*;
    matches!(name, RelaySgd | RelaySgdm | RelaySgdmN | Cga | CompCga | Ngc | CompNgc | KGt | Led)
}

/// Cross-gradients as they are sent: `C(g + e)`, where `e` is what C has left out so far.
struct Crossed {
    codec: Compression,
    /// How far a message may be from C of what the equation would have sent.
    rounding: f64,
    round: usize,
    /// Of what i sends to j, in row `i n + j`.
    e: Matrix,
}

impl Crossed {
    fn new(codec: Compression, rounding: f64, on: &Setting<'_>) -> Self {
        let (n, d) = (on.w.rows, on.x0.cols);
        Crossed { codec, rounding, round: 0, e: Matrix::zeros(n * n, d) }
    }

    /// The gradients of i's data at the models of its neighbours, `g[i][j] = F_i'(x_j)`, and at its
    /// own probe, `g[i][i]`. Of a codec that loses something the messages themselves, after checking
    /// that they are C of what the equation would have sent.
    fn next(&mut self, on: &Setting<'_>, x: &Matrix, probe: &Matrix) -> Vec<Vec<Vec<f64>>> {
        let n = x.rows;
        let at = |i: usize, j: usize| if i == j { probe.row(i) } else { x.row(j) };
        let mut g: Vec<Vec<Vec<f64>>> =
            (0..n).map(|i| (0..n).map(|j| on.losses.gradient(i, at(i, j))).collect()).collect();
        if self.codec != Compression::None {
            let sent = &on.sent[self.round];
            let pairs = (0..n * n).map(|at| (at / n, at % n));
            for (i, j) in pairs.filter(|&(i, j)| on.w.at(j, i) != 0.0) {
                let row = i * n + j;
                let due: Vec<f64> =
                    self.e.row(row).iter().zip(&g[i][j]).map(|(e, g)| e + g).collect();
                check_coded(self.codec, &due, sent.row(row), self.rounding);
                for (k, due) in due.iter().enumerate() {
                    g[i][j][k] = sent.at(row, k);
                    self.e.set(row, k, due - sent.at(row, k));
                }
            }
        }
        self.round += 1;
        g
    }
}

/// CGA: for each tensor `v = argmin 1/2 |v M + b|², v >= bound`, found by trying every set of
/// unknowns that stand at the bound.
fn cga(
    on: &Setting<'_>,
    beta: f64,
    bound: f64,
    place: GradientAt,
    tensors: &[usize],
    mut crossed: Crossed,
) -> Rounds {
    let (w, n, d) = (on.w, on.w.rows, on.x0.cols);
    let mut x = on.x0.clone();
    let mut m = Matrix::zeros(n, d);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let s = w * &x;
        let probe = if place == GradientAt::Mixed { s.clone() } else { x.clone() };
        let g = crossed.next(on, &x, &probe);
        let mut next = Matrix::zeros(n, d);
        for i in 0..n {
            let near: Vec<usize> = (0..n).filter(|&j| j != i && w.at(i, j) != 0.0).collect();
            let mut start = 0;
            for &len in tensors {
                let columns = start..start + len;
                let scaled = |j: usize| -> Vec<f64> {
                    columns.clone().map(|k| w.at(i, j) * g[j][i][k]).collect()
                };
                let rows: Vec<Vec<f64>> = near.iter().map(|&j| scaled(j)).collect();
                let b = scaled(i);
                let v = shortest(&rows, &b, bound);
                for (at, k) in columns.clone().enumerate() {
                    let g: f64 = b[at] + rows.iter().zip(&v).map(|(r, v)| v * r[at]).sum::<f64>();
                    let moved = beta * m.at(i, k) + g;
                    m.set(i, k, moved);
                    next.set(i, k, s.at(i, k) - f64::from(eta) * (g + beta * moved));
                }
                start += len;
            }
        }
        x = next;
        rounds.push((probe, x.clone()));
    }
    rounds
}

/// The `v >= bound` that makes `v rows + b` shortest.
fn shortest(rows: &[Vec<f64>], b: &[f64], bound: f64) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let count = rows.len();
    let length = |v: &[f64]| {
        let sum = |k: usize| b[k] + rows.iter().zip(v).map(|(r, v)| v * r[k]).sum::<f64>();
        (0..b.len()).map(|k| sum(k).powi(2)).sum::<f64>()
    };
    let mut best = vec![bound; count];
    for free in 1_usize..1 << count {
        let free: Vec<usize> = (0..count).filter(|k| free >> k & 1 == 1).collect();
        // The normal equations of the free unknowns.
        let rest: Vec<f64> = (0..b.len())
            .map(|k| {
                let held = (0..count).filter(|j| !free.contains(j));
                b[k] + held.map(|j| bound * rows[j][k]).sum::<f64>()
            })
            .collect();
        let mut a: Vec<Vec<f64>> = free
            .iter()
            .map(|&i| {
                let mut row: Vec<f64> = free.iter().map(|&j| dot(&rows[i], &rows[j])).collect();
                row.push(-dot(&rows[i], &rest));
                row
            })
            .collect();
        let size = free.len();
        for pivot in 0..size {
            for below in 0..size {
                if below != pivot {
                    let factor = a[below][pivot] / a[pivot][pivot];
                    for k in pivot..=size {
                        a[below][k] -= factor * a[pivot][k];
                    }
                }
            }
        }
        let mut v = vec![bound; count];
        for (at, &k) in free.iter().enumerate() {
            v[k] = a[at][size] / a[at][at];
        }
        if v.iter().all(|&v| v >= bound) && length(&v) < length(&best) {
            best = v;
        }
    }
    best
}

/// NGC, as released and as printed.
fn ngc(on: &Setting<'_>, alpha: f64, beta: f64, printed: bool, mut crossed: Crossed) -> Rounds {
    let (w, n, d) = (on.w, on.w.rows, on.x0.cols);
    let mut x = on.x0.clone();
    let mut v = Matrix::zeros(n, d);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let s = w * &x;
        let probe = if printed { x.clone() } else { s.clone() };
        let g = crossed.next(on, &x, &probe);
        let mut next = Matrix::zeros(n, d);
        for i in 0..n {
            let near: Vec<usize> = (0..n).filter(|&j| w.at(i, j) != 0.0).collect();
            for k in 0..d {
                let mut sum = 0.0;
                for &j in &near {
                    let weight = if printed { w.at(i, j) } else { 1.0 / near.len() as f64 };
                    sum += weight * ((1.0 - alpha) * g[i][j][k] + alpha * g[j][i][k]);
                }
                let eta = f64::from(eta);
                if printed {
                    let moved = beta * v.at(i, k) - eta * sum;
                    v.set(i, k, moved);
                    next.set(i, k, s.at(i, k) + moved);
                } else {
                    let moved = beta * v.at(i, k) + sum;
                    v.set(i, k, moved);
                    next.set(i, k, s.at(i, k) - eta * (sum + beta * moved));
                }
            }
        }
        x = next;
        rounds.push((probe, x.clone()));
    }
    rounds
}

/// K-GT, Algorithm 1: K times Z -= eta (G + C); Z' = (X - Z)/(K eta); C += W Z' - Z';
/// X <- W (X - K eta_s eta Z').
fn k_gt(on: &Setting<'_>, steps: u32, outer: f64) -> Rounds {
    let mut x = on.x0.clone();
    let mut c = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let w = on.w_of(t);
        let (eta, probe) = (f64::from(eta), x.clone());
        let mut z = x.clone();
        for _ in 0..steps {
            z = &z - eta * (on.losses.gradients(&z) + &c);
        }
        let mean = (&x - &z) / (f64::from(steps) * eta);
        c = &c + w * &mean - &mean;
        x = w * (&x - f64::from(steps) * outer * eta * &mean);
        rounds.push((probe, x.clone()));
    }
    rounds
}

/// LED: K times Phi -= eta G + (dual/K) Y; X <- W Phi; Y += Phi - X.
fn led(on: &Setting<'_>, steps: u32, dual: f64) -> Rounds {
    let mut x = on.x0.clone();
    let mut y = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let probe = x.clone();
        let mut phi = x.clone();
        for _ in 0..steps {
            let g = on.losses.gradients(&phi);
            phi = &phi - f64::from(eta) * g - dual / f64::from(steps) * &y;
        }
        x = on.w * &phi;
        y = &y + &phi - &x;
        rounds.push((probe, x.clone()));
    }
    rounds
}
