//! The largest stable mu, the rate of consensus and the best mu, found by a search over modes.

use consort_algo::{Method, Recursion};
use consort_graph::{MixingMatrix, Spectrum, SpectrumError, joint_eigenvalues};
use nalgebra::Complex;
use thiserror::Error;

use crate::complex_roots::Quartic;
use crate::jury::Cubic;
use crate::modes::transition;
use crate::period_map::PeriodMap;
use crate::round_map::RoundMap;

/// More modes than this are thinned out: every result is continuous in `l`.
const MOST_MODES: usize = 600;

/// A mode counts as shrinking if it shrinks by more than a rounding error.
const SHRINKING: f64 = 1.0 - 1e-12;

/// Limits are searched for up to this mu.
const MOST_MU: f64 = 10.0;

/// Up to this many agents the map of a whole period is computed.
const MOST_AGENTS_OF_A_PERIOD: usize = 256;

/// The modes of disagreement of one mixing matrix, or of those that take turns.
#[derive(Clone, Debug)]
pub struct Stability {
    modes: Modes,
    /// Of the matrix before any averaging rate, if it has real modes.
    spectrum: Option<Spectrum>,
    gamma: f64,
}

/// How disagreement is taken apart.
#[derive(Clone, Debug)]
enum Modes {
    /// The eigenvalues of W in ascending order, without the one that belongs to the average.
    Real(Vec<f64>),
    /// The eigenvalue of every mode in each phase.
    Complex(Vec<Vec<Complex<f64>>>),
    /// Not at all: the phases have no modes in common.
    Period(PeriodMap),
}

/// The numbers by which a mixing matrix is known, averaging rate included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) lambda_2: f64,
    pub(crate) lambda_min: f64,
    pub(crate) gap: f64,
}

/// Why nothing can be said of a run before it starts.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum StabilityError {
    /// The spectrum cannot be computed.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// A directed graph that is too large to be decomposed.
    #[error(
        "all eigenvalues of a directed graph without a regular structure are computed up to {most} \
         agents; it has {agents}. Use a smaller graph, or one that looks the same from every agent \
         (directed-ring, exponential)"
    )]
    TooLargeDirected {
        /// Its agents.
        agents: usize,
        /// How many can be handled.
        most: usize,
    },
    /// A sequence of graphs that is too large.
    #[error(
        "what a period of {period} graphs does is computed up to {most} agents; these have \
         {agents}. Use fewer agents, or a sequence that looks the same from every agent \
         (one-peer-exponential)"
    )]
    TooLargePeriod {
        /// Their agents.
        agents: usize,
        /// Graphs in a period.
        period: usize,
        /// How many agents can be handled.
        most: usize,
    },
}

impl Stability {
    /// The modes of a symmetric matrix with this spectrum. If only the two ends of the spectrum
    /// are known, the whole interval between them is used, which errs on the safe side. Of a
    /// directed graph only plain gossip is described well by its spectrum; see
    /// [`from_weights`](Self::from_weights).
    pub fn new(spectrum: &Spectrum) -> Self {
        let mut modes: Vec<f64> = match &spectrum.eigenvalues {
            Some(all) => all.iter().skip(1).copied().collect(), // the first is the average's
            None => {
                let (low, high) = (spectrum.lambda_min, spectrum.lambda_2);
                let steps = MOST_MODES - 1;
                (0..=steps).map(|k| low + (high - low) * k as f64 / steps as f64).collect()
            }
        };
        modes.sort_by(f64::total_cmp);
        modes.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        if modes.len() > MOST_MODES {
            let last = modes.len() - 1;
            let picked = |k: usize| modes[k * last / (MOST_MODES - 1)];
            modes = (0..MOST_MODES).map(picked).collect();
        }
        Stability { modes: Modes::Real(modes), spectrum: Some(spectrum.clone()), gamma: 1.0 }
    }

