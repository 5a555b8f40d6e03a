//! The input gradient of layers with few input channels, by scattering.
//!
//! ```text
//! part[p, u, v, i] = sum_o dy[p, o] * w[o, i, u, v]        one matrix product per image
//! dx[p * stride + (u, v) - padding, i] += part[p, u, v, i]
//! ```
//!
//! With few inputs the gathering sum of `dense` leaves most lanes of a vector empty; here all
//! taps of all inputs stand side by side in them. The taps of a row of the window go to
//! contiguous floats of the image.

use super::Conv2d;
use super::correlate::{Correlate, Correlation};
use super::instructions::{Instructions, Kernel};
use super::packing::Packing;
use super::window::{Steps, Window};
use crate::Shape;

/// Below this the lanes of a vector are mostly empty.
const FEW: usize = 16;

/// The input gradient of a convolution in one group.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    conv: Conv2d,
    x: Shape,
    dy: Shape,
    products: Correlation,
    /// The weights as `[out][row][column][in]`.
    turned: Vec<f32>,
    /// The parts of one image.
    parts: Vec<f32>,
    /// One image with a border as wide as the padding.
    image: Vec<f32>,
}

impl Scatter {
    pub(super) fn fits(conv: &Conv2d) -> bool {
        let full = conv.in_channels.is_multiple_of(8) || conv.in_channels > FEW;
        conv.groups == 1 && conv.kernel != (1, 1) && !full
    }

    pub(super) fn new(conv: &Conv2d, x: Shape, dy: Shape) -> Self {
        let taps = conv.kernel.0 * conv.kernel.1 * conv.in_channels;
        let pixels = dy.height * dy.width;
        let target = Steps { start: 0, image: pixels * taps, row: dy.width * taps, pixel: taps };
        let window = Window {
            height: dy.height,
            width: dy.width,
            source: Steps::new(dy, (0, 0), 0, 1),
            target,
        };
        let inputs = (0..conv.out_channels).map(|o| o * taps).collect();
        let packing = Packing { inputs, output_step: 1, outputs: taps };
        Scatter {
            conv: *conv,
            products: Correlation::new(window, vec![0], conv.out_channels, packing),
            turned: vec![0.0; conv.weights_len()],
            parts: vec![0.0; pixels * taps],
            image: vec![0.0; x.with_halo(conv.padding).batch_len(1)],
            x,
            dy,
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
        self.products.set_weights(&self.turned);
    }

    pub(super) fn input_grad(
        &mut self,
        on: Instructions,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
    ) {
        for image in 0..images {
            let source = &dy[image * self.dy.image_stride()..];
            let pixels = self.dy.height * self.dy.width;
            let (of, target) = (&self.products, &mut self.parts[..]);
            on.run(Correlate { of, pixels, source, target, accumulate: false });
            on.run(Spread {
                conv: &self.conv,
                dy: self.dy,
                parts: &self.parts,
                to: self.x.with_halo(self.conv.padding),
                image: &mut self.image,
            });
            self.image_into(accumulate, &mut dx[image * self.x.image_stride()..]);
        }
    }

    /// The inside of the image goes to the inside of `dx`.
    fn image_into(&self, accumulate: bool, dx: &mut [f32]) {
        let from = self.x.with_halo(self.conv.padding);
        let length = self.x.width * self.x.channels;
        for row in 0..self.x.height {
            let image = &self.image[from.offset(row, 0)..][..length];
            let dx = &mut dx[self.x.offset(row, 0)..][..length];
            if accumulate {
                dx.iter_mut().zip(image).for_each(|(dx, part)| *dx += part);
            } else {
                dx.copy_from_slice(image);
            }
        }
    }

    pub(super) fn floats(&self) -> usize {
        let own = self.turned.len() + self.parts.len() + self.image.len();
        own + self.products.floats()
    }
}

/// Adds the parts of one image where they belong.
struct Spread<'a> {
    conv: &'a Conv2d,
    dy: Shape,
    parts: &'a [f32],
    to: Shape,
    image: &'a mut [f32],
}

impl Kernel for Spread<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Conv2d { in_channels, kernel, stride, .. } = *self.conv;
        let run = kernel.1 * in_channels;
        self.image.fill(0.0);
        let mut parts = self.parts.chunks_exact(run);
        for row in 0..self.dy.height {
            for column in 0..self.dy.width {
                let first = row * stride * self.to.row_stride() + column * stride * in_channels;
                for u in 0..kernel.0 {
                    let Some(part) = parts.next() else { return };
                    let to = &mut self.image[first + u * self.to.row_stride()..][..run];
                    for (sum, part) in to.iter_mut().zip(part) {
                        *sum += part;
                    }
                }
            }
        }
    }
}
