//! All eigenvalues of directed graphs, and of sequences of graphs that share their eigenvectors.
//!
//! The phases of a one-peer exponential graph are all translation-invariant on the same ring: the
//! waves are eigenvectors of every one of them, and what a period does to a wave is the product of
//! its eigenvalues. In general only a single matrix has eigenvectors that a sum of rounds keeps.

use super::translation::Translates;
use super::{DENSE_LIMIT, nonsymmetric};
use crate::mixing::MixingMatrix;

/// For every mode of disagreement its eigenvalue in each phase, as (real, imaginary) part.
pub type JointEigenvalues = Vec<Vec<[f64; 2]>>;

/// The eigenvalues of the matrices of one period, mode by mode, without that of the average.
/// `None` if the phases do not share their eigenvectors by translation, or if a single matrix
/// without that structure has more than 600 agents.
///
/// ```
/// use consort_graph::{GraphSpec, MixingSpec, joint_eigenvalues};
/// let ring = "directed-ring:4".parse::<GraphSpec>()?.build(0)?;
/// let modes = joint_eigenvalues(&MixingSpec::Auto.build_all(&ring)?).unwrap();
/// assert_eq!(modes.len(), 3); // 1/2 + 1/2 of the powers of i
/// assert!(modes.iter().any(|phases| (phases[0][1] - 0.5).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn joint_eigenvalues(ws: &[MixingMatrix]) -> Option<JointEigenvalues> {
    let agents = ws.first()?.agents();
    if ws.iter().any(|w| w.agents() != agents) {
        return None;
    }
    if let Some(shapes) = Translates::from_all(ws) {
        let phases: Vec<_> = shapes.iter().map(Translates::complex_eigenvalues).collect();
        return Some(
            (0..agents - 1).map(|wave| phases.iter().map(|p| p[wave]).collect()).collect(),
        );
    }
    match ws {
        [w] if agents <= DENSE_LIMIT => {
            Some(nonsymmetric::eigenvalues(w)?.into_iter().map(|value| vec![value]).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphSpec, MixingSpec};

    fn of(graph: &str, weights: MixingSpec) -> Option<JointEigenvalues> {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        joint_eigenvalues(&weights.build_all(&topology).unwrap())
    }

    /// Every phase of the one-peer exponential graph halves the way: over a period nothing is left.
    #[test]
    fn a_period_of_one_peer_exponential_graphs_averages_every_wave() {
        for phases in of("one-peer-exponential:16", MixingSpec::Auto).unwrap() {
            let left: f64 = phases.iter().map(|[re, im]| re.hypot(*im)).product();
            assert!(left < 1e-15, "{phases:?}");
        }
    }

    #[test]
    fn a_digraph_is_decomposed_and_a_random_sequence_is_not() {
        let modes = of("random-digraph:12:3", MixingSpec::OutDegree).unwrap();
        assert_eq!(modes.len(), 11);
        // Conjugates come in pairs, and the trace is that of the matrix, 12/4.
        let trace: f64 = 1.0 + modes.iter().map(|phases| phases[0][0]).sum::<f64>();
        let imaginary: f64 = modes.iter().map(|phases| phases[0][1]).sum();
        assert!((trace - 3.0).abs() < 1e-9 && imaginary.abs() < 1e-9, "{trace} {imaginary}");
        assert!(of("random-matching:8", MixingSpec::Auto).is_none());
    }
}
