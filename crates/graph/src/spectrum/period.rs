//! What a whole period of a time-varying topology does to disagreement.
//!
//! The product of the matrices of a period, less J/n (the matrix that averages everything),
//! is what is left of any disagreement. Its norm is 0 if a period averages exactly.

use serde::Serialize;

use super::product::product_less_average;
use super::{Spectrum, SpectrumError, SpectrumMethod};
use crate::families::seeded::Draws;
use crate::mixing::MixingMatrix;

/// Below this, what is left is rounding. (A long period of rounds that merely shrink
/// disagreement gets there as well, and then averages as exactly as numbers can tell.)
const EXACT: f64 = 1e-12;
/// The iteration for large graphs stops when it moves by less than this part.
const SETTLED: f64 = 1e-5;
const MOST_STEPS: usize = 500;
const MAX_WORK: usize = 2_000_000_000;

/// How much one period averages.
///
/// ```
/// use consort_graph::{GraphSpec, MixingSpec, PeriodFacts};
/// let exact = |graph: &str| -> Result<bool, Box<dyn std::error::Error>> {
///     let topology = graph.parse::<GraphSpec>()?.build(0)?;
///     let period = PeriodFacts::new(&MixingSpec::Auto.build_all(&topology)?);
///     Ok(period.is_some_and(|period| period.is_exact()))
/// };
/// assert!(exact("one-peer-exponential:8")? && !exact("one-peer-exponential:9")?);
/// assert!(exact("base:9:1")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PeriodFacts {
    /// The number of rounds.
    pub rounds: usize,
    /// `|W_k ... W_1 - J/n|` (spectral norm): the part of the disagreement that a period
    /// leaves at worst. 0 is exact averaging.
    pub contraction: f64,
    /// Is it a lower bound? Above 600 agents it is found by an iteration, from below.
    pub lower_bound: bool,
}

impl PeriodFacts {
    /// For the matrices of one period in the order of the rounds; `None` without any, or
    /// if they are of different sizes.
    pub fn new(ws: &[MixingMatrix]) -> Option<PeriodFacts> {
        let agents = ws.first()?.agents();
        if ws.iter().any(|w| w.agents() != agents) {
            return None;
        }
        let (contraction, lower_bound) = match product_less_average(ws) {
            Some(rest) => {
                let squares = (rest.transpose() * &rest).symmetric_eigenvalues();
                (squares.max().max(0.0).sqrt(), false)
            }
            None => (by_iteration(ws), true),
        };
        Some(PeriodFacts { rounds: ws.len(), contraction, lower_bound })
    }

    /// Is everyone's model the average of all after a period (within 1e-12)?
    pub fn is_exact(&self) -> bool {
        self.contraction < EXACT
    }

    /// The factor per round that makes up the contraction of a period; 0 if it is exact.
    pub fn rate(&self) -> f64 {
        if self.is_exact() { 0.0 } else { self.contraction.powf(1.0 / self.rounds as f64) }
    }
}

impl Spectrum {
    /// The spectrum of the matrix if there is one; of a period, a stand-in for those who ask for
    /// one number a round: eigenvalues between 0 and [`PeriodFacts::rate`].
    pub fn from_period(ws: &[MixingMatrix]) -> Result<Spectrum, SpectrumError> {
        match (ws, PeriodFacts::new(ws)) {
            ([_, _, ..], Some(period)) => {
                let how = SpectrumMethod::Period { rounds: period.rounds };
                Ok(Spectrum::from_distances(1.0 - period.rate(), 1.0, how))
            }
            // No matrix at all never comes from a topology; sizes that differ neither.
            _ => ws.first().map_or(Err(SpectrumError::NoMatrix), Spectrum::new),
        }
    }
}

/// Steepest growth of `x -> P' P x` on vectors without a mean, P the product of the period.
fn by_iteration(ws: &[MixingMatrix]) -> f64 {
    let agents = ws[0].agents();
    let work = 2 * ws.iter().map(|w| w.entries() + agents).sum::<usize>();
    let steps = (MAX_WORK / work).clamp(10, MOST_STEPS);
    let backward: Vec<MixingMatrix> = ws.iter().rev().map(MixingMatrix::transposed).collect();
    let mut draws = Draws::seeded(0);
    let mut x: Vec<f64> = (0..agents).map(|_| draws.unit()).collect();
    let mut last = 0.0;
    for _ in 0..steps {
        remove_mean(&mut x);
        let length = norm(&x);
        x.iter_mut().for_each(|value| *value /= length);
        apply(ws, &mut x);
        remove_mean(&mut x);
        let left = norm(&x);
        if left < EXACT || (left - last).abs() <= SETTLED * left {
            return left;
        }
        last = left;
        apply(&backward, &mut x);
    }
    last
}

fn apply(ws: &[MixingMatrix], x: &mut Vec<f64>) {
    let mut after = vec![0.0; x.len()];
    for w in ws {
        w.multiply(x, &mut after);
        std::mem::swap(x, &mut after);
    }
}

fn remove_mean(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|value| *value -= mean);
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphSpec, MixingSpec};

    fn period(graph: &str) -> Vec<MixingMatrix> {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        MixingSpec::Auto.build_all(&topology).unwrap()
    }

    #[test]
    fn who_averages_exactly() {
        for (graph, exact) in [
            ("one-peer-exponential:8", true),
            ("one-peer-exponential:12", false),
            ("base:12:1", true),
            ("base:25:1", true),
            ("base:1000:1", true),
            ("base:1000:4", true),
            ("one-peer-exponential:1024", true),
            ("one-peer-exponential:1000", false),
            ("complete:7", true),
            ("ring:7", false),
            ("random-matching:9:8", false),
            ("double-binary-tree:14", false),
        ] {
            let facts = PeriodFacts::new(&period(graph)).unwrap();
            assert_eq!(facts.is_exact(), exact, "{graph}: {facts:?}");
            assert_eq!(facts.lower_bound, graph.contains(":10"), "{graph}");
        }
    }

    #[test]
    fn the_iteration_finds_what_the_decomposition_finds() {
        for graph in ["equi-dyn:25:8", "one-peer-exponential:100", "random-regular-dyn:60:4:2"] {
            let ws = period(graph);
            let exactly = PeriodFacts::new(&ws).unwrap().contraction;
            let found = by_iteration(&ws);
            assert!(found <= exactly + 1e-12, "{graph}: {found} above {exactly}");
            assert!(found >= 0.98 * exactly, "{graph}: {found} of {exactly}");
        }
    }

    #[test]
    fn a_period_stands_in_for_a_spectrum() {
        let fixed = period("ring:16");
        assert_eq!(Spectrum::from_period(&fixed).unwrap(), Spectrum::new(&fixed[0]).unwrap());
        let spectrum = Spectrum::from_period(&period("base:25:1")).unwrap();
        assert_eq!((spectrum.lambda_2, spectrum.lambda_min, spectrum.gap), (0.0, 0.0, 1.0));
        let changing = period("equi-dyn:25:8");
        let rate = PeriodFacts::new(&changing).unwrap().rate();
        let spectrum = Spectrum::from_period(&changing).unwrap();
        assert!((spectrum.lambda_2 - rate).abs() < 1e-15 && rate > 0.3 && rate < 1.0);
        assert_eq!(spectrum.how, SpectrumMethod::Period { rounds: 8 });
        assert_eq!(Spectrum::from_period(&[]), Err(SpectrumError::NoMatrix));
    }
}
