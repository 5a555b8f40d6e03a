//! The effective number of neighbours: how much averaging a step of training really sees.
//!
//! Vogels, Hendrikx, Jaggi, "Beyond spectral gap: the role of the topology in decentralized
//! learning", NeurIPS 2022 (arXiv 2206.03093). Every agent walks at random and averages,
//! `x <- W (sqrt(decay) x + noise)`, so that old noise is forgotten at a rate. Alone, the
//! variance would settle at `1 / (1 - decay)`; the factor by which averaging makes it
//! smaller counts the neighbours that matter:
//!
//! ```text
//! n(decay) = 1/(1 - decay)  /  mean variance,    variances: the diagonal of C = W (decay C + I) W'
//!          = 1/(1 - decay)  /  (1/n sum_i l_i^2 / (1 - decay l_i^2))    for symmetric W
//! ```
//!
//! It lies between 1 (nobody else matters) and the number of agents. `decay` near 0 asks
//! what one round averages, near 1 what very many rounds average; the spectral gap only knows the
//! latter. For a period of matrices C takes turns with them, and the mean is over the period.

use super::Spectrum;
use crate::mixing::MixingMatrix;

/// The decay that the paper fits to training on CIFAR-10; used where none is chosen.
pub const TYPICAL_DECAY: f64 = 0.951;

/// Work of the iteration that is made for matrices without known eigenvalues.
const MAX_WORK: f64 = 2e9;
/// Relative accuracy of the iteration.
const TARGET: f64 = 1e-7;

impl Spectrum {
    /// The effective number of neighbours, if all eigenvalues are known.
    ///
    /// ```
    /// use consort_graph::{GraphSpec, MixingSpec, Spectrum, TYPICAL_DECAY};
    /// let ring = "ring:16".parse::<GraphSpec>()?.build(0)?;
    /// let spectrum = Spectrum::new(&MixingSpec::Auto.build(ring.at(0))?)?;
    /// let neighbours = spectrum.effective_neighbours(TYPICAL_DECAY).unwrap();
    /// assert!((neighbours - 8.59).abs() < 0.01); // of the sixteen
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn effective_neighbours(&self, decay: f64) -> Option<f64> {
        let squares: Vec<f64> = match (&self.eigenvalues, &self.squared_moduli) {
            (Some(eigenvalues), _) => eigenvalues.iter().map(|l| l * l).collect(),
            (None, Some(squares)) => squares.clone(),
            (None, None) => return None,
        };
        let variances: f64 = squares.iter().map(|square| square / (1.0 - decay * square)).sum();
        Some(squares.len() as f64 / (1.0 - decay) / variances)
    }
}

/// The same for any matrices of one period, by iteration; `None` if there are none, if their
/// sizes differ, or if they are too large.
pub fn effective_neighbours(ws: &[MixingMatrix], decay: f64) -> Option<f64> {
    let agents = ws.first()?.agents();
    if ws.iter().any(|w| w.agents() != agents) || !(0.0..1.0).contains(&decay) {
        return None;
    }
    // After so many rounds what is left out is too small to see.
    let rounds = ((TARGET / agents as f64).ln() / decay.max(1e-3).ln()).ceil();
    let periods = (rounds / ws.len() as f64).ceil().max(1.0) as usize;
    let entries: usize = ws.iter().map(MixingMatrix::entries).sum();
    if 2.0 * agents as f64 * entries as f64 * periods as f64 > MAX_WORK {
        return None;
    }
    // Without noise in it yet, C is 0; `periods` rounds of every phase, and one more to look at.
    let mut covariance = vec![0.0; agents * agents];
    let mut half = covariance.clone();
    let mut variances = 0.0;
    for period in 0..=periods {
        for w in ws {
            covariance.iter_mut().for_each(|value| *value *= decay);
            covariance.iter_mut().step_by(agents + 1).for_each(|value| *value += 1.0);
            // C is symmetric, so W (W C)' is W C W'.
            times_transposed(w, &covariance, &mut half);
            times_transposed(w, &half, &mut covariance);
            if period == periods {
                variances += covariance.iter().step_by(agents + 1).sum::<f64>();
            }
        }
    }
    let mean = variances / (agents * ws.len()) as f64;
    Some(1.0 / (1.0 - decay) / mean)
}