    /// The modes of a run: its mixing matrices, one per phase of the graph, before any averaging
    /// rate.
    ///
    /// # Errors
    /// If a spectrum cannot be computed, or the graph is directed or time-varying and too large.
    pub fn from_weights(weights: &[MixingMatrix]) -> Result<Self, StabilityError> {
        if let [w] = weights
            && w.is_symmetric()
        {
            return Ok(Stability::new(&Spectrum::new(w)?));
        }
        for w in weights {
            if let Err(violation) = w.require_row_stochastic() {
                w.require_column_stochastic()
                    .map_err(|_| SpectrumError::NotStochastic(violation))?;
            }
        }
        let (agents, period) = (weights.first().map_or(0, MixingMatrix::agents), weights.len());
        let most = MOST_AGENTS_OF_A_PERIOD;
        let modes = match joint_eigenvalues(weights) {
            Some(modes) => Modes::Complex(picked_modes(modes)),
            None if period < 2 => {
                return Err(StabilityError::TooLargeDirected { agents, most: 600 });
            }
            None if agents > most => {
                return Err(StabilityError::TooLargePeriod { agents, period, most });
            }
            None => Modes::Period(PeriodMap::new(weights)),
        };
        Ok(Stability { modes, spectrum: None, gamma: 1.0 })
    }

    /// How many graphs take turns; 1 if the graph is fixed.
    pub fn period(&self) -> usize {
        match &self.modes {
            Modes::Real(_) => 1,
            Modes::Complex(modes) => modes.first().map_or(1, Vec::len),
            Modes::Period(map) => map.period(),
        }
    }

    /// The modes of `(1-gamma) I + gamma W`.
    pub fn with_averaging_rate(&self, gamma: f64) -> Self {
        let modes = match &self.modes {
            Modes::Real(modes) => {
                Modes::Real(modes.iter().map(|l| 1.0 - gamma * (1.0 - l)).collect())
            }
            Modes::Complex(modes) => {
                let slower = |l: &Complex<f64>| 1.0 - (1.0 - l) * gamma;
                Modes::Complex(modes.iter().map(|l| l.iter().map(slower).collect()).collect())
            }
            Modes::Period(map) => Modes::Period(map.with_averaging_rate(gamma)),
        };
        Stability { modes, spectrum: self.spectrum.clone(), gamma: self.gamma * gamma }
    }

    /// Second largest and smallest eigenvalue, and gap. Of a directed graph: the largest modulus
    /// and the smallest real part. Of graphs that take turns: the modulus of a period per round,
    /// and 0 for an eigenvalue that they do not have in common.
    pub(crate) fn ends(&self) -> Ends {
        match (&self.modes, &self.spectrum) {
            (_, Some(spectrum)) => slowed_down(spectrum, self.gamma),
            (Modes::Complex(modes), None) => {
                let per_round = 1.0 / self.period() as f64;
                let modulus = |phases: &Vec<Complex<f64>>| {
                    phases.iter().map(|l| l.norm()).product::<f64>().powf(per_round)
                };
                let lambda_2 = modes.iter().map(modulus).fold(0.0, f64::max);
                let parts = modes.iter().flatten().map(|l| l.re);
                let lambda_min = parts.fold(f64::INFINITY, f64::min).min(lambda_2);
                Ends { lambda_2, lambda_min, gap: (1.0 - lambda_2).max(0.0) }
            }
            _ => {
                let lambda_2 = self.rate(&Method::new(consort_algo::MethodName::Dsgd), 0.0);
                Ends { lambda_2, lambda_min: 0.0, gap: (1.0 - lambda_2).max(0.0) }
            }
        }
    }

    /// True if every disagreement shrinks under `method` with this mu.
    pub fn is_stable(&self, method: &Method, mu: f64) -> bool {
        match &self.modes {
            Modes::Real(modes) if has_three_parts(method) => modes.iter().all(|&l| {
                Cubic::characteristic(&transition(method, mu, l)).roots_within(SHRINKING)
            }),
            Modes::Period(map) => map.shrinks(&RoundMap::new(method, mu)),
            _ => {
                let round = RoundMap::new(method, mu);
                let shrinks = |phases: &[Complex<f64>]| {
                    Quartic::characteristic(&round.of_mode(phases)).roots_within(SHRINKING)
                };
                self.all_complex(shrinks)
            }
        }
    }

