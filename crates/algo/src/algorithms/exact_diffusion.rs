//! Exact diffusion, ED (Yuan, Ying, Zhao, Sayed, IEEE TSP 2019), and EDM, exact diffusion with
//! momentum (Hu, Chen, Liu, Mao, 2025, arXiv:2501.19082): exact on heterogeneous data at DSGD's
//! traffic.
//!
//! ```text
//! m   = beta m' + (1-beta) g                 ED: m = g
//! psi = x - eta m
//! x  <- W (psi + x - psi')                   first round: psi' = x
//! ```
//!
//! ED is the iteration of D² (`d2.rs`). Without gradients m stays zero, so momentum leaves D²'s
//! condition on W as it is: `x <- W (2x - x')` shrinks every disagreement if and only if the
//! smallest eigenvalue of W is above -1/3. The averaging rate gamma makes any W such; ED's paper
//! takes `(I + W)/2`, gamma = 1/2.
//!
//! # Step sizes
//!
//! Each psi keeps the step size it was made with. After a round mean(x) = mean(psi), so the
//! correction `x - psi'` has mean zero, and mean(x) moves by `-eta mean(m)` in every round. A
//! psi' with the new step size would break this at every change.
//!
//! As in D², the average repeats its last correction, so it would repeat every rounding error
//! for ever. What the message and the mixed model cannot represent is carried over instead.

use alloc::vec;
use alloc::vec::Vec;

use crate::mixing::{for_each_difference, two_sum};
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor};

/// Exact diffusion on the local momentum `L`. The correction `v = x - psi'`, plus the rounding
/// error, is carried over from round to round. It starts at zero.
pub struct ExactDiffusion<L: Momentum> {
    local: L,
    x: Vec<f32>,
    v: Vec<f32>,
    m: Vec<L::Slot>,
}

impl<L: Momentum> ExactDiffusion<L> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], local: L) -> Self {
        let n = x0.len();
        ExactDiffusion { local, x: x0.to_vec(), v: vec![0.0; n], m: vec![L::Slot::default(); n] }
    }
}

impl<L: Momentum> Algorithm for ExactDiffusion<L> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, v, m) = (&self.x[..n], &mut self.v[..n], &mut self.m[..n]);
        let local = self.local;
        for i in 0..n {
            let step = eta * local.direct(&mut m[i], g[i]); // x - psi
            let (move_by, lost_a) = two_sum(v[i], -step);
            let (moved, lost_b) = two_sum(x[i], move_by);
            message[i] = moved;
            v[i] = step + (lost_a + lost_b);
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        let n = self.x.len();
        let (x, v) = (&mut self.x[..n], &mut self.v[..n]);
        for_each_difference(inbox, |start, own, d, rounding| {
            let n = d.len();
            let (own, rounding) = (&own[..n], &rounding[..n]);
            let (x, v) = (&mut x[start..][..n], &mut v[start..][..n]);
            for i in 0..n {
                let (mixed, lost) = two_sum(own[i], d[i]);
                v[i] += (mixed - x[i]) + (lost + rounding[i]);
                x[i] = mixed;
            }
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("v", &mut self.v)];
        all.extend(L::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all
    }
}
