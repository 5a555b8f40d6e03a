//! What a whole period of a time-varying graph does to the agents' states, all of them together.
//!
//! Matrices that change from round to round have no modes in common, so the map of a period is a
//! matrix over agents times parts of the state, applied to states that sum to zero over the agents
//! (the rest is the average, which mixing keeps). Its spectral radius is found by squaring it:
//! `|M^(2^k)|^(1/2^k)` tends to it, also where eigenvalues coincide, and a norm below 1 on the way
//! proves that the radius is below 1.

use std::sync::Arc;

use consort_graph::MixingMatrix;
use nalgebra::DMatrix;

use crate::round_map::RoundMap;

/// The squarings after which a radius is told: its relative error is then about 1e-9.
const SQUARINGS: u32 = 36;

/// The phases of a graph without common modes.
#[derive(Clone, Debug)]
pub(crate) struct PeriodMap {
    phases: Arc<[MixingMatrix]>,
    gamma: f64,
}

impl PeriodMap {
    pub(crate) fn new(phases: &[MixingMatrix]) -> Self {
        PeriodMap { phases: phases.into(), gamma: 1.0 }
    }

    /// The same with `(1-gamma) I + gamma W` in every phase.
    pub(crate) fn with_averaging_rate(&self, gamma: f64) -> Self {
        // Rates multiply, as I - W does.
        PeriodMap { phases: self.phases.clone(), gamma: self.gamma * gamma }
    }

    pub(crate) fn period(&self) -> usize {
        self.phases.len()
    }

    /// True if a period shrinks every disagreement.
    pub(crate) fn shrinks(&self, round: &RoundMap) -> bool {
        let mut squares = Squares::new(self.matrix(round));
        let size = squares.power.nrows() as f64;
        for _ in 0..SQUARINGS {
            if squares.log_norm < 0.0 {
                return true;
            }
            // The trace is a sum of as many eigenvalues as there are rows.
            if squares.log_of(squares.power.trace().abs()) > size.ln() {
                return false;
            }
            squares.square();
        }
        false
    }

    /// The factor by which disagreement shrinks per period in the long run.
    pub(crate) fn radius(&self, round: &RoundMap) -> f64 {
        let mut squares = Squares::new(self.matrix(round));
        (0..SQUARINGS).for_each(|_| squares.square());
        (squares.log_norm / 2_f64.powi(SQUARINGS as i32)).exp()
    }

    /// The map of a period on states that sum to zero: the parts of the state that matter, one
    /// below the other, each with one entry per agent.
    fn matrix(&self, round: &RoundMap) -> DMatrix<f64> {
        let agents = self.phases[0].agents();
        let parts = round.parts();
        let size = agents * parts.len();
        let mean = 1.0 / agents as f64;
        let mut states = DMatrix::from_fn(size, size, |i, j| match i / agents == j / agents {
            true => f64::from(u8::from(i == j)) - mean,
            false => 0.0,
        });
        for w in self.phases.iter() {
            let mut next = DMatrix::<f64>::zeros(size, size);
            let mut powers = states.clone(); // W^power applied to the states
            for power in 0..3 {
                let t = round.coefficient(power);
                if power > 0 {
                    if (power..3).all(|later| round.coefficient(later).amax() == 0.0) {
                        break;
                    }
                    self.mix(w, &mut powers, agents);
                }
                for (a, &to) in parts.iter().enumerate() {
                    for (b, &from) in parts.iter().enumerate() {
                        if t[(to, from)] != 0.0 {
                            let term = powers.rows(b * agents, agents) * t[(to, from)];
                            let mut sum = next.rows_mut(a * agents, agents);
                            sum += term;
                        }
                    }
                }
            }
            states = next;
        }
        states
    }

    /// `(1-gamma) x + gamma W x` for every part of every state.
    fn mix(&self, w: &MixingMatrix, states: &mut DMatrix<f64>, agents: usize) {
        let mut mixed = vec![0.0; agents];
        for mut state in states.column_iter_mut() {
            for part in state.as_mut_slice().chunks_exact_mut(agents) {
                w.multiply(part, &mut mixed);
                for (x, mixed) in part.iter_mut().zip(&mixed) {
                    *x += self.gamma * (mixed - *x);
                }
            }
        }
    }
}

/// `M^(2^k)`, divided by its norm, whose logarithm is kept.
struct Squares {
    power: DMatrix<f64>,
    log_norm: f64,
}

impl Squares {
    fn new(matrix: DMatrix<f64>) -> Self {
        let mut squares = Squares { power: matrix, log_norm: 0.0 };
        squares.normalise();
        squares
    }

    fn square(&mut self) {
        self.power = &self.power * &self.power;
        self.log_norm *= 2.0;
        self.normalise();
    }

    fn normalise(&mut self) {
        let norm = self.power.norm();
        if norm > 0.0 {
            self.power /= norm;
        }
        self.log_norm += norm.ln();
    }

    /// The logarithm of what `value`, taken of the divided matrix, is of the whole one.
    fn log_of(&self, value: f64) -> f64 {
        value.ln() + self.log_norm
    }
}
