//! EvoNorm: normalisation and activation in one layer, without statistics of the batch.
//!
//! For each image, with r_g = 1 / sqrt(var_g(x) + eps) over the pixels and channels of a
//! group (biased variance, n floats, mean m_g):
//!
//! ```text
//! forward    y  = gamma f(x) r + beta
//! backward   dx = gamma r f'(x) dy - (r^3 / n) S (x - m),   S = sum_group gamma f(x) dy
//!            dgamma += r sum f(x) dy     dbeta += sum dy     dv += gamma r sum df/dv dy
//! ```
//!
//! with f(x) = x hardsigmoid(x), hardsigmoid(x) = clamp(x/6 + 1/2, 0, 1), or, in the
//! published EvoNorm-S0 (Liu et al., 2020), f(x) = x sigmoid(v x) with a learned v per
//! channel.

use crate::Isa;
use crate::Shape;
use crate::batch::{Batch, BatchMut, assert_same_inside};
use crate::dispatch::Instructions;
use crate::group_stats::{IndivisibleChannels, Stats};
use gate::{Hard, S0};
use passes::{Backward, Forward, InputGrad, ParameterGrads, Rematerialise};
use std::marker::PhantomData;

mod gate;
mod passes;

/// Which function of x is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvoNormForm {
    /// f(x) = x hardsigmoid(x); nothing learned but gamma and beta.
    HardSigmoid,
    /// f(x) = x sigmoid(v x), v learned per channel.
    S0,
}

/// Runs `$call` with the [`Gate`](gate::Gate) of a form.
macro_rules! with_gate {
    ($form:expr, $gate:ident => $call:expr) => {
        match $form {
            EvoNormForm::HardSigmoid => {
                let $gate = PhantomData::<Hard>;
                $call
            }
            EvoNormForm::S0 => {
                let $gate = PhantomData::<S0>;
                $call
            }
        }
    };
}

/// An EvoNorm layer's constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvoNorm {
    channels: usize,
    groups: usize,
    eps: f32,
    form: EvoNormForm,
}

impl EvoNorm {
    /// A layer with `groups` groups (the papers use 8) and eps = 1e-5.
    ///
    /// # Errors
    /// If `groups` does not divide `channels`.
    pub fn new(
        channels: usize,
        groups: usize,
        form: EvoNormForm,
    ) -> Result<Self, IndivisibleChannels> {
        IndivisibleChannels::check(channels, groups)?;
        Ok(EvoNorm { channels, groups, eps: 1e-5, form })
    }

    /// The same layer with another eps.
    pub fn with_eps(self, eps: f32) -> Self {
        EvoNorm { eps, ..self }
    }

    /// Floats that [`forward`](Self::forward) saves: per image, the mean of every group,
    /// then its 1 / sqrt(var + eps).
    pub fn stats_len(&self, images: usize) -> usize {
        2 * self.groups * images
    }

    /// y = gamma f(z) / sqrt(var + eps) + beta. Only [`EvoNormForm::S0`] has a `v`.
    ///
    /// # Panics
    /// If a length or shape does not fit, `v` is missing for S0, or this machine
    /// lacks `isa`.
    pub fn forward(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        v: Option<&[f32]>,
        y: &mut [f32],
        y_shape: Shape,
        stats: &mut [f32],
    ) {
        let stats = Stats::Save(stats);
        self.run_forward(isa, images, z, z_shape, gamma, beta, v, y, y_shape, stats);
    }

    /// The same `y` again, from the statistics that [`forward`](Self::forward) saved.
    ///
    /// # Panics
    /// If a length or shape does not fit, `v` is missing for S0, or this machine
    /// lacks `isa`.
    pub fn forward_again(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        v: Option<&[f32]>,
        y: &mut [f32],
        y_shape: Shape,
        stats: &[f32],
    ) {
        let stats = Stats::Known(stats);
        self.run_forward(isa, images, z, z_shape, gamma, beta, v, y, y_shape, stats);
    }

