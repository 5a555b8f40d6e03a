//! CHOCO-SGD (Koloskova, Stich, Jaggi, ICML 2019; Koloskova, Lin, Stich, Jaggi, ICLR 2020): DSGD that
//! sends coded changes, with an error feedback that makes any contraction `C` good enough.
//!
//! ```text
//! order=icml   h = x - eta d                          order=iclr   h = x - eta d
//!              q = C(h - x̂);  x̂_j += q_j for all j                x = h + Σ_j w_ij (x̂_j - x̂_i)
//!              x = h + Σ_j w_ij (x̂_j - x̂_i)                       q = C(x - x̂);  x̂_j += q_j
//! ```
//!
//! `d` is the gradient or its local momentum. The first is the order of the ICML paper; without
//! compression it is DSGD, `x <- W (x - eta d)`. The second is that of both released codes: it mixes
//! what was known before the round, so a message may travel during the next gradient; without
//! compression it is DSGD with gradients at the agent's own model, `x <- W x - eta d`.
//!
//! The consensus step gamma of the papers is the averaging rate of W, and it must fall as the
//! compression gets stronger. The average of the models moves by the mean of `d` exactly, whatever
//! `C` leaves out, because `Σ_i Σ_j w_ij (x̂_j - x̂_i) = 0`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::hats::Hats;
use super::move_by;
use crate::Order;
use crate::codec::Codec;
use crate::mixing::for_each_difference;
use crate::momentum::Momentum;
use crate::{Algorithm, Inbox, Tensor};

/// CHOCO-SGD with momentum `L` on the local gradient.
pub struct Choco<L: Momentum> {
    local: L,
    order: Order,
    x: Vec<f32>,
    hats: Hats,
    /// `Σ_j w_ij x̂_j - x̂_i`, of W itself.
    p: Vec<f32>,
    /// The averaging rate of the last mix, by which `p` is multiplied.
    rate: f32,
    v: Vec<L::Slot>,
}

impl<L: Momentum> Choco<L> {
    /// Starts from `x0`, which all agents must share; call `resync` of all if they do not.
    pub fn new(x0: &[f32], local: L, order: Order, codec: Box<dyn Codec>) -> Self {
        let n = x0.len();
        let (hats, v) = (Hats::new(n, codec), vec![L::Slot::default(); n]);
        Choco { local, order, x: x0.to_vec(), hats, p: vec![0.0; n], rate: 1.0, v }
    }

    /// `x += rate p`.
    fn mix_copies(&mut self) {
        let n = self.x.len();
        let (x, e, p) = (&mut self.x[..n], &mut self.hats.e[..n], &self.p[..n]);
        let rate = self.rate;
        for i in 0..n {
            e[i] += move_by(&mut x[i], rate * p[i]);
        }
    }
}

impl<L: Momentum> Algorithm for Choco<L> {
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
        let (g, local) = (&grad[..n], self.local);
        let (x, e, v) = (&mut self.x[..n], &mut self.hats.e[..n], &mut self.v[..n]);
        for i in 0..n {
            let d = local.direct(&mut v[i], g[i]);
            e[i] += move_by(&mut x[i], -eta * d);
        }
        if self.order == Order::Awc {
            self.mix_copies();
        }
        self.hats.send(message);
    }

    fn mix(&mut self, inbox: &dyn Inbox, _eta: f32) {
        self.hats.follow(inbox, &mut self.p);
        if self.order == Order::Atc {
            self.mix_copies();
        }
    }

    fn resync(&mut self, models: &dyn Inbox) {
        let p = &mut self.p;
        for_each_difference(models, |start, _, d, _| p[start..][..d.len()].copy_from_slice(d));
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
        let mut all = vec![Tensor::new("x", &mut self.x), Tensor::new("p", &mut self.p)];
        all.extend(self.hats.tensors());
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all
    }
}
