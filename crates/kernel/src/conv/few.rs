//! From few input channels to many outputs at stride 1, such as the colours of an image:
//! forward, and the gradient of the weights.
//!
//! ```text
//! y[q, o]     = start[o] + sum_{u, j} x[u, q + j] * w[o, u, j]    for a row of pixels q
//! dw[o, u, j] = sum_q x[u, q + j] * dy[q, o]
//! ```
//!
//! The inputs `j` of one row of the window are so few that it pays to walk along rows of
//! pixels: no tile crosses from one row to the next, so that nothing is looked up in the sum.

use super::Conv2d;
use super::packing::{Packing, WIDE};
use super::runner::Start;
use crate::Shape;
use crate::dispatch::{Instructions, Kernel};
use crate::vector::{LANES, Vector};

/// Inputs of a row of the window, at most.
const SHORT: usize = 16;
/// Rows of pixels that stay in the first-level cache while all weights pass over them.
const ROWS: usize = 4;

/// A convolution with its packed weights and the sum of their gradient.
#[derive(Clone, Debug)]
pub(super) struct Few {
    x: Shape,
    y: Shape,
    dy: Shape,
    /// Rows of the window, and inputs of each.
    rows: usize,
    run: usize,
    /// From the corner of the border to the first input.
    corner: usize,
    packing: Packing,
    weights: Vec<f32>,
    start: Vec<f32>,
    sum: Vec<f32>,
}

impl Few {
    pub(super) fn fits(conv: &Conv2d) -> bool {
        (conv.stride, conv.groups) == (1, 1)
            && conv.in_channels * conv.kernel.1 <= SHORT
            && conv.out_channels.is_multiple_of(WIDE)
    }

    /// The packing holds the weights of a row of the window after those of the one before.
    pub(super) fn new(conv: &Conv2d, x: Shape, y: Shape, dy: Shape, packing: Packing) -> Self {
        Few {
            rows: conv.kernel.0,
            run: conv.in_channels * conv.kernel.1,
            corner: (x.halo - conv.padding) * (x.row_stride() + x.channels),
            weights: vec![0.0; packing.len()],
            start: vec![0.0; conv.out_channels],
            sum: vec![0.0; packing.len()],
            packing,
            x,
            y,
            dy,
        }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.packing.pack(weights, &mut self.weights);
    }

    pub(super) fn forward(
        &mut self,
        on: Instructions,
        images: usize,
        x: &[f32],
        start: Start<'_>,
        y: &mut [f32],
    ) {
        match start {
            Start::Bias(Some(bias)) => self.start.copy_from_slice(bias),
            Start::Bias(None) => self.start.fill(0.0),
            Start::Output => {}
        }
        on.run(Slide { of: self, images, x, y, add: matches!(start, Start::Output) });
    }

    pub(super) fn weight_grad(&mut self, on: Instructions, images: usize, x: &[f32], dy: &[f32]) {
        on.run(Collect { into: self, images, x, dy });
    }

    /// Writes the sum into the caller's array and begins a new one.
    pub(super) fn take(&mut self, dw: &mut [f32]) {
        self.packing.unpack(&self.sum, dw);
        self.sum.fill(0.0);
    }

    pub(super) fn floats(&self) -> usize {
        self.weights.len() + self.start.len() + self.sum.len()
    }

    /// Where the first input of a row of pixels lies.
    #[inline(always)]
    fn source(&self, image: usize, row: usize) -> usize {
        image * self.x.image_stride() + self.corner + row * self.x.row_stride()
    }

    /// Floats from one block of outputs to the next.
    #[inline(always)]
    fn block(&self) -> usize {
        self.rows * self.run * WIDE
    }
}

/// The forward pass over a batch.
struct Slide<'a> {
    of: &'a Few,
    images: usize,
    x: &'a [f32],
    y: &'a mut [f32],
    /// Begin with what `y` holds.
    add: bool,
}

