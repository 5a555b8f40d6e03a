//! A convolution bound to its shapes: the checks, the choice of a method, the calls.

use super::bias::BiasSum;
use super::dense::Dense;
use super::depthwise::Depthwise;
use super::residue;
use super::tiny::Tiny;
use super::winograd::Winograd;
use super::{Conv2d, ConvError, Scratch};
use crate::dispatch::Instructions;
use crate::{Isa, Shape};

/// How to compute a convolution. Where Winograd's method does not apply, `Direct` takes its
/// place: it needs a 3x3 window, stride 1, padding 1, one group, channels in sixteens, and an
/// image of whole tiles (2x2 or 4x4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvAlgorithm {
    /// The fastest: `Winograd4` where it applies, else `Winograd2`, else `Direct`; but without
    /// the taps on the border where an image of 2x2 pixels or less has channels in sixteens.
    #[default]
    Auto,
    /// The sum as it is written.
    Direct,
    /// Winograd's F(2x2, 3x3): 2.25 times fewer multiplications, about as accurate.
    Winograd2,
    /// Winograd's F(4x4, 3x3): 4 times fewer multiplications, about ten times the rounding error.
    Winograd4,
}

/// A convolution ready to run on images of one shape. It owns its packed weights and the sum
/// of their gradient, and allocates nothing after construction.
///
/// Call [`set_weights`](Self::set_weights) once per step, then any of the three passes. The
/// zeros around `x` and `dy` are the caller's duty; a pass writes no border.
#[derive(Clone, Debug)]
pub struct ConvRunner {
    conv: Conv2d,
    /// Weights of the caller's array.
    weights_len: usize,
    x: Shape,
    y: Shape,
    dy: Shape,
    on: Instructions,
    name: &'static str,
    implementation: Implementation,
}

#[derive(Clone, Debug)]
enum Implementation {
    Dense(Box<Dense>),
    Depthwise(Box<Depthwise>),
    Tiny(Box<Tiny>),
    Winograd(Box<Winograd>),
}

/// What the sums of a forward pass start with.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// The bias, or zero.
    Bias(Option<&'a [f32]>),
    /// What the output holds.
    Output,
}

/// Calls the same method on whatever computes.
macro_rules! each_implementation {
    ($self:expr, $implementation:ident => $call:expr) => {
        match $self {
            Implementation::Dense($implementation) => $call,
            Implementation::Depthwise($implementation) => $call,
            Implementation::Tiny($implementation) => $call,
            Implementation::Winograd($implementation) => $call,
        }
    };
}

impl ConvRunner {
    /// Checks the shapes and allocates. `x` needs a halo of the padding, `dy` one of
    /// [`dy_halo`](Self::dy_halo); `y` may have any.
    pub fn new(conv: Conv2d, x: Shape, y: Shape, dy: Shape, isa: Isa) -> Result<Self, ConvError> {
        Self::with_algorithm(conv, x, y, dy, isa, ConvAlgorithm::Auto)
    }

    /// [`new`](Self::new), with a stated method.
    pub fn with_algorithm(
        conv: Conv2d,
        x: Shape,
        y: Shape,
        dy: Shape,
        isa: Isa,
        algorithm: ConvAlgorithm,
    ) -> Result<Self, ConvError> {
        let depthwise = conv.groups == conv.in_channels && conv.groups == conv.out_channels;
        let choose = || {
            let winograd = |outputs| {
                Implementation::Winograd(Box::new(Winograd::new(&conv, x, y, dy, outputs)))
            };
            match algorithm {
                ConvAlgorithm::Auto if Tiny::fits(&conv, x) => {
                    ("conv, tiny image", Implementation::Tiny(Box::new(Tiny::new(&conv, x, y, dy))))
                }
                ConvAlgorithm::Auto | ConvAlgorithm::Winograd4 if Winograd::fits(&conv, x, 4) => {
                    ("conv, Winograd 4x4", winograd(4))
                }
                ConvAlgorithm::Auto | ConvAlgorithm::Winograd2 if Winograd::fits(&conv, x, 2) => {
                    ("conv, Winograd 2x2", winograd(2))
                }
                _ if depthwise => (
                    "depthwise conv",
                    Implementation::Depthwise(Box::new(Depthwise::new(&conv, x, y, dy))),
                ),
                _ => ("conv", Implementation::Dense(Box::new(Dense::new(&conv, x, y, dy)))),
            }
        };
        Self::checked(conv, x, y, dy, isa, conv.weights_len(), choose)
    }

