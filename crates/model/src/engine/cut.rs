//! Cuts rows of layers into blocks of channels that stay in cache.
//!
//! ```text
//! 1x1 conv -> norm -> depthwise conv -> norm -> 1x1 conv
//! ```
//!
//! Between the two 1x1 convolutions nothing couples the groups of channels of a
//! normalisation. So the first one may compute a few groups, which then pass all layers up to
//! the last one, where they add their share to the output, before the next few come. With few
//! images at a time, what flows between the layers stays in the second-level cache. What
//! convolutions put out is kept for the backward pass, and fetched from memory while products of
//! matrices compute; what the others put out is computed once more there, which takes less time
//! than memory would.
//!
//! ```text
//! conv -> norm -> max-pool
//! ```
//!
//! The backward pass does not read a max-pool's input. So what a normalisation puts out, and its
//! gradient, are only there for a few images at a time; and where one image fills the cache,
//! the convolution before it runs on those few, too, so that it finds its gradient in cache.

use consort_kernel::Shape;

use super::plan::{Held, Part, Plan, PlannedStep, Run};
use crate::Layer;

/// Floats of a value that stay in the second-level cache beside those before and after it.
const CACHED: usize = 16 << 10;
/// Pixels of an image that count as so many if there are fewer: several images run together.
const TINY: usize = 64;
/// Channels that keep a convolution busy: a block with fewer would cost more than it saves.
const ENOUGH: usize = 48;
/// Channels of a vector.
const LANES: usize = 8;

/// Replaces every such row of steps by one row per block, and says which steps run together.
pub(super) fn cut(plan: &mut Plan) {
    let whole = std::mem::take(&mut plan.steps);
    let mut at = 0;
    while at < whole.len() {
        let start = plan.steps.len();
        let images = if let Some(row) = row_at(&whole, &plan.shapes, at) {
            push_blocks(plan, &whole[at..at + row.steps], &row);
            at += row.steps;
            row.images
        } else if let Some((steps, images)) = pooled_at(&whole, &plan.shapes, at) {
            let normalised = whole[at + steps - 1].input;
            plan.held[normalised].value = Some(images);
            for step in &whole[at..at + steps - 1] {
                plan.held[step.output].gradient = Some(images);
            }
            plan.steps.extend_from_slice(&whole[at..at + steps]);
            at += steps;
            images
        } else {
            plan.steps.push(whole[at].clone());
            at += 1;
            usize::MAX
        };
        let end = plan.steps.len();
        match plan.runs.last_mut() {
            Some(last) if last.images == images => last.steps.end = end,
            _ => plan.runs.push(Run { steps: start..end, images }),
        }
    }
}

/// How many steps, from this one on, are a normalisation and its max-pool, perhaps after a
/// convolution, and how many images are to pass them together.
fn pooled_at(steps: &[PlannedStep], shapes: &[Shape], at: usize) -> Option<(usize, usize)> {
    let conv = matches!(steps[at].layer, Layer::Conv { .. });
    let first = at + usize::from(conv);
    let [norm, pool] = steps.get(first..first + 2)? else { return None };
    let feeds = |step: &PlannedStep, next: &PlannedStep| {
        let reads =
            |other: &&PlannedStep| other.input == step.output || other.added == Some(step.output);
        next.input == step.output && steps.iter().filter(reads).count() == 1
    };
    let norms = matches!(norm.layer, Layer::Evonorm { .. } | Layer::GroupNorm { .. });
    let pools = matches!(pool.layer, Layer::MaxPool { .. });
    let floats = shapes[norm.output].inside();
    let with_conv = !conv || (feeds(&steps[at], norm) && floats >= CACHED);
    (norms && pools && feeds(norm, pool) && with_conv)
        .then(|| (first + 2 - at, (CACHED / floats).max(1)))
}

/// A row of steps to cut.
struct Row {
    steps: usize,
    /// Channels of a block.
    block: usize,
    images: usize,
}