impl Kernel for Slide<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Few { x, y, .. } = *self.of;
        let wide = V::WIDTH == WIDE;
        assert!(self.x.len() >= x.batch_len(self.images), "convolution: inputs");
        assert!(self.y.len() >= y.batch_len(self.images), "convolution: outputs");
        for image in 0..self.images {
            for row in 0..y.height {
                let from = self.of.source(image, row);
                let to = image * y.image_stride() + y.offset(row, 0);
                for block in 0..y.channels / WIDE {
                    let mut column = 0;
                    while column < y.width {
                        // SAFETY: both images lie in their slices, as was seen, and the windows
                        // of a row of pixels in the border of `x`, which the runner has checked;
                        // a tile ends within its row, and each block has its weights.
                        column += unsafe {
                            let x = self.x.as_ptr().add(from + column * x.channels);
                            let at = to + column * y.channels + block * WIDE;
                            let y = self.y.as_mut_ptr().add(at);
                            match self.of.y.width - column {
                                16.. if wide => slide::<V, 16, 1>(self.of, block, x, y, self.add),
                                8.. if wide => slide::<V, 8, 1>(self.of, block, x, y, self.add),
                                4.. if wide => slide::<V, 4, 1>(self.of, block, x, y, self.add),
                                _ if wide => slide::<V, 1, 1>(self.of, block, x, y, self.add),
                                6 | 9.. => slide::<V, 6, 2>(self.of, block, x, y, self.add),
                                4.. => slide::<V, 4, 2>(self.of, block, x, y, self.add),
                                _ => slide::<V, 1, 2>(self.of, block, x, y, self.add),
                            }
                        };
                    }
                }
            }
        }
    }
}

/// `PIXELS` neighbouring pixels x 16 outputs; returns `PIXELS`.
///
/// # Safety
/// The windows of the pixels may be read from `x` on, and their outputs written from `y` on;
/// the machine has the instructions of `V`.
#[inline(always)]
unsafe fn slide<V: Vector, const PIXELS: usize, const VECTORS: usize>(
    of: &Few,
    block: usize,
    mut x: *const f32,
    y: *mut f32,
    add: bool,
) -> usize {
    let (inputs, outputs) = (of.x.channels, of.y.channels);
    let start = &of.start[block * WIDE..][..WIDE];
    let mut weights = of.weights[block * of.block()..][..of.block()].as_ptr();
    // SAFETY: the caller's promise; `weights` has a row of 16 for each input of the window.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; PIXELS];
        for p in 0..PIXELS {
            for v in 0..VECTORS {
                let from = if add { y.add(p * outputs).cast_const() } else { start.as_ptr() };
                sum[p][v] = V::load(from.add(v * LANES));
            }
        }
        for _ in 0..of.rows {
            for j in 0..of.run {
                let mut w = [V::load(weights); VECTORS];
                for v in 1..VECTORS {
                    w[v] = V::load(weights.add(v * LANES));
                }
                for p in 0..PIXELS {
                    let input = *x.add(p * inputs + j);
                    for v in 0..VECTORS {
                        sum[p][v] = w[v].scale_add(input, sum[p][v]);
                    }
                }
                weights = weights.add(WIDE);
            }
            x = x.wrapping_add(of.x.row_stride());
        }
        for p in 0..PIXELS {
            for v in 0..VECTORS {
                sum[p][v].store(y.add(p * outputs + v * LANES));
            }
        }
    }
    PIXELS
}

/// The gradient of the weights over a batch.
struct Collect<'a> {
    into: &'a mut Few,
    images: usize,
    x: &'a [f32],
    dy: &'a [f32],
}

