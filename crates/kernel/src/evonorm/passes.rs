//! The two passes over each image: sums per channel, then every float.

use super::EvoNorm;
use super::gate::Gate;
use crate::batch::{Batch, BatchMut};
use crate::channelwise::{PixelMap, PixelSums, map_pixels, sum_pixels};
use crate::dispatch::{multiply_add, per_path};
use crate::group_stats::group_stats;

per_path! {
    pub(super) fn forward<G: Gate>(
        layer: &EvoNorm,
        images: usize,
        z: Batch<'_>,
        gamma: &[f32],
        beta: &[f32],
        v: &[f32],
        y: BatchMut<'_>,
        stats: &mut [f32],
    ) => forward_body
}

per_path! {
    pub(super) fn backward<G: Gate>(
        layer: &EvoNorm,
        images: usize,
        z: Batch<'_>,
        dy: Batch<'_>,
        gamma: &[f32],
        v: &[f32],
        stats: &[f32],
        dz: BatchMut<'_>,
        dgamma: &mut [f32],
        dbeta: &mut [f32],
        dv: &mut [f32],
    ) => backward_body
}

#[inline(always)]
fn forward_body<G: Gate, const FMA: bool>(
    layer: &EvoNorm,
    images: usize,
    z: Batch<'_>,
    gamma: &[f32],
    beta: &[f32],
    v: &[f32],
    mut y: BatchMut<'_>,
    stats: &mut [f32],
) {
    let EvoNorm { channels, groups, eps, .. } = *layer;
    let per_group = channels / groups;
    let mut sums = vec![[0.0; 2]; channels];
    let mut scale = vec![0.0; channels];
    for image in 0..images {
        let z = z.image(image);
        let stats = &mut stats[2 * groups * image..][..2 * groups];
        group_stats::<FMA>(z, groups, eps, &mut sums, stats);
        let scales = scale.chunks_exact_mut(per_group).zip(gamma.chunks_exact(per_group));
        for ((scale, gamma), r) in scales.zip(&stats[groups..]) {
            for c in 0..per_group {
                scale[c] = gamma[c] * r;
            }
        }
        map_pixels::<Forward<G>, FMA, 3>(z, z, [&scale, beta, v], y.image(image));
    }
}

#[inline(always)]
fn backward_body<G: Gate, const FMA: bool>(
    layer: &EvoNorm,
    images: usize,
    z: Batch<'_>,
    dy: Batch<'_>,
    gamma: &[f32],
    v: &[f32],
    stats: &[f32],
    mut dz: BatchMut<'_>,
    dgamma: &mut [f32],
    dbeta: &mut [f32],
    dv: &mut [f32],
) {
    let EvoNorm { channels, groups, .. } = *layer;
    let per_group = channels / groups;
    let n = (z.shape.height * z.shape.width * per_group) as f64;
    let mut sums = vec![[0.0; 3]; channels];
    let mut coefficients = vec![0.0; 3 * channels];
    let (scale, rest) = coefficients.split_at_mut(channels);
    let (pull, mean) = rest.split_at_mut(channels);
    for image in 0..images {
        let (z, dy) = (z.image(image), dy.image(image));
        let (means, inverses) = stats[2 * groups * image..][..2 * groups].split_at(groups);
        sum_pixels::<Backward<G>, FMA, 1, 3>(z, dy, [v], &mut sums);
        for group in 0..groups {
            let r = f64::from(inverses[group]);
            let of_group = group * per_group..(group + 1) * per_group;
            let mut s = 0.0;
            for c in of_group.clone() {
                s += f64::from(gamma[c]) * sums[c][1];
            }
            let pull_of_group = (-r * r * r / n * s) as f32;
            for c in of_group {
                scale[c] = gamma[c] * inverses[group];
                pull[c] = pull_of_group;
                mean[c] = means[group];
                dbeta[c] += sums[c][0] as f32;
                dgamma[c] += (r * sums[c][1]) as f32;
                if G::LEARNED {
                    dv[c] += (f64::from(gamma[c]) * r * sums[c][2]) as f32;
                }
            }
        }
        map_pixels::<Backward<G>, FMA, 4>(z, dy, [scale, pull, mean, v], dz.image(image));
    }
}

/// y from x.
struct Forward<G>(G);

impl<G: Gate> PixelMap<3> for Forward<G> {
    #[inline(always)]
    fn map<const FMA: bool>(x: f32, _: f32, [scale, beta, v]: [f32; 3]) -> f32 {
        multiply_add::<FMA>(scale, G::value::<FMA>(x, v), beta)
    }
}

/// The sums of dy, f dy and df/dv dy; then dx.
struct Backward<G>(G);

impl<G: Gate> PixelSums<1, 3> for Backward<G> {
    #[inline(always)]
    fn add<const FMA: bool>(x: f32, dy: f32, [v]: [f32; 1], sums: [f32; 3]) -> [f32; 3] {
        let [of_dy, of_f, of_v] = sums;
        let (f, df_dv) = G::value_and_dv::<FMA>(x, v);
        let of_v = if G::LEARNED { multiply_add::<FMA>(df_dv, dy, of_v) } else { of_v };
        [of_dy + dy, multiply_add::<FMA>(f, dy, of_f), of_v]
    }
}

impl<G: Gate> PixelMap<4> for Backward<G> {
    #[inline(always)]
    fn map<const FMA: bool>(x: f32, dy: f32, [scale, pull, mean, v]: [f32; 4]) -> f32 {
        multiply_add::<FMA>(scale * dy, G::slope::<FMA>(x, v), pull * (x - mean))
    }
}
