//! The one-dimensional transforms of F(2, 3) and F(4, 3), on vectors of channels.
//!
//! The two-dimensional one applies them to the columns and to the rows. The matrices are
//! those of Lavin and Gray, "Fast algorithms for convolutional neural networks" (2015).

use crate::vector::Vector;

/// A linear map from `I` numbers to `O`.
pub(super) trait Transform<const I: usize, const O: usize> {
    fn apply<V: Vector>(d: [V; I]) -> [V; O];
}

/// A map whose results come in pairs that share most of their work, or whose values are at hand
/// together.
pub(super) trait Paired<const I: usize, const O: usize>: Transform<I, O> {
    /// Each result once.
    const PAIRS: &'static [[usize; 2]];
}

/// Inputs to products, `B^T`.
pub(super) struct Inputs;
/// Products to outputs, `A^T`.
pub(super) struct Outputs;
/// Gradients of outputs to those of products, `A`.
pub(super) struct OutputGrads;
/// Taps to the factors of the products, `G`.
pub(super) struct Taps;
/// Gradients of these factors to those of taps, `G^T`.
pub(super) struct TapGrads;

impl Transform<4, 4> for Inputs {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 4]) -> [V; 4] {
        [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]]
    }
}

impl Paired<4, 4> for Inputs {
    const PAIRS: &'static [[usize; 2]] = &[[0, 3], [1, 2]];
}

impl Transform<6, 6> for Inputs {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 6]) -> [V; 6] {
        let (p, q) = (d[2].scale_add(-4.0, d[4]), d[1].scale_add(-4.0, d[3]));
        let (r, s) = (d[4] - d[2], d[3] - d[1]);
        [
            (d[0] - d[2]).scale_add(4.0, r),
            p + q,
            p - q,
            s.scale_add(2.0, r),
            s.scale_add(-2.0, r),
            s.scale_add(-4.0, d[5] - d[3]),
        ]
    }
}

impl Paired<6, 6> for Inputs {
    const PAIRS: &'static [[usize; 2]] = &[[0, 5], [1, 2], [3, 4]];
}

impl Transform<4, 2> for Outputs {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 4]) -> [V; 2] {
        [d[0] + (d[1] + d[2]), (d[1] - d[2]) - d[3]]
    }
}

impl Paired<4, 2> for Outputs {
    const PAIRS: &'static [[usize; 2]] = &[[0, 1]];
}

impl Transform<6, 4> for Outputs {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 6]) -> [V; 4] {
        let (p, q) = (d[1] + d[2], d[1] - d[2]);
        let (r, s) = (d[3] + d[4], d[3] - d[4]);
        [d[0] + (p + r), s.scale_add(2.0, q), r.scale_add(4.0, p), s.scale_add(8.0, q) + d[5]]
    }
}

impl Paired<6, 4> for Outputs {
    const PAIRS: &'static [[usize; 2]] = &[[0, 2], [1, 3]];
}

impl Transform<2, 4> for OutputGrads {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 2]) -> [V; 4] {
        [d[0], d[0] + d[1], d[0] - d[1], d[1] * -1.0]
    }
}

impl Paired<2, 4> for OutputGrads {
    const PAIRS: &'static [[usize; 2]] = &[[0, 3], [1, 2]];
}

impl Transform<4, 6> for OutputGrads {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 4]) -> [V; 6] {
        let (p, q) = (d[0] + d[2], d[1] + d[3]);
        let (r, s) = (d[2].scale_add(4.0, d[0]), d[3].scale_add(8.0, d[1] + d[1]));
        [d[0], p + q, p - q, r + s, r - s, d[3]]
    }
}

impl Paired<4, 6> for OutputGrads {
    const PAIRS: &'static [[usize; 2]] = &[[0, 5], [1, 2], [3, 4]];
}

impl Transform<3, 4> for Taps {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 3]) -> [V; 4] {
        let (p, q) = ((d[0] + d[2]) * 0.5, d[1] * 0.5);
        [d[0], p + q, p - q, d[2]]
    }
}

impl Transform<3, 6> for Taps {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 3]) -> [V; 6] {
        let (p, q) = ((d[0] + d[2]) * (-1.0 / 6.0), d[1] * (1.0 / 6.0));
        let (r, s) = (d[2].scale_add(4.0, d[0]) * (1.0 / 24.0), d[1] * (1.0 / 12.0));
        [d[0] * 0.25, p - q, p + q, r + s, r - s, d[2]]
    }
}

impl Paired<3, 4> for Taps {
    const PAIRS: &'static [[usize; 2]] = &[[0, 3], [1, 2]];
}

impl Paired<3, 6> for Taps {
    const PAIRS: &'static [[usize; 2]] = &[[0, 5], [1, 2], [3, 4]];
}

impl Transform<4, 3> for TapGrads {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 4]) -> [V; 3] {
        let (p, q) = (d[1] + d[2], d[1] - d[2]);
        [p.scale_add(0.5, d[0]), q * 0.5, p.scale_add(0.5, d[3])]
    }
}

impl Transform<6, 3> for TapGrads {
    #[inline(always)]
    fn apply<V: Vector>(d: [V; 6]) -> [V; 3] {
        let (p, q) = (d[1] + d[2], d[2] - d[1]);
        let (r, s) = (d[3] + d[4], d[3] - d[4]);
        [
            r.scale_add(1.0 / 24.0, p.scale_add(-1.0 / 6.0, d[0] * 0.25)),
            s.scale_add(1.0 / 12.0, q * (1.0 / 6.0)),
            (r - p).scale_add(1.0 / 6.0, d[5]),
        ]
    }
}
