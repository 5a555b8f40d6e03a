//! Gradient tracking (Di Lorenzo & Scutari 2016; Koloskova et al., NeurIPS 2021), the
//! paper's eq. gt: twice DSGD's traffic, and exact on heterogeneous data.
//!
//! ```text
//! y_i = Σ_j w_ij y_j' - g_i' + g_i
//! x_i <- Σ_j w_ij (x_j - eta y_j)              adapt then combine
//! x_i <- Σ_j w_ij x_j - eta y_i                adapt while combining
//! ```

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::step_order::StepOrder;
use crate::{Algorithm, Inbox, Tensor, for_each_mixed};

/// Gradient tracking in the order `O`. A message is `x - eta y`, or `x` if the step is not mixed;
/// then `y`.
pub struct GradientTracking<O: StepOrder> {
    order: PhantomData<O>,
    x: Vec<f32>,
    /// `Σ_j w_ij y_j' - g'`, added to the next gradient.
    correction: Vec<f32>,
}

impl<O: StepOrder> GradientTracking<O> {
    /// Starts from `x0`.
    pub fn new(x0: &[f32]) -> Self {
        GradientTracking { order: PhantomData, x: x0.to_vec(), correction: vec![0.0; x0.len()] }
    }
}

impl<O: StepOrder> Algorithm for GradientTracking<O> {
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
        let (x, correction) = (&self.x[..n], &mut self.correction[..n]);
        for i in 0..n {
            let y = g[i] + correction[i];
            sent[i] = if O::STEP_FIRST { x[i] - eta * y } else { x[i] };
            tracked[i] = y;
            correction[i] = -g[i];
        }
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        let n = self.x.len();
        mix_models::<O>(&mut self.x, inbox, eta);
        let correction = &mut self.correction[..n];
        for_each_mixed(inbox, n, 2 * n, |start, wy| {
            let n = wy.len();
            let correction = &mut correction[start..][..n];
            for i in 0..n {
                correction[i] += wy[i];
            }
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::new("x", &mut self.x), Tensor::new("correction", &mut self.correction)]
    }
}

/// `x <- W` of the first halves of the messages, minus `eta y` if the step is not mixed; the own
/// `y` is the second half of the own message.
pub(super) fn mix_models<O: StepOrder>(x: &mut [f32], inbox: &dyn Inbox, eta: f32) {
    let n = x.len();
    let y = &inbox.message(inbox.own())[n..][..n];
    for_each_mixed(inbox, 0, n, |start, wx| {
        let n = wx.len();
        let (x, y) = (&mut x[start..][..n], &y[start..][..n]);
        if O::STEP_FIRST {
            x.copy_from_slice(wx);
        } else {
            for i in 0..n {
                x[i] = wx[i] - eta * y[i];
            }
        }
    });
}
