//! One layer at work: forward, and backward to its input and its parameters.

use std::ops::Range;

use consort_kernel::conv::{ConvRunner, Scratch};
use consort_kernel::evonorm::EvoNorm;
use consort_kernel::group_norm::GroupNorm;
use consort_kernel::linear::{Gradient, Linear};
use consort_kernel::pool::Pool;
use consort_kernel::{Isa, Shape, relu, residual};

use super::flatten::{flatten, unflatten};
use super::gradients::{Backward, Target};
use super::{Images, Value};

/// A layer between two values.
pub(super) struct Step {
    pub(super) name: String,
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) kind: Kind,
    pub(super) isa: Isa,
    pub(super) back: Backward,
}

/// What a step computes; ranges are its parameters in the flat vector, empty if it has none.
pub(super) enum Kind {
    Conv {
        runner: Box<ConvRunner>,
        weight: Range<usize>,
        bias: Range<usize>,
        /// Adds to what an earlier step has put out.
        adds: bool,
        flops: u64,
    },
    EvoNorm {
        norm: EvoNorm,
        stats: Vec<f32>,
        /// What `rematerialise` found, for the rest of the backward pass.
        pulls: Vec<f32>,
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

/// Which gradients a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    All,
    /// Of the input alone: those of the parameters come later, or came with `rematerialise`.
    Input,
    /// Of the parameters alone.
    Parameters,
}

/// A part of a step of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// Weights into the order of the kernels, once a batch.
    Weights,
    /// From the input to the output.
    Forward,
    /// Gradients of the input and of the parameters.
    Backward,
}

/// What has just been done.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The layer, as in `2.body.0`.
    pub layer: &'a str,
    /// What the layer is.
    pub kind: &'static str,
    /// Which part of its work.
    pub pass: Pass,
}

