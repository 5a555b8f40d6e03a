//! AdaGossip (Aketi, Hashemi, Roy, 2024, arXiv 2404.05919): CHOCO-SGD whose consensus step adapts
//! itself, parameter by parameter.
//!
//! ```text
//! h = x - eta g
//! q = C(h - x̂);  x̂_j += q_j for all j
//! r = Σ_j w_ij x̂_j - x̂_i
//! v = b v + (1-b) r²
//! x = h + min(1, gamma / (sqrt(v / (1 - b^t)) + 1e-8)) r        t = 1, 2, ...
//! ```
//!
//! The upper limit of 1 is in the released code. Where the copies of neighbours differ much, in
//! what compression left out as well, steps are short. So gamma is a length, in units of the
//! model: about how far a parameter may move towards its neighbours in a round. It acts in this
//! step and not on W.
//!
//! Neighbours take steps of different length along the same difference, so mixing moves the
//! average a little: here, unlike in CHOCO-SGD, the mean of the models is not preserved.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::hats::Hats;
use super::move_by;
use super::square_root::square_root;
use crate::codec::{Codec, RoundCounter};
use crate::mixing::for_each_difference;
use crate::{Algorithm, Inbox, Tensor};

/// AdaGossip.
pub struct AdaGossip {
    gamma: f32,
    /// The averaging rate of the last mix, by which `gamma` is multiplied.
    rate: f32,
    decay: f64,
    x: Vec<f32>,
    hats: Hats,
    r: Vec<f32>,
    v: Vec<f32>,
    /// Rounds done, for the factor `1 - b^t`.
    t: RoundCounter,
}

impl AdaGossip {
    /// Starts from `x0`, which all agents must share; call `resync` of all if they do not.
    /// `decay` is `b`.
    pub fn new(x0: &[f32], gamma: f32, decay: f64, codec: Box<dyn Codec>) -> Self {
        let (n, t) = (x0.len(), RoundCounter::default());
        let (r, v) = (vec![0.0; n], vec![0.0; n]);
        AdaGossip { gamma, rate: 1.0, decay, x: x0.to_vec(), hats: Hats::new(n, codec), r, v, t }
    }
}

impl Algorithm for AdaGossip {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn message_len(&self) -> usize {
        self.hats.words()
    }

    fn message_numbers(&self) -> usize {
        self.hats.numbers()
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, x, e) = (&grad[..n], &mut self.x[..n], &mut self.hats.e[..n]);
        for i in 0..n {
            e[i] += move_by(&mut x[i], -eta * g[i]);
        }
        self.hats.send(message);
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        self.hats.follow(inbox, &mut self.r);
        self.t.advance();
        let n = self.x.len();
        let (x, e) = (&mut self.x[..n], &mut self.hats.e[..n]);
        let (r, v) = (&self.r[..n], &mut self.v[..n]);
        let (gamma, b) = (self.rate * self.gamma, self.decay as f32);
        let fresh = (1.0 - self.decay) as f32;
        let unbias = (1.0 / (1.0 - power(self.decay, self.t.get()))) as f32;
        for i in 0..n {
            v[i] = b * v[i] + fresh * (r[i] * r[i]);
            let step = gamma / (square_root(v[i] * unbias) + 1e-8);
            e[i] += move_by(&mut x[i], step.min(1.0) * r[i]);
        }
    }

    fn resync(&mut self, models: &dyn Inbox) {
        let r = &mut self.r;
        for_each_difference(models, |start, _, d, _| r[start..][..d.len()].copy_from_slice(d));
        self.hats.forget_error();
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.rate = rate;
        true
    }

    fn sends_moves(&self) -> bool {
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let Tensor { values, .. } = self.t.tensor();
        let mut all = vec![
            Tensor::new("x", &mut self.x),
            Tensor::new("r", &mut self.r),
            Tensor::new("v", &mut self.v),
            Tensor::new("t", values),
        ];
        all.extend(self.hats.tensors());
        all
    }
}

/// `base` to the power of `exponent`, by squaring.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}
