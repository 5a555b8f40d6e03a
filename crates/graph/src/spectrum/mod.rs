//! How fast a mixing matrix averages: its eigenvalues.
//!
//! ```text
//! symmetric? ── yes ─ n <= 600 ───────────────► dense.rs         all, exact
//!     │          ├─── rows are translates ────► translation.rs   all, exact
//!     │          ├─── a chain ────────────────► tridiagonal.rs   the two that matter, exact
//!     │          └─── anything else ──────────► lanczos.rs       the two, with their residual
//!     └────── no ──── nonsymmetric.rs
//!
//! a period of them ──► period.rs       what is left of a disagreement
//! either ────────────► neighbours.rs   the effective number of neighbours
//! ```
//!
//! The gap is computed as a distance from 1 wherever the structure allows it:
//! on a ring of 100,000 it is 1.3e-9, and `1 - lambda_2` would keep only half
//! of its digits.

mod dense;
mod joint;
mod lanczos;
mod neighbours;
mod nonsymmetric;
mod period;
mod product;
mod sturm;
mod translation;
mod tridiagonal;

pub use joint::{JointEigenvalues, joint_eigenvalues};
pub use neighbours::{TYPICAL_DECAY, effective_neighbours};
pub use period::PeriodFacts;
pub use product::product_gap;

use serde::Serialize;

use crate::mixing::MixingMatrix;
use crate::mixing_error::MixingError;

/// Up to this many agents a dense decomposition is made.
const DENSE_LIMIT: usize = 600;

/// The eigenvalues that decide how fast agents agree.
///
/// ```
/// use consort_graph::{GraphSpec, MixingSpec, Spectrum};
/// let dyck = "dyck".parse::<GraphSpec>()?.build(0)?;
/// let spectrum = Spectrum::new(&MixingSpec::Auto.build(dyck.at(0))?)?;
/// assert!((spectrum.gap - 0.19098).abs() < 5e-6);
/// assert!((spectrum.lambda_min + 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spectrum {
    /// The second largest eigenvalue. Of a non-symmetric matrix: the second
    /// largest modulus. 0 for a single agent.
    pub lambda_2: f64,
    /// The smallest eigenvalue. Of a non-symmetric matrix: the smallest real
    /// part (a lower bound of it under [`SpectrumMethod::PowerIteration`]).
    /// 0 for a single agent.
    pub lambda_min: f64,
    /// `1 - max(|lambda_2|, |lambda_min|)`: the part of the disagreement that
    /// one round of averaging removes, at worst.
    pub gap: f64,
    /// All eigenvalues, descending, when all are known (symmetric matrices).
    pub eigenvalues: Option<Vec<f64>>,
    /// The eigenvalue of a non-symmetric matrix whose modulus is `lambda_2`, as real and
    /// imaginary part (of a pair, the one above the real axis), when it is known.
    pub complex_2: Option<(f64, f64)>,
    /// Squared moduli of all eigenvalues of a normal matrix that is not symmetric.
    #[serde(skip)]
    squared_moduli: Option<Vec<f64>>,
    /// How they were found.
    pub how: SpectrumMethod,
}

/// How a spectrum was found, and how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case", tag = "method")]
pub enum SpectrumMethod {
    /// Dense symmetric decomposition.
    Dense,
    /// Every row is row 0 shifted on a `rows` by `columns` torus (a ring if
    /// `rows` is 1): the eigenvalues are a Fourier transform.
    TranslationInvariant {
        /// Rows of the torus.
        rows: usize,
        /// Columns of the torus.
        columns: usize,
    },
    /// Bisection on a symmetric tridiagonal matrix.
    Tridiagonal,
    /// Lanczos iteration; an eigenvalue lies within `residual` of each reported one.
    Lanczos {
        /// How many steps were made.
        steps: usize,
        /// The larger of the two measured residuals.
        residual: f64,
    },
    /// Dense Schur decomposition of a non-symmetric matrix.
    DenseNonSymmetric,
    /// Not of one matrix: what a period does to disagreement, per round.
    Period {
        /// The rounds of the period.
        rounds: usize,
    },
    /// Growth of a repeatedly averaged vector: an estimate.
    PowerIteration {
        /// How many steps were made.
        steps: usize,
        /// How far the estimate was still moving (or its residual, if smaller).
        change: f64,
    },
}

/// No spectrum, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpectrumError {
    /// Neither rows nor columns sum to 1, so the matrix does not average.
    #[error("the spectrum of a matrix that does not average says nothing: {0}")]
    NotStochastic(#[from] MixingError),
    /// There is nothing to look at.
    #[error("a spectrum of no matrix was asked for; give at least one")]
    NoMatrix,
    /// The iteration was stopped before its answer could be trusted.
    #[error(
        "{method} did not converge in {steps} steps: residual {residual:e} at lambda_2 = \
         {estimate}; use a smaller graph, or one with structure (ring, torus, chain)"
    )]
    NotConverged {
        /// The iteration.
        method: &'static str,
        /// How many steps it made.
        steps: usize,
        /// How far it still was.
        residual: f64,
        /// Where it stood.
        estimate: f64,
    },
}

impl Spectrum {
    /// The spectrum of a row-stochastic (or, for push-sum, column-stochastic)
    /// matrix, by the best method its size and structure allow.
    pub fn new(w: &MixingMatrix) -> Result<Spectrum, SpectrumError> {
        if let Err(problem) = w.require_row_stochastic() {
            // Columns that sum to 1 will do: the transpose has the same eigenvalues.
            w.require_column_stochastic().map_err(|_| problem)?;
            return nonsymmetric::spectrum(&w.transposed());
        }
        if w.agents() == 1 {
            let alone = Spectrum::from_distances(1.0, 1.0, SpectrumMethod::Dense);
            return Ok(Spectrum { eigenvalues: Some(vec![1.0]), ..alone });
        }
        if !w.is_symmetric() {
            return nonsymmetric::spectrum(w);
        }
        if w.agents() <= DENSE_LIMIT {
            return Ok(dense::spectrum(w));
        }
        if let Some(shape) = translation::Translates::new(w) {
            return Ok(shape.symmetric_spectrum());
        }
        if let Some(spectrum) = tridiagonal::spectrum(w) {
            return Ok(spectrum);
        }
        lanczos::spectrum(w)
    }

    /// From the distances of the eigenvalues from 1, which keep the digits of a
    /// tiny gap: `nearest` to lambda_2, `farthest` to lambda_min.
    fn from_distances(nearest: f64, farthest: f64, how: SpectrumMethod) -> Spectrum {
        let (lambda_2, lambda_min) = (1.0 - nearest, 1.0 - farthest);
        // 1 - |lambda|, without forming lambda where it is close to 1.
        let room = |distance: f64| if distance <= 1.0 { distance } else { 2.0 - distance };
        let gap = room(nearest).min(room(farthest)).max(0.0);
        let unknown = (None, None, None);
        let (eigenvalues, complex_2, squared_moduli) = unknown;
        Spectrum { lambda_2, lambda_min, gap, eigenvalues, complex_2, squared_moduli, how }
    }

    /// Of a non-symmetric matrix: the second largest modulus (as its distance from 1, which
    /// is the gap), and the smallest real part.
    fn from_moduli(gap: f64, lambda_min: f64, how: SpectrumMethod) -> Spectrum {
        Spectrum { lambda_min, gap, ..Spectrum::from_distances(gap, 0.0, how) }
    }
}

#[cfg(test)]
mod tests;
