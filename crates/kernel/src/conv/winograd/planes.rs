//! Between images and planes: plane `k` holds coefficient `k` of every tile of a group, ready
//! for a matrix product, as `[block of 16 channels][plane][tile][lane]`.
//!
//! Two rows of a transformed tile are computed at a time: of each column the results for these
//! two, then the rows themselves. So all that lies between stays in registers.

use std::marker::PhantomData;

use super::transform::Paired;
use crate::conv::packing::WIDE;
use crate::conv::window::Window;
use crate::dispatch::Kernel;
use crate::vector::Vector;

/// Tiles of a group, at most.
pub(super) const GROUP: usize = 48;
/// Floats from one plane to the next: skewed by a cache line, since planes that lie a power of
/// two apart would evict each other.
pub(super) const PLANE: usize = GROUP * WIDE + WIDE;

/// Floats of all planes of a group.
pub(super) fn planes_len(planes: usize, channels: usize) -> usize {
    channels.div_ceil(WIDE) * planes * PLANE
}

/// Panics unless `len` floats are planes of a group of `tiles` tiles.
pub(super) fn check(len: usize, tiles: usize, planes: usize, channels: usize) {
    let whole = channels > 0 && channels.is_multiple_of(WIDE);
    assert!(tiles > 0 && tiles <= GROUP && whole, "winograd: {tiles} tiles x {channels}");
    let needed = planes_len(planes, channels);
    assert!(needed <= len, "winograd: planes of {len} floats, not {needed}");
}

/// Tiles of a batch, from which number on, and how many.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    pub(super) window: &'a Window,
    pub(super) from: usize,
    pub(super) count: usize,
}

/// Where the first plane of `planes` holds `channel` of `tile`.
#[inline(always)]
fn place(planes: usize, tile: usize, channel: usize) -> usize {
    channel / WIDE * planes * PLANE + tile * WIDE + channel % WIDE
}

/// Rows `F::PAIRS[PAIR]` of the values whose columns were transformed. What only other rows
/// need is neither read nor computed, since all is inlined here.
///
/// # Safety
/// Of `I` rows and columns, `row` and `column` floats apart, vectors may be read at `from`; the
/// machine has the instructions of `V`.
#[inline(always)]
unsafe fn columns<V, F, const PAIR: usize, const I: usize, const O: usize>(
    from: *const f32,
    row: usize,
    column: usize,
) -> [[V; I]; 2]
where
    V: Vector,
    F: Paired<I, O>,
{
    let [first, second] = F::PAIRS[PAIR];
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [[V::zero(); I]; 2];
        for c in 0..I {
            let mut d = [V::zero(); I];
            for r in 0..I {
                d[r] = V::load(from.add(r * row + c * column));
            }
            let transformed = F::apply(d);
            rows[0][c] = transformed[first];
            rows[1][c] = transformed[second];
        }
        rows
    }
}

/// `I x I` pixels of each tile to `O x O` planes; reads at the window's source.
pub(super) struct ToPlanes<'a, F, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) image: &'a [f32],
    /// Floats from one row of the image to the next.
    pub(super) row: usize,
    pub(super) channels: usize,
    pub(super) planes: &'a mut [f32],
    pub(super) by: PhantomData<F>,
}

impl<F: Paired<I, O>, const I: usize, const O: usize> Kernel for ToPlanes<'_, F, I, O> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // Where the compiler knows the number, it need not compute where each column lies.
        // SAFETY: the caller's promise.
        unsafe {
            match self.channels {
                16 => self.transform::<V>(16),
                32 => self.transform::<V>(32),
                64 => self.transform::<V>(64),
                channels => self.transform::<V>(channels),
            }
        }
    }
}

impl<F: Paired<I, O>, const I: usize, const O: usize> ToPlanes<'_, F, I, O> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn transform<V: Vector>(self, channels: usize) {
        const { assert!(O == 4 || O == 6) };
        let row = self.row;
        check(self.planes.len(), self.tiles.count, O * O, channels);
        let mut cursor = self.tiles.window.cursor(self.tiles.from);
        for tile in 0..self.tiles.count {
            let (source, _) = cursor.advance(self.tiles.window);
            let image = &self.image[source..][..(I - 1) * row + I * channels];
            for channel in (0..channels).step_by(V::WIDTH) {
                // SAFETY: `I` rows and columns lie in the slice `image`, in whole vectors of
                // channels; `check` has seen room for this tile in all planes.
                unsafe {
                    let from = image.as_ptr().add(channel);
                    let to = self.planes.as_mut_ptr().add(place(O * O, tile, channel));
                    let (from, to) = ((from, row, channels), (to, PLANE));
                    rows_to_planes::<V, F, 0, I, O>(from, to);
                    rows_to_planes::<V, F, 1, I, O>(from, to);
                    if O == 6 {
                        rows_to_planes::<V, F, 2, I, O>(from, to);
                    }
                }
            }
        }
    }
}

