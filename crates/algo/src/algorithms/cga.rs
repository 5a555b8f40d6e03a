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
//! One `v` for each tensor of the model. `bound` is 0 as printed and 0.5 as released; so with equal
//! data on every agent the step is not DSGD's but (1 + 0.5 deg)/(deg + 1) of it (released).
//!
//! The quadratic programme has as many unknowns as neighbours. Its matrix is `M Mᵀ + 1e-12 I`, so
//! stepping through the unknowns one by one, each to its best value within the bound, converges.

use alloc::vec;
use alloc::vec::Vec;

use super::cross_gradients::Aggregate;
use crate::{Inbox, Tensor};

/// The step of CGA.
pub struct CgaStep {
    beta: f32,
    bound: f64,
    /// Lengths of the model's tensors.
    tensors: Vec<usize>,
    m: Vec<f32>,
}

impl CgaStep {
    /// CGA for a model of these tensors. `bound` is the smallest `v`.
    pub fn new(beta: f32, bound: f64, tensors: &[usize]) -> Self {
        let m = vec![0.0; tensors.iter().sum()];
        CgaStep { beta, bound, tensors: tensors.to_vec(), m }
    }
}

impl Aggregate for CgaStep {
    const HEARS_GRADIENTS: bool = true;

    fn probe<'a>(&self, x: &'a [f32], _s: &'a [f32]) -> &'a [f32] {
        x
    }

    fn step(&mut self, eta: f32, s: &[f32], _own_at: &[&[f32]], theirs: &dyn Inbox, x: &mut [f32]) {
        let mut start = 0;
        for &len in &self.tensors {
            let part = |k: usize| (theirs.weight(k), &theirs.message(k)[start..][..len]);
            let coefficients = coefficients(theirs, part, self.bound);
            let (x, s) = (&mut x[start..][..len], &s[start..][..len]);
            let m = &mut self.m[start..][..len];
            for i in 0..len {
                let mut g = 0.0;
                for (k, v) in coefficients.iter().enumerate() {
                    let (w, their) = part(k);
                    g += v * (w * their[i]);
                }
                m[i] = self.beta * m[i] + g;
                x[i] = s[i] - eta * (g + self.beta * m[i]);
            }
            start += len;
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("m", &mut self.m)]
    }
}

/// `v` for each gradient of the row; 1 for the own.
fn coefficients<'g>(
    theirs: &dyn Inbox,
    part: impl Fn(usize) -> (f32, &'g [f32]),
    bound: f64,
) -> Vec<f32> {
    let dot = |a: usize, b: usize| {
        let ((v, a), (w, b)) = (part(a), part(b));
        let sum: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        f64::from(v) * f64::from(w) * sum
    };
    let own = theirs.own();
    let others: Vec<usize> = (0..theirs.senders()).filter(|&k| k != own).collect();
    let deg = others.len();
    // P = M Mᵀ + 1e-12 I, q = M b.
    let mut p = vec![0.0; deg * deg];
    for a in 0..deg {
        for b in 0..=a {
            let value = dot(others[a], others[b]) + if a == b { 1e-12 } else { 0.0 };
            (p[a * deg + b], p[b * deg + a]) = (value, value);
        }
    }
    let q: Vec<f64> = others.iter().map(|&k| dot(k, own)).collect();
    let v = bounded_minimum(&p, &q, bound);
    let mut all = vec![1.0; theirs.senders()];
    for (&k, &v) in others.iter().zip(&v) {
        all[k] = v as f32;
    }
    all
}

/// `argmin 1/2 vᵀ P v + qᵀ v` subject to `v >= bound`, for a positive definite P.
pub(super) fn bounded_minimum(p: &[f64], q: &[f64], bound: f64) -> Vec<f64> {
    const SWEEPS: usize = 1000;
    let n = q.len();
    let mut v = vec![bound.max(0.0); n];
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for a in 0..n {
            let row = &p[a * n..][..n];
            let slope: f64 = row.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>() + q[a];
            let best = (v[a] - slope / row[a]).max(bound);
            moved = moved.max((best - v[a]).abs() / (1.0 + best.abs()));
            v[a] = best;
        }
        if moved < 1e-12 {
            break;
        }
    }
    v
}
