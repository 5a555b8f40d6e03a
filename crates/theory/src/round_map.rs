//! One round of a method as a matrix, for mixing matrices with complex eigenvalues and for
//! sequences of mixing matrices.
//!
//! A round is linear in the state and a polynomial in W: `T(W) = T0 + T1 W + T2 W²`, with small
//! matrices that belong to the method alone. `l` in place of W gives the map of one mode, complex
//! or not; W itself gives the map of all agents together.

use consort_algo::Method;
use nalgebra::{Complex, Matrix4};

use crate::modes::transition;

/// The coefficients of one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundMap {
    coefficients: [Matrix4<f64>; 3],
}

impl RoundMap {
    /// The round of `method` with tracking scale `mu`.
    pub(crate) fn new(method: &Method, mu: f64) -> Self {
        // `modes::step` is at most quadratic in l, so three points give it exactly.
        let at = |l: f64| {
            let t = transition(method, mu, l);
            Matrix4::from_fn(|i, j| t[i][j])
        };
        let (zero, plus, minus) = (at(0.0), at(1.0), at(-1.0));
        let odd = (plus - minus) / 2.0;
        let even = (plus + minus) / 2.0 - zero;
        RoundMap { coefficients: [zero, odd, even] }
    }

    /// The coefficient of the given power of W.
    pub(crate) fn coefficient(&self, power: usize) -> &Matrix4<f64> {
        &self.coefficients[power]
    }

    /// The parts of the state that decide what comes next; the others are never read.
    pub(crate) fn parts(&self) -> Vec<usize> {
        let read = |j: &usize| self.coefficients.iter().any(|t| t.column(*j).amax() > 0.0);
        (0..4).filter(read).collect()
    }

    /// The map of one mode over a period: its eigenvalue in each phase, first phase first.
    pub(crate) fn of_mode(&self, eigenvalues: &[Complex<f64>]) -> Matrix4<Complex<f64>> {
        let [t0, t1, t2] = self.coefficients.map(|t| t.map(|value| Complex::new(value, 0.0)));
        let round = |l: &Complex<f64>| t0 + t1 * *l + t2 * (l * l);
        let identity = Matrix4::<Complex<f64>>::identity();
        eigenvalues.iter().map(round).fold(identity, |before, round| round * before)
    }
}
