//! One layer at work: forward, and backward to its input and its parameters.

use std::ops::Range;

use consort_kernel::conv::ConvRunner;
use consort_kernel::evonorm::EvoNorm;
use consort_kernel::group_norm::GroupNorm;
use consort_kernel::linear::{Gradient, Linear};
use consort_kernel::pool::Pool;
use consort_kernel::{Path, Shape, relu, residual};

use super::Value;

/// A layer between two values.
pub(super) struct Step {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) kind: Kind,
    /// A gradient on its way to be added, for values with several readers.
    pub(super) scratch: Vec<f32>,
}

/// What a step computes; ranges are its parameters in the flat vector, empty if it has none.
pub(super) enum Kind {
    Conv {
        runner: Box<ConvRunner>,
        weight: Range<usize>,
        bias: Range<usize>,
    },
    EvoNorm {
        norm: EvoNorm,
        stats: Vec<f32>,
        gamma: Range<usize>,
        beta: Range<usize>,
        v: Range<usize>,
    },
    GroupNorm {
        norm: GroupNorm,
        stats: Vec<f32>,
        gamma: Range<usize>,
        beta: Range<usize>,
    },
    Relu,
    MaxPool {
        pool: Pool,
        argmax: Vec<u32>,
    },
    AveragePool {
        pool: Pool,
    },
    Flatten,
    Linear {
        linear: Linear,
        weight: Range<usize>,
        bias: Range<usize>,
    },
    Add {
        added: usize,
    },
}

impl Step {
    pub(super) fn take_weights(&mut self, flat: &[f32]) {
        if let Kind::Conv { runner, weight, .. } = &mut self.kind {
            runner.set_weights(&flat[weight.clone()]);
        }
    }

