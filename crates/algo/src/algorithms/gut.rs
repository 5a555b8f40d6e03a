//! Global Update Tracking (Aketi, Hashemi, Roy, NeurIPS 2023), Algorithm 1 in the
//! O(1)-memory form of its appendix, and QG-GUTm, its version with momentum.
//!
//! ```text
//! g     = ∇F_i(s)                                line 4: at the mixed model
//! delta = g - (s - x)/eta                        line 5: delta alone is DSGD
//! y     = delta + mu [ W y' - b r - delta' ]     line 6: track the global update
//! x    -= eta y;   s -= eta W y                  lines 8, 9
//! ```
//!
//! `'` is the previous round. The readings differ in the reference `r`, the gossip
//! part that is subtracted from what the neighbours sent:
//!
//! - *printed*: `r = (s - x)/eta` of this round;
//! - *released*, which produced the paper's tables: `r = (s' - x')/eta'`.
//!
//! With momentum on `y` (QG-GUTm) the direction `d` replaces `y` in the message and the
//! bracket, and `b` is the momentum's gain. With momentum on `g` (GUTm) the local momentum
//! replaces `g`.
//!
//! # The state, and why
//!
//! The state holds the pull `p = s - x` instead of `s` (`pull.rs` says why). A message is the
//! difference of two `f32` models, so the neighbours add exactly the distance by which this
//! agent moved. With mu = 1 the tracked mean would never forget the rounding error of that
//! move, so the bracket subtracts it.
//!
//! Every term of the bracket belongs to the previous round and is divided by *that*
//! round's step size: otherwise each decay of the step size would break mean(y) = mean(g).
//!
//! An averaging rate that changes over the run replaces W by `W_t = (1 - rate) I + rate W`, the one
//! at which the messages of round t are mixed: `s = W_t' x` in the round after. With mu = 0 this is
//! DSGD at the same rates. mean(y) = mean(g) as before, since the mean over the agents of every
//! pull is zero.

use alloc::vec;
use alloc::vec::Vec;

use super::move_by;
use super::pull::Pull;
use crate::momentum::Momentum;
use crate::{Algorithm, GradientAt, Inbox, Tensor};

/// Which round's gossip part the bracket subtracts; a type, so that the loop has no branch.
pub trait ReadingKind: Copy + Send + Sync + 'static {
    /// True if the reference is this round's pull, as printed.
    const THIS_ROUND: bool;
}

/// The reading of the printed algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Printed;

/// The reading that produced the paper's tables.
#[derive(Clone, Copy, Debug)]
pub struct Released;

impl ReadingKind for Printed {
    const THIS_ROUND: bool = true;
}

impl ReadingKind for Released {
    const THIS_ROUND: bool = false;
}

/// GUT with momentum `L` on the local gradient and `M` on the tracked update, the
/// reading `R`, and the pull kept as `P`.
pub struct Gut<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> {
    mu: f32,
    local: L,
    momentum: M,
    reading: core::marker::PhantomData<R>,
    gradient_at: GradientAt,
    x: Vec<f32>,
    pull: P,
    bracket: Vec<f32>,
    v: Vec<L::Slot>,
    m: Vec<M::Slot>,
}

impl<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> Gut<L, M, R, P> {
    /// Starts from `x0`, which all agents must share; call `resync` if they do not.
    pub fn new(x0: &[f32], mu: f32, local: L, momentum: M, gradient_at: GradientAt) -> Self {
        let n = x0.len();
        Gut {
            mu,
            local,
            momentum,
            reading: core::marker::PhantomData,
            gradient_at,
            x: x0.to_vec(),
            pull: P::none(n),
            bracket: vec![0.0; n],
            v: vec![L::Slot::default(); n],
            m: vec![M::Slot::default(); n],
        }
    }

    /// The pull, for the form that keeps every neighbour's copy.
    pub(super) fn pull(&mut self) -> &mut P {
        &mut self.pull
    }
}

impl<L: Momentum, M: Momentum, R: ReadingKind, P: Pull> Algorithm for Gut<L, M, R, P> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn probe(&self, at: &mut [f32]) {
        match self.gradient_at {
            GradientAt::Mixed => self.pull.write_mixed_model(&self.x, at),
            GradientAt::Local => at.copy_from_slice(&self.x),
        }
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (g, message) = (&grad[..n], &mut message[..n]);
        let (x, p) = (&mut self.x[..n], &self.pull.p()[..n]);
        let bracket = &mut self.bracket[..n];
        let (v, m) = (&mut self.v[..n], &mut self.m[..n]);
        let (local, momentum, mu, b) = (self.local, self.momentum, self.mu, self.momentum.gain());
        let per_eta = 1.0 / eta;
        let rate_per_eta = self.pull.rate() * per_eta;

        for i in 0..n {
            let pull = p[i] * rate_per_eta; // (s - x)/eta
            let u = local.direct(&mut v[i], g[i]);
            let delta = u - pull;
            let reference = if R::THIS_ROUND { b * pull } else { 0.0 };
            let y = delta + mu * (bracket[i] - reference);
            let d = momentum.direct(&mut m[i], y);

            let moved = move_by(&mut x[i], -eta * d);
            let rounding = if P::EXACT { -moved * per_eta - d } else { 0.0 };
            // The bracket of the next round without W d, which `mix` adds.
            let own = if R::THIS_ROUND { delta } else { u + (b - 1.0) * pull };
            bracket[i] = -own - rounding;
            message[i] = moved;
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        let per_eta = 1.0 / eta;
        let momentum = self.momentum;
        let (bracket, m) = (&mut self.bracket[..n], &mut self.m[..n]);
        self.pull.follow(inbox, |start, moved| {
            let n = moved.len();
            let (bracket, m) = (&mut bracket[start..][..n], &mut m[start..][..n]);
            for i in 0..n {
                let wd = -moved[i] * per_eta; // Σ_j w_ij d_j
                bracket[i] += wd;
                momentum.settle(&mut m[i], wd);
            }
        });
    }

    fn resync(&mut self, models: &dyn Inbox) {
        // The bracket stays: at the optimum it is -g_i, and with mu = 1 resetting it at one
        // agent would break mean(y) = mean(g) for ever.
        self.pull.measure(models);
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
        all.extend(L::values(&mut self.v).map(|v| Tensor::new("v", v)));
        all.extend(M::values(&mut self.m).map(|m| Tensor::new("m", m)));
        all
    }
}
