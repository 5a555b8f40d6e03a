//! The pull `p = s - x`: how far the neighbourhood pulls the model away from where it is.
//!
//! Methods that send updates keep `p` instead of `s = Σ_j w_ij x_j`: it is small, so
//! dividing it by eta magnifies no rounding error. It is the sum of all moves so far,
//!
//! ```text
//! p += Σ_j w_ij moved_j - moved_i
//! ```
//!
//! so its rounding errors add up. Only their mean over the agents matters, because the mean of
//! all `p` should be zero and the tracked update carries a fraction mu of that error from round
//! to round. Below mu = 1 the error fades, and [`RoundedPull`] is good enough. At mu = 1 it
//! would drive the average away from the optimum, slowly and for ever, hence [`ExactPull`].
//!
//! An averaging rate that changes over the run ([`Pull::rate`]) multiplies the pull where it is
//! used: `(1 - rate) I + rate W` pulls by `rate p`. What is kept is the pull of W itself, so that a
//! new rate needs no message and adds no rounding error to the sum.

use alloc::vec;
use alloc::vec::Vec;

use crate::mixing::{BLOCK, for_each_difference, for_each_mixed, two_sum};
use crate::{Inbox, Tensor};

/// `s - x` of one agent.
pub trait Pull: Send + Sync {
    /// True if rounding errors are kept out of the mean over the agents.
    const EXACT: bool;

    /// A pull of zero: all agents share one model.
    fn none(len: usize) -> Self;

    /// The pull of W; times the [`rate`](Self::rate) it is `s - x`.
    fn p(&self) -> &[f32];

    /// The averaging rate at which the last messages were mixed.
    fn rate(&self) -> f32;

    /// Sets the averaging rate of the next mix.
    fn set_rate(&mut self, rate: f32);

    /// Computes the pull from the full models of the neighbourhood, own one included.
    fn measure(&mut self, models: &dyn Inbox);

    /// Adds the moves of the neighbourhood, and passes their sum `Σ_j w_ij moved_j`, at the
    /// averaging rate, to `consume` as `(first index, values)`.
    fn follow(&mut self, inbox: &dyn Inbox, consume: impl FnMut(usize, &[f32]));

    /// Adds `change`, what the messages of a round were found to move the pull by.
    fn shift(&mut self, change: &[f32]);

    /// The state, to save.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Writes `x + rate p`, the mixed model `s`.
    fn write_mixed_model(&self, x: &[f32], at: &mut [f32]) {
        let n = at.len();
        let (x, p, rate) = (&x[..n], &self.p()[..n], self.rate());
        for i in 0..n {
            at[i] = x[i] + rate * p[i];
        }
    }
}

/// The pull in one float per parameter.
pub struct RoundedPull {
    p: Vec<f32>,
    rate: f32,
}

impl Pull for RoundedPull {
    const EXACT: bool = false;

    fn none(len: usize) -> Self {
        RoundedPull { p: vec![0.0; len], rate: 1.0 }
    }

    fn p(&self) -> &[f32] {
        &self.p
    }

    fn rate(&self) -> f32 {
        self.rate
    }

    fn set_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    fn measure(&mut self, models: &dyn Inbox) {
        let p = &mut self.p;
        for_each_difference(models, |start, _, d, _| p[start..][..d.len()].copy_from_slice(d));
    }

    #[inline(always)]
    fn follow(&mut self, inbox: &dyn Inbox, mut consume: impl FnMut(usize, &[f32])) {
        let n = self.p.len();
        let (own, p, rate) = (&inbox.message(inbox.own())[..n], &mut self.p[..n], self.rate);
        let mut slowed = [0.0; BLOCK];
        for_each_mixed(inbox, 0, n, |start, moved| {
            let n = moved.len();
            let (own, p) = (&own[start..][..n], &mut p[start..][..n]);
            for i in 0..n {
                p[i] += moved[i] - own[i];
            }
            let slowed = &mut slowed[..n];
            if rate != 1.0 {
                for i in 0..n {
                    slowed[i] = own[i] + rate * (moved[i] - own[i]);
                }
            }
            consume(start, if rate == 1.0 { moved } else { slowed });
        });
    }

    fn shift(&mut self, change: &[f32]) {
        let n = self.p.len();
        let (p, change) = (&mut self.p[..n], &change[..n]);
        for i in 0..n {
            p[i] += change[i];
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("p", &mut self.p)]
    }
}

/// The pull in two floats per parameter: the second holds what the first cannot represent.
/// It is summed from differences that cancel between neighbours bit by bit.
pub struct ExactPull {
    p: Vec<f32>,
    rest: Vec<f32>,
    rate: f32,
}

impl Pull for ExactPull {
    const EXACT: bool = true;

    fn none(len: usize) -> Self {
        ExactPull { p: vec![0.0; len], rest: vec![0.0; len], rate: 1.0 }
    }

    fn p(&self) -> &[f32] {
        &self.p
    }

    fn rate(&self) -> f32 {
        self.rate
    }

    fn set_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    fn measure(&mut self, models: &dyn Inbox) {
        let (p, rest) = (&mut self.p, &mut self.rest);
        for_each_difference(models, |start, _, d, rounding| {
            p[start..][..d.len()].copy_from_slice(d);
            rest[start..][..d.len()].copy_from_slice(rounding);
        });
    }

    #[inline(always)]
    fn follow(&mut self, inbox: &dyn Inbox, mut consume: impl FnMut(usize, &[f32])) {
        let n = self.p.len();
        let (p, rest, rate) = (&mut self.p[..n], &mut self.rest[..n], self.rate);
        let mut moved = [0.0; BLOCK];
        for_each_difference(inbox, |start, own, d, rounding| {
            let n = d.len();
            let (own, rounding, moved) = (&own[..n], &rounding[..n], &mut moved[..n]);
            let (p, rest) = (&mut p[start..][..n], &mut rest[start..][..n]);
            for i in 0..n {
                let (sum, lost) = two_sum(p[i], d[i]);
                (p[i], rest[i]) = two_sum(sum, rest[i] + (lost + rounding[i]));
                moved[i] = own[i] + rate * d[i];
            }
            consume(start, moved);
        });
    }

    fn shift(&mut self, change: &[f32]) {
        let n = self.p.len();
        let (p, rest, change) = (&mut self.p[..n], &mut self.rest[..n], &change[..n]);
        for i in 0..n {
            let (sum, lost) = two_sum(p[i], change[i]);
            (p[i], rest[i]) = two_sum(sum, rest[i] + lost);
        }
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("p", &mut self.p), Tensor::new("p_rest", &mut self.rest)]
    }
}
