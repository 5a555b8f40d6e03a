//! The two passes over each image, a span of whole groups at a time: sums per channel, then
//! every float.

use super::EvoNorm;
use super::gate::Gate;
use crate::batch::{Batch, BatchMut};
use crate::channelwise::blocks::{blocks, groups_of, spans};
use crate::channelwise::{BLOCK, OfBlock, PixelMap, Totals, map_pixels, sum_in_parts};
use crate::dispatch::per_path;
use crate::group_stats::{Stats, group_stats};
use crate::lanes::Lanes;

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
    ) => lanes forward_body
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
    ) => lanes backward_body
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn forward_body<G: Gate, V: Lanes>(
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
    let mut totals = None; // nobody sums if the stats are known
    let [mut scale, mut start] = [OfBlock::new(); 2];
    for image in 0..images {
        let z = z.image(image);
        for span in spans(groups, per_group) {
            let at = 2 * groups * image..2 * groups * (image + 1);
            let stats = match &mut stats {
                Stats::Known(known) => &known[at],
                Stats::Save(stats) => {
                    let stats = &mut stats[at];
                    let totals = totals.get_or_insert_with(Totals::new);
                    // SAFETY: the caller's promise.
                    unsafe { group_stats::<V>(z, span.clone(), per_group, eps, totals, stats) };
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
                let y = y.image(image);
                // SAFETY: the caller's promise.
                unsafe { map_pixels::<Forward<G>, V, 3>(z, z, block, coefficients, y) };
            }
        }
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn backward_body<G: Gate, V: Lanes>(
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
                // SAFETY: the caller's promise.
                unsafe { G::sum_pixels::<V>(z, dy, block.clone(), v, &mut totals) };
                for (group, channels) in groups_of(block.clone(), per_group) {
                    let r = f64::from(inverses[group]);
                    let of_block = channels.start - block.start..channels.end - block.start;
                    let [of_dy, of_f, of_v] = &totals.of;
                    let (of_dy, of_f) = (&of_dy[of_block.clone()], &of_f[of_block.clone()]);
                    let gamma = &gamma[channels.clone()];
                    s += sum_in_parts(gamma.len(), |c| f64::from(gamma[c]) * of_f[c]);
                    for (dbeta, of_dy) in dbeta[channels.clone()].iter_mut().zip(of_dy) {
                        *dbeta += *of_dy as f32;
                    }
                    for (dgamma, of_f) in dgamma[channels.clone()].iter_mut().zip(of_f) {
                        *dgamma += (r * of_f) as f32;
                    }
                    if G::LEARNED {
                        let of_v = gamma.iter().zip(&of_v[of_block]);
                        for (dv, (gamma, of_v)) in dv[channels.clone()].iter_mut().zip(of_v) {
                            *dv += (f64::from(*gamma) * r * of_v) as f32;
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
                let len = block.len();
                let own = [&scale, &pull, &mean].map(|of| &of.0[..len]);
                let coefficients = [own[0], own[1], own[2], &v[block.clone()]];
                let dz = dz.image(image);
                // SAFETY: the caller's promise.
                unsafe { map_pixels::<Backward<G>, V, 4>(z, dy, block, coefficients, dz) };
            }
        }
    }
}

/// y from x.
struct Forward<G>(G);

impl<G: Gate> PixelMap<3> for Forward<G> {
    #[inline(always)]
    fn map<V: Lanes>(x: V, _: V, [scale, beta, v]: [V; 3]) -> V {
        scale.times(G::value(x, v), beta)
    }
}

/// dx from x and dy.
struct Backward<G>(G);

impl<G: Gate> PixelMap<4> for Backward<G> {
    #[inline(always)]
    fn map<V: Lanes>(x: V, dy: V, [scale, pull, mean, v]: [V; 4]) -> V {
        (scale * dy).times(G::slope(x, v), pull * (x - mean))
    }
}
