//! Mean and deviation of the groups of channels of an image.
//!
//! ```text
//! mean_g = sum x / n      var_g = sum (x - mean_g)^2 / n      r_g = 1 / sqrt(var_g + eps)
//! ```
//!
//! over the n = H W C/groups floats of a group. One pass suffices without cancellation: a group
//! is summed relative to its mean at the middle of the image, `f32` over short runs and `f64`
//! beyond.

use crate::batch::Batch;
use crate::channelwise::blocks::{blocks, groups_of};
use crate::channelwise::{OfBlock, PixelSums, Totals, sum_in_parts, sum_pixels};
use crate::vector::Vector;
use std::ops::Range;

/// Channels that cannot be dealt into equal groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{channels} channels cannot be divided into {groups} equal groups")]
pub struct IndivisibleChannels {
    /// Channels of the layer.
    pub channels: usize,
    /// Groups asked for.
    pub groups: usize,
}

impl IndivisibleChannels {
    /// `Ok` if `groups` divides `channels`.
    pub(crate) fn check(channels: usize, groups: usize) -> Result<(), Self> {
        let divisible = groups > 0 && channels > 0 && channels.is_multiple_of(groups);
        if divisible { Ok(()) } else { Err(IndivisibleChannels { channels, groups }) }
    }
}

/// Writes mean_g and r_g for every group of a span of channels, to `stats[g]` and
/// `stats[groups + g]`.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn group_stats<V: Vector>(
    image: Batch<'_>,
    span: Range<usize>,
    per_group: usize,
    eps: f32,
    totals: &mut Totals,
    stats: &mut [f32],
) {
    let groups = stats.len() / 2;
    let n = (image.shape.height * image.shape.width * per_group) as f64;
    let middle = image.pixel(image.shape.height / 2, image.shape.width / 2);
    let (mut origins, mut origin) = (OfBlock::new(), 0.0);
    let (mut apart, mut squared) = (0.0, 0.0);
    for block in blocks(span) {
        for (group, channels) in groups_of(block.clone(), per_group) {
            if channels.start == group * per_group {
                let middle = &middle[channels.start..][..per_group];
                let sum = sum_in_parts(per_group, |c| f64::from(middle[c]));
                origin = (sum / per_group as f64) as f32;
            }
            let of_block = channels.start - block.start..channels.end - block.start;
            origins.0[of_block].fill(origin);
        }
        let origins = &origins.0[..block.len()];
        // SAFETY: the caller's promise.
        unsafe {
            sum_pixels::<AroundOrigin, V, 1, 2>(image, image, block.clone(), [origins], totals);
        }
        for (group, channels) in groups_of(block.clone(), per_group) {
            let of_block = channels.start - block.start..channels.end - block.start;
            let [sums, squares, _] = &totals.of;
            let (sums, squares) = (&sums[of_block.clone()], &squares[of_block.clone()]);
            apart += sum_in_parts(sums.len(), |c| sums[c]);
            squared += sum_in_parts(squares.len(), |c| squares[c]);
            if channels.end == (group + 1) * per_group {
                let mean = apart / n;
                let variance = squared / n - mean * mean;
                // Not `max`, which would hide a NaN.
                let variance = if variance < 0.0 { 0.0 } else { variance };
                stats[group] = (f64::from(origins[of_block.start]) + mean) as f32;
                stats[groups + group] = (1.0 / (variance + f64::from(eps)).sqrt()) as f32;
                (apart, squared) = (0.0, 0.0);
            }
        }
    }
}

/// The first two moments about an origin.
struct AroundOrigin;

impl PixelSums<1, 2> for AroundOrigin {
    #[inline(always)]
    fn add<V: Vector>(x: V, _: V, [origin]: [V; 1], [s, q]: [V; 2]) -> [V; 2] {
        let x = x - origin;
        [s + x, x.mul_add(x, q)]
    }
}

/// The statistics of a forward pass.
pub(crate) enum Stats<'a> {
    /// To be computed, and saved here.
    Save(&'a mut [f32]),
    /// Saved by an earlier pass.
    Known(&'a [f32]),
}

impl Stats<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Stats::Save(stats) => stats.len(),
            Stats::Known(stats) => stats.len(),
        }
    }
}
