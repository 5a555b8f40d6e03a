//! The input gradient of layers with few input channels, by scattering.
//!
//! ```text
//! part[r, c, v, i] = sum_{u, o} dy[(r - u) / stride, c, o] * w[o, i, u, v]
//! dx[r, c * stride + v, i] += part[r, c, v, i]        r and columns counted from the padding
//! ```
//!
//! With few inputs the gathering sum of `dense` leaves most lanes of a vector empty; here all
//! inputs of a row of the window stand side by side in them, and go to contiguous floats of a
//! row of the image. The sum over the rows of the window stays in registers.

use super::Conv2d;
use super::instructions::{Instructions, Kernel, vector};
use super::packing::{NARROW, Packing, WIDE, lanes_at};
use crate::Shape;
use crate::dispatch::multiply_add;

/// Below this the lanes of a vector are mostly empty.
const FEW: usize = 16;

/// The input gradient of a convolution in one group.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    conv: Conv2d,
    x: Shape,
    dy: Shape,
    packing: Packing,
    /// The weights as `[out][row][column][in]`.
    turned: Vec<f32>,
    /// The same, packed: for a row of the window and an output, all columns and inputs.
    weights: Vec<f32>,
    /// For each row of the image: the rows of the window that reach it, and where the row of
    /// `dy` lies that each of them meets.
    reach: Vec<Vec<(usize, usize)>>,
    /// A row of the image with a border as wide as the padding, and a vector of room.
    line: Vec<f32>,
}

impl Scatter {
    pub(super) fn fits(conv: &Conv2d) -> bool {
        let full = conv.in_channels.is_multiple_of(8) || conv.in_channels > FEW;
        conv.groups == 1 && conv.kernel != (1, 1) && !full
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, dy: Shape) -> Self {
        let run = conv.kernel.1 * conv.in_channels;
        let taps = conv.kernel.0 * run;
        let at = |row| (0..conv.out_channels).map(move |o| o * taps + row * run);
        let inputs = (0..conv.kernel.0).flat_map(at).collect();
        let packing = Packing { inputs, output_step: 1, outputs: run };
        Scatter {
            conv: *conv,
            x,
            dy,
            turned: vec![0.0; conv.weights_len()],
            weights: vec![0.0; packing.len()],
            packing,
            reach: (0..x.height).map(|row| reach(conv, dy, row)).collect(),
            line: vec![0.0; x.with_halo(conv.padding).row_stride() + WIDE],
        }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        let (inputs, area) = (self.conv.in_channels, self.conv.kernel.0 * self.conv.kernel.1);
        let turned = self.turned.chunks_exact_mut(inputs * area);
        for (to, from) in turned.zip(weights.chunks_exact(inputs * area)) {
            for i in 0..inputs {
                for tap in 0..area {
                    to[tap * inputs + i] = from[i * area + tap];
                }
            }
        }
        self.packing.pack(&self.turned, &mut self.weights);
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
    ) {
        on.run(Spread { of: self, images, dy, dx, accumulate });
    }

    pub(super) fn floats(&self) -> usize {
        self.turned.len() + self.weights.len() + self.line.len()
    }
}

/// The rows of the window that reach row `row` of the image, and the rows of `dy` they meet.
fn reach(conv: &Conv2d, dy: Shape, row: usize) -> Vec<(usize, usize)> {
    let row = row + conv.padding;
    let rows = 0..conv.kernel.0.min(row + 1);
    rows.filter_map(|u| {
        let meets = (row - u).is_multiple_of(conv.stride) && (row - u) / conv.stride < dy.height;
        meets.then(|| (u, dy.offset((row - u) / conv.stride, 0)))
    })
    .collect()
}

/// One pass of a [`Scatter`] over a batch.
struct Spread<'a> {
    of: &'a mut Scatter,
    images: usize,
    dy: &'a [f32],
    dx: &'a mut [f32],
    accumulate: bool,
}

impl Kernel for Spread<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let (x, outputs) = (self.of.x, self.of.packing.outputs);
        for image in 0..self.images {
            for row in 0..x.height {
                self.of.line.fill(0.0);
                for first in (0..outputs).step_by(WIDE) {
                    if lanes_at(first, outputs) == WIDE {
                        self.block::<FMA, WIDE>(image, row, first);
                    } else {
                        self.block::<FMA, NARROW>(image, row, first);
                    }
                }
                self.line_into(image * x.image_stride() + x.offset(row, 0));
            }
        }
    }
}

impl Spread<'_> {
    /// A block of lanes of all columns.
    #[inline(always)]
    fn block<const FMA: bool, const LANES: usize>(
        &mut self,
        image: usize,
        row: usize,
        first: usize,
    ) {
        let width = self.of.dy.width;
        let mut column = 0;
        while width - column >= 6 {
            self.tile::<FMA, LANES, 6>(image, row, first, column);
            column += 6;
        }
        match width - column {
            1 => self.tile::<FMA, LANES, 1>(image, row, first, column),
            2 => self.tile::<FMA, LANES, 2>(image, row, first, column),
            3 => self.tile::<FMA, LANES, 3>(image, row, first, column),
            4 => self.tile::<FMA, LANES, 4>(image, row, first, column),
            5 => self.tile::<FMA, LANES, 5>(image, row, first, column),
            _ => {}
        }
    }

    /// The parts of `PIXELS` columns, added to the line. Lanes without a weight add a zero.
    #[inline(always)]
    fn tile<const FMA: bool, const LANES: usize, const PIXELS: usize>(
        &mut self,
        image: usize,
        row: usize,
        first: usize,
        column: usize,
    ) {
        let of = &mut *self.of;
        let outputs = of.conv.out_channels;
        let (weights, _) = of.weights[first * of.packing.inputs.len()..].as_chunks::<LANES>();
        let skip = image * of.dy.image_stride() + column * outputs;
        let mut sum = [[0.0; LANES]; PIXELS];
        for &(u, at) in &of.reach[row] {
            let mut dy: [&[f32]; PIXELS] = [&[]; PIXELS];
            for p in 0..PIXELS {
                dy[p] = &self.dy[skip + at + p * outputs..][..outputs];
            }
            let weights = &weights[u * outputs..][..outputs];
            for o in 0..outputs {
                for p in 0..PIXELS {
                    for lane in 0..LANES {
                        sum[p][lane] =
                            multiply_add::<FMA>(dy[p][o], weights[o][lane], sum[p][lane]);
                    }
                }
            }
        }
        let step = of.conv.stride * of.conv.in_channels;
        for p in 0..PIXELS {
            let at = (column + p) * step + first;
            let mut line: [f32; LANES] = vector(&of.line, at);
            for lane in 0..LANES {
                line[lane] += sum[p][lane];
            }
            of.line[at..at + LANES].copy_from_slice(&line);
        }
    }

    /// The inside of the line goes to a row of `dx`.
    #[inline(always)]
    fn line_into(&mut self, at: usize) {
        let of = &*self.of;
        let length = of.x.width * of.x.channels;
        let line = &of.line[of.conv.padding * of.x.channels..][..length];
        let dx = &mut self.dx[at..][..length];
        if self.accumulate {
            dx.iter_mut().zip(line).for_each(|(dx, part)| *dx += part);
        } else {
            dx.copy_from_slice(line);
        }
    }
}
