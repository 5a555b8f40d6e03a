//! Heterogeneous quadratics: `F_i(x) = (x - c_i)ᵀ A_i (x - c_i) / 2`, with a different A and
//! c at every agent, so no two agents have the same optimum.

use super::matrix::Matrix;
use super::random::Random;

/// One quadratic per agent.
pub(crate) struct Quadratics {
    /// Symmetric, eigenvalues between 0.2 and about 1.5.
    curvature: Vec<Matrix>,
    centre: Matrix,
}

impl Quadratics {
    pub(crate) fn new(agents: usize, dimension: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let curvature = (0..agents)
            .map(|_| {
                let b = Matrix::random(dimension, dimension, &mut random);
                let transposed = Matrix::from_fn(dimension, dimension, |i, j| b.at(j, i));
                0.2 * Matrix::identity(dimension) + (b * transposed) / dimension as f64
            })
            .collect();
        Quadratics { curvature, centre: Matrix::random(agents, dimension, &mut random) }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.centre.cols
    }

    /// The gradient of agent `i` at `x`.
    pub(crate) fn gradient(&self, i: usize, x: &[f64]) -> Vec<f64> {
        let apart: Vec<f64> = x.iter().zip(self.centre.row(i)).map(|(x, c)| x - c).collect();
        let dot = |row: &[f64]| row.iter().zip(&apart).map(|(a, b)| a * b).sum();
        (0..x.len()).map(|k| dot(self.curvature[i].row(k))).collect()
    }

    /// The gradient of agent `i` at `x`, rounded once.
    pub(crate) fn gradient_f32(&self, i: usize, x: &[f32], gradient: &mut [f32]) {
        let x: Vec<f64> = x.iter().copied().map(f64::from).collect();
        for (out, value) in gradient.iter_mut().zip(self.gradient(i, &x)) {
            *out = value as f32;
        }
    }

    /// Every agent's gradient at its own row of `x`.
    pub(crate) fn gradients(&self, x: &Matrix) -> Matrix {
        let rows: Vec<Vec<f64>> = (0..x.rows).map(|i| self.gradient(i, x.row(i))).collect();
        Matrix::from_fn(x.rows, x.cols, |i, k| rows[i][k])
    }

    /// The minimiser of the averaged loss: `(Σ A_i)⁻¹ Σ A_i c_i`, by Gauss elimination.
    pub(crate) fn optimum(&self) -> Vec<f64> {
        let d = self.dimension();
        let mut a = Matrix::zeros(d, d);
        for curvature in &self.curvature {
            a = a + curvature;
        }
        let origin = vec![0.0; d];
        let mut b = vec![0.0; d];
        for i in 0..self.centre.rows {
            for (sum, value) in b.iter_mut().zip(self.gradient(i, &origin)) {
                *sum -= value;
            }
        }
        for pivot in 0..d {
            for below in pivot + 1..d {
                let factor = a.at(below, pivot) / a.at(pivot, pivot);
                for k in pivot..d {
                    a.set(below, k, a.at(below, k) - factor * a.at(pivot, k));
                }
                b[below] -= factor * b[pivot];
            }
        }
        for k in (0..d).rev() {
            let known: f64 = (k + 1..d).map(|j| a.at(k, j) * b[j]).sum();
            b[k] = (b[k] - known) / a.at(k, k);
        }
        b
    }
}