/// The row that begins at a step, if one does.
fn row_at(steps: &[PlannedStep], shapes: &[Shape], at: usize) -> Option<Row> {
    let first = &steps[at];
    if !matches!(first.layer, Layer::Conv { kernel: 1, stride: 1, padding: 0, groups: 1, .. }) {
        return None;
    }
    let channels = shapes[first.output].channels;
    let (mut unit, mut largest) = (LANES, 0);
    let mut value = first.output;
    for (between, step) in steps[at + 1..].iter().enumerate() {
        let touches = |other: &&PlannedStep| {
            [Some(other.input), Some(other.output), other.added].contains(&Some(value))
        };
        let alone = steps.iter().filter(touches).count() == 2; // its producer and this step
        if step.input != value || !alone {
            return None;
        }
        largest = largest.max(shapes[value].inside());
        match step.layer {
            Layer::Evonorm { groups, .. } | Layer::GroupNorm { groups }
                if groups > 0 && channels.is_multiple_of(groups) =>
            {
                unit = least_common_multiple(unit, channels / groups);
            }
            Layer::Depthwise { .. } | Layer::Relu => {}
            Layer::Conv { kernel: 1, padding: 0, groups: 1, .. } if between > 0 => {
                let per_channel = largest / channels;
                let block = block_of(channels, unit, per_channel)?;
                let outside = shapes[first.input].channels + shapes[step.output].channels;
                // So many that it is worth while to read the weights, if more than fit.
                let images = CACHED.max(block * outside) / (block * per_channel);
                return Some(Row { steps: between + 2, block, images: images.max(1) });
            }
            _ => return None,
        }
        value = step.output;
    }
    None
}

/// The largest multiple of `unit` that divides the channels and stays in cache, or is no more
/// than enough, else `unit`.
fn block_of(channels: usize, unit: usize, per_channel: usize) -> Option<usize> {
    if !channels.is_multiple_of(unit) {
        return None;
    }
    let most = ENOUGH.max(CACHED / per_channel.max(TINY));
    let fits = |block: &usize| channels.is_multiple_of(*block) && *block <= most;
    (1..=channels / unit).map(|units| units * unit).rfind(fits).or(Some(unit))
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// All steps of the first block, then of the next one. In the first block, what flows between
/// the layers takes the place of the whole value.
fn push_blocks(plan: &mut Plan, steps: &[PlannedStep], row: &Row) {
    let last = steps.len() - 1;
    let of = plan.shapes[steps[0].output].channels;
    for first in (0..of).step_by(row.block) {
        let mut input = steps[0].input;
        for (index, step) in steps.iter().enumerate() {
            let mut planned = PlannedStep { input, ..step.clone() };
            if index == last {
                planned.part = Part::Inputs { first, of };
            } else {
                let kept = matches!(step.layer, Layer::Conv { .. } | Layer::Depthwise { .. });
                if first > 0 && kept {
                    planned.output = plan.shapes.len();
                    plan.shapes.push(plan.shapes[step.output]);
                    plan.held.push(Held::default());
                }
                let images = Some(row.images);
                plan.shapes[planned.output].channels = row.block;
                plan.held[planned.output] =
                    Held { value: images.filter(|_| !kept), gradient: images };
                planned.part = Part::Outputs { first, of };
                planned.layer = part_of(&step.layer, row.block, of);
            }
            input = planned.output;
            plan.steps.push(planned);
        }
    }
}

/// The layer as a block of its outputs sees it.
fn part_of(layer: &Layer, block: usize, of: usize) -> Layer {
    let mut layer = layer.clone();
    match &mut layer {
        Layer::Conv { out, .. } => *out = block,
        Layer::Evonorm { groups, .. } | Layer::GroupNorm { groups } => {
            *groups = *groups * block / of;
        }
        _ => {}
    }
    layer
}
