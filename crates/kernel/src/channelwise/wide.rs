//! A block of many channels, whose sums and coefficients stay in the first-level cache.
//!
//! Memory is read in its order, a few pixels at a time, which share what is loaded for their
//! channels.

use super::{BLOCK, PixelMap, PixelSums, PixelSumsAndMap, RUN, Totals, load, store};
use crate::batch::{Batch, BatchMut, lines};
use crate::vector::Vector;
use std::ops::Range;

/// Pixels that are added to a sum each time it is loaded.
const SUMMED: usize = 8;
/// Pixels that are mapped each time their coefficients are loaded.
const MAPPED: usize = 4;

/// Sums over the pixels, in their order.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sum<F: PixelSums<N, K>, V: Vector, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    let len = block.len();
    let mut summed = 0;
    for line in 0..lines {
        let (x, d) = (x.line(line, pixels), d.line(line, pixels));
        let mut p = 0;
        while p < pixels {
            let at = p * channels + block.start;
            let pixels_of = Pixels::new(&x[at..], &d[at..], channels, coefficients, len);
            let sums = &mut totals.run;
            // SAFETY: the caller's promise.
            let added = unsafe {
                match pixels - p {
                    SUMMED.. => pixels_of.add::<F, V, K, SUMMED>(sums),
                    _ => pixels_of.add::<F, V, K, 1>(sums),
                }
            };
            p += added;
            summed += added;
            if summed >= RUN {
                end_run::<V, K>(totals, len);
                summed = 0;
            }
        }
    }
    if summed > 0 {
        end_run::<V, K>(totals, len);
    }
}

/// The new value of every float of a block.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn map<F: PixelMap<N>, V: Vector, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    mut y: BatchMut<'_>,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    for line in 0..lines {
        let (x, d, y) = (x.line(line, pixels), d.line(line, pixels), y.line(line, pixels));
        let mut p = 0;
        while p < pixels {
            let at = p * channels + block.start;
            let pixels_of = Pixels::new(&x[at..], &d[at..], channels, coefficients, block.len());
            let y = &mut y[at..];
            // SAFETY: the caller's promise.
            p += unsafe {
                match pixels - p {
                    MAPPED.. => pixels_of.map::<F, V, MAPPED>(y),
                    _ => pixels_of.map::<F, V, 1>(y),
                }
            };
        }
    }
}

/// Both at once.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sum_and_map<F, V, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals,
    mut y: BatchMut<'_>,
) where
    F: PixelSumsAndMap<N, K>,
    V: Vector,
{
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    let len = block.len();
    let mut summed = 0;
    for line in 0..lines {
        let (x, d, y) = (x.line(line, pixels), d.line(line, pixels), y.line(line, pixels));
        let mut p = 0;
        while p < pixels {
            let at = p * channels + block.start;
            let pixels_of = Pixels::new(&x[at..], &d[at..], channels, coefficients, len);
            let (sums, y) = (&mut totals.run, &mut y[at..]);
            // SAFETY: the caller's promise.
            let added = unsafe {
                match pixels - p {
                    SUMMED.. => pixels_of.add_and_map::<F, V, K, SUMMED>(sums, y),
                    _ => pixels_of.add_and_map::<F, V, K, 1>(sums, y),
                }
            };
            p += added;
            summed += added;
            if summed >= RUN {
                end_run::<V, K>(totals, len);
                summed = 0;
            }
        }
    }
    if summed > 0 {
        end_run::<V, K>(totals, len);
    }
}

/// The channels of a block, from one pixel on.
struct Pixels<'a, const N: usize> {
    x: &'a [f32],
    d: &'a [f32],
    /// Floats from a pixel to the next.
    step: usize,
    coefficients: [&'a [f32]; N],
    /// Channels of the block.
    len: usize,
}

impl<'a, const N: usize> Pixels<'a, N> {
    #[inline(always)]
    fn new(
        x: &'a [f32],
        d: &'a [f32],
        step: usize,
        coefficients: [&'a [f32]; N],
        len: usize,
    ) -> Self {
        for own in coefficients {
            assert!(own.len() >= len, "a coefficient for every channel");
        }
        Pixels { x, d, step, coefficients, len }
    }

    /// Adds P pixels to the sums; returns P.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add<F: PixelSums<N, K>, V: Vector, const K: usize, const P: usize>(
        &self,
        sums: &mut [[f32; BLOCK]; 3],
    ) -> usize {
        let end = (P - 1) * self.step + self.len;
        assert!(end <= self.x.len() && end <= self.d.len() && self.len <= BLOCK);
        let whole = self.len / V::WIDTH * V::WIDTH;
        // SAFETY: the caller's promise; all channels of P pixels are there, as asserted.
        unsafe {
            for c in (0..whole).step_by(V::WIDTH) {
                self.add_at::<F, V, K, P, true>(c, sums);
            }
            if whole < self.len {
                self.add_at::<F, V, K, P, false>(whole, sums);
            }
        }
        P
    }

