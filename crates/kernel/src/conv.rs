//! Two-dimensional convolution: forward, gradient of the input, gradient of the weights.
//!
//! ```text
//! y[o, r, c] = b[o] + sum_{i, u, v} w[o, i, u, v] * x[i, r*stride + u - padding, c*stride + v - padding]
//! ```
//!
//! [`Conv2d`] says which convolution; [`ConvRunner`] runs it on images of one shape, with
//! packed weights and scratch that it allocates once. How, it chooses once:
//!
//! - channels all coupled, or in groups: register tiles on the image itself (`dense`), which
//!   is an implicit matrix product without a copy of the input, and a plain one for windows of
//!   one pixel (`matrix`); from few input channels with tiles of their own (`plane` and `few`
//!   from the input, `scatter` to it);
//! - one channel per group: vectors of channels (`depthwise`);
//! - 3x3 windows of stride and padding 1, channels in sixteens: Winograd's method
//!   (`winograd`), with 2.25 to 4 times fewer multiplications; or, where an image has no more
//!   than 2x2 pixels, only the taps that fall on it (`tiny`).
//!
//! The order of every sum is that of the taps and channels, so an image's output and input
//! gradient have the same bits in any batch.

mod bias;
mod correlate;
mod dense;
mod depthwise;
mod few;
mod matrix;
mod outer;
mod packing;
mod partial;
mod plane;
mod residue;
mod runner;
mod scatter;
mod scratch;
mod squares;
mod tiny;
mod window;
mod winograd;

pub use runner::{ConvAlgorithm, ConvRunner};
pub use scratch::Scratch;

use crate::{Shape, UnavailableIsa};

/// A convolution: its channels and its window, whatever the size of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2d {
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Rows and columns of the window.
    pub kernel: (usize, usize),
    /// Input pixels from one output pixel to the next, in both directions.
    pub stride: usize,
    /// Rows and columns of zeros around the input.
    pub padding: usize,
    /// Channels are cut into this many groups, and outputs see the inputs of their group only.
    pub groups: usize,
}

impl Conv2d {
    /// Height and width of the output for images of shape `x`.
    pub fn output(&self, x: Shape) -> Result<(usize, usize), ConvError> {
        self.check()?;
        if x.channels != self.in_channels {
            return Err(ConvError::Channels {
                operand: "input",
                expected: self.in_channels,
                got: x.channels,
            });
        }
        let size = |length: usize, window: usize| {
            let padded = length + 2 * self.padding;
            if length == 0 || padded < window {
                return Err(ConvError::TooSmall { window, got: padded });
            }
            Ok((padded - window) / self.stride + 1)
        };
        Ok((size(x.height, self.kernel.0)?, size(x.width, self.kernel.1)?))
    }

    /// Number of weights, without the bias.
    pub fn weights_len(&self) -> usize {
        self.out_channels * self.group_inputs() * self.kernel.0 * self.kernel.1
    }

    /// Floating-point operations of the forward pass of one image, a multiply-add counting two;
    /// zero where the image does not fit. Each of the two gradients takes as many.
    pub fn flops(&self, x: Shape) -> u64 {
        self.output(x).map_or(0, |(height, width)| 2 * (height * width * self.weights_len()) as u64)
    }

    /// Input channels that one output sees.
    fn group_inputs(&self) -> usize {
        self.in_channels / self.groups.max(1)
    }

    /// Output channels of one group.
    fn group_outputs(&self) -> usize {
        self.out_channels / self.groups.max(1)
    }

    fn check(&self) -> Result<(), ConvError> {
        let parts = [
            ("in_channels", self.in_channels),
            ("out_channels", self.out_channels),
            ("kernel rows", self.kernel.0),
            ("kernel columns", self.kernel.1),
            ("stride", self.stride),
            ("groups", self.groups),
        ];
        for (part, value) in parts {
            if value == 0 {
                return Err(ConvError::Zero { part });
            }
        }
        for channels in [self.in_channels, self.out_channels] {
            if !channels.is_multiple_of(self.groups) {
                return Err(ConvError::Groups { groups: self.groups, channels });
            }
        }
        Ok(())
    }
}

/// Why a convolution cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvError {
    /// A size that must be positive is zero.
    #[error("convolution: {part} must be at least 1, got 0")]
    Zero {
        /// Which field of [`Conv2d`].
        part: &'static str,
    },
    /// The groups do not divide the channels.
    #[error("convolution: {groups} groups do not divide {channels} channels")]
    Groups {
        /// The number of groups.
        groups: usize,
        /// The channels that they should divide.
        channels: usize,
    },
    /// An operand has another number of channels than the convolution.
    #[error("convolution: expected {expected} channels in the {operand}, got {got}")]
    Channels {
        /// Which operand.
        operand: &'static str,
        /// Channels of the convolution.
        expected: usize,
        /// Channels of the operand.
        got: usize,
    },
    /// The window is larger than the padded image.
    #[error("convolution: a window of {window} does not fit in {got} pixels, padding included")]
    TooSmall {
        /// Length of the window.
        window: usize,
        /// Length of the image with its padding.
        got: usize,
    },
    /// The output's or its gradient's size is not that of the convolution.
    #[error("convolution: expected an {operand} of {expected:?} pixels, got {got:?}")]
    Size {
        /// Which operand.
        operand: &'static str,
        /// Height and width that the convolution gives.
        expected: (usize, usize),
        /// Height and width of the operand.
        got: (usize, usize),
    },
    /// The border of zeros is too thin.
    #[error("convolution: the {operand} needs a halo of {expected}, got {got}")]
    Halo {
        /// Which operand.
        operand: &'static str,
        /// The least halo.
        expected: usize,
        /// The halo of the operand.
        got: usize,
    },
    /// Only a 1x1 convolution in one group can be cut, within its inputs.
    #[error(
        "convolution: no part with {channels} inputs from {first} on of one with {of}; it must \
         be 1x1, in one group"
    )]
    Part {
        /// The part's first input.
        first: usize,
        /// Inputs of the part.
        channels: usize,
        /// Inputs of the whole convolution.
        of: usize,
    },
    /// The machine lacks the instructions.
    #[error("convolution: {0}")]
    Isa(#[from] UnavailableIsa),
}
