//! Between images and planes: plane `k` holds coefficient `k` of every tile, as
//! `[tile][channel]`, ready for a matrix product. Channels come in sixteens, so images and
//! planes are arrays of whole vectors, and positions count these.

use std::marker::PhantomData;

use super::transform::{LANES, Transform, two_sided};
use crate::conv::instructions::Kernel;
use crate::conv::window::Window;

/// Where tiles lie: from which number on, how many, and how their channels are laid out.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    pub(super) window: &'a Window,
    pub(super) from: usize,
    pub(super) count: usize,
    pub(super) channels: usize,
    /// Floats from one row of the image to the next.
    pub(super) row: usize,
    /// Floats from one plane to the next.
    pub(super) plane: usize,
}

/// `I x I` pixels of each tile to `O x O` planes; reads at the window's source.
pub(super) struct ToPlanes<'a, F, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) image: &'a [f32],
    pub(super) planes: &'a mut [f32],
    pub(super) by: PhantomData<F>,
}

impl<F: Transform<I, O>, const I: usize, const O: usize> Kernel for ToPlanes<'_, F, I, O> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let t = self.tiles;
        let (channels, row, plane) = (t.channels / LANES, t.row / LANES, t.plane / LANES);
        let image = self.image.as_chunks::<LANES>().0;
        let planes = self.planes.as_chunks_mut::<LANES>().0;
        let mut scratch = [[[0.0; LANES]; O]; I];
        let mut cursor = t.window.cursor(t.from);
        for tile in 0..t.count {
            let from = cursor.advance(t.window).0 / LANES;
            for channel in 0..channels {
                two_sided::<F, FMA, I, O>(
                    &mut scratch,
                    #[inline(always)]
                    |r, c| image[from + r * row + c * channels + channel],
                    #[inline(always)]
                    |r, values| {
                        for c in 0..O {
                            let to = (r * O + c) * plane + tile * channels + channel;
                            planes[to] = values[c];
                        }
                    },
                );
            }
        }
    }
}

/// `I x I` planes to `O x O` pixels of each tile; writes at the window's target.
pub(super) struct FromPlanes<'a, F, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) planes: &'a [f32],
    pub(super) image: &'a mut [f32],
    /// Added to each pixel.
    pub(super) start: &'a [f32],
    pub(super) accumulate: bool,
    pub(super) by: PhantomData<F>,
}

impl<F: Transform<I, O>, const I: usize, const O: usize> Kernel for FromPlanes<'_, F, I, O> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let t = self.tiles;
        let (channels, row, plane) = (t.channels / LANES, t.row / LANES, t.plane / LANES);
        let planes = self.planes.as_chunks::<LANES>().0;
        let image = self.image.as_chunks_mut::<LANES>().0;
        let start = self.start.as_chunks::<LANES>().0;
        let mut scratch = [[[0.0; LANES]; O]; I];
        let mut cursor = t.window.cursor(t.from);
        for tile in 0..t.count {
            let to = cursor.advance(t.window).1 / LANES;
            for channel in 0..channels {
                two_sided::<F, FMA, I, O>(
                    &mut scratch,
                    #[inline(always)]
                    |r, c| planes[(r * I + c) * plane + tile * channels + channel],
                    #[inline(always)]
                    |r, values| {
                        for c in 0..O {
                            let pixel = &mut image[to + r * row + c * channels + channel];
                            let mut sum = if self.accumulate { *pixel } else { start[channel] };
                            for l in 0..LANES {
                                sum[l] += values[c][l];
                            }
                            *pixel = sum;
                        }
                    },
                );
            }
        }
    }
}