impl Kernel for Collect<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Few { x, dy, rows, run, .. } = *self.into;
        assert!(self.x.len() >= x.batch_len(self.images), "convolution: inputs");
        assert!(self.dy.len() >= dy.batch_len(self.images), "convolution: output gradients");
        let (block_len, wide) = (self.into.block(), V::WIDTH == WIDE);
        for image in 0..self.images {
            for top in (0..dy.height).step_by(ROWS) {
                let lines = ROWS.min(dy.height - top);
                let from = self.into.source(image, top);
                let at = image * dy.image_stride() + dy.offset(top, 0);
                for (block, sums) in self.into.sum.chunks_exact_mut(block_len).enumerate() {
                    let grads =
                        Pixels { shape: dy, lines, from: self.dy[at + block * WIDE..].as_ptr() };
                    for u in 0..rows {
                        let mut j = 0;
                        while j < run {
                            let values = &self.x[from + u * x.row_stride() + j..];
                            let values = Pixels { shape: x, lines, from: values.as_ptr() };
                            let sums = &mut sums[(u * run + j) * WIDE..];
                            // SAFETY: as in `Slide`; small tiles wait for their own sums, so a
                            // run is cut into parts of about the same size, none beyond its end.
                            j += unsafe {
                                match run - j {
                                    9 if wide => collect::<V, 9, 1>(values, grads, sums),
                                    8.. if wide => collect::<V, 8, 1>(values, grads, sums),
                                    1 if wide => collect::<V, 1, 1>(values, grads, sums),
                                    2 if wide => collect::<V, 2, 1>(values, grads, sums),
                                    3 if wide => collect::<V, 3, 1>(values, grads, sums),
                                    _ if wide => collect::<V, 4, 1>(values, grads, sums),
                                    1 => collect::<V, 1, 2>(values, grads, sums),
                                    2 => collect::<V, 2, 2>(values, grads, sums),
                                    3 => collect::<V, 3, 2>(values, grads, sums),
                                    4 | 7 | 8 => collect::<V, 4, 2>(values, grads, sums),
                                    5 | 9 | 10 => collect::<V, 5, 2>(values, grads, sums),
                                    _ => collect::<V, 6, 2>(values, grads, sums),
                                }
                            };
                        }
                    }
                }
            }
        }
    }
}

/// A few rows of pixels of an image, from `from` on.
#[derive(Clone, Copy)]
struct Pixels {
    shape: Shape,
    lines: usize,
    from: *const f32,
}

/// `INPUTS` inputs x 16 outputs, over the pixels; returns `INPUTS`.
///
/// # Safety
/// `INPUTS` values and 16 gradients of each pixel may be read; the machine has the instructions
/// of `V`.
#[inline(always)]
unsafe fn collect<V: Vector, const INPUTS: usize, const VECTORS: usize>(
    values: Pixels,
    grads: Pixels,
    sums: &mut [f32],
) -> usize {
    let sums = sums[..INPUTS * WIDE].as_mut_ptr();
    // SAFETY: the caller's promise, and `sums` has a row of 16 for each input.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; INPUTS];
        for i in 0..INPUTS {
            for v in 0..VECTORS {
                sum[i][v] = V::load(sums.add(i * WIDE + v * LANES));
            }
        }
        for line in 0..grads.lines {
            let mut x = values.from.add(line * values.shape.row_stride());
            let mut dy = grads.from.add(line * grads.shape.row_stride());
            for _ in 0..grads.shape.width {
                let mut z = [V::load(dy); VECTORS];
                for v in 1..VECTORS {
                    z[v] = V::load(dy.add(v * LANES));
                }
                for i in 0..INPUTS {
                    let value = *x.add(i);
                    for v in 0..VECTORS {
                        sum[i][v] = z[v].scale_add(value, sum[i][v]);
                    }
                }
                x = x.wrapping_add(values.shape.channels);
                dy = dy.wrapping_add(grads.shape.channels);
            }
        }
        for i in 0..INPUTS {
            for v in 0..VECTORS {
                sum[i][v].store(sums.add(i * WIDE + v * LANES));
            }
        }
    }
    INPUTS
}
