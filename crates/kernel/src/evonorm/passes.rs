//! The passes over each image, a span of whole groups at a time: first sums per channel, then a
//! new value for every float.

use super::EvoNorm;
use super::gate::Gate;
use crate::batch::{Batch, BatchMut};
use crate::channelwise::blocks::{blocks, groups_of, spans};
use crate::channelwise::{BLOCK, OfBlock, PixelMap, Totals, map_pixels, sum_in_parts};
use crate::dispatch::Kernel;
use crate::group_stats::{Stats, group_stats};
use crate::vector::Vector;
use std::marker::PhantomData;
use std::ops::Range;

/// y, and the statistics of the groups unless they are known.
pub(super) struct Forward<'a, G> {
    pub(super) gate: PhantomData<G>,
    pub(super) layer: &'a EvoNorm,
    pub(super) images: usize,
    pub(super) z: Batch<'a>,
    pub(super) gamma: &'a [f32],
    pub(super) beta: &'a [f32],
    pub(super) v: &'a [f32],
    pub(super) y: BatchMut<'a>,
    pub(super) stats: Stats<'a>,
}

impl<G: Gate> Kernel for Forward<'_, G> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Forward { layer, images, z, gamma, beta, v, mut y, mut stats, .. } = self;
        let EvoNorm { channels, groups, eps, .. } = *layer;
        let per_group = channels / groups;
        let mut totals = None; // needed only if the statistics are not known
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
                    unsafe { map_pixels::<Output<G>, V, 3>(z, z, block, coefficients, y) };
                }
            }
        }
    }
}

/// dz and the gradients of the parameters.
pub(super) struct Backward<'a, G> {
    pub(super) gate: PhantomData<G>,
    pub(super) layer: &'a EvoNorm,
    pub(super) images: usize,
    pub(super) z: Batch<'a>,
    pub(super) dy: Batch<'a>,
    pub(super) gamma: &'a [f32],
    pub(super) v: &'a [f32],
    pub(super) stats: &'a [f32],
    pub(super) dz: BatchMut<'a>,
    pub(super) grads: ParameterGrads<'a>,
}

impl<G: Gate> Kernel for Backward<'_, G> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Backward { layer, images, z, dy, gamma, v, stats, mut dz, mut grads, .. } = self;
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
                    grads.add::<G>(
                        layer,
                        z,
                        block,
                        gamma,
                        stats.1,
                        &totals,
                        &mut s,
                        (pulls, first),
                    );
                }
                let (dz, room) = (dz.image(image), &mut room);
                // SAFETY: the caller's promise.
                unsafe {
                    map_back::<G, V>(z, dy, span, per_group, gamma, v, stats, &pulls, dz, room);
                }
            }
        }
    }
}

/// y again, the gradients of the parameters, and the pulls from which [`InputGrad`] makes dz.
pub(super) struct Rematerialise<'a, G> {
    pub(super) gate: PhantomData<G>,
    pub(super) layer: &'a EvoNorm,
    pub(super) images: usize,
    pub(super) z: Batch<'a>,
    pub(super) dy: Batch<'a>,
    pub(super) gamma: &'a [f32],
    pub(super) beta: &'a [f32],
    pub(super) v: &'a [f32],
    pub(super) stats: &'a [f32],
    pub(super) y: BatchMut<'a>,
    pub(super) pulls: &'a mut [f32],
    pub(super) grads: ParameterGrads<'a>,
}

impl<G: Gate> Kernel for Rematerialise<'_, G> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Rematerialise { layer, images, z, dy, gamma, beta, v, stats, .. } = self;
        let Rematerialise { mut y, pulls, mut grads, .. } = self;
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
                    grads.add::<G>(layer, z, block, gamma, inverses, &totals, &mut s, (pulls, 0));
                }
            }
        }
    }
}

/// dz from the pulls that [`Rematerialise`] wrote.
pub(super) struct InputGrad<'a, G> {
    pub(super) gate: PhantomData<G>,
    pub(super) layer: &'a EvoNorm,
    pub(super) images: usize,
    pub(super) z: Batch<'a>,
    pub(super) dy: Batch<'a>,
    pub(super) gamma: &'a [f32],
    pub(super) v: &'a [f32],
    pub(super) stats: &'a [f32],
    pub(super) pulls: &'a [f32],
    pub(super) dz: BatchMut<'a>,
}

impl<G: Gate> Kernel for InputGrad<'_, G> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let InputGrad { layer, images, z, dy, gamma, v, stats, pulls, mut dz, .. } = self;
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
pub(super) struct ParameterGrads<'a> {
    pub(super) gamma: &'a mut [f32],
    pub(super) beta: &'a mut [f32],
    pub(super) v: &'a mut [f32],
}

impl ParameterGrads<'_> {
    /// Adds the sums of a block. `s` is the sum of gamma f dy over the group so far. Where the
    /// group ends, its pull towards the mean, `-r^3 s / n`, is written to `pulls`, whose first
    /// entry belongs to group `first`.
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

/// dz of a span; the first of `pulls` belongs to the first group of the span.
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
        unsafe { map_pixels::<InputGradient<G>, V, 4>(z, dy, block, coefficients, dz.image(0)) };
    }
}

/// y from x.
struct Output<G>(PhantomData<G>);

impl<G: Gate> PixelMap<3> for Output<G> {
    #[inline(always)]
    fn map<V: Vector>(x: V, _: V, [scale, beta, v]: [V; 3]) -> V {
        scale.mul_add(G::value(x, v), beta)
    }
}

/// dx from x and dy.
struct InputGradient<G>(PhantomData<G>);

impl<G: Gate> PixelMap<4> for InputGradient<G> {
    #[inline(always)]
    fn map<V: Vector>(x: V, dy: V, [scale, pull, mean, v]: [V; 4]) -> V {
        (scale * dy).mul_add(G::slope(x, v), pull * (x - mean))
    }
}
