//! Group normalisation (Wu and He, 2018).
//!
//! For each image, with the mean m_g and r_g = 1 / sqrt(var_g + eps) of the n floats of a
//! group (biased variance), and the normalised h = (x - m) r:
//!
//! ```text
//! forward    y  = gamma h + beta
//! backward   dx = r (gamma dy - mean_group(gamma dy) - h mean_group(gamma h dy))
//!            dgamma += sum h dy     dbeta += sum dy
//! ```

use crate::Isa;
use crate::Shape;
use crate::batch::{Batch, BatchMut, assert_same_inside};
use crate::channelwise::blocks::{blocks, groups_of, spans};
use crate::channelwise::{
    BLOCK, PixelMap, PixelSums, Totals, map_pixels, sum_in_parts, sum_pixels,
};
use crate::dispatch::{Instructions, Kernel};
use crate::group_stats::{IndivisibleChannels, Stats, group_stats};
use crate::vector::Vector;

/// A group normalisation's constants. One group is layer normalisation over the image,
/// as many groups as channels is instance normalisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupNorm {
    channels: usize,
    groups: usize,
    eps: f32,
}

impl GroupNorm {
    /// A layer with eps = 1e-5.
    ///
    /// # Errors
    /// If `groups` does not divide `channels`.
    pub fn new(channels: usize, groups: usize) -> Result<Self, IndivisibleChannels> {
        IndivisibleChannels::check(channels, groups)?;
        Ok(GroupNorm { channels, groups, eps: 1e-5 })
    }

    /// The same layer with another eps.
    pub fn with_eps(self, eps: f32) -> Self {
        GroupNorm { eps, ..self }
    }

    /// Floats that [`forward`](Self::forward) saves: per image, the mean of every group,
    /// then its 1 / sqrt(var + eps).
    pub fn stats_len(&self, images: usize) -> usize {
        2 * self.groups * images
    }

    /// y = gamma (x - mean) / sqrt(var + eps) + beta.
    ///
    /// # Panics
    /// If a length or shape does not fit, or this machine lacks `isa`.
    pub fn forward(
        &self,
        isa: Isa,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        y: &mut [f32],
        y_shape: Shape,
        stats: &mut [f32],
    ) {
        let stats = Stats::Save(stats);
        self.run_forward(isa, images, x, x_shape, gamma, beta, y, y_shape, stats);
    }

    /// The same `y` again, from the statistics that [`forward`](Self::forward) saved.
    ///
    /// # Panics
    /// If a length or shape does not fit, or this machine lacks `isa`.
    pub fn forward_again(
        &self,
        isa: Isa,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        y: &mut [f32],
        y_shape: Shape,
        stats: &[f32],
    ) {
        let stats = Stats::Known(stats);
        self.run_forward(isa, images, x, x_shape, gamma, beta, y, y_shape, stats);
    }

    fn run_forward(
        &self,
        isa: Isa,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        gamma: &[f32],
        beta: &[f32],
        y: &mut [f32],
        y_shape: Shape,
        stats: Stats<'_>,
    ) {
        assert_same_inside(&[x_shape, y_shape]);
        self.check(x_shape, images, &[gamma.len(), beta.len()], stats.len());
        let x = Batch::new("x", images, x, x_shape);
        let y = BatchMut::new("y", images, y, y_shape);
        let kernel = Forward { layer: self, images, x, gamma, beta, y, stats };
        Instructions::expect(isa).run(kernel);
    }

    /// Writes dx, and adds to dgamma and dbeta image by image. `x` and `stats` are those
    /// of the forward pass.
    ///
    /// # Panics
    /// If a length or shape does not fit, or this machine lacks `isa`.
    pub fn backward(
        &self,
        isa: Isa,
        images: usize,
        x: &[f32],
        x_shape: Shape,
        dy: &[f32],
        dy_shape: Shape,
        gamma: &[f32],
        stats: &[f32],
        dx: &mut [f32],
        dx_shape: Shape,
        dgamma: &mut [f32],
        dbeta: &mut [f32],
    ) {
        assert_same_inside(&[x_shape, dy_shape, dx_shape]);
        let parameters = [gamma.len(), dgamma.len(), dbeta.len()];
        self.check(x_shape, images, &parameters, stats.len());
        let x = Batch::new("x", images, x, x_shape);
        let dy = Batch::new("dy", images, dy, dy_shape);
        let dx = BatchMut::new("dx", images, dx, dx_shape);
        let kernel = Backward { layer: self, images, x, dy, gamma, stats, dx, dgamma, dbeta };
        Instructions::expect(isa).run(kernel);
    }

    fn check(&self, shape: Shape, images: usize, parameters: &[usize], stats: usize) {
        assert_eq!(shape.channels, self.channels, "channels of the images and of the layer");
        for &len in parameters {
            assert_eq!(len, self.channels, "one parameter (gamma, beta) per channel");
        }
        assert!(stats >= self.stats_len(images), "{stats} floats for stats of {images} images");
    }
}

