//! CGA, Cross-Gradient Aggregation (Esfandiari, Tan, Jiang, Balu, Herron, Hegde, Sarkar, ICML 2021):
//! the agent's gradient is bent so that it points against none of its neighbours' gradients.
//!
//! ```text
//! b    = w_ii g_ii;   rows of M: w_ij g_ij for j in N_i         gradients at x_i on i's and j's data
//! v    = argmin_v 1/2 |v M + b|²   subject to v >= bound
//! g~   = b + v M
//! m    = beta m + g~
//! x_i <- Σ_j w_ij x_j - eta (g~ + beta m)
//! ```
//!
//! NGC's authors run it with `g_ii` at the mixed model `Σ_j w_ij x_j` instead (`gradient_at=mixed`),
//! the cross-gradients still at models as they were sent, and with an averaging rate below 1 (gamma).
//!
//! One `v` for each tensor of the model. `bound` is 0 as printed and 0.5 as released; so with equal
//! data on every agent the step is not DSGD's but (1 + 0.5 deg)/(deg + 1) of it (released).
//!
//! The quadratic programme has as many unknowns as neighbours. Its matrix is `M Mᵀ + 1e-12 I`, so
//! stepping through the unknowns one by one, each to its best value within the bound, converges.
//! CompCGA is CGA on coded gradients (`cross_gradients.rs`).

use alloc::vec;
use alloc::vec::Vec;

use super::cross_gradients::Aggregate;
use crate::{GradientAt, Inbox, Tensor};

/// The step of CGA.
pub struct CgaStep {
    beta: f32,
    bound: f64,
    at: GradientAt,
    /// Lengths of the model's tensors.
    tensors: Vec<usize>,
    m: Vec<f32>,
    programme: Programme,
}

/// The quadratic programme of one tensor: its room, for as many unknowns as there are neighbours.
struct Programme {
    /// `M Mᵀ + 1e-12 I`, row by row.
    p: Vec<f64>,
    /// `M b`.
    q: Vec<f64>,
    v: Vec<f64>,
}

impl CgaStep {
    /// CGA for a model of these tensors at an agent that hears `senders`, itself included. `bound`
    /// is the smallest `v`, and `at` where the gradient on the own data is taken.
    pub fn new(beta: f32, bound: f64, at: GradientAt, tensors: &[usize], senders: usize) -> Self {
        let (m, deg) = (vec![0.0; tensors.iter().sum()], senders.saturating_sub(1));
        let programme = Programme { p: vec![0.0; deg * deg], q: vec![0.0; deg], v: vec![0.0; deg] };
        CgaStep { beta, bound, at, tensors: tensors.to_vec(), m, programme }
    }
}

impl Aggregate for CgaStep {
    const HEARS_GRADIENTS: bool = true;

    fn probe<'a>(&self, x: &'a [f32], s: &'a [f32]) -> &'a [f32] {
        match self.at {
            GradientAt::Mixed => s,
            GradientAt::Local => x,
        }
    }

    fn step(
        &mut self,
        eta: f32,
        s: &[f32],
        _own_at: &[Vec<f32>],
        theirs: &dyn Inbox,
        x: &mut [f32],
    ) {
        let (own, beta) = (theirs.own(), self.beta);
        let mut start = 0;
        for &len in &self.tensors {
            let part = |k: usize| (theirs.weight(k), &theirs.message(k)[start..][..len]);
            self.programme.solve(theirs.senders(), own, part, self.bound);
            let v = &self.programme.v;
            let coefficient = |k: usize| match k {
                _ if k == own => 1.0,
                _ if k < own => v[k] as f32,
                _ => v[k - 1] as f32,
            };
            let (x, s) = (&mut x[start..][..len], &s[start..][..len]);
            x.fill(0.0); // g~ for now: the new model is made of s
            for k in 0..theirs.senders() {
                let ((w, their), v) = (part(k), coefficient(k));
                for i in 0..len {
                    x[i] += v * (w * their[i]);
                }
            }
            let m = &mut self.m[start..][..len];
            for i in 0..len {
                let g = x[i];
                m[i] = beta * m[i] + g;
                x[i] = s[i] - eta * (g + beta * m[i]);
            }
            start += len;
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("m", &mut self.m)]
    }
}

impl Programme {
    /// Finds `v` for the neighbours' gradients, in the order of the row without the agent itself;
    /// `part(k)` is the weight and the gradient of the `k`-th agent of the row.
    fn solve<'g>(
        &mut self,
        senders: usize,
        own: usize,
        part: impl Fn(usize) -> (f32, &'g [f32]),
        bound: f64,
    ) {
        let dot = |a: usize, b: usize| {
            let ((v, a), (w, b)) = (part(a), part(b));
            let sum: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            f64::from(v) * f64::from(w) * sum
        };
        let Programme { p, q, v } = self;
        let deg = senders - 1;
        let neighbour = |a: usize| if a < own { a } else { a + 1 };
        for a in 0..deg {
            for b in 0..=a {
                let damping = if a == b { 1e-12 } else { 0.0 };
                let value = dot(neighbour(a), neighbour(b)) + damping;
                (p[a * deg + b], p[b * deg + a]) = (value, value);
            }
            q[a] = dot(neighbour(a), own);
        }
        bounded_minimum(p, q, bound, v);
    }
}

/// `argmin 1/2 vᵀ P v + qᵀ v` subject to `v >= bound`, for a positive definite P.
fn bounded_minimum(p: &[f64], q: &[f64], bound: f64, v: &mut [f64]) {
    const SWEEPS: usize = 1000;
    let n = q.len();
    v.fill(bound.max(0.0));
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for a in 0..n {
            let row = &p[a * n..][..n];
            let slope: f64 = row.iter().zip(&*v).map(|(p, v)| p * v).sum::<f64>() + q[a];
            let best = (v[a] - slope / row[a]).max(bound);
            moved = moved.max((best - v[a]).abs() / (1.0 + best.abs()));
            v[a] = best;
        }
        if moved < 1e-12 {
            break;
        }
    }
}