    /// # Safety
    /// The channels from `c` on are there, of P pixels and of the sums, a vector of them with
    /// `WHOLE`; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add_at<
        F: PixelSums<N, K>,
        V: Vector,
        const K: usize,
        const P: usize,
        const WHOLE: bool,
    >(
        &self,
        c: usize,
        sums: &mut [[f32; BLOCK]; 3],
    ) {
        let rest = self.len - c;
        // SAFETY: the caller's promise. Sums are there for whole vectors.
        unsafe {
            let own = self.own::<V, WHOLE>(c);
            let mut so_far = [V::zero(); K];
            for k in 0..K {
                so_far[k] = V::load(sums[k].as_ptr().add(c));
            }
            for p in 0..P {
                let at = p * self.step + c;
                let x = load::<V, WHOLE>(self.x.as_ptr().add(at), rest);
                let d = load::<V, WHOLE>(self.d.as_ptr().add(at), rest);
                so_far = F::add(x, d, own, so_far);
            }
            for k in 0..K {
                so_far[k].store(sums[k].as_mut_ptr().add(c));
            }
        }
    }

    /// Writes the new values of P pixels; returns P.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn map<F: PixelMap<N>, V: Vector, const P: usize>(&self, y: &mut [f32]) -> usize {
        let end = (P - 1) * self.step + self.len;
        assert!(end <= self.x.len() && end <= self.d.len() && end <= y.len());
        let whole = self.len / V::WIDTH * V::WIDTH;
        // SAFETY: the caller's promise; all channels of P pixels are there, as asserted.
        unsafe {
            for c in (0..whole).step_by(V::WIDTH) {
                self.map_at::<F, V, P, true>(c, y.as_mut_ptr());
            }
            if whole < self.len {
                self.map_at::<F, V, P, false>(whole, y.as_mut_ptr());
            }
        }
        P
    }

    /// # Safety
    /// The channels from `c` on are there, of P pixels, a vector of them with `WHOLE`; the
    /// machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn map_at<F: PixelMap<N>, V: Vector, const P: usize, const WHOLE: bool>(
        &self,
        c: usize,
        y: *mut f32,
    ) {
        let rest = self.len - c;
        // SAFETY: the caller's promise.
        unsafe {
            let own = self.own::<V, WHOLE>(c);
            for p in 0..P {
                let at = p * self.step + c;
                let x = load::<V, WHOLE>(self.x.as_ptr().add(at), rest);
                let d = load::<V, WHOLE>(self.d.as_ptr().add(at), rest);
                store::<V, WHOLE>(F::map(x, d, own), y.add(at), rest);
            }
        }
    }

    /// Adds P pixels to the sums and writes their new values; returns P.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn add_and_map<F, V, const K: usize, const P: usize>(
        &self,
        sums: &mut [[f32; BLOCK]; 3],
        y: &mut [f32],
    ) -> usize
    where
        F: PixelSumsAndMap<N, K>,
        V: Vector,
    {
        let end = (P - 1) * self.step + self.len;
        assert!(end <= self.x.len() && end <= self.d.len() && end <= y.len());
        assert!(self.len <= BLOCK);
        let whole = self.len / V::WIDTH * V::WIDTH;
        // SAFETY: the caller's promise; all channels of P pixels are there, as asserted.
        unsafe {
            for c in (0..whole).step_by(V::WIDTH) {
                self.add_and_map_at::<F, V, K, P, true>(c, sums, y.as_mut_ptr());
            }
            if whole < self.len {
                self.add_and_map_at::<F, V, K, P, false>(whole, sums, y.as_mut_ptr());
            }
        }
        P
    }

    /// # Safety
    /// As [`add_at`](Self::add_at) and [`map_at`](Self::map_at).
    #[inline(always)]
    unsafe fn add_and_map_at<F, V, const K: usize, const P: usize, const WHOLE: bool>(
        &self,
        c: usize,
        sums: &mut [[f32; BLOCK]; 3],
        y: *mut f32,
    ) where
        F: PixelSumsAndMap<N, K>,
        V: Vector,
    {
        let rest = self.len - c;
        // SAFETY: the caller's promise. Sums are there for whole vectors.
        unsafe {
            let own = self.own::<V, WHOLE>(c);
            let mut so_far = [V::zero(); K];
            for k in 0..K {
                so_far[k] = V::load(sums[k].as_ptr().add(c));
            }
            for p in 0..P {
                let at = p * self.step + c;
                let x = load::<V, WHOLE>(self.x.as_ptr().add(at), rest);
                let d = load::<V, WHOLE>(self.d.as_ptr().add(at), rest);
                let (sums, new) = F::add_and_map(x, d, own, so_far);
                so_far = sums;
                store::<V, WHOLE>(new, y.add(at), rest);
            }
            for k in 0..K {
                so_far[k].store(sums[k].as_mut_ptr().add(c));
            }
        }
    }

    /// The coefficients of the channels from `c` on.
    ///
    /// # Safety
    /// As [`add_at`](Self::add_at).
    #[inline(always)]
    unsafe fn own<V: Vector, const WHOLE: bool>(&self, c: usize) -> [V; N] {
        // SAFETY: the caller's promise; there is a coefficient for every channel.
        unsafe {
            let mut own = [V::zero(); N];
            for n in 0..N {
                own[n] = load::<V, WHOLE>(self.coefficients[n].as_ptr().add(c), self.len - c);
            }
            own
        }
    }
}

/// Adds the `f32` sums of the first channels to their totals, and begins new ones.
#[inline(always)]
fn end_run<V: Vector, const K: usize>(totals: &mut Totals, channels: usize) {
    for k in 0..K {
        let run = &mut totals.run[k][..channels];
        for (total, sum) in totals.of[k][..channels].iter_mut().zip(&mut *run) {
            *total += f64::from(*sum);
            *sum = 0.0;
        }
        // The last vector may reach beyond the channels.
        let reached = channels.next_multiple_of(V::WIDTH);
        totals.run[k][channels..reached].fill(0.0);
    }
}