/// One pair of rows of a tile, whose rows and columns, and whose planes, lie as far apart as
/// stated.
///
/// # Safety
/// That of [`columns`]; and vectors may be written at `to` in each plane.
#[inline(always)]
pub(super) unsafe fn rows_to_planes<V, F, const PAIR: usize, const I: usize, const O: usize>(
    (from, row, column): (*const f32, usize, usize),
    (to, plane): (*mut f32, usize),
) where
    V: Vector,
    F: Paired<I, O>,
{
    let pair = F::PAIRS[PAIR];
    // SAFETY: the caller's promise.
    unsafe {
        let rows = columns::<V, F, PAIR, I, O>(from, row, column);
        for half in 0..2 {
            let transformed = F::apply(rows[half]);
            for c in 0..O {
                transformed[c].store(to.add((pair[half] * O + c) * plane));
            }
        }
    }
}

/// `I x I` planes to `O x O` pixels of each tile; writes at the window's target.
pub(super) struct FromPlanes<'a, F, const I: usize, const O: usize> {
    pub(super) tiles: Tiles<'a>,
    pub(super) planes: &'a [f32],
    pub(super) image: &'a mut [f32],
    /// Floats from one row of the image to the next.
    pub(super) row: usize,
    /// Added to each pixel, unless `accumulate`: a number for each channel.
    pub(super) start: &'a [f32],
    /// Add to the image.
    pub(super) accumulate: bool,
    pub(super) by: PhantomData<F>,
}

impl<F: Paired<I, O>, const I: usize, const O: usize> Kernel for FromPlanes<'_, F, I, O> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.accumulate {
                true => self.transform::<V, true>(),
                false => self.transform::<V, false>(),
            }
        }
    }
}

impl<F: Paired<I, O>, const I: usize, const O: usize> FromPlanes<'_, F, I, O> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn transform<V: Vector, const ACCUMULATE: bool>(self) {
        const { assert!(O == 2 || O == 4) };
        let (channels, row) = (self.start.len(), self.row);
        check(self.planes.len(), self.tiles.count, I * I, channels);
        let mut cursor = self.tiles.window.cursor(self.tiles.from);
        for tile in 0..self.tiles.count {
            let (_, target) = cursor.advance(self.tiles.window);
            let image = &mut self.image[target..][..(O - 1) * row + O * channels];
            for channel in (0..channels).step_by(V::WIDTH) {
                // SAFETY: `check` has seen this tile in all planes; `O` rows and columns lie in
                // the slice `image`, in whole vectors of channels, as in `start`.
                unsafe {
                    let from = self.planes.as_ptr().add(place(I * I, tile, channel));
                    let to = image.as_mut_ptr().add(channel);
                    let start = V::load(self.start.as_ptr().add(channel));
                    rows_to_image::<V, F, 0, I, O, ACCUMULATE>(from, start, to, row, channels);
                    if O == 4 {
                        rows_to_image::<V, F, 1, I, O, ACCUMULATE>(from, start, to, row, channels);
                    }
                }
            }
        }
    }
}

/// One pair of rows of a tile.
///
/// # Safety
/// Vectors may be read at `from` in each plane, and written at `to` in `O` rows and columns,
/// `row` and `column` floats apart; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn rows_to_image<V, F, const PAIR: usize, const I: usize, const O: usize, const ADD: bool>(
    from: *const f32,
    start: V,
    to: *mut f32,
    row: usize,
    column: usize,
) where
    V: Vector,
    F: Paired<I, O>,
{
    let pair = F::PAIRS[PAIR];
    // SAFETY: the caller's promise.
    unsafe {
        let rows = columns::<V, F, PAIR, I, O>(from, I * PLANE, PLANE);
        for half in 0..2 {
            let transformed = F::apply(rows[half]);
            for c in 0..O {
                let pixel = to.add(pair[half] * row + c * column);
                let begin = if ADD { V::load(pixel) } else { start };
                (begin + transformed[c]).store(pixel);
            }
        }
    }
}
