//! Max pooling of 2x2 windows side by side, the usual ones, row by row.
//!
//! A row of windows reads two rows of x, of which two neighbouring pixels are contiguous.
//! Every float of x belongs to one window, so dx is written once. Channels are taken V at a
//! time; the last V of them may overlap the ones before, whose results are written again.

use super::fill_inside;
use super::max::replaces;
use crate::batch::{Batch, BatchMut};
use crate::dispatch::Kernel;
use crate::vector::Vector;

/// Runs `$row::<V>` with the largest V, at most a vector, that the channels fill.
macro_rules! by_channels {
    ($channels:expr, $row:ident($($argument:expr),*)) => {
        match $channels {
            0 => {}
            1 => $row::<1>($($argument),*),
            2 | 3 => $row::<2>($($argument),*),
            4..8 => $row::<4>($($argument),*),
            _ => $row::<8>($($argument),*),
        }
    };
}

/// y and the places of the maxima.
pub(super) struct Forward<'a> {
    pub(super) images: usize,
    pub(super) x: Batch<'a>,
    pub(super) y: BatchMut<'a>,
    pub(super) argmax: &'a mut [u32],
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Forward { images, x, mut y, argmax } = self;
        let (height, width) = (y.shape.height, y.shape.width);
        let channels = y.shape.channels;
        let mut argmax = argmax.chunks_exact_mut((width * channels).max(1));
        for image in 0..images {
            let (x, mut y) = (x.image(image), y.image(image));
            for row in 0..height {
                let Some(argmax) = argmax.next() else { return };
                let (above, below) = (x.line(2 * row, 2 * width), x.line(2 * row + 1, 2 * width));
                by_channels!(channels, maxima(channels, above, below, y.line(row, width), argmax));
            }
        }
    }
}

/// A row of windows.
#[inline(always)]
fn maxima<const V: usize>(
    channels: usize,
    above: &[f32],
    below: &[f32],
    y: &mut [f32],
    argmax: &mut [u32],
) {
    let x = above.chunks_exact(2 * channels).zip(below.chunks_exact(2 * channels));
    let targets = y.chunks_exact_mut(channels).zip(argmax.chunks_exact_mut(channels));
    for ((above, below), (y, argmax)) in x.zip(targets) {
        let ((a, b), (c, d)) = (above.split_at(channels), below.split_at(channels));
        for first in firsts::<V>(channels) {
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
}

/// dx from dy and the places of the maxima.
pub(super) struct Backward<'a> {
    pub(super) images: usize,
    pub(super) argmax: &'a [u32],
    pub(super) dy: Batch<'a>,
    pub(super) dx: BatchMut<'a>,
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Backward { images, argmax, dy, mut dx } = self;
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
                let dy = dy.line(row, width);
                for half in 0..2 {
                    let dx = dx.line(2 * row + half, 2 * width);
                    by_channels!(channels, spread(channels, dy, argmax, 2 * half as u32, dx));
                }
            }
        }
    }
}

/// The upper or lower half of a row of windows, whose first pixel is at `place`.
#[inline(always)]
fn spread<const V: usize>(channels: usize, dy: &[f32], argmax: &[u32], place: u32, dx: &mut [f32]) {
    let given = dy.chunks_exact(channels).zip(argmax.chunks_exact(channels));
    for (dx, (dy, argmax)) in dx.chunks_exact_mut(2 * channels).zip(given) {
        let (left, right) = dx.split_at_mut(channels);
        for first in firsts::<V>(channels) {
            let (dy, at) = (&dy[first..first + V], &argmax[first..first + V]);
            // Two loops over arrays, each of which becomes a few vectors.
            let (mut to_left, mut to_right) = ([0.0; V], [0.0; V]);
            for l in 0..V {
                to_left[l] = chosen(dy[l], at[l], place);
            }
            for l in 0..V {
                to_right[l] = chosen(dy[l], at[l], place + 1);
            }
            left[first..first + V].copy_from_slice(&to_left);
            right[first..first + V].copy_from_slice(&to_right);
        }
    }
}

/// Where blocks of V channels begin.
#[inline(always)]
fn firsts<const V: usize>(channels: usize) -> impl Iterator<Item = usize> {
    (0..channels).step_by(V).map(move |first| first.min(channels - V))
}

/// dy if the two places, of four, are one. A mask in place of a choice, which would be a branch
/// per float.
#[inline(always)]
fn chosen(dy: f32, at: u32, place: u32) -> f32 {
    let mask = ((at ^ place) as i32).wrapping_sub(1) >> 31;
    f32::from_bits(dy.to_bits() & mask as u32)
}
