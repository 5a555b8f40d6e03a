//! Mean and deviation of the groups of channels of an image.
//!
//! ```text
//! mean_g = sum x / n      var_g = sum (x - mean_g)^2 / n      r_g = 1 / sqrt(var_g + eps)
//! ```
//!
//! over the n = H W C/groups floats of a group. One pass suffices without cancellation:
//! every channel is summed relative to its value at the middle of the image, `f32` over
//! short runs and `f64` beyond, and the channels are joined in `f64` by
//! var = sum_c (var_c + (mean_c - mean)^2) / (C/groups).

use crate::batch::Batch;
use crate::channelwise::blocks::{blocks, groups_of};
use crate::channelwise::{PixelSums, Totals, sum_in_parts, sum_pixels};
use crate::lanes::Lanes;
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
pub(crate) unsafe fn group_stats<V: Lanes>(
    image: Batch<'_>,
    span: Range<usize>,
    per_group: usize,
    eps: f32,
    totals: &mut Totals,
    stats: &mut [f32],
) {
    let groups = stats.len() / 2;
    let per_pixel = 1.0 / (image.shape.height * image.shape.width) as f64;
    let origin = image.pixel(image.shape.height / 2, image.shape.width / 2);
    let mut moments = Moments::default();
    for block in blocks(span) {
        let origin = &origin[block.clone()];
        // SAFETY: the caller's promise.
        unsafe {
            sum_pixels::<AroundOrigin, V, 1, 2>(image, image, block.clone(), [origin], totals);
        }
        let [means, variances, _] = &mut totals.of;
        for c in 0..block.len() {
            let mean = means[c] * per_pixel;
            variances[c] = variances[c] * per_pixel - mean * mean;
            means[c] = f64::from(origin[c]) + mean;
        }
        for (group, channels) in groups_of(block.clone(), per_group) {
            let of_block = channels.start - block.start..channels.end - block.start;
            moments.add(&means[of_block.clone()], &variances[of_block]);
            if channels.end == (group + 1) * per_group {
                let (mean, variance) = moments.join();
                stats[group] = mean as f32;
                stats[groups + group] = (1.0 / (variance + f64::from(eps)).sqrt()) as f32;
                moments = Moments::default();
            }
        }
    }
}

/// Joins the means and variances of equally many numbers. Means are summed relative to the
/// first, so that a common part cancels nothing.
#[derive(Default)]
struct Moments {
    count: f64,
    first: f64,
    apart: f64,
    apart_squared: f64,
    variance: f64,
}

impl Moments {
    #[inline(always)]
    fn add(&mut self, means: &[f64], variances: &[f64]) {
        if self.count == 0.0 {
            self.first = means[0];
        }
        let (first, count) = (self.first, means.len());
        self.count += count as f64;
        self.apart += sum_in_parts(count, |c| means[c] - first);
        self.apart_squared += sum_in_parts(count, |c| (means[c] - first) * (means[c] - first));
        self.variance += sum_in_parts(count, |c| variances[c]);
    }

    /// Mean and variance of all.
    #[inline(always)]
    fn join(&self) -> (f64, f64) {
        let apart = self.apart / self.count;
        let between = self.apart_squared / self.count - apart * apart;
        let variance = self.variance / self.count + between;
        // Not `max`, which would hide a NaN.
        (self.first + apart, if variance < 0.0 { 0.0 } else { variance })
    }
}

/// The first two moments about a channel's origin.
struct AroundOrigin;

impl PixelSums<1, 2> for AroundOrigin {
    #[inline(always)]
    fn add<V: Lanes>(x: V, _: V, [origin]: [V; 1], [s, q]: [V; 2]) -> [V; 2] {
        let x = x - origin;
        [s + x, x.times(x, q)]
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