    /// The factor by which disagreement shrinks per round in the long run.
    pub fn rate(&self, method: &Method, mu: f64) -> f64 {
        let round = RoundMap::new(method, mu);
        let radius = match &self.modes {
            Modes::Real(modes) if has_three_parts(method) => {
                let radius =
                    |&l: &f64| Cubic::characteristic(&transition(method, mu, l)).spectral_radius();
                return modes.iter().map(radius).fold(0.0, f64::max);
            }
            Modes::Period(map) => map.radius(&round),
            _ => {
                let mut largest: f64 = 0.0;
                self.all_complex(|phases| {
                    let quartic = Quartic::characteristic(&round.of_mode(phases));
                    if largest == 0.0 || !quartic.roots_within(largest) {
                        largest = largest.max(quartic.spectral_radius());
                    }
                    true
                });
                largest
            }
        };
        radius.powf(1.0 / self.period() as f64)
    }

    /// True if `holds` for the eigenvalues of every mode.
    fn all_complex(&self, mut holds: impl FnMut(&[Complex<f64>]) -> bool) -> bool {
        match &self.modes {
            Modes::Real(modes) => modes.iter().all(|&l| holds(&[Complex::new(l, 0.0)])),
            Modes::Complex(modes) => modes.iter().all(|phases| holds(phases)),
            Modes::Period(_) => false,
        }
    }

    /// How finely is searched: a period takes as long as thousands of modes.
    fn search(&self) -> Search {
        match self.modes {
            Modes::Period(_) => Search { fine: 0.05, halvings: 14, points: 8, factor: 0.8 },
            _ => Search { fine: 0.01, halvings: 40, points: 32, factor: 0.98 },
        }
    }

    /// The first interval of stable mu between 0 and 10. It begins at 0 unless the method needs
    /// some tracking to be stable. `None` if no mu is stable.
    pub fn stable_interval(&self, method: &Method) -> Option<(f64, f64)> {
        let Search { fine, halvings, .. } = self.search();
        let grid = (0..(2.0 / fine) as usize).map(|k| k as f64 * fine);
        let coarse = (0..=160).map(|k| 2.0 + f64::from(k) * (MOST_MU - 2.0) / 160.0);
        let stable = |mu: f64| self.is_stable(method, mu);
        let bisect = |inside, outside| bisect(inside, outside, halvings, stable);
        let mut low = None;
        let mut last = 0.0;
        for mu in grid.chain(coarse) {
            match (low, stable(mu)) {
                (None, true) if mu == 0.0 => low = Some(0.0),
                (None, true) => low = Some(bisect(mu, last)),
                (Some(low), false) => return Some((low, bisect(last, mu))),
                _ => {}
            }
            last = mu;
        }
        low.map(|low| (low, f64::INFINITY))
    }

    /// The mu at which stability ends; `None` if every mu up to 10 is stable, and 0 if none is.
    pub fn largest_stable_mu(&self, method: &Method) -> Option<f64> {
        let (_, high) = self.stable_interval(method).unwrap_or((0.0, 0.0));
        high.is_finite().then_some(high)
    }

    /// The mu from 0 to `limit` with the fastest consensus, and its rate.
    pub fn best_mu(&self, method: &Method, limit: f64) -> (f64, f64) {
        let mut best = (0.0, self.rate(method, 0.0));
        let mut width = limit;
        let points = self.search().points;
        // Three nested grids of 32 points locate the minimum to limit/10,000.
        for _ in 0..3 {
            let centre = best.0;
            let low = (centre - width).max(0.0);
            let high = (centre + width).min(limit);
            for k in 0..=points {
                let mu = low + (high - low) * k as f64 / points as f64;
                let rate = self.rate(method, mu);
                if rate < best.1 {
                    best = (mu, rate);
                }
            }
            width = 2.0 * (high - low) / points as f64;
        }
        best
    }

