//! CPU kernels of training, single-threaded and deterministic.
//!
//! One agent runs on one core, so no kernel starts a thread, and the bits of a result
//! depend only on the operands and on the [`Isa`] (the instruction set). Images lie in
//! memory as [`Shape`] says: channels innermost (NHWC), with a border of zeros that is as
//! wide as the padding of the convolution that reads them.
//!
//! Every kernel stands beside a naive `f64` reference in its tests.

mod batch;
mod channelwise;
pub mod conv;
mod dispatch;
pub mod evonorm;
mod exp;
pub mod group_norm;
mod group_stats;
mod isa;
pub mod linear;
mod multiply_add;
pub mod peak;
pub mod pool;
pub mod relu;
pub mod residual;
mod shape;
pub mod softmax;
pub mod squared_error;
mod vector;

pub use group_stats::IndivisibleChannels;
pub use isa::{Isa, UnavailableIsa, UnknownIsa};
pub use shape::Shape;
