//! The two passes over each image, a span of whole groups at a time: sums per channel, then
//! every float.

use super::EvoNorm;
use super::gate::Gate;
use crate::batch::{Batch, BatchMut};
use crate::channelwise::blocks::{blocks, groups_of, spans};
use crate::channelwise::{BLOCK, OfBlock, PixelMap, PixelSums, Totals, map_pixels, sum_pixels};
use crate::dispatch::{multiply_add, per_path};
use crate::group_stats::{Stats, group_stats};

per_path! {
    pub(super) fn forward<G: Gate>(
        layer: &EvoNorm,
        images: usize,
        z: Batch<'_>,
        gamma: &[f32],
        beta: &[f32],
        v: &[f32],
        y: BatchMut<'_>,
        stats: Stats<'_>,
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
    mut stats: Stats<'_>,
) {
    let EvoNorm { channels, groups, eps, .. } = *layer;
    let per_group = channels / groups;
    let mut totals = Totals::new();
    let [mut scale, mut start] = [OfBlock::new(); 2];
    for image in 0..images {
        let z = z.image(image);
        for span in spans(groups, per_group) {
            let at = 2 * groups * image..2 * groups * (image + 1);
            let stats = match &mut stats {
                Stats::Known(known) => &known[at],
                Stats::Save(stats) => {
                    let stats = &mut stats[at];
                    group_stats::<FMA>(z, span.clone(), per_group, eps, &mut totals, stats);
                    stats
                }
            };
            for block in blocks(span) {
                for (group, channels) in groups_of(block.clone(), per_group) {
                    let r = stats[groups + group];
                    let scale = &mut scale.0[channels.start - block.start..][..channels.len()];
                    for (scale, gamma) in scale.iter_mut().zip(&gamma[channels]) {
                        *scale = gamma * r;
                    }
                }
                let start = start.copied(&beta[block.clone()]);
                let coefficients = [&scale.0[..block.len()], start, &v[block.clone()]];
                map_pixels::<Forward<G>, FMA, 3>(z, z, block, coefficients, y.image(image));
            }
        }
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
    let mut totals = Totals::new();
    let [mut scale, mut pull, mut mean] = [OfBlock::new(); 3];
    let mut pull_of_group = [0.0; BLOCK];
    for image in 0..images {
        let (z, dy) = (z.image(image), dy.image(image));
        let (means, inverses) = stats[2 * groups * image..][..2 * groups].split_at(groups);
        for span in spans(groups, per_group) {
            let first_group = span.start / per_group;
            let mut s = 0.0;
            for block in blocks(span.clone()) {
                let gates = [&v[block.clone()]];
                sum_pixels::<Backward<G>, FMA, 1, 3>(z, dy, block.clone(), gates, &mut totals);
                for (group, channels) in groups_of(block.clone(), per_group) {
                    let r = f64::from(inverses[group]);
                    for c in channels.clone() {
                        let at = c - block.start;
                        let (of_dy, of_f) = (totals.of[0][at], totals.of[1][at]);
                        s += f64::from(gamma[c]) * of_f;
                        dbeta[c] += of_dy as f32;
                        dgamma[c] += (r * of_f) as f32;
                        if G::LEARNED {
                            dv[c] += (f64::from(gamma[c]) * r * totals.of[2][at]) as f32;
                        }
                    }
                    if channels.end == (group + 1) * per_group {
                        pull_of_group[group - first_group] = (-r * r * r / n * s) as f32;
                        s = 0.0;
                    }
                }
            }
            for block in blocks(span) {
                for (group, channels) in groups_of(block.clone(), per_group) {
                    let at = channels.start - block.start..channels.end - block.start;
                    for (scale, gamma) in scale.0[at.clone()].iter_mut().zip(&gamma[channels]) {
                        *scale = gamma * inverses[group];
                    }
                    pull.0[at.clone()].fill(pull_of_group[group - first_group]);
                    mean.0[at].fill(means[group]);
                }
                let [scale, pull, mean] = [&scale, &pull, &mean];
                let len = block.len();
                let coefficients =
                    [&scale.0[..len], &pull.0[..len], &mean.0[..len], &v[block.clone()]];
                map_pixels::<Backward<G>, FMA, 4>(z, dy, block, coefficients, dz.image(image));
            }
        }
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
