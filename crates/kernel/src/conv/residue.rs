//! The input gradient of a strided convolution, cut into convolutions of stride 1.
//!
//! Along one axis, with `i` counted from the first row of padding,
//!
//! ```text
//! dx[i] = sum over k = i (mod stride) of w[k] dy[(i - k) / stride]
//! ```
//!
//! Inputs of the same residue modulo the stride use the same taps, so each residue is a plain
//! convolution of `dy` with some of the taps, in reverse order.

/// The inputs of one residue, along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Residue {
    /// The first input (padding not counted); the others follow every `stride`.
    pub(super) first: usize,
    /// How many inputs.
    pub(super) count: usize,
    /// The taps that reach them, in the order of the outputs that they meet.
    pub(super) taps: Vec<usize>,
    /// The output that the first tap of the first input meets; negative in the halo.
    pub(super) output: isize,
}

/// All residues that have inputs.
pub(super) fn residues(
    length: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> Vec<Residue> {
    (0..stride)
        .filter_map(|residue| {
            let step = padding.saturating_sub(residue).div_ceil(stride);
            let first = residue + step * stride - padding;
            let taps: Vec<usize> = (residue..kernel).step_by(stride).rev().collect();
            let output = step as isize - taps.len() as isize + 1;
            (first < length).then(|| Residue {
                first,
                count: (length - 1 - first) / stride + 1,
                taps,
                output,
            })
        })
        .collect()
}

/// The zeros that `dy` needs around it so that no residue of any image size leaves it.
pub(super) fn halo(kernel: usize, stride: usize, padding: usize) -> usize {
    let before = (0..stride.min(kernel)).map(|residue| {
        let step = padding.saturating_sub(residue).div_ceil(stride);
        ((kernel - 1 - residue) / stride).saturating_sub(step)
    });
    let after = (kernel - 1).saturating_sub(padding).div_ceil(stride);
    before.max().unwrap_or(0).max(after)
}