    /// Writes the gradients that were summed over the pieces of a batch.
    pub(super) fn give_gradient(&mut self, grad: &mut [f32]) {
        if let Kind::Conv { runner, weight, .. } = &mut self.kind {
            runner.take_weight_grad(&mut grad[weight.clone()]);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let own = match &self.kind {
            Kind::Conv { runner, .. } => runner.memory_bytes(),
            Kind::EvoNorm { stats, .. } | Kind::GroupNorm { stats, .. } => 4 * stats.len(),
            Kind::MaxPool { argmax, .. } => 4 * argmax.len(),
            _ => 0,
        };
        own + 4 * self.scratch.len()
    }

    pub(super) fn forward(&mut self, path: Path, flat: &[f32], n: usize, values: &mut [Value]) {
        // The output is always a later value than what is read.
        let (before, after) = values.split_at_mut(self.output);
        let (x, x_shape) = (&before[self.input].data, before[self.input].shape);
        let (y, y_shape) = (&mut after[0].data, after[0].shape);
        let part = |range: &Range<usize>| &flat[range.clone()];
        match &mut self.kind {
            Kind::Conv { runner, bias, .. } => {
                runner.forward(n, x, some(part(bias)), y);
            }
            Kind::EvoNorm { norm, stats, gamma, beta, v } => {
                let (gamma, beta, v) = (part(gamma), part(beta), some(part(v)));
                norm.forward(path, n, x, x_shape, gamma, beta, v, y, y_shape, stats);
            }
            Kind::GroupNorm { norm, stats, gamma, beta } => {
                norm.forward(path, n, x, x_shape, part(gamma), part(beta), y, y_shape, stats);
            }
            Kind::Relu => relu::forward(n, x, x_shape, y, y_shape),
            Kind::MaxPool { pool, argmax } => pool.max_forward(n, x, x_shape, y, y_shape, argmax),
            Kind::AveragePool { pool } => pool.average_forward(n, x, x_shape, y, y_shape),
            Kind::Flatten => flatten(n, x, x_shape, y),
            Kind::Linear { linear, weight, bias } => {
                linear.forward(path, n, x, part(weight), part(bias), y);
            }
            Kind::Add { added } => {
                let (other, other_shape) = (&before[*added].data, before[*added].shape);
                residual::copy(n, x, x_shape, y, y_shape);
                residual::add(n, other, other_shape, y, y_shape);
            }
        }
    }

    pub(super) fn backward(
        &mut self,
        path: Path,
        flat: &[f32],
        grad: &mut [f32],
        n: usize,
        values: &mut [Value],
    ) {
        let (before, after) = values.split_at_mut(self.output);
        let (y, dy, y_shape) = (&after[0].data, &after[0].gradient, after[0].shape);
        if let Kind::Add { added } = self.kind {
            for reader in [self.input, added] {
                let Value { shape, gradient, written, .. } = &mut before[reader];
                pass_on(n, dy, y_shape, gradient, *shape, written);
            }
            return;
        }
        let Value { shape: x_shape, data: x, gradient, written } = &mut before[self.input];
        let x_shape = *x_shape;
        // The input of the model needs no gradient; another value may already have one.
        let first = self.input == 0;
        let dx = if *written { &mut self.scratch } else { &mut *gradient };
        let part = |range: &Range<usize>| &flat[range.clone()];
        match &mut self.kind {
            Kind::Conv { runner, bias, .. } => {
                runner.weight_grad(n, x, dy);
                if !bias.is_empty() {
                    runner.bias_grad(n, dy, &mut grad[bias.clone()]);
                }
                if !first {
                    runner.input_grad(n, dy, gradient, *written);
                    *written = true;
                }
                return; // it has added by itself
            }
            Kind::EvoNorm { norm, stats, gamma, beta, v } => {
                let (dgamma, rest) = grad[gamma.start..].split_at_mut(gamma.len());
                let (dbeta, rest) = rest.split_at_mut(beta.len());
                let dv = (v.start < v.end).then(|| &mut rest[..v.len()]);
                let (gamma, v) = (part(gamma), some(part(v)));
                norm.backward(
                    path, n, x, x_shape, dy, y_shape, gamma, v, stats, dx, x_shape, dgamma, dbeta,
                    dv,
                );
            }
            Kind::GroupNorm { norm, stats, gamma, beta } => {
                let (dgamma, rest) = grad[gamma.start..].split_at_mut(gamma.len());
                let (dbeta, gamma) = (&mut rest[..beta.len()], part(gamma));
                norm.backward(
                    path, n, x, x_shape, dy, y_shape, gamma, stats, dx, x_shape, dgamma, dbeta,
                );
            }
            Kind::Relu => relu::backward(n, y, y_shape, dy, y_shape, dx, x_shape),
            Kind::MaxPool { pool, argmax } => {
                pool.max_backward(n, argmax, dy, y_shape, dx, x_shape);
            }
            Kind::AveragePool { pool } => pool.average_backward(n, dy, y_shape, dx, x_shape),
            Kind::Flatten => unflatten(n, dy, dx, x_shape),
            Kind::Linear { linear, weight, bias } => {
                let (dw, rest) = grad[weight.start..].split_at_mut(weight.len());
                let db = &mut rest[..bias.len()];
                linear.weight_gradient(path, n, x, dy, dw, db, Gradient::Accumulate);
                linear.input_gradient(path, n, dy, part(weight), dx);
            }
            Kind::Add { .. } => {}
        }
        if *written {
            residual::add(n, &self.scratch, x_shape, gradient, x_shape);
        }
        *written = true;
    }
}

/// Copies a gradient, or adds it to one that is there.
fn pass_on(
    n: usize,
    dy: &[f32],
    dy_shape: Shape,
    dx: &mut [f32],
    dx_shape: Shape,
    written: &mut bool,
) {
    if *written {
        residual::add(n, dy, dy_shape, dx, dx_shape);
    } else {
        residual::copy(n, dy, dy_shape, dx, dx_shape);
    }
    *written = true;
}

fn some(slice: &[f32]) -> Option<&[f32]> {
    (!slice.is_empty()).then_some(slice)
}

/// From pixels with channels to PyTorch's order: channel, row, column.
fn flatten(n: usize, x: &[f32], shape: Shape, row: &mut [f32]) {
    for_each_entry(n, shape, |image, flat| row[flat] = x[image]);
}

fn unflatten(n: usize, row: &[f32], dx: &mut [f32], shape: Shape) {
    for_each_entry(n, shape, |image, flat| dx[image] = row[flat]);
}

/// Tells where every number of a batch stands in the images and in the flat rows.
fn for_each_entry(n: usize, shape: Shape, mut tell: impl FnMut(usize, usize)) {
    let Shape { height, width, channels, .. } = shape;
    for b in 0..n {
        for r in 0..height {
            for c in 0..width {
                let pixel = b * shape.image_stride() + shape.offset(r, c);
                for channel in 0..channels {
                    let flat = ((b * channels + channel) * height + r) * width + c;
                    tell(pixel + channel, flat);
                }
            }
        }
    }
}
