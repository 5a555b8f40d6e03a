//! Momentum Tracking, MT (Takezawa, Bao, Niwa, Sato, Yamada, TMLR 2023, arXiv:2209.15505):
//! gradient tracking of the momentum `u` in place of the gradient.
//!
//! ```text
//! u = beta u' + g
//! y = W y' + u - u'
//! x <- W x - eta y                    adapt while combining, as in the paper
//! x <- W (x - eta y)                  adapt then combine, as GT here
//! ```
//!
//! The paper writes it with `c = u - y`: `x <- W x - eta (u - c)`, `c <- W (c - u) + u`. Then
//! mean(c) = 0, that is mean(y) = mean(u), for any step sizes. Both vectors of a message are known
//! before the step, so one message a round is enough.
//!
//! # The start
//!
//! `start=zero`: u = c = 0, so the first direction is the agent's own gradient.
//!
//! `start=average`: `u = c = (g_i - mean_j g_j)/(1-beta)` of the first gradients at the common
//! start, as the paper prints it. An agent that hears its neighbours alone cannot know that mean,
//! so only a driver that has all agents offers it. In terms of `u` and `y` nothing else changes:
//! `y = u - u'` in the first round from either start.
//!
//! Both starts have mean(c) = 0 and reach the same fixed point.

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::gradient_tracking::mix_models;
use super::step_order::StepOrder;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// Momentum Tracking in the order `O`. A message is `x`, or `x - eta y` if the step is mixed; then
/// `y`.
pub struct MomentumTracking<O: StepOrder> {
    beta: f32,
    order: PhantomData<O>,
    x: Vec<f32>,
    u: Vec<f32>,
    /// `Σ_j w_ij y_j'`. Apart from `u`: near the optimum `u - u'` is small and loses no digits.
    wy: Vec<f32>,
}

impl<O: StepOrder> MomentumTracking<O> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32], beta: f32) -> Self {
        let n = x0.len();
        let (u, wy) = (vec![0.0; n], vec![0.0; n]);
        MomentumTracking { beta, order: PhantomData, x: x0.to_vec(), u, wy }
    }

    /// Starts from the momentum of an agent whose first gradient differs by this much from the mean
    /// over all agents.
    pub fn with_first_gradient(mut self, difference: &[f32]) -> Self {
        for (u, difference) in self.u.iter_mut().zip(difference) {
            *u = difference / (1.0 - self.beta);
        }
        self
    }
}

impl<O: StepOrder> Algorithm for MomentumTracking<O> {
    fn params(&self) -> &[f32] {
        &self.x
    }

    fn message_len(&self) -> usize {
        2 * self.x.len()
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        let n = self.x.len();
        let (sent, tracked) = message.split_at_mut(n);
        let (g, sent, tracked) = (&grad[..n], &mut sent[..n], &mut tracked[..n]);
        let (x, u, wy, beta) = (&self.x[..n], &mut self.u[..n], &self.wy[..n], self.beta);
        for i in 0..n {
            let before = u[i];
            u[i] = beta * before + g[i];
            let y = wy[i] + (u[i] - before);
            sent[i] = if O::STEP_FIRST { x[i] - eta * y } else { x[i] };
            tracked[i] = y;
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        mix_models::<O>(&mut self.x, inbox, eta);
        let wy = &mut self.wy[..n];
        for_each_mixed(inbox, n, 2 * n, |start, mixed| {
            wy[start..][..mixed.len()].copy_from_slice(mixed);
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::new("x", &mut self.x),
            Tensor::new("u", &mut self.u),
            Tensor::new("wy", &mut self.wy),
        ]
    }
}
