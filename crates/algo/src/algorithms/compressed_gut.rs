//! Compressed GUT and its version with momentum: GUT (`gut.rs`) whose updates are sent through a codec,
//! with the error feedback of CHOCO-SGD (`hats.rs`). Ours; without compression it is GUT.
//!
//! ```text
//! p = Σ_j w_ij x̂_j - x̂_i                     what stands in for s - x
//! g = ∇F_i(x + p)
//! y = g - p/eta + mu [ z' - b r' - delta' ]   r' = p'/eta',  delta' = g' - p'/eta'
//! x -= eta d                                  d = y, or its momentum; b is the momentum's gain
//! q = C(x - x̂);  x̂_j += q_j for all j
//! z = d - Σ_j w_ij (q_j - q_i)/eta            what stands in for Σ_j w_ij d_j
//! ```
//!
//! # Why z, and what is proved
//!
//! GUT reads the neighbourhood's update `W D` off what the neighbours sent. Coded, they tell `q`
//! instead of `-eta d`, and `-W Q/eta` would lose whatever the codec kept back: the average would
//! lose it too. But `W D = D + (W - I) D`, and only the second term needs the neighbours. There the
//! codec's errors stay, in the first they do not:
//!
//! ```text
//! Z = D - (W - I) Q/eta
//! ```
//!
//! *The average is not touched by compression.* Let mean(.) be over the agents, W doubly
//! stochastic, so mean((W - I) A) = 0 for every A. Then mean(p) = 0 and mean(z) = mean(d) in every
//! round, whatever `C` does. For `d = y` (and b = 1) suppose mean(y') = mean(g'), as holds before
//! the first round where all are zero. Then
//!
//! ```text
//! mean(y) = mean(g) - 0 + mu [ mean(y') - 0 - (mean(g') - 0) ] = mean(g)
//! ```
//!
//! which is Lemma 1 of GUT: the averaged model moves by -eta mean(g) in every round, for every codec,
//! mu, gamma and step size. With momentum mean(y) = mean(g) + mu [mean(d') - mean(g')], the same as
//! that of QG-GUTm without compression. ∎
//!
//! *Without compression it is GUT.* `C(v) = v` gives x̂ = x after every round and q = -eta d, so
//! p = s - x and z = Σ_j w_ij d_j: the released reading, line by line.
//!
//! # How strongly it may compress
//!
//! With the p of two rounds in place of z, `x+ = x + mu (x - x') + (1+mu) p - mu p' - eta (g - mu g')`:
//! gossip with a momentum of mu. Over many rounds the copies pull 1/(1-mu) times as hard as in
//! CHOCO-SGD, and what the codec keeps back does too. So a rough codec needs a gamma that is smaller
//! by about as much, and then as much bias from unlike data is back as mu has removed. On
//! quadratics (ring of 16, mu = 0.9): four bits a value bear gamma = 1, three bits 0.7, two bits
//! 0.15, signs 0.025. Four bits are therefore the default, and with few words a smaller mu or
//! CHOCO-SGD is the better choice; `usual_gamma` of consort-theory has the table.
//!
//! At mu = 1 rounding errors of the average do not fade. They are kept out of the pull, not of the
//! bracket: on those quadratics the average drifts by 3e-8 a round.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::hats::Hats;
use super::move_by;
use super::pull::Pull;
use crate::codec::Codec;
use crate::momentum::Momentum;
use crate::{Algorithm, GradientAt, Inbox, Tensor};

/// Compressed GUT with momentum `M` on the tracked update and the pull kept as `P`.
pub struct CompressedGut<M: Momentum, P: Pull> {
    mu: f32,
    momentum: M,
    gradient_at: GradientAt,
    x: Vec<f32>,
    hats: Hats,
    pull: P,
    bracket: Vec<f32>,
    m: Vec<M::Slot>,
    /// Room for `Σ_j w_ij (q_j - q_i)`; nothing is remembered in it.
    change: Vec<f32>,
}

impl<M: Momentum, P: Pull> CompressedGut<M, P> {
    /// Starts from `x0`, which all agents must share; call `resync` of all if they do not.
    pub fn new(
        x0: &[f32],
        mu: f32,
        momentum: M,
        gradient_at: GradientAt,
        codec: Box<dyn Codec>,
    ) -> Self {
        let n = x0.len();
        CompressedGut {
            mu,
            momentum,
            gradient_at,
            x: x0.to_vec(),
            hats: Hats::new(n, codec),
            pull: P::none(n),
            bracket: vec![0.0; n],
            m: vec![M::Slot::default(); n],
            change: vec![0.0; n],
        }
    }
}

impl<M: Momentum, P: Pull> Algorithm for CompressedGut<M, P> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn probe(&self, at: &mut [f32]) {
        match self.gradient_at {
            GradientAt::Mixed => self.pull.write_mixed_model(&self.x, at),
            GradientAt::Local => at.copy_from_slice(&self.x),
        }
    }

    fn message_len(&self) -> usize {
        self.hats.words()
    }

    fn message_numbers(&self) -> usize {
        self.hats.numbers()
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, p) = (&grad[..n], &self.pull.p()[..n]);
        let (x, e) = (&mut self.x[..n], &mut self.hats.e[..n]);
        let (bracket, m) = (&mut self.bracket[..n], &mut self.m[..n]);
        let (momentum, mu, b) = (self.momentum, self.mu, self.momentum.gain());
        let rate_per_eta = self.pull.rate() * (1.0 / eta);
        for i in 0..n {
            let pull = p[i] * rate_per_eta;
            let y = g[i] - pull + mu * bracket[i];
            let d = momentum.direct(&mut m[i], y);
            e[i] += move_by(&mut x[i], -eta * d);
            // d - b r - delta; `mix` makes z of d.
            bracket[i] = d - (g[i] + (b - 1.0) * pull);
        }
        self.hats.send(message);
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        self.change.fill(0.0);
        self.hats.follow(inbox, &mut self.change);
        self.pull.shift(&self.change);
        let rate_per_eta = self.pull.rate() * (1.0 / eta);
        let (bracket, change) = (&mut self.bracket[..n], &self.change[..n]);
        for i in 0..n {
            bracket[i] -= change[i] * rate_per_eta;
        }
    }

    fn resync(&mut self, models: &dyn Inbox) {
        self.pull.measure(models);
        self.hats.forget_error();
    }

    fn set_averaging_rate(&mut self, rate: f32) -> bool {
        self.pull.set_rate(rate);
        true
    }

    fn sends_moves(&self) -> bool {
        true
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut all =
            vec![Tensor::new("x", &mut self.x), Tensor::new("bracket", &mut self.bracket)];
        all.extend(self.pull.tensors());
        all.extend(self.hats.tensors());
        all.extend(M::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all
    }
}