/// `out = (W M)'`, both n by n, row by row.
fn times_transposed(w: &MixingMatrix, matrix: &[f64], out: &mut [f64]) {
    let agents = w.agents();
    let mut row = vec![0.0; agents];
    for i in 0..agents {
        row.fill(0.0);
        for (j, weight) in w.row(i) {
            let from = &matrix[j * agents..(j + 1) * agents];
            row.iter_mut().zip(from).for_each(|(sum, value)| *sum += weight * value);
        }
        out[i..].iter_mut().step_by(agents).zip(&row).for_each(|(to, value)| *to = *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphSpec, MixingSpec};

    fn weights(graph: &str) -> Vec<MixingMatrix> {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        MixingSpec::Auto.build_all(&topology).unwrap()
    }

    #[test]
    fn the_sum_and_the_iteration_agree() {
        for graph in
            ["ring:16", "dyck", "chain:9", "exponential:13", "directed-ring:12", "equi-static:25:3"]
        {
            let ws = weights(graph);
            for decay in [0.0, 0.5, TYPICAL_DECAY] {
                let sum = Spectrum::new(&ws[0]).unwrap().effective_neighbours(decay).unwrap();
                let iterated = effective_neighbours(&ws, decay).unwrap();
                assert!((sum / iterated - 1.0).abs() < 1e-6, "{graph}: {sum}, {iterated}");
            }
        }
    }

    #[test]
    fn one_round_counts_who_is_heard_and_patience_everyone() {
        for (graph, heard) in [("ring:16", 3.0), ("dyck", 4.0), ("complete:9", 9.0)] {
            let spectrum = Spectrum::new(&weights(graph)[0]).unwrap();
            let one_round = spectrum.effective_neighbours(0.0).unwrap();
            assert!((one_round - heard).abs() < 1e-9, "{graph}: {one_round}");
            let patient = spectrum.effective_neighbours(1.0 - 1e-9).unwrap();
            let all = spectrum.eigenvalues.unwrap().len() as f64;
            assert!((patient - all).abs() < 1e-3, "{graph}: {patient}");
        }
    }

    /// The complete graph always averages over everyone; a lone agent over itself.
    #[test]
    fn the_extremes() {
        let all = Spectrum::new(&weights("complete:9")[0]).unwrap();
        assert!((all.effective_neighbours(TYPICAL_DECAY).unwrap() - 9.0).abs() < 1e-9);
        let alone = Spectrum::new(&weights("complete:1")[0]).unwrap();
        assert!((alone.effective_neighbours(TYPICAL_DECAY).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(effective_neighbours(&[], 0.5), None);
        assert_eq!(effective_neighbours(&weights("ring:5"), 1.0), None);
        assert_eq!(effective_neighbours(&weights("ring:30000"), 0.9), None);
    }

    /// One period of the exact sequences reaches everyone soon; later rounds count more.
    #[test]
    fn sequences_count_as_their_mean_over_a_period() {
        for graph in ["one-peer-exponential:8", "base:6:1", "equi-dyn:9:8", "random-matching:8:6"] {
            let ws = weights(graph);
            let [soon, late] = [0.2, 0.99].map(|decay| effective_neighbours(&ws, decay).unwrap());
            let agents = ws[0].agents() as f64;
            assert!(1.0 < soon && soon < late && late <= agents, "{graph}: {soon}, {late}");
        }
        let pairs = weights("one-peer-exponential:8");
        let one_round = effective_neighbours(&pairs, 0.0).unwrap();
        assert!((one_round - 2.0).abs() < 1e-12, "{one_round}");
    }
}