    /// The part of the 1x1 convolution `whole`, in one group, that sees the input channels from
    /// `first` on, as many as `x` has; its outputs are to be added to those of the other parts
    /// ([`forward_add`](Self::forward_add)). Weights and their gradient are those of `whole`, of
    /// which it reads and writes its own.
    pub fn for_inputs(
        whole: Conv2d,
        first: usize,
        x: Shape,
        y: Shape,
        dy: Shape,
        isa: Isa,
    ) -> Result<Self, ConvError> {
        let conv = Conv2d { in_channels: x.channels, ..whole };
        let beyond = first + x.channels > whole.in_channels;
        if beyond || whole.groups != 1 || whole.kernel != (1, 1) {
            return Err(ConvError::Part { first, channels: x.channels, of: whole.in_channels });
        }
        let dense = || Dense::for_inputs(&conv, x, y, dy, first, whole.in_channels);
        let choose = || ("conv", Implementation::Dense(Box::new(dense())));
        Self::checked(conv, x, y, dy, isa, whole.weights_len(), choose)
    }

    fn checked(
        conv: Conv2d,
        x: Shape,
        y: Shape,
        dy: Shape,
        isa: Isa,
        weights_len: usize,
        choose: impl FnOnce() -> (&'static str, Implementation),
    ) -> Result<Self, ConvError> {
        let size = conv.output(x)?;
        for (operand, shape) in [("output", y), ("output gradient", dy)] {
            let got = (shape.height, shape.width);
            if got != size {
                return Err(ConvError::Size { operand, expected: size, got });
            }
            if shape.channels != conv.out_channels {
                let (expected, got) = (conv.out_channels, shape.channels);
                return Err(ConvError::Channels { operand, expected, got });
            }
        }
        let halos =
            [("input", conv.padding, x.halo), ("output gradient", Self::dy_halo(&conv), dy.halo)];
        for (operand, expected, got) in halos {
            if got < expected {
                return Err(ConvError::Halo { operand, expected, got });
            }
        }
        let on = Instructions::new(isa)?;
        let (name, implementation) = choose();
        Ok(ConvRunner { conv, weights_len, x, y, dy, on, name, implementation })
    }

    /// The halo of zeros that the output's gradient needs: `kernel - 1 - padding` at stride 1,
    /// about a stride-th of it otherwise.
    pub fn dy_halo(conv: &Conv2d) -> usize {
        if conv.stride == 0 {
            return 0;
        }
        let along = |kernel: usize| residue::halo(kernel.max(1), conv.stride, conv.padding);
        along(conv.kernel.0).max(along(conv.kernel.1))
    }

    /// How it computes, in a word or two.
    pub fn implementation_name(&self) -> &'static str {
        self.name
    }

    /// Every channel is computed by itself.
    pub fn is_depthwise(&self) -> bool {
        matches!(self.implementation, Implementation::Depthwise(_))
    }

