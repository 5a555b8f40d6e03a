//! Between images and planes: plane `k` holds coefficient `k` of every tile, as
//! `[tile][channel]`, ready for a matrix product.
//!
//! Neighbouring tiles of a row share columns of the image, so a run of tiles is transformed as
//! a strip: all its columns once, then the rows of each tile, or the other way round.

use std::marker::PhantomData;

use super::transform::Transform;
use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;
use crate::conv::window::Window;
use crate::lanes::{Fused, LANES, Lanes, Plain};

/// Tiles of a run, at most.
const RUN: usize = 8;
/// Columns of a strip, at most: 4 of each tile, and 2 that reach over the end.
const COLUMNS: usize = 4 * RUN + 2;
/// Floats from one row of a strip to the next.
const STRIP_ROW: usize = COLUMNS * LANES;
/// A strip that was transformed in one direction: `[row][column][lane]`.
pub(super) const STRIP: usize = 6 * STRIP_ROW;

/// Planes of a group of tiles, skewed by a cache line, since planes that lie 4 KiB apart
/// would evict each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) channels: usize,
    /// Floats from one plane to the next.
    pub(super) plane: usize,
}

impl Layout {
    pub(super) fn new(tiles: usize, channels: usize) -> Self {
        Layout { channels, plane: tiles * channels + WIDE }
    }

    /// Panics unless `len` floats hold `tiles` tiles in `planes` planes.
    pub(super) fn check(&self, len: usize, tiles: usize, planes: usize) {
        assert!(self.channels.is_multiple_of(LANES), "winograd: channels come in vectors");
        let end = (planes - 1) * self.plane + tiles * self.channels;
        assert!(end <= len, "winograd: planes of {len} floats, not {end}");
    }
}

/// Tiles of a batch, from which number on, and how many.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    pub(super) window: &'a Window,
    pub(super) from: usize,
    pub(super) count: usize,
}

/// Neighbouring tiles in a row of an image.
struct Run {
    /// The number of the first one in its group.
    first: usize,
    count: usize,
    /// Where the first one reads and writes.
    source: usize,
    target: usize,
}

impl Tiles<'_> {
    /// The run that begins with tile `first` of the group.
    #[inline(always)]
    fn run(&self, first: usize) -> Run {
        let index = self.from + first;
        let (source, target) = self.window.cursor(index).advance(self.window);
        let left = self.window.width - index % self.window.width;
        Run { first, count: left.min(self.count - first).min(RUN), source, target }
    }
}

/// `I x I` pixels of each tile, every `M` pixels, to `O x O` planes; reads at the window's
/// source.
pub(super) struct ToPlanes<'a, F, const M: usize, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) image: &'a [f32],
    /// Floats from one row of the image to the next.
    pub(super) row: usize,
    pub(super) layout: Layout,
    pub(super) planes: &'a mut [f32],
    pub(super) strip: &'a mut [f32],
    pub(super) by: PhantomData<F>,
}

impl<F, const M: usize, const I: usize, const O: usize> Kernel for ToPlanes<'_, F, M, I, O>
where
    F: Transform<I, O>,
{
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match FMA {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            true => unsafe { self.run_on::<Fused>() },
            // SAFETY: any machine has the instructions of `Plain`.
            false => unsafe { self.run_on::<Plain>() },
        }
    }
}

impl<F, const M: usize, const I: usize, const O: usize> ToPlanes<'_, F, M, I, O>
where
    F: Transform<I, O>,
{
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        const { assert!(M <= 4 && I <= M + 2 && O <= 6) };
        let Layout { channels, plane } = self.layout;
        self.layout.check(self.planes.len(), self.tiles.count, O * O);
        let strip = self.strip[..STRIP].as_mut_ptr();
        let mut first = 0;
        while first < self.tiles.count {
            let run = self.tiles.run(first);
            let columns = (run.count - 1) * M + I;
            let image = &self.image[run.source..][..(I - 1) * self.row + columns * channels];
            for channel in (0..channels).step_by(LANES) {
                // SAFETY: `row` < I and `column` < `columns` stay within the slice `image`, in
                // whole vectors of channels; a strip has 6 >= O rows of COLUMNS >= `columns`;
                // planes hold tile `run.first + tile` < `tiles.count`, as `check` has seen.
                unsafe {
                    let image = image.as_ptr().add(channel);
                    for column in 0..columns {
                        let from = image.add(column * channels);
                        let mut d = [V::load(from); I];
                        for r in 1..I {
                            d[r] = V::load(from.add(r * self.row));
                        }
                        let transformed = F::apply(d);
                        for r in 0..O {
                            transformed[r].store(strip.add(r * STRIP_ROW + column * LANES));
                        }
                    }
                    for r in 0..O {
                        let planes = self.planes.as_mut_ptr().add(r * O * plane + channel);
                        for tile in 0..run.count {
                            let from = strip.add(r * STRIP_ROW + tile * M * LANES);
                            let mut d = [V::load(from); I];
                            for c in 1..I {
                                d[c] = V::load(from.add(c * LANES));
                            }
                            let transformed = F::apply(d);
                            let to = planes.add((run.first + tile) * channels);
                            for c in 0..O {
                                transformed[c].store(to.add(c * plane));
                            }
                        }
                    }
                }
            }
            first += run.count;
        }
    }
}

