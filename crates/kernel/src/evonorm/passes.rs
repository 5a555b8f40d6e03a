//! The two passes over each image, a span of whole groups at a time: sums per channel, then
//! every float.

use super::EvoNorm;
use super::gate::Gate;
use crate::batch::{Batch, BatchMut};
use crate::channelwise::blocks::{blocks, groups_of, spans};
use crate::channelwise::{BLOCK, OfBlock, PixelMap, Totals, map_pixels, sum_in_parts};
use crate::dispatch::per_path;
use crate::group_stats::{Stats, group_stats};
use crate::lanes::Vector;
use std::ops::Range;

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
        of: OfParameters<'_>,
    ) => lanes backward_body
}

per_path! {
    pub(super) fn rematerialise<G: Gate>(
        layer: &EvoNorm,
        images: usize,
        z: Batch<'_>,
        dy: Batch<'_>,
        gamma: &[f32],
        beta: &[f32],
        v: &[f32],
        stats: &[f32],
        y: BatchMut<'_>,
        pulls: &mut [f32],
        of: OfParameters<'_>,
    ) => lanes rematerialise_body
}

per_path! {
    pub(super) fn input_grad<G: Gate>(
        layer: &EvoNorm,
        images: usize,
        z: Batch<'_>,
        dy: Batch<'_>,
        gamma: &[f32],
        v: &[f32],
        stats: &[f32],
        pulls: &[f32],
        dz: BatchMut<'_>,
    ) => lanes input_grad_body
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn forward_body<G: Gate, V: Vector>(
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
                scale_block(block.clone(), per_group, gamma, &stats[groups..], &mut scale);
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
unsafe fn backward_body<G: Gate, V: Vector>(
    layer: &EvoNorm,
    images: usize,
    z: Batch<'_>,
    dy: Batch<'_>,
    gamma: &[f32],
    v: &[f32],
    stats: &[f32],
    mut dz: BatchMut<'_>,
    mut of: OfParameters<'_>,
) {
    let EvoNorm { channels, groups, .. } = *layer;
    let per_group = channels / groups;
    let mut totals = Totals::new();
    let mut pulls = [0.0; BLOCK];
    let mut room = [OfBlock::new(); 3];
    for image in 0..images {
        let (z, dy) = (z.image(image), dy.image(image));
        let stats = stats[2 * groups * image..][..2 * groups].split_at(groups);
        for span in spans(groups, per_group) {
            let mut s = 0.0;
            for block in blocks(span.clone()) {
                // SAFETY: the caller's promise.
                unsafe { G::sum_pixels::<V>(z, dy, block.clone(), v, &mut totals) };
                let first = span.start / per_group;
                let pulls = &mut pulls[..];
                of.add::<G>(layer, z, block, gamma, stats.1, &totals, &mut s, (pulls, first));
            }
            let (dz, room) = (dz.image(image), &mut room);
            // SAFETY: the caller's promise.
            unsafe {
                map_back::<G, V>(z, dy, span, per_group, gamma, v, stats, &pulls, dz, room);
            }
        }
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn rematerialise_body<G: Gate, V: Vector>(
    layer: &EvoNorm,
    images: usize,
    z: Batch<'_>,
    dy: Batch<'_>,
    gamma: &[f32],
    beta: &[f32],
    v: &[f32],
    stats: &[f32],
    mut y: BatchMut<'_>,
    pulls: &mut [f32],
    mut of: OfParameters<'_>,
) {
    let EvoNorm { channels, groups, .. } = *layer;
    let per_group = channels / groups;
    let mut totals = Totals::new();
    let mut scale = OfBlock::new();
    for image in 0..images {
        let (z, dy) = (z.image(image), dy.image(image));
        let inverses = &stats[2 * groups * image + groups..][..groups];
        let pulls = &mut pulls[groups * image..][..groups];
        for span in spans(groups, per_group) {
            let mut s = 0.0;
            for block in blocks(span) {
                scale_block(block.clone(), per_group, gamma, inverses, &mut scale);
                let scale = &scale.0[..block.len()];
                let coefficients = [scale, &beta[block.clone()], &v[block.clone()]];
                let (y, sums) = (y.image(image), &mut totals);
                // SAFETY: the caller's promise.
                unsafe {
                    G::sum_and_map_pixels::<V>(z, dy, block.clone(), coefficients, sums, y);
                }
                of.add::<G>(layer, z, block, gamma, inverses, &totals, &mut s, (pulls, 0));
            }
        }
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn input_grad_body<G: Gate, V: Vector>(
    layer: &EvoNorm,
    images: usize,
    z: Batch<'_>,
    dy: Batch<'_>,
    gamma: &[f32],
    v: &[f32],
    stats: &[f32],
    pulls: &[f32],
    mut dz: BatchMut<'_>,
) {
    let EvoNorm { channels, groups, .. } = *layer;
    let per_group = channels / groups;
    let mut room = [OfBlock::new(); 3];
    for image in 0..images {
        let (z, dy) = (z.image(image), dy.image(image));
        let stats = stats[2 * groups * image..][..2 * groups].split_at(groups);
        for span in spans(groups, per_group) {
            let pulls = &pulls[groups * image + span.start / per_group..];
            let (dz, room) = (dz.image(image), &mut room);
            // SAFETY: the caller's promise.
            unsafe {
                map_back::<G, V>(z, dy, span, per_group, gamma, v, stats, pulls, dz, room);
            }
        }
    }
}

/// gamma r of every channel of a block.
#[inline(always)]
fn scale_block(
    block: Range<usize>,
    per_group: usize,
    gamma: &[f32],
    inverses: &[f32],
    scale: &mut OfBlock,
) {
    for (group, channels) in groups_of(block.clone(), per_group) {
        let scale = &mut scale.0[channels.start - block.start..][..channels.len()];
        for (scale, gamma) in scale.iter_mut().zip(&gamma[channels]) {
            *scale = gamma * inverses[group];
        }
    }
}

/// The gradients of the parameters, to which every image adds.
pub(super) struct OfParameters<'a> {
    pub(super) gamma: &'a mut [f32],
    pub(super) beta: &'a mut [f32],
    pub(super) v: &'a mut [f32],
}

impl OfParameters<'_> {
    /// Adds the sums of a block. `s` is that of gamma f dy over the group so far; where it is
    /// complete, the group's pull towards its mean is written, `-r^3 s / n`, to the first of
    /// `pulls` for the group with the number beside it.
    #[inline(always)]
    fn add<G: Gate>(
        &mut self,
        layer: &EvoNorm,
        image: Batch<'_>,
        block: Range<usize>,
        gamma: &[f32],
        inverses: &[f32],
        totals: &Totals,
        s: &mut f64,
        (pulls, first): (&mut [f32], usize),
    ) {
        let per_group = layer.channels / layer.groups;
        let n = (image.shape.height * image.shape.width * per_group) as f64;
        for (group, channels) in groups_of(block.clone(), per_group) {
            let r = f64::from(inverses[group]);
            let of_block = channels.start - block.start..channels.end - block.start;
            let [of_dy, of_f, of_v] = &totals.of;
            let (of_dy, of_f) = (&of_dy[of_block.clone()], &of_f[of_block.clone()]);
            let gamma = &gamma[channels.clone()];
            *s += sum_in_parts(gamma.len(), |c| f64::from(gamma[c]) * of_f[c]);
            for (dbeta, of_dy) in self.beta[channels.clone()].iter_mut().zip(of_dy) {
                *dbeta += *of_dy as f32;
            }
            for (dgamma, of_f) in self.gamma[channels.clone()].iter_mut().zip(of_f) {
                *dgamma += (r * of_f) as f32;
            }
            if G::LEARNED {
                let of_v = gamma.iter().zip(&of_v[of_block]);
                for (dv, (gamma, of_v)) in self.v[channels.clone()].iter_mut().zip(of_v) {
                    *dv += (f64::from(*gamma) * r * of_v) as f32;
                }
            }
            if channels.end == (group + 1) * per_group {
                pulls[group - first] = (-r * r * r / n * *s) as f32;
                *s = 0.0;
            }
        }
    }
}

/// dx of a span, whose first group's pull is the first of `pulls`.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn map_back<G: Gate, V: Vector>(
    z: Batch<'_>,
    dy: Batch<'_>,
    span: Range<usize>,
    per_group: usize,
    gamma: &[f32],
    v: &[f32],
    (means, inverses): (&[f32], &[f32]),
    pulls: &[f32],
    mut dz: BatchMut<'_>,
    [scale, pull, mean]: &mut [OfBlock; 3],
) {
    let first = span.start / per_group;
    for block in blocks(span) {
        scale_block(block.clone(), per_group, gamma, inverses, scale);
        for (group, channels) in groups_of(block.clone(), per_group) {
            let at = channels.start - block.start..channels.end - block.start;
            pull.0[at.clone()].fill(pulls[group - first]);
            mean.0[at].fill(means[group]);
        }
        let len = block.len();
        let coefficients = [&scale.0[..len], &pull.0[..len], &mean.0[..len], &v[block.clone()]];
        // SAFETY: the caller's promise.
        unsafe { map_pixels::<Backward<G>, V, 4>(z, dy, block, coefficients, dz.image(0)) };
    }
}

/// y from x.
struct Forward<G>(G);

impl<G: Gate> PixelMap<3> for Forward<G> {
    #[inline(always)]
    fn map<V: Vector>(x: V, _: V, [scale, beta, v]: [V; 3]) -> V {
        scale.times(G::value(x, v), beta)
    }
}

/// dx from x and dy.
struct Backward<G>(G);

impl<G: Gate> PixelMap<4> for Backward<G> {
    #[inline(always)]
    fn map<V: Vector>(x: V, dy: V, [scale, pull, mean, v]: [V; 4]) -> V {
        (scale * dy).times(G::slope(x, v), pull * (x - mean))
    }
}
