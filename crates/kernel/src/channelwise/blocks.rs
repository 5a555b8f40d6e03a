//! How the channels of an image are cut into blocks.
//!
//! A normalisation goes over an image twice, first for sums over each group of channels. So
//! it takes a *span* of whole groups at a time, as many as fit a [`BLOCK`]; a group that is
//! larger than that is a span of several blocks.

use super::BLOCK;
use std::ops::Range;

/// The spans of an image of `groups` groups of `per_group` channels.
#[inline(always)]
pub(crate) fn spans(groups: usize, per_group: usize) -> impl Iterator<Item = Range<usize>> {
    let most = (BLOCK / per_group).max(1);
    let each = groups.div_ceil(groups.div_ceil(most));
    (0..groups)
        .step_by(each)
        .map(move |first| first * per_group..(first + each).min(groups) * per_group)
}

/// The blocks of a span.
#[inline(always)]
pub(crate) fn blocks(span: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = span.end;
    span.step_by(BLOCK).map(move |first| first..(first + BLOCK).min(end))
}

/// The groups that a block meets, each with its channels of the block.
#[inline(always)]
pub(crate) fn groups_of(
    block: Range<usize>,
    per_group: usize,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let groups = block.start / per_group..block.end.div_ceil(per_group);
    groups.map(move |group| {
        let first = (group * per_group).max(block.start);
        (group, first..((group + 1) * per_group).min(block.end))
    })
}