    fn run_forward(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        v: Option<&[f32]>,
        y: &mut [f32],
        y_shape: Shape,
        stats: Stats<'_>,
    ) {
        assert_same_inside(&[z_shape, y_shape]);
        let v = self.v_or_any(gamma, v);
        self.check(z_shape, images, &[gamma.len(), beta.len(), v.len()], stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let y = BatchMut::new("y", images, y, y_shape);
        with_gate!(self.form, gate => Instructions::expect(isa).run(Forward {
            gate, layer: self, images, z, gamma, beta, v, y, stats,
        }));
    }

    /// Writes dz, and adds to dgamma, dbeta and (for S0 only) dv, image by image. `z` and
    /// `stats` are those of the forward pass.
    ///
    /// # Panics
    /// If a length or shape does not fit, `v` or `dv` is missing for S0, or this machine
    /// lacks `isa`.
    pub fn backward(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        dy: &[f32],
        dy_shape: Shape,
        gamma: &[f32],
        v: Option<&[f32]>,
        stats: &[f32],
        dz: &mut [f32],
        dz_shape: Shape,
        dgamma: &mut [f32],
        dbeta: &mut [f32],
        dv: Option<&mut [f32]>,
    ) {
        assert_same_inside(&[z_shape, dy_shape, dz_shape]);
        let v = self.v_or_any(gamma, v);
        let parameters = [gamma.len(), v.len(), dgamma.len(), dbeta.len()];
        self.check(z_shape, images, &parameters, stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let dz = BatchMut::new("dz", images, dz, dz_shape);
        let grads = self.parameter_grads(dgamma, dbeta, dv);
        with_gate!(self.form, gate => Instructions::expect(isa).run(Backward {
            gate, layer: self, images, z, dy, gamma, v, stats, dz, grads,
        }));
    }

    /// Floats that [`rematerialise`](Self::rematerialise) saves: one per image and group.
    pub fn pulls_len(&self, images: usize) -> usize {
        self.groups * images
    }

    /// The first half of a backward pass that needs `y` again, because it was not kept:
    /// [`forward_again`](Self::forward_again) and all sums of [`backward`](Self::backward) in
    /// one pass over `z` and `dy`. The second half is [`input_grad`](Self::input_grad).
    ///
    /// # Panics
    /// If a length or shape does not fit, `v` or `dv` is missing for S0, or this machine
    /// lacks `isa`.
    pub fn rematerialise(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        dy: &[f32],
        y_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        v: Option<&[f32]>,
        stats: &[f32],
        y: &mut [f32],
        pulls: &mut [f32],
        dgamma: &mut [f32],
        dbeta: &mut [f32],
        dv: Option<&mut [f32]>,
    ) {
        assert_same_inside(&[z_shape, y_shape]);
        let v = self.v_or_any(gamma, v);
        let parameters = [gamma.len(), beta.len(), v.len(), dgamma.len(), dbeta.len()];
        self.check(z_shape, images, &parameters, stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let dy = Batch::new("dy", images, dy, y_shape);
        let y = BatchMut::new("y", images, y, y_shape);
        let grads = self.parameter_grads(dgamma, dbeta, dv);
        with_gate!(self.form, gate => Instructions::expect(isa).run(Rematerialise {
            gate, layer: self, images, z, dy, gamma, beta, v, stats, y, pulls, grads,
        }));
    }

    /// Writes the dz of [`backward`](Self::backward), from the `pulls` that
    /// [`rematerialise`](Self::rematerialise) saved.
    ///
    /// # Panics
    /// If a length or shape does not fit, `v` is missing for S0, or this machine
    /// lacks `isa`.
    pub fn input_grad(
        &self,
        isa: Isa,
        images: usize,
        z: &[f32],
        z_shape: Shape,
        dy: &[f32],
        dy_shape: Shape,
        gamma: &[f32],
        v: Option<&[f32]>,
        stats: &[f32],
        pulls: &[f32],
        dz: &mut [f32],
        dz_shape: Shape,
    ) {
        assert_same_inside(&[z_shape, dy_shape, dz_shape]);
        let v = self.v_or_any(gamma, v);
        self.check(z_shape, images, &[gamma.len(), v.len()], stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let dz = BatchMut::new("dz", images, dz, dz_shape);
        with_gate!(self.form, gate => Instructions::expect(isa).run(InputGrad {
            gate, layer: self, images, z, dy, gamma, v, stats, pulls, dz,
        }));
    }

    fn parameter_grads<'a>(
        &self,
        gamma: &'a mut [f32],
        beta: &'a mut [f32],
        dv: Option<&'a mut [f32]>,
    ) -> ParameterGrads<'a> {
        let v = dv.unwrap_or_default();
        if self.form == EvoNormForm::S0 {
            assert_eq!(v.len(), self.channels, "EvoNorm-S0 needs dv, a float per channel");
        }
        ParameterGrads { gamma, beta, v }
    }

    /// The v of every channel. The hard form has none and never reads it: any slice will do.
    fn v_or_any<'a>(&self, gamma: &'a [f32], v: Option<&'a [f32]>) -> &'a [f32] {
        match self.form {
            EvoNormForm::HardSigmoid => gamma,
            EvoNormForm::S0 => v.unwrap_or_default(),
        }
    }

    fn check(&self, shape: Shape, images: usize, parameters: &[usize], stats: usize) {
        assert_eq!(shape.channels, self.channels, "channels of the images and of the layer");
        for &len in parameters {
            assert_eq!(len, self.channels, "one parameter (gamma, beta, v) per channel");
        }
        assert!(stats >= self.stats_len(images), "{stats} floats for stats of {images} images");
    }
}