impl Step {
    pub(super) fn moment(&self, pass: Pass) -> Moment<'_> {
        let kind = match &self.kind {
            Kind::Conv { runner, .. } => runner.implementation_name(),
            Kind::EvoNorm { .. } => "evonorm",
            Kind::GroupNorm { .. } => "group-norm",
            Kind::Relu => "relu",
            Kind::MaxPool { .. } => "max-pool",
            Kind::AveragePool { .. } => "average-pool",
            Kind::Flatten => "flatten",
            Kind::Linear { .. } => "linear",
            Kind::Add { .. } => "sum of a block",
        };
        Moment { layer: &self.name, kind, pass }
    }

    /// The layer, for a person.
    pub(super) fn label(&self) -> String {
        format!("{} ({})", self.name, self.moment(Pass::Forward).kind)
    }

    pub(super) fn is_conv(&self) -> bool {
        matches!(self.kind, Kind::Conv { .. })
    }

    pub(super) fn is_evonorm(&self) -> bool {
        matches!(self.kind, Kind::EvoNorm { .. })
    }

    pub(super) fn is_depthwise(&self) -> bool {
        matches!(&self.kind, Kind::Conv { runner, .. } if runner.is_depthwise())
    }

    /// Whether the backward pass reads what came in.
    pub(super) fn reads_input_again(&self) -> bool {
        !matches!(self.kind, Kind::MaxPool { .. })
    }

    pub(super) fn take_weights(&mut self, flat: &[f32]) {
        if let Kind::Conv { runner, weight, .. } = &mut self.kind {
            runner.set_weights(&flat[weight.clone()]);
        }
    }

    /// Zeros for the gradients to which every micro-batch adds. (Those of a convolution's
    /// weights are summed in the kernel's order, and written once, with the last images.)
    pub(super) fn clear_gradient(&self, grad: &mut [f32]) {
        let none = 0..0;
        let added = match &self.kind {
            Kind::Conv { bias, .. } => [bias, &none, &none],
            Kind::EvoNorm { gamma, beta, v, .. } => [gamma, beta, v],
            Kind::GroupNorm { gamma, beta, .. } => [gamma, beta, &none],
            Kind::Linear { weight, bias, .. } => [weight, bias, &none],
            _ => [&none; 3],
        };
        added.into_iter().for_each(|range| grad[range.clone()].fill(0.0));
    }

    /// Writes whatever was summed, so that another sum can begin.
    pub(super) fn drop_gradient(&mut self, grad: &mut [f32]) {
        if let Kind::Conv { runner, weight, .. } = &mut self.kind {
            runner.take_weight_grad(&mut grad[weight.clone()]);
        }
    }

    /// Makes room for what the step needs while it runs.
    pub(super) fn fit(&self, scratch: &mut Scratch) {
        if let Kind::Conv { runner, .. } = &self.kind {
            scratch.fit(runner);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match &self.kind {
            Kind::Conv { runner, .. } => runner.memory_bytes(),
            Kind::EvoNorm { stats, pulls, .. } => 4 * (stats.len() + pulls.len()),
            Kind::GroupNorm { stats, .. } => 4 * stats.len(),
            Kind::MaxPool { argmax, .. } => 4 * argmax.len(),
            _ => 0,
        }
    }

    /// Multiplications and additions of one image: forward, to the weights and, unless it is
    /// the first layer, to the input.
    pub(super) fn flops(&self) -> u64 {
        let passes = if self.back.to.is_empty() { 2 } else { 3 };
        match &self.kind {
            Kind::Conv { flops, .. } => passes * flops,
            Kind::Linear { linear, .. } => passes * 2 * (linear.inputs * linear.outputs) as u64,
            _ => 0,
        }
    }

    pub(super) fn forward(
        &mut self,
        flat: &[f32],
        images: Range<usize>,
        values: &mut [Value],
        scratch: &mut Scratch,
    ) {
        self.run_forward(flat, images, values, scratch, false);
    }

    /// The same output once more, in the backward pass.
    pub(super) fn forward_again(
        &mut self,
        flat: &[f32],
        images: Range<usize>,
        values: &mut [Value],
        scratch: &mut Scratch,
    ) {
        self.run_forward(flat, images, values, scratch, true);
    }

    fn run_forward(
        &mut self,
        flat: &[f32],
        images: Range<usize>,
        values: &mut [Value],
        scratch: &mut Scratch,
        again: bool,
    ) {
        let (skip, n) = (images.start, images.len());
        let mut out = std::mem::take(&mut values[self.output].data);
        let (x_shape, y_shape) = (values[self.input].shape, values[self.output].shape);
        let y = &mut out[values[self.output].at(skip)..];
        // Nothing for a sum in place, whose input is the output.
        let x = values[self.input].data.get(values[self.input].at(skip)..).unwrap_or_default();
        let isa = self.isa;
        let part = |range: &Range<usize>| &flat[range.clone()];
        match &mut self.kind {
            Kind::Conv { runner, adds: true, .. } => runner.forward_add(n, x, y, scratch),
            Kind::Conv { runner, bias, .. } => {
                runner.forward(n, x, some(part(bias)), y, scratch);
            }
            Kind::EvoNorm { norm, stats, gamma, beta, v, .. } => {
                let (gamma, beta, v) = (part(gamma), part(beta), some(part(v)));
                let stats = &mut stats[norm.stats_len(skip)..];
                match again {
                    false => norm.forward(isa, n, x, x_shape, gamma, beta, v, y, y_shape, stats),
                    true => {
                        norm.forward_again(isa, n, x, x_shape, gamma, beta, v, y, y_shape, stats);
                    }
                }
            }
            Kind::GroupNorm { norm, stats, gamma, beta } => {
                let stats = &mut stats[norm.stats_len(skip)..];
                let (gamma, beta) = (part(gamma), part(beta));
                match again {
                    false => norm.forward(isa, n, x, x_shape, gamma, beta, y, y_shape, stats),
                    true => norm.forward_again(isa, n, x, x_shape, gamma, beta, y, y_shape, stats),
                }
            }
            Kind::Relu => relu::forward(n, x, x_shape, y, y_shape),
            Kind::MaxPool { pool, argmax } => {
                let argmax = &mut argmax[pool.argmax_len(skip, x_shape)..];
                pool.max_forward(isa, n, x, x_shape, y, y_shape, argmax);
            }
            Kind::AveragePool { pool } => pool.average_forward(n, x, x_shape, y, y_shape),
            Kind::Flatten => flatten(n, x, x_shape, y),
            Kind::Linear { linear, weight, bias } => {
                linear.forward(isa, n, x, part(weight), part(bias), y);
            }
            Kind::Add { added } => {
                if self.input != self.output {
                    residual::copy(n, x, x_shape, y, y_shape);
                }
                let added = &values[*added];
                residual::add(n, added.from(skip), added.shape, y, y_shape);
            }
        }
        values[self.output].data = out;
    }

    /// A normalisation's output once more, and in the same pass the gradients of its
    /// parameters, where the gradient of its output is there first.
    pub(super) fn rematerialise(
        &mut self,
        flat: &[f32],
        grad: &mut [f32],
        images: Range<usize>,
        values: &mut [Value],
        gradients: &[Value],
    ) {
        let Kind::EvoNorm { norm, stats, pulls, gamma, beta, v } = &mut self.kind else { return };
        let (skip, n) = (images.start, images.len());
        let mut out = std::mem::take(&mut values[self.output].data);
        let (x_shape, y_shape) = (values[self.input].shape, values[self.output].shape);
        let y = &mut out[values[self.output].at(skip)..];
        let (x, dy) = (values[self.input].from(skip), gradients[self.back.dy].from(skip));
        let (dgamma, dbeta, dv) = of_evonorm(grad, gamma, beta, v);
        let (stats, pulls) = (&stats[norm.stats_len(skip)..], &mut pulls[norm.pulls_len(skip)..]);
        let (gamma, beta) = (&flat[gamma.clone()], &flat[beta.clone()]);
        let v = some(&flat[v.clone()]);
        norm.rematerialise(
            self.isa, n, x, x_shape, dy, y_shape, gamma, beta, v, stats, y, pulls, dgamma, dbeta,
            dv,
        );
        values[self.output].data = out;
    }

    pub(super) fn backward(
        &mut self,
        to: To,
        (flat, grad): (&[f32], &mut [f32]),
        &Images { ref images, last }: &Images,
        values: &[Value],
        gradients: &mut [Value],
        scratch: &mut Scratch,
    ) {
        let (skip, n) = (images.start, images.len());
        let (x, y) = (values[self.input].from(skip), values[self.output].from(skip));
        let (x_shape, y_shape) = (values[self.input].shape, values[self.output].shape);
        if let Kind::Add { .. } = self.kind {
            for &target in &self.back.to {
                let shape = values[target.value].shape;
                pass_on(images.clone(), self.back.dy, y_shape, target, shape, gradients);
            }
            return;
        }
        let target = self.back.to.first().copied();
        // A layer that cannot add writes beside the gradient that is there.
        let aside = self.back.scratch.or(target.map(|target| target.buffer));
        let take = |at: usize| (gradients[at].at(skip), std::mem::take(&mut gradients[at].data));
        let (begin, mut buffer) = aside.map(take).unwrap_or_default();
        let (dx, dy) = (&mut buffer[begin..], gradients[self.back.dy].from(skip));
        let isa = self.isa;
        let part = |range: &Range<usize>| &flat[range.clone()];
        match &mut self.kind {
            Kind::Conv { runner, weight, bias, .. } => {
                if to != To::Input {
                    match last {
                        false => runner.weight_grad(n, x, dy, scratch),
                        true => {
                            let dw = &mut grad[weight.clone()];
                            runner.last_weight_grad(n, x, dy, dw, scratch);
                        }
                    }
                    if bias.start < bias.end {
                        runner.bias_grad(n, dy, &mut grad[bias.clone()]);
                    }
                }
                if let Some(Target { accumulate, .. }) = target.filter(|_| to != To::Parameters) {
                    runner.input_grad(n, dy, dx, accumulate, scratch);
                }
            }
            Kind::EvoNorm { norm, stats, pulls, gamma, v, .. } if to == To::Input => {
                let (gamma, v) = (part(gamma), some(part(v)));
                let (stats, pulls) =
                    (&stats[norm.stats_len(skip)..], &pulls[norm.pulls_len(skip)..]);
                norm.input_grad(
                    isa, n, x, x_shape, dy, y_shape, gamma, v, stats, pulls, dx, x_shape,
                );
            }
            Kind::EvoNorm { norm, stats, gamma, beta, v, .. } => {
                let (dgamma, dbeta, dv) = of_evonorm(grad, gamma, beta, v);
                let (gamma, v) = (part(gamma), some(part(v)));
                let stats = &stats[norm.stats_len(skip)..];
                norm.backward(
                    isa, n, x, x_shape, dy, y_shape, gamma, v, stats, dx, x_shape, dgamma, dbeta,
                    dv,
                );
            }
            Kind::GroupNorm { norm, stats, gamma, beta } => {
                let (of_gamma, of_beta) = grad.split_at_mut(beta.start);
                let (dgamma, dbeta) = (&mut of_gamma[gamma.clone()], &mut of_beta[..beta.len()]);
                let gamma = part(gamma);
                let stats = &stats[norm.stats_len(skip)..];
                norm.backward(
                    isa, n, x, x_shape, dy, y_shape, gamma, stats, dx, x_shape, dgamma, dbeta,
                );
            }
            Kind::Linear { linear, weight, bias } => {
                let (dw, rest) = grad[weight.start..].split_at_mut(weight.len());
                let db = &mut rest[..bias.len()];
                linear.weight_gradient(isa, n, x, dy, dw, db, Gradient::Accumulate);
                if target.is_some() {
                    linear.input_gradient(isa, n, dy, part(weight), dx);
                }
            }
            _ if target.is_none() => {} // nothing before it can learn
            Kind::Relu => relu::backward(n, y, y_shape, dy, y_shape, dx, x_shape),
            Kind::MaxPool { pool, argmax } => {
                let argmax = &argmax[pool.argmax_len(skip, x_shape)..];
                pool.max_backward(isa, n, argmax, dy, y_shape, dx, x_shape);
            }
            Kind::AveragePool { pool } => pool.average_backward(n, dy, y_shape, dx, x_shape),
            Kind::Flatten => unflatten(n, dy, dx, x_shape),
            Kind::Add { .. } => {}
        }
        if let (Some(_), Some(target)) = (self.back.scratch, target) {
            let to = &mut gradients[target.buffer].data[begin..];
            residual::add(n, &buffer[begin..], x_shape, to, x_shape);
        }
        if let Some(at) = aside {
            gradients[at].data = buffer;
        }
    }
}

