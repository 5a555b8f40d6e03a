//! All eigenvalues of a small symmetric matrix.

use nalgebra::DMatrix;

use super::{Spectrum, SpectrumMethod};
use crate::mixing::MixingMatrix;

pub(super) fn spectrum(w: &MixingMatrix) -> Spectrum {
    let mut eigenvalues: Vec<f64> = dense(w).symmetric_eigenvalues().iter().copied().collect();
    eigenvalues.sort_by(|a, b| b.total_cmp(a));
    let last = eigenvalues.len() - 1;
    let (nearest, farthest) = (1.0 - eigenvalues[1], 1.0 - eigenvalues[last]);
    let spectrum = Spectrum::from_distances(nearest, farthest, SpectrumMethod::Dense);
    Spectrum { eigenvalues: Some(eigenvalues), ..spectrum }
}

/// The matrix with its zeros.
pub(super) fn dense(w: &MixingMatrix) -> DMatrix<f64> {
    let mut full = DMatrix::zeros(w.agents(), w.agents());
    for i in 0..w.agents() {
        for (j, weight) in w.row(i) {
            full[(i, j)] = weight;
        }
    }
    full
}
