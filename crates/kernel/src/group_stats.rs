//! Mean and deviation of the groups of channels of an image.
//!
//! ```text
//! mean_g = sum x / n      var_g = sum (x - mean_g)^2 / n      r_g = 1 / sqrt(var_g + eps)
//! ```
//!
//! over the n = H W C/groups floats of a group. One pass suffices without cancellation:
//! every channel is summed relative to its value at the middle of the image, `f32` over
//! short runs and `f64` beyond, and the channels are joined by
//! var = sum_c (var_c + (mean_c - mean)^2) / (C/groups).

use crate::batch::Batch;
use crate::channelwise::{PixelSums, sum_pixels};
use crate::dispatch::multiply_add;

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

/// Writes mean_g for every group, then r_g for every group.
#[inline(always)]
pub(crate) fn group_stats<const FMA: bool>(
    image: Batch<'_>,
    groups: usize,
    eps: f32,
    sums: &mut [[f64; 2]],
    stats: &mut [f32],
) {
    let per_pixel = 1.0 / (image.shape.height * image.shape.width) as f64;
    let origin = image.pixel(image.shape.height / 2, image.shape.width / 2);
    sum_pixels::<AroundOrigin, FMA, 1, 2>(image, image, [origin], sums);
    let per_group = sums.len() / groups;
    for group in 0..groups {
        let channels = group * per_group..(group + 1) * per_group;
        let mut mean = 0.0;
        for c in channels.clone() {
            mean += f64::from(origin[c]) + sums[c][0] * per_pixel;
        }
        mean /= per_group as f64;
        let mut variance = 0.0;
        for c in channels {
            let of_channel = sums[c][0] * per_pixel;
            let apart = f64::from(origin[c]) + of_channel - mean;
            variance += sums[c][1] * per_pixel - of_channel * of_channel + apart * apart;
        }
        variance /= per_group as f64;
        // Not `max`, which would hide a NaN.
        let variance = if variance < 0.0 { 0.0 } else { variance };
        stats[group] = mean as f32;
        stats[groups + group] = (1.0 / (variance + f64::from(eps)).sqrt()) as f32;
    }
}

/// The first two moments about a channel's origin.
struct AroundOrigin;

impl PixelSums<1, 2> for AroundOrigin {
    #[inline(always)]
    fn add<const FMA: bool>(x: f32, _: f32, [origin]: [f32; 1], [s, q]: [f32; 2]) -> [f32; 2] {
        let x = x - origin;
        [s + x, multiply_add::<FMA>(x, x, q)]
    }
}