/// `I x I` planes to `O x O` pixels of each tile; writes at the window's target.
pub(super) struct FromPlanes<'a, F, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) layout: Layout,
    pub(super) planes: &'a [f32],
    pub(super) strip: &'a mut [f32],
    pub(super) image: &'a mut [f32],
    /// Floats from one row of the image to the next.
    pub(super) row: usize,
    /// Added to each pixel, unless `accumulate`.
    pub(super) start: &'a [f32],
    /// Add to the image.
    pub(super) accumulate: bool,
    pub(super) by: PhantomData<F>,
}

impl<F: Transform<I, O>, const I: usize, const O: usize> Kernel for FromPlanes<'_, F, I, O> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match (FMA, self.accumulate) {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            (true, true) => unsafe { self.run_on::<Fused, true>() },
            // SAFETY: as above.
            (true, false) => unsafe { self.run_on::<Fused, false>() },
            // SAFETY: any machine has the instructions of `Plain`.
            (false, true) => unsafe { self.run_on::<Plain, true>() },
            // SAFETY: as above.
            (false, false) => unsafe { self.run_on::<Plain, false>() },
        }
    }
}

impl<F: Transform<I, O>, const I: usize, const O: usize> FromPlanes<'_, F, I, O> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes, const ACCUMULATE: bool>(self) {
        const { assert!(O <= 4 && I <= 6) };
        let Layout { channels, plane } = self.layout;
        self.layout.check(self.planes.len(), self.tiles.count, I * I);
        let strip = self.strip[..STRIP].as_mut_ptr();
        let start = &self.start[..channels];
        let mut first = 0;
        while first < self.tiles.count {
            let run = self.tiles.run(first);
            let columns = run.count * O;
            let image = &mut self.image[run.target..][..(O - 1) * self.row + columns * channels];
            for channel in (0..channels).step_by(LANES) {
                // SAFETY: planes hold tile `run.first + tile` < `tiles.count`, as `check` has
                // seen; a strip has 6 >= I rows of COLUMNS >= `columns`; `row` < O and
                // `column` < `columns` stay within the slice `image`, and the channel within
                // `start`, in whole vectors of channels.
                unsafe {
                    for r in 0..I {
                        let planes = self.planes.as_ptr().add(r * I * plane + channel);
                        for tile in 0..run.count {
                            let from = planes.add((run.first + tile) * channels);
                            let mut d = [V::load(from); I];
                            for c in 1..I {
                                d[c] = V::load(from.add(c * plane));
                            }
                            let transformed = F::apply(d);
                            let to = strip.add(r * STRIP_ROW + tile * O * LANES);
                            for c in 0..O {
                                transformed[c].store(to.add(c * LANES));
                            }
                        }
                    }
                    let start = V::load(start.as_ptr().add(channel));
                    let image = image.as_mut_ptr().add(channel);
                    for column in 0..columns {
                        let from = strip.add(column * LANES);
                        let mut d = [V::load(from); I];
                        for r in 1..I {
                            d[r] = V::load(from.add(r * STRIP_ROW));
                        }
                        let transformed = F::apply(d);
                        for r in 0..O {
                            let pixel = image.add(r * self.row + column * channels);
                            let begin = if ACCUMULATE { V::load(pixel) } else { start };
                            (begin + transformed[r]).store(pixel);
                        }
                    }
                }
            }
            first += run.count;
        }
    }
}