    /// The largest averaging rate in (0, 1] at which `method` is stable with this mu; `None` if
    /// none above 1/1024 is stable.
    pub fn largest_stable_gamma(&self, method: &Method, mu: f64) -> Option<f64> {
        let stable = |gamma: f64| self.with_averaging_rate(gamma).is_stable(method, mu);
        if stable(1.0) {
            return Some(1.0);
        }
        let Search { factor, halvings, .. } = self.search();
        let mut gamma = 1.0;
        while gamma > 1.0 / 1024.0 {
            let next = gamma * factor;
            if stable(next) {
                return Some(bisect(next, gamma, halvings, stable));
            }
            gamma = next;
        }
        None
    }
}

/// How long the *average* of the models remembers a gradient: the modulus of the slowest memory
/// that tracking and momentum leave in it. At 1 or above the averaged model diverges, even if the
/// agents agree.
pub(crate) fn average_memory(method: &Method, mu: f64) -> f64 {
    // At l = 1 the pull is zero, so `c` and `m` evolve without `x`.
    let t = transition(method, mu, 1.0);
    let own = [[t[1][1], t[1][2], 0.0], [t[2][1], t[2][2], 0.0], [0.0, 0.0, 0.0]];
    Cubic::characteristic(&own).spectral_radius()
}

/// How finely mu and gamma are searched.
struct Search {
    /// The step of mu below 2.
    fine: f64,
    halvings: u32,
    /// Points of a grid on which the best mu is searched.
    points: usize,
    /// From one gamma to the next.
    factor: f64,
}

/// The last stable value between a stable and an unstable one.
fn bisect(
    mut stable: f64,
    mut unstable: f64,
    halvings: u32,
    is_stable: impl Fn(f64) -> bool,
) -> f64 {
    for _ in 0..halvings {
        let middle = 0.5 * (stable + unstable);
        if is_stable(middle) {
            stable = middle;
        } else {
            unstable = middle;
        }
    }
    stable
}

/// Whether a mode of the method is described by the first three parts of its state.
fn has_three_parts(method: &Method) -> bool {
    method.info().recursion != Recursion::PushGut
}

/// One mode of every conjugate pair. Of too many, those that last longest and some of the others:
/// every result is continuous along the waves.
fn picked_modes(modes: Vec<Vec<[f64; 2]>>) -> Vec<Vec<Complex<f64>>> {
    let upper = |phases: &Vec<[f64; 2]>| {
        phases.iter().map(|[_, im]| *im).find(|im| im.abs() > 1e-13).is_none_or(|im| im > 0.0)
    };
    let complex = |phases: Vec<[f64; 2]>| -> Vec<Complex<f64>> {
        phases.into_iter().map(|[re, im]| Complex::new(re, im)).collect()
    };
    let modulus = |phases: &Vec<Complex<f64>>| phases.iter().map(|l| l.norm()).product::<f64>();
    let mut modes: Vec<_> = modes.into_iter().filter(upper).map(complex).collect();
    if modes.len() > MOST_MODES {
        modes.sort_by(|a, b| modulus(b).total_cmp(&modulus(a)));
        let (first, others) = modes.split_at(MOST_MODES / 2);
        let step = others.len().div_ceil(MOST_MODES / 2);
        modes = first.iter().chain(others.iter().step_by(step)).cloned().collect();
    }
    modes
}

/// Eigenvalues and gap of `(1-gamma) I + gamma W`.
fn slowed_down(spectrum: &Spectrum, gamma: f64) -> Ends {
    let Spectrum { lambda_2, lambda_min, gap, .. } = *spectrum;
    if gamma == 1.0 {
        return Ends { lambda_2, lambda_min, gap };
    }
    let slower = |l: f64| 1.0 - gamma * (1.0 - l);
    let (lambda_2, lambda_min) = (slower(lambda_2), slower(lambda_min));
    Ends { lambda_2, lambda_min, gap: 1.0 - lambda_2.abs().max(lambda_min.abs()) }
}
