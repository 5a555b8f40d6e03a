//! Matrices whose rows are all the same row, shifted: rings, tori, circulants.
//!
//! Agents sit on an R by C torus, agent `r * C + c` at `(r, c)`, and row `i` is
//! row 0 carried along. Then the waves on the torus are the eigenvectors, and
//! wave `(p, q)` has
//!
//! ```text
//! 1 - lambda = sum over shifts of  w * (1 - cos(angle)) = sum of  w * 2 sin^2(angle / 2)
//! angle / 2  = pi * t / n,    t = p * dr * C + q * dc * R   (mod n)
//! ```
//!
//! `t` is a whole number, so one table of n sines serves all waves, and the sum
//! of squares loses no digits however small the gap is.

use std::f64::consts::PI;

use super::{Spectrum, SpectrumMethod};
use crate::mixing::MixingMatrix;

pub(super) struct Translates {
    rows: usize,
    columns: usize,
    /// Row 0: where to (rows, columns) and how much.
    shifts: Vec<(usize, usize, f64)>,
}

impl Translates {
    /// Finds a torus on which the matrix is translation-invariant, if there is one.
    pub(super) fn new(w: &MixingMatrix) -> Option<Translates> {
        Self::from_all(std::slice::from_ref(w)).and_then(|mut shapes| shapes.pop())
    }

    /// Finds a torus on which all of the matrices are translation-invariant: then they have the
    /// same eigenvectors.
    pub(super) fn from_all(ws: &[MixingMatrix]) -> Option<Vec<Translates>> {
        let agents = ws.first()?.agents();
        let divisors = (1..agents).filter(|rows| agents.is_multiple_of(*rows));
        let on = |rows: usize| -> Option<Vec<Translates>> {
            let fits = |w: &MixingMatrix| {
                Some(Translates::on(w, rows, agents / rows)).filter(|shape| shape.fits(w))
            };
            ws.iter().map(fits).collect()
        };
        divisors.into_iter().find_map(on)
    }

    fn on(w: &MixingMatrix, rows: usize, columns: usize) -> Translates {
        let shifts = w.row(0).map(|(j, weight)| (j / columns, j % columns, weight)).collect();
        Translates { rows, columns, shifts }
    }

    /// Is every row the first one, shifted? Stops at the first that is not.
    fn fits(&self, w: &MixingMatrix) -> bool {
        let (rows, columns) = (self.rows, self.columns);
        // Not a number where row 0 has no entry: it equals nothing.
        let mut expected = vec![f64::NAN; self.agents()];
        for &(dr, dc, weight) in &self.shifts {
            expected[dr * columns + dc] = weight;
        }
        (1..w.agents()).all(|i| {
            let (r, c) = (i / columns, i % columns);
            w.row_slices(i).0.len() == self.shifts.len()
                && w.row(i).all(|(j, weight)| {
                    let dr = (j / columns + rows - r) % rows;
                    let dc = (j % columns + columns - c) % columns;
                    (expected[dr * columns + dc] - weight).abs() <= 1e-14
                })
        })
    }

    fn agents(&self) -> usize {
        self.rows * self.columns
    }

    fn how(&self) -> SpectrumMethod {
        SpectrumMethod::TranslationInvariant { rows: self.rows, columns: self.columns }
    }

    /// `1 - lambda` of every wave but the constant one (real parts).
    fn distances(&self) -> Vec<f64> {
        let n = self.agents();
        let versines: Vec<f64> =
            (0..n).map(|t| 2.0 * (PI * t as f64 / n as f64).sin().powi(2)).collect();
        self.over_waves(&versines)
    }

    pub(super) fn symmetric_spectrum(&self) -> Spectrum {
        let distances = self.distances();
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let farthest = distances.iter().copied().fold(0.0, f64::max);
        let mut eigenvalues: Vec<f64> =
            std::iter::once(1.0).chain(distances.iter().map(|distance| 1.0 - distance)).collect();
        eigenvalues.sort_by(|a, b| b.total_cmp(a));
        let spectrum = Spectrum::from_distances(nearest, farthest, self.how());
        Spectrum { eigenvalues: Some(eigenvalues), ..spectrum }
    }

    /// The eigenvalue of every wave but the constant one, as (real, imaginary) part.
    pub(super) fn complex_eigenvalues(&self) -> Vec<[f64; 2]> {
        let real = self.distances().into_iter().map(|distance| 1.0 - distance);
        real.zip(self.imaginary_parts()).map(|(re, im)| [re, im]).collect()
    }

    fn imaginary_parts(&self) -> Vec<f64> {
        let n = self.agents();
        let sines: Vec<f64> = (0..n).map(|t| (2.0 * PI * t as f64 / n as f64).sin()).collect();
        self.over_waves(&sines)
    }

    /// Directed rings and the like: eigenvalues are complex.
    pub(super) fn nonsymmetric_spectrum(&self) -> Spectrum {
        let imaginary = self.imaginary_parts();
        let (mut gap, mut lambda_min) = (1.0_f64, f64::INFINITY);
        let mut second = (0.0, 0.0);
        let mut squares = vec![1.0];
        for (distance, imaginary) in self.distances().into_iter().zip(imaginary) {
            // 1 - |lambda| = (1 - |lambda|^2) / (1 + |lambda|), and the numerator keeps its digits.
            let shortfall = distance * (2.0 - distance) - imaginary * imaginary;
            let modulus = (1.0 - distance).hypot(imaginary);
            let distance_of_modulus = (shortfall / (1.0 + modulus)).max(0.0);
            if distance_of_modulus < gap {
                (gap, second) = (distance_of_modulus, (1.0 - distance, imaginary.abs()));
            }
            lambda_min = lambda_min.min(1.0 - distance);
            squares.push(1.0 - shortfall);
        }
        let spectrum = Spectrum::from_moduli(gap, lambda_min, self.how());
        Spectrum { complex_2: Some(second), squared_moduli: Some(squares), ..spectrum }
    }

    /// `sum over shifts of w * table[t]` for every wave but the constant one.
    fn over_waves(&self, table: &[f64]) -> Vec<f64> {
        let (rows, columns, n) = (self.rows, self.columns, self.agents());
        let mut sums = vec![0.0; n];
        for &(dr, dc, weight) in &self.shifts {
            let step = dc * rows;
            for (p, row) in sums.chunks_exact_mut(columns).enumerate() {
                let mut t = p * dr % rows * columns;
                for sum in row {
                    *sum += weight * table[t];
                    t += step;
                    if t >= n {
                        t -= n;
                    }
                }
            }
        }
        sums.remove(0);
        sums
    }
}