    /// Takes new weights, in PyTorch's layout `[out][in / groups][row][column]`.
    ///
    /// # Panics
    /// If there are not [`Conv2d::weights_len`] of them, those of the whole convolution for a
    /// part of one.
    pub fn set_weights(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.weights_len, "convolution: number of weights");
        each_implementation!(&mut self.implementation, m => m.set_weights(self.on, weights));
    }

    /// `y = conv(x) + bias`, on the inside of `y`.
    ///
    /// # Panics
    /// If a slice is shorter than its images.
    pub fn forward(
        &mut self,
        images: usize,
        x: &[f32],
        bias: Option<&[f32]>,
        y: &mut [f32],
        scratch: &mut Scratch,
    ) {
        check("input", self.x, images, x);
        check("output", self.y, images, y);
        if let Some(bias) = bias {
            assert_eq!(bias.len(), self.conv.out_channels, "convolution: length of the bias");
        }
        scratch.fit(self);
        let start = Start::Bias(bias);
        each_implementation!(&mut self.implementation, m => m.forward(self.on, images, x, start, y, scratch));
    }

    /// `y += conv(x)`, on the inside of `y`.
    ///
    /// # Panics
    /// If a slice is shorter than its images.
    pub fn forward_add(&mut self, images: usize, x: &[f32], y: &mut [f32], scratch: &mut Scratch) {
        check("input", self.x, images, x);
        check("output", self.y, images, y);
        scratch.fit(self);
        let start = Start::Output;
        each_implementation!(&mut self.implementation, m => m.forward(self.on, images, x, start, y, scratch));
    }

    /// `dx = conv^T(dy)`, or `dx += conv^T(dy)`, on the inside of `dx`, which has the shape of
    /// `x`. The halo of `dy` must be zero.
    ///
    /// # Panics
    /// If a slice is shorter than its images.
    pub fn input_grad(
        &mut self,
        images: usize,
        dy: &[f32],
        dx: &mut [f32],
        accumulate: bool,
        scratch: &mut Scratch,
    ) {
        check("output gradient", self.dy, images, dy);
        check("input gradient", self.x, images, dx);
        scratch.fit(self);
        let on = self.on;
        each_implementation!(&mut self.implementation, m => m.input_grad(on, images, dy, dx, accumulate, scratch));
    }

    /// Adds the images' part of the weights' gradient to a sum that the runner keeps, image
    /// after image: a batch that comes in micro-batches has the bits of one that comes whole.
    ///
    /// # Panics
    /// If a slice is shorter than its images.
    pub fn weight_grad(&mut self, images: usize, x: &[f32], dy: &[f32], scratch: &mut Scratch) {
        check("input", self.x, images, x);
        check("output gradient", self.dy, images, dy);
        scratch.fit(self);
        match &mut self.implementation {
            Implementation::Winograd(m) => m.weight_grad(self.on, images, x, dy, None, scratch),
            Implementation::Dense(m) => m.weight_grad(self.on, images, x, dy, scratch),
            Implementation::Depthwise(m) => m.weight_grad(self.on, images, x, dy, scratch),
            Implementation::Tiny(m) => m.weight_grad(self.on, images, x, dy, scratch),
        }
    }

    /// [`weight_grad`](Self::weight_grad) of a batch's last images, then
    /// [`take_weight_grad`](Self::take_weight_grad): the same bits, but what lies between stays
    /// in cache.
    ///
    /// # Panics
    /// As these two.
    pub fn last_weight_grad(
        &mut self,
        images: usize,
        x: &[f32],
        dy: &[f32],
        dw: &mut [f32],
        scratch: &mut Scratch,
    ) {
        check("input", self.x, images, x);
        check("output gradient", self.dy, images, dy);
        assert_eq!(dw.len(), self.weights_len, "convolution: number of weights");
        scratch.fit(self);
        match &mut self.implementation {
            Implementation::Winograd(m) if images > 0 => {
                m.weight_grad(self.on, images, x, dy, Some(dw), scratch);
            }
            _ => {
                self.weight_grad(images, x, dy, scratch);
                self.take_weight_grad(dw);
            }
        }
    }

    /// Writes the sum of [`weight_grad`](Self::weight_grad) in the layout of the weights, and
    /// begins a new one.
    ///
    /// # Panics
    /// If the gradient has another length than the weights.
    pub fn take_weight_grad(&mut self, dw: &mut [f32]) {
        assert_eq!(dw.len(), self.weights_len, "convolution: number of weights");
        each_implementation!(&mut self.implementation, m => m.take_weight_grad(self.on, dw));
    }

    /// Adds the gradient of the bias to `db`.
    ///
    /// # Panics
    /// If a slice is shorter than its images, or `db` has another length than the bias.
    pub fn bias_grad(&self, images: usize, dy: &[f32], db: &mut [f32]) {
        check("output gradient", self.dy, images, dy);
        assert_eq!(db.len(), self.conv.out_channels, "convolution: length of the bias");
        self.on.run(BiasSum { shape: self.dy, images, dy, db });
    }

    pub(super) fn scratch_len(&self) -> usize {
        match &self.implementation {
            Implementation::Tiny(tiny) => tiny.scratch_len(),
            Implementation::Winograd(winograd) => winograd.scratch_len(),
            Implementation::Dense(_) | Implementation::Depthwise(_) => 0,
        }
    }

    /// What this runner holds, in bytes: weights and sums in the order of its kernels.
    pub fn memory_bytes(&self) -> usize {
        size_of::<f32>() * each_implementation!(&self.implementation, m => m.floats())
    }
}

fn check(operand: &str, shape: Shape, images: usize, slice: &[f32]) {
    let expected = shape.batch_len(images);
    assert!(
        slice.len() >= expected,
        "convolution: expected {expected} floats of {operand} for {images} images, got {}",
        slice.len(),
    );
}
