//! D² (Tang et al., ICML 2018): exact on heterogeneous data at DSGD's traffic, if the
//! smallest eigenvalue of W is above -1/3.
//!
//! ```text
//! x <- W (2x - x' - eta g + eta' g'),      first round: x <- W (x - eta g)
//! ```
//!
//! The average repeats its last move, so it would also repeat every rounding error for ever.
//! The part that the message and the mixed model cannot represent is therefore carried over
//! to the next round.

use alloc::vec;
use alloc::vec::Vec;

use crate::mixing::{for_each_difference, two_sum};
use crate::{Algorithm, Inbox, Tensor};

/// D². `v = (x - x') + eta' g'`, plus the rounding error, is carried over from round to round.
/// It starts at zero, which gives the special first round above.
pub struct D2 {
    x: Vec<f32>,
    v: Vec<f32>,
}

impl D2 {
    /// Starts from `x0`.
    pub fn new(x0: &[f32]) -> Self {
        D2 { x: x0.to_vec(), v: vec![0.0; x0.len()] }
    }
}

impl Algorithm for D2 {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, v) = (&self.x[..n], &mut self.v[..n]);
        for i in 0..n {
            let step = eta * g[i];
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
        vec![Tensor::new("x", &mut self.x), Tensor::new("v", &mut self.v)]
    }
}
