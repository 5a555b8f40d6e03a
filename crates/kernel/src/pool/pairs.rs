//! Max pooling of 2x2 windows side by side, the usual ones, row by row.
//!
//! A row of windows reads two rows of x, of which two neighbouring pixels are contiguous.
//! Every float of x belongs to one window, so dx is written once.

use super::fill_inside;
use super::max::replaces;
use crate::batch::{Batch, BatchMut};

/// y and the places of the maxima.
pub(super) fn forward(images: usize, x: Batch<'_>, mut y: BatchMut<'_>, argmax: &mut [u32]) {
    let (height, width) = (y.shape.height, y.shape.width);
    let channels = y.shape.channels;
    let mut argmax = argmax.chunks_exact_mut((width * channels).max(1));
    for image in 0..images {
        let (x, mut y) = (x.image(image), y.image(image));
        for row in 0..height {
            let Some(argmax) = argmax.next() else { return };
            let above = x.line(2 * row, 2 * width).chunks_exact(2 * channels);
            let below = x.line(2 * row + 1, 2 * width).chunks_exact(2 * channels);
            let targets = y.line(row, width).chunks_exact_mut(channels);
            let targets = targets.zip(argmax.chunks_exact_mut(channels));
            for ((above, below), (y, argmax)) in above.zip(below).zip(targets) {
                let whole = channels / 8 * 8;
                window::<8>(above, below, 0..whole, y, argmax);
                let even = channels / 2 * 2;
                window::<2>(above, below, whole..even, y, argmax);
                window::<1>(above, below, even..channels, y, argmax);
            }
        }
    }
}

/// The maxima of a range of channels of one window, V at a time.
#[inline(always)]
fn window<const V: usize>(
    above: &[f32],
    below: &[f32],
    range: std::ops::Range<usize>,
    y: &mut [f32],
    argmax: &mut [u32],
) {
    let channels = y.len();
    let ((a, b), (c, d)) = (above.split_at(channels), below.split_at(channels));
    for first in range.step_by(V) {
        let mut best = [0.0; V];
        best.copy_from_slice(&a[first..first + V]);
        let mut place = [0; V];
        for (p, x) in [(1, b), (2, c), (3, d)] {
            let x = &x[first..first + V];
            for l in 0..V {
                let better = replaces(x[l], best[l]);
                best[l] = if better { x[l] } else { best[l] };
                place[l] = if better { p } else { place[l] };
            }
        }
        y[first..first + V].copy_from_slice(&best);
        argmax[first..first + V].copy_from_slice(&place);
    }
}

/// dx from dy and the places of the maxima.
pub(super) fn backward(images: usize, argmax: &[u32], dy: Batch<'_>, mut dx: BatchMut<'_>) {
    let (height, width) = (dy.shape.height, dy.shape.width);
    let channels = dy.shape.channels;
    let all = dx.shape.height == 2 * height && dx.shape.width == 2 * width;
    let mut argmax = argmax.chunks_exact((width * channels).max(1));
    for image in 0..images {
        let (dy, mut dx) = (dy.image(image), dx.image(image));
        if !all {
            fill_inside(dx.image(0));
        }
        for row in 0..height {
            let Some(argmax) = argmax.next() else { return };
            for half in 0..2 {
                let given = dy.line(row, width).chunks_exact(channels);
                let given = given.zip(argmax.chunks_exact(channels));
                let targets = dx.line(2 * row + half, 2 * width).chunks_exact_mut(2 * channels);
                for (dx, (dy, argmax)) in targets.zip(given) {
                    let (left, right) = dx.split_at_mut(channels);
                    spread(dy, argmax, 2 * half as u32, left);
                    spread(dy, argmax, 2 * half as u32 + 1, right);
                }
            }
        }
    }
}

/// One pixel of a window.
#[inline(always)]
fn spread(dy: &[f32], argmax: &[u32], place: u32, dx: &mut [f32]) {
    if dx.len() >= 8 {
        return spread_many(dy, argmax, place, dx);
    }
    for ((dx, dy), at) in dx.iter_mut().zip(dy).zip(argmax) {
        *dx = chosen(*dy, *at == place);
    }
}

/// On its own, where it becomes a loop over vectors; beside the short loop it would not.
#[inline(never)]
fn spread_many(dy: &[f32], argmax: &[u32], place: u32, dx: &mut [f32]) {
    for ((dx, dy), at) in dx.iter_mut().zip(dy).zip(argmax) {
        *dx = chosen(*dy, *at == place);
    }
}

/// A mask in place of a choice, which would be a branch per float.
#[inline(always)]
fn chosen(dy: f32, here: bool) -> f32 {
    f32::from_bits(dy.to_bits() & u32::from(here).wrapping_neg())
}
