//! Chains: a symmetric averaging matrix in which only neighbours in line talk.
//!
//! `I - W = B' B`, where row `k` of B is link `k`: `sqrt(w_k)` at its one end and
//! `-sqrt(w_k)` at the other. Agents and links in turn give the bordered matrix
//! `[0 B'; B 0]`: tridiagonal, zero on the diagonal, and its positive
//! eigenvalues are the roots of `1 - lambda`. For such matrices bisection finds
//! even the tiniest one to full relative precision, so the gap of a chain of
//! 100,000 (4e-10 or so) keeps its digits.

use super::sturm::SymmetricTridiagonal;
use super::{Spectrum, SpectrumMethod};
use crate::mixing::MixingMatrix;

/// The spectrum if the matrix is tridiagonal; it must be symmetric.
pub(super) fn spectrum(w: &MixingMatrix) -> Option<Spectrum> {
    let agents = w.agents();
    let in_line =
        (0..agents).all(|i| w.row(i).all(|(j, weight)| weight == 0.0 || i.abs_diff(j) <= 1));
    if !in_line {
        return None;
    }
    let roots = (1..agents).map(|i| w.weight(i - 1, i).sqrt());
    let off: Vec<f64> = roots.flat_map(|root| [root, root]).collect();
    let diagonal = vec![0.0; off.len() + 1];
    let bordered = SymmetricTridiagonal { diagonal: &diagonal, off: &off };
    // In ascending order: agents - 1 negative ones, 0 (consensus), agents - 1 positive ones.
    let nearest = bordered.eigenvalue(agents).powi(2);
    let farthest = bordered.eigenvalue(2 * agents - 2).powi(2);
    Some(Spectrum::from_distances(nearest, farthest, SpectrumMethod::Tridiagonal))
}
