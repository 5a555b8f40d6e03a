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

use crate::Path;
use crate::Shape;
use crate::batch::{Batch, BatchMut, assert_same_inside};
use crate::group_stats::{IndivisibleChannels, Stats};
use gate::{Hard, S0};
use passes::{backward, forward};

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

    /// y = gamma f(z) / sqrt(var + eps) + beta. `v` belongs to [`EvoNormForm::S0`] alone.
    ///
    /// # Panics
    /// If a length or shape does not fit, or `v` is missing for S0.
    pub fn forward(
        &self,
        path: Path,
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
        self.run_forward(path, images, z, z_shape, gamma, beta, v, y, y_shape, stats);
    }

    /// The same `y` once more, by what [`forward`](Self::forward) saved.
    ///
    /// # Panics
    /// If a length or shape does not fit, or `v` is missing for S0.
    pub fn forward_again(
        &self,
        path: Path,
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
        self.run_forward(path, images, z, z_shape, gamma, beta, v, y, y_shape, stats);
    }

    fn run_forward(
        &self,
        path: Path,
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
        let gates = self.gates(gamma, v);
        self.check(z_shape, images, &[gamma.len(), beta.len(), gates.len()], stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let y = BatchMut::new("y", images, y, y_shape);
        match self.form {
            EvoNormForm::HardSigmoid => {
                forward::<Hard>(path, self, images, z, gamma, beta, gates, y, stats);
            }
            EvoNormForm::S0 => forward::<S0>(path, self, images, z, gamma, beta, gates, y, stats),
        }
    }

    /// Writes dz, and adds to dgamma, dbeta and (S0 alone) dv image by image. `z` and
    /// `stats` are those of the forward pass.
    ///
    /// # Panics
    /// If a length or shape does not fit, or `v` or `dv` is missing for S0.
    pub fn backward(
        &self,
        path: Path,
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
        let gates = self.gates(gamma, v);
        let parameters = [gamma.len(), gates.len(), dgamma.len(), dbeta.len()];
        self.check(z_shape, images, &parameters, stats.len());
        let z = Batch::new("z", images, z, z_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let dz = BatchMut::new("dz", images, dz, dz_shape);
        match self.form {
            EvoNormForm::HardSigmoid => backward::<Hard>(
                path,
                self,
                images,
                z,
                dy,
                gamma,
                gates,
                stats,
                dz,
                dgamma,
                dbeta,
                &mut [],
            ),
            EvoNormForm::S0 => {
                let dv = dv.unwrap_or_default();
                assert_eq!(dv.len(), self.channels, "EvoNorm-S0 needs dv, a float per channel");
                backward::<S0>(
                    path, self, images, z, dy, gamma, gates, stats, dz, dgamma, dbeta, dv,
                );
            }
        }
    }

    /// The v of every channel; the hard form never reads it and takes any slice.
    fn gates<'a>(&self, gamma: &'a [f32], v: Option<&'a [f32]>) -> &'a [f32] {
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
