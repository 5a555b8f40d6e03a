//! The product of the matrices of a period, written out, for graphs that are not too large.

use nalgebra::DMatrix;

use super::DENSE_LIMIT;
use crate::mixing::MixingMatrix;

/// `1 - |W_k ... W_1 - 11'/n|` (spectral norm) for the matrices of one period in
/// the order of the rounds: 1 means exact averaging. `None` for an empty period,
/// for matrices of different sizes, or above 600 agents, where
/// [`PeriodFacts`](super::PeriodFacts) still knows a bound.
///
/// ```
/// use consort_graph::{GraphSpec, MixingSpec, product_gap};
/// let topology = "one-peer-exponential:8".parse::<GraphSpec>()?.build(0)?;
/// let gap = product_gap(&MixingSpec::Auto.build_all(&topology)?);
/// assert!((gap.unwrap() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn product_gap(ws: &[MixingMatrix]) -> Option<f64> {
    let rest = product_less_average(ws)?;
    let squares = (rest.transpose() * &rest).symmetric_eigenvalues();
    Some(1.0 - squares.max().max(0.0).sqrt())
}

/// `W_k ... W_1 - 11'/n`.
pub(super) fn product_less_average(ws: &[MixingMatrix]) -> Option<DMatrix<f64>> {
    let agents = ws.first()?.agents();
    if agents > DENSE_LIMIT || ws.iter().any(|w| w.agents() != agents) {
        return None;
    }
    let mut product = DMatrix::<f64>::identity(agents, agents);
    let mut column_after = vec![0.0; agents];
    for w in ws {
        for mut column in product.column_iter_mut() {
            w.multiply(&column.iter().copied().collect::<Vec<_>>(), &mut column_after);
            column.copy_from_slice(&column_after);
        }
    }
    product.add_scalar_mut(-1.0 / agents as f64);
    Some(product)
}
