//! A block of many channels, whose sums and coefficients stay in the first-level cache.
//!
//! Memory is read in its order, pixel by pixel: that matters more than the loads of sums and
//! coefficients for every vector.

use super::{BLOCK, LANES, PixelMap, PixelSums, RUN, Totals, add_lanes, map_lanes};
use crate::batch::{Batch, BatchMut, lines};
use crate::columns::{Columns, ColumnsMut};
use std::hint::black_box;
use std::ops::Range;

/// Pixels that are added to a sum each time it is loaded.
const PIXELS: usize = 4;

/// Sums over the pixels, in their order.
#[inline(always)]
pub(super) fn sum<F: PixelSums<N, K>, const FMA: bool, const N: usize, const K: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    totals: &mut Totals<K>,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape]);
    let vectors = Vectors::of(block.len());
    let mut summed = 0;
    for line in 0..lines {
        let (x, d) = (x.line(line, pixels), d.line(line, pixels));
        let mut p = 0;
        while p < pixels {
            let (x, d) = (&x[p * channels + block.start..], &d[p * channels + block.start..]);
            let sums = &mut totals.run;
            let added = match pixels - p {
                PIXELS.. => vectors.add::<F, FMA, N, K, PIXELS>(x, d, channels, coefficients, sums),
                _ => vectors.add::<F, FMA, N, K, 1>(x, d, channels, coefficients, sums),
            };
            p += added;
            summed += added;
            if summed >= RUN {
                end_run(totals, block.len());
                summed = 0;
            }
        }
    }
    if summed > 0 {
        end_run(totals, block.len());
    }
}

/// The new value of every float of a block.
#[inline(always)]
pub(super) fn map<F: PixelMap<N>, const FMA: bool, const N: usize>(
    x: Batch<'_>,
    d: Batch<'_>,
    block: Range<usize>,
    coefficients: [&[f32]; N],
    mut y: BatchMut<'_>,
) {
    let channels = x.shape.channels;
    let (lines, pixels) = lines(&[x.shape, d.shape, y.shape]);
    let vectors = Vectors::of(block.len());
    for line in 0..lines {
        let (x, d, y) = (x.line(line, pixels), d.line(line, pixels), y.line(line, pixels));
        let inputs = x.chunks_exact(channels).zip(d.chunks_exact(channels));
        for ((x, d), y) in inputs.zip(y.chunks_exact_mut(channels)) {
            let y = &mut y[block.clone()];
            vectors.map::<F, FMA, N>(&x[block.clone()], &d[block.clone()], coefficients, y);
        }
    }
}

/// The channels of a block: whole vectors, then single ones.
#[derive(Clone, Copy)]
struct Vectors {
    count: usize,
    channels: usize,
    /// From one vector to the next: [`LANES`], but the compiler does not know. It would take
    /// the vectors apart, to join lanes of one number in eight of them.
    step: usize,
}

impl Vectors {
    #[inline(always)]
    fn of(channels: usize) -> Self {
        Vectors { count: channels / LANES, channels, step: black_box(LANES) }
    }

    /// Adds P pixels, `step` floats apart, to the sums; returns P.
    #[inline(always)]
    fn add<F: PixelSums<N, K>, const FMA: bool, const N: usize, const K: usize, const P: usize>(
        &self,
        x: &[f32],
        d: &[f32],
        step: usize,
        coefficients: [&[f32]; N],
        sums: &mut [[f32; BLOCK]; K],
    ) -> usize {
        let (mut of_x, mut of_d) = ([self.columns(x, 0); P], [self.columns(d, 0); P]);
        for p in 1..P {
            (of_x[p], of_d[p]) = (self.columns(x, p * step), self.columns(d, p * step));
        }
        let own = self.all(coefficients);
        for i in 0..self.count {
            let own = each(&own, i);
            let mut so_far = [[0.0; LANES]; K];
            for k in 0..K {
                so_far[k] = self.columns(&sums[k], 0).get(i);
            }
            for p in 0..P {
                let (x, d) = (of_x[p].get(i), of_d[p].get(i));
                so_far = add_lanes::<F, FMA, N, K, LANES>(&x, &d, &own, &so_far);
            }
            for k in 0..K {
                ColumnsMut::new(&mut sums[k], 0, self.step, self.count).write(i, so_far[k]);
            }
        }
        for c in self.count * LANES..self.channels {
            let mut own = [0.0; N];
            for n in 0..N {
                own[n] = coefficients[n][c];
            }
            for p in 0..P {
                let mut so_far = [0.0; K];
                for k in 0..K {
                    so_far[k] = sums[k][c];
                }
                so_far = F::add::<FMA>(x[p * step + c], d[p * step + c], own, so_far);
                for k in 0..K {
                    sums[k][c] = so_far[k];
                }
            }
        }
        P
    }

    /// Writes the new values of a pixel.
    #[inline(always)]
    fn map<F: PixelMap<N>, const FMA: bool, const N: usize>(
        &self,
        x: &[f32],
        d: &[f32],
        coefficients: [&[f32]; N],
        y: &mut [f32],
    ) {
        let (of_x, of_d) = (self.columns(x, 0), self.columns(d, 0));
        let own = self.all(coefficients);
        let mut of_y = ColumnsMut::new(y, 0, self.step, self.count);
        for i in 0..self.count {
            let new = map_lanes::<F, FMA, N, LANES>(&of_x.get(i), &of_d.get(i), &each(&own, i));
            of_y.write(i, new);
        }
        for c in self.count * LANES..self.channels {
            let mut own = [0.0; N];
            for n in 0..N {
                own[n] = coefficients[n][c];
            }
            y[c] = F::map::<FMA>(x[c], d[c], own);
        }
    }

    #[inline(always)]
    fn columns<'a>(&self, values: &'a [f32], at: usize) -> Columns<'a> {
        Columns::new(values, at, self.step, self.count)
    }

    #[inline(always)]
    fn all<'a, const N: usize>(&self, values: [&'a [f32]; N]) -> [Columns<'a>; N] {
        let mut all = [Columns::new(&[], 0, 0, 0); N];
        for n in 0..N {
            all[n] = self.columns(values[n], 0);
        }
        all
    }
}

/// Vector `i` of each.
#[inline(always)]
fn each<const N: usize>(all: &[Columns<'_>; N], i: usize) -> [[f32; LANES]; N] {
    let mut vectors = [[0.0; LANES]; N];
    for n in 0..N {
        vectors[n] = all[n].get(i);
    }
    vectors
}

/// Adds the `f32` sums of the first channels to their totals, and begins new ones.
#[inline(always)]
fn end_run<const K: usize>(totals: &mut Totals<K>, channels: usize) {
    for k in 0..K {
        let run = &mut totals.run[k][..channels];
        for (total, sum) in totals.of[k][..channels].iter_mut().zip(run) {
            *total += f64::from(*sum);
            *sum = 0.0;
        }
    }
}