/// Copies a gradient to one of a sum's terms, or adds it to what is there.
fn pass_on(
    images: Range<usize>,
    dy: usize,
    dy_shape: Shape,
    target: Target,
    shape: Shape,
    gradients: &mut [Value],
) {
    let (skip, n) = (images.start, images.len());
    let begin = gradients[target.buffer].at(skip);
    let mut buffer = std::mem::take(&mut gradients[target.buffer].data);
    let (dx, dy) = (&mut buffer[begin..], gradients[dy].from(skip));
    match target.accumulate {
        true => residual::add(n, dy, dy_shape, dx, shape),
        false => residual::copy(n, dy, dy_shape, dx, shape),
    }
    gradients[target.buffer].data = buffer;
}

/// The gradients of a normalisation's parameters, which follow each other.
fn of_evonorm<'a>(
    grad: &'a mut [f32],
    gamma: &Range<usize>,
    beta: &Range<usize>,
    v: &Range<usize>,
) -> (&'a mut [f32], &'a mut [f32], Option<&'a mut [f32]>) {
    let (rest, of_v) = grad.split_at_mut(if v.start < v.end { v.start } else { beta.end });
    let dv = (v.start < v.end).then(|| &mut of_v[..v.len()]);
    let (of_gamma, of_beta) = rest.split_at_mut(beta.start);
    (&mut of_gamma[gamma.clone()], &mut of_beta[..beta.len()], dv)
}

fn some(slice: &[f32]) -> Option<&[f32]> {
    (!slice.is_empty()).then_some(slice)
}
