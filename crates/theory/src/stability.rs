//! The largest stable mu, the rate of consensus and the best mu, found by a search over modes.

use consort_algo::Method;
use consort_graph::Spectrum;

use crate::jury::Cubic;
use crate::modes::transition;

/// More modes than this are thinned out: every result is continuous in `l`.
const MOST_MODES: usize = 600;

/// A mode counts as shrinking if it shrinks by more than a rounding error.
const SHRINKING: f64 = 1.0 - 1e-12;

/// Limits are searched for up to this mu.
const MOST_MU: f64 = 10.0;

/// The modes of disagreement of one mixing matrix.
#[derive(Clone, Debug)]
pub struct Stability {
    /// The eigenvalues of W in ascending order, without the one that belongs to the average.
    modes: Vec<f64>,
}

impl Stability {
    /// The modes of a matrix with this spectrum. If only the two ends of the spectrum are known,
    /// the whole interval between them is used, which errs on the safe side.
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
        Stability { modes }
    }

    /// The modes of `(1-gamma) I + gamma W`.
    pub fn with_averaging_rate(&self, gamma: f64) -> Self {
        Stability { modes: self.modes.iter().map(|l| 1.0 - gamma * (1.0 - l)).collect() }
    }

    /// True if every disagreement shrinks under `method` with this mu.
    pub fn is_stable(&self, method: &Method, mu: f64) -> bool {
        self.modes
            .iter()
            .all(|&l| Cubic::characteristic(&transition(method, mu, l)).roots_within(SHRINKING))
    }

    /// The factor by which disagreement shrinks per round in the long run.
    pub fn rate(&self, method: &Method, mu: f64) -> f64 {
        let radius = |&l: &f64| Cubic::characteristic(&transition(method, mu, l)).spectral_radius();
        self.modes.iter().map(radius).fold(0.0, f64::max)
    }

    /// The first interval of stable mu between 0 and 10. It begins at 0 unless the method needs
    /// some tracking to be stable. `None` if no mu is stable.
    pub fn stable_interval(&self, method: &Method) -> Option<(f64, f64)> {
        let grid = (0..200).map(|k| f64::from(k) * 0.01);
        let coarse = (0..=160).map(|k| 2.0 + f64::from(k) * (MOST_MU - 2.0) / 160.0);
        let stable = |mu: f64| self.is_stable(method, mu);
        let mut low = None;
        let mut last = 0.0;
        for mu in grid.chain(coarse) {
            match (low, stable(mu)) {
                (None, true) if mu == 0.0 => low = Some(0.0),
                (None, true) => low = Some(bisect(mu, last, stable)),
                (Some(low), false) => return Some((low, bisect(last, mu, stable))),
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
        // Three nested grids of 32 points locate the minimum to limit/10,000.
        for _ in 0..3 {
            let centre = best.0;
            let low = (centre - width).max(0.0);
            let high = (centre + width).min(limit);
            for k in 0..=32 {
                let mu = low + (high - low) * f64::from(k) / 32.0;
                let rate = self.rate(method, mu);
                if rate < best.1 {
                    best = (mu, rate);
                }
            }
            width = (high - low) / 16.0;
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
        let mut gamma = 1.0;
        while gamma > 1.0 / 1024.0 {
            let next = gamma * 0.98;
            if stable(next) {
                return Some(bisect(next, gamma, stable));
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

/// The last stable value between a stable and an unstable one.
fn bisect(mut stable: f64, mut unstable: f64, is_stable: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = 0.5 * (stable + unstable);
        if is_stable(middle) {
            stable = middle;
        } else {
            unstable = middle;
        }
    }
    stable
}