/// y, and the statistics of the groups unless they are known.
struct Forward<'a> {
    layer: &'a GroupNorm,
    images: usize,
    x: Batch<'a>,
    gamma: &'a [f32],
    beta: &'a [f32],
    y: BatchMut<'a>,
    stats: Stats<'a>,
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Forward { layer, images, x, gamma, beta, mut y, mut stats } = self;
        let GroupNorm { channels, groups, eps } = *layer;
        let per_group = channels / groups;
        let mut totals = None; // needed only if the statistics are not known
        let [mut scale, mut mean] = [[0.0; BLOCK]; 2];
        for image in 0..images {
            let x = x.image(image);
            for span in spans(groups, per_group) {
                let at = 2 * groups * image..2 * groups * (image + 1);
                let stats = match &mut stats {
                    Stats::Known(known) => &known[at],
                    Stats::Save(stats) => {
                        let stats = &mut stats[at];
                        let totals = totals.get_or_insert_with(Totals::new);
                        // SAFETY: the caller's promise.
                        unsafe { group_stats::<V>(x, span.clone(), per_group, eps, totals, stats) };
                        stats
                    }
                };
                for block in blocks(span) {
                    for (group, channels) in groups_of(block.clone(), per_group) {
                        for c in channels {
                            mean[c - block.start] = stats[group];
                            scale[c - block.start] = gamma[c] * stats[groups + group];
                        }
                    }
                    let len = block.len();
                    let coefficients = [&scale[..len], &beta[block.clone()], &mean[..len]];
                    let y = y.image(image);
                    // SAFETY: the caller's promise.
                    unsafe { map_pixels::<Output, V, 3>(x, x, block, coefficients, y) };
                }
            }
        }
    }
}

/// dx and the gradients of the parameters.
struct Backward<'a> {
    layer: &'a GroupNorm,
    images: usize,
    x: Batch<'a>,
    dy: Batch<'a>,
    gamma: &'a [f32],
    stats: &'a [f32],
    dx: BatchMut<'a>,
    dgamma: &'a mut [f32],
    dbeta: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Backward { layer, images, x, dy, gamma, stats, mut dx, dgamma, dbeta } = self;
        let GroupNorm { channels, groups, .. } = *layer;
        let per_group = channels / groups;
        let n = (x.shape.height * x.shape.width * per_group) as f64;
        let mut totals = Totals::new();
        let [mut scale, mut pull, mut shift, mut mean] = [[0.0; BLOCK]; 4];
        let [mut pull_of_group, mut shift_of_group] = [[0.0; BLOCK]; 2];
        for image in 0..images {
            let (x, dy) = (x.image(image), dy.image(image));
            let (means, inverses) = stats[2 * groups * image..][..2 * groups].split_at(groups);
            for span in spans(groups, per_group) {
                let first_group = span.start / per_group;
                let (mut sum_dy, mut sum_x_dy) = (0.0, 0.0);
                for block in blocks(span.clone()) {
                    for (group, channels) in groups_of(block.clone(), per_group) {
                        mean[channels.start - block.start..channels.end - block.start]
                            .fill(means[group]);
                    }
                    let of_block = [&mean[..block.len()]];
                    // SAFETY: the caller's promise.
                    unsafe {
                        sum_pixels::<InputGrad, V, 1, 2>(
                            x,
                            dy,
                            block.clone(),
                            of_block,
                            &mut totals,
                        );
                    }
                    for (group, channels) in groups_of(block.clone(), per_group) {
                        let r = f64::from(inverses[group]);
                        let of_block = channels.start - block.start..channels.end - block.start;
                        let [of_dy, of_x_dy, _] = &totals.of;
                        let (of_dy, of_x_dy) = (&of_dy[of_block.clone()], &of_x_dy[of_block]);
                        let gamma = &gamma[channels.clone()];
                        sum_dy += sum_in_parts(gamma.len(), |c| f64::from(gamma[c]) * of_dy[c]);
                        sum_x_dy += sum_in_parts(gamma.len(), |c| f64::from(gamma[c]) * of_x_dy[c]);
                        for (dbeta, of_dy) in dbeta[channels.clone()].iter_mut().zip(of_dy) {
                            *dbeta += *of_dy as f32;
                        }
                        for (dgamma, of_x_dy) in dgamma[channels.clone()].iter_mut().zip(of_x_dy) {
                            *dgamma += (r * of_x_dy) as f32;
                        }
                        if channels.end == (group + 1) * per_group {
                            pull_of_group[group - first_group] = (-r * r * r / n * sum_x_dy) as f32;
                            shift_of_group[group - first_group] = (-r / n * sum_dy) as f32;
                            (sum_dy, sum_x_dy) = (0.0, 0.0);
                        }
                    }
                }
                for block in blocks(span) {
                    for (group, channels) in groups_of(block.clone(), per_group) {
                        for c in channels {
                            let at = c - block.start;
                            scale[at] = gamma[c] * inverses[group];
                            pull[at] = pull_of_group[group - first_group];
                            shift[at] = shift_of_group[group - first_group];
                            mean[at] = means[group];
                        }
                    }
                    let of_block = [&scale, &pull, &shift, &mean].map(|all| &all[..block.len()]);
                    let dx = dx.image(image);
                    // SAFETY: the caller's promise.
                    unsafe { map_pixels::<InputGrad, V, 4>(x, dy, block, of_block, dx) };
                }
            }
        }
    }
}

/// y from x.
struct Output;

impl PixelMap<3> for Output {
    #[inline(always)]
    fn map<V: Vector>(x: V, _: V, [scale, beta, mean]: [V; 3]) -> V {
        scale.mul_add(x - mean, beta)
    }
}

/// The sums of dy and (x - m) dy; then dx.
struct InputGrad;

impl PixelSums<1, 2> for InputGrad {
    #[inline(always)]
    fn add<V: Vector>(x: V, dy: V, [mean]: [V; 1], [s, q]: [V; 2]) -> [V; 2] {
        [s + dy, (x - mean).mul_add(dy, q)]
    }
}

impl PixelMap<4> for InputGrad {
    #[inline(always)]
    fn map<V: Vector>(x: V, dy: V, [scale, pull, shift, mean]: [V; 4]) -> V {
        scale.mul_add(dy, pull.mul_add(x - mean, shift))
    }
}
