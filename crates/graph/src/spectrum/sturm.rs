//! Single eigenvalues of symmetric tridiagonal matrices, by counting.
//!
//! The number of negative pivots of `T - x I` is the number of eigenvalues
//! below `x` (Sturm, Sylvester), so any eigenvalue can be cornered by bisection
//! to the last digit. One eigenvector follows by inverse iteration.

/// A symmetric tridiagonal matrix; `off` has one entry less than `diagonal`.
pub(super) struct SymmetricTridiagonal<'a> {
    pub(super) diagonal: &'a [f64],
    pub(super) off: &'a [f64],
}

/// Stands in for a pivot that vanished.
const TINY: f64 = 1e-290;

impl SymmetricTridiagonal<'_> {
    /// The eigenvalue with this many below it (0 is the smallest).
    pub(super) fn eigenvalue(&self, index: usize) -> f64 {
        let (mut low, mut high) = self.bounds();
        // 60 halvings reach the last digit of a number of order one; a tiny
        // eigenvalue takes a few more, and 0 itself never ends but for the cap.
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.count_below(middle) > index {
                high = middle;
            } else {
                low = middle;
            }
        }
        0.5 * (low + high)
    }

    fn count_below(&self, x: f64) -> usize {
        let mut pivot = self.diagonal[0] - x;
        let mut count = usize::from(pivot < 0.0);
        for (diagonal, off) in self.diagonal[1..].iter().zip(self.off) {
            if pivot.abs() < TINY {
                pivot = if pivot < 0.0 { -TINY } else { TINY };
            }
            pivot = diagonal - x - off * off / pivot;
            count += usize::from(pivot < 0.0);
        }
        count
    }

    /// Gershgorin's discs hold all eigenvalues.
    fn bounds(&self) -> (f64, f64) {
        let size = self.diagonal.len();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..size {
            let before = if i > 0 { self.off[i - 1].abs() } else { 0.0 };
            let after = if i + 1 < size { self.off[i].abs() } else { 0.0 };
            low = low.min(self.diagonal[i] - before - after);
            high = high.max(self.diagonal[i] + before + after);
        }
        let margin = 1e-12 * (high - low).max(1e-3);
        (low - margin, high + margin)
    }

    /// The unit eigenvector of an eigenvalue that is known to the last digit.
    pub(super) fn eigenvector(&self, eigenvalue: f64) -> Vec<f64> {
        let size = self.diagonal.len();
        // Unequal entries: no eigenvector of interest is orthogonal to them.
        let mut vector: Vec<f64> = (0..size).map(|i| 1.0 + 0.1 * ((i * 7 % 11) as f64)).collect();
        for _ in 0..3 {
            self.solve_shifted(eigenvalue, &mut vector);
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        vector
    }

    /// Solves `(T - shift I) x = b` in place, by elimination with row exchanges
    /// (which fill a second upper diagonal).
    fn solve_shifted(&self, shift: f64, b: &mut [f64]) {
        let size = b.len();
        let mut main: Vec<f64> = self.diagonal.iter().map(|d| d - shift).collect();
        let mut upper: Vec<f64> = self.off.to_vec();
        upper.push(0.0);
        let mut second = vec![0.0; size];
        for i in 0..size - 1 {
            let lower = self.off[i];
            if lower.abs() > main[i].abs() {
                // Row i + 1 is (lower, main[i+1], upper[i+1]): it becomes the pivot row.
                let (old_main, old_upper) = (main[i], upper[i]);
                (main[i], upper[i], second[i]) = (lower, main[i + 1], upper[i + 1]);
                b.swap(i, i + 1);
                let factor = old_main / lower;
                main[i + 1] = old_upper - factor * upper[i];
                upper[i + 1] = -factor * second[i];
                b[i + 1] -= factor * b[i];
            } else {
                let factor = lower / nonzero(main[i]);
                main[i + 1] -= factor * upper[i];
                b[i + 1] -= factor * b[i];
            }
        }
        for i in (0..size).rev() {
            let mut rest = b[i];
            if i + 1 < size {
                rest -= upper[i] * b[i + 1];
            }
            if i + 2 < size {
                rest -= second[i] * b[i + 2];
            }
            b[i] = rest / nonzero(main[i]);
        }
    }
}

/// An exact eigenvalue makes the last pivot vanish; any tiny number then points
/// the solution along the eigenvector, which is all that is wanted.
fn nonzero(pivot: f64) -> f64 {
    if pivot.abs() < 1e-18 { 1e-18 } else { pivot }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_difference_has_known_eigenvalues() {
        let (diagonal, off) = (vec![2.0; 50], vec![-1.0; 49]);
        let matrix = SymmetricTridiagonal { diagonal: &diagonal, off: &off };
        for k in [0, 1, 20, 49] {
            let angle = std::f64::consts::PI * (k + 1) as f64 / 51.0;
            let value = matrix.eigenvalue(k);
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-14, "{k}");
            let vector = matrix.eigenvector(value);
            let ratio = vector[1] / vector[0];
            assert!((ratio - (2.0 * angle).sin() / angle.sin()).abs() < 1e-9, "{k}: {ratio}");
        }
    }

    #[test]
    fn a_single_entry_is_its_eigenvalue() {
        let matrix = SymmetricTridiagonal { diagonal: &[0.3], off: &[] };
        assert!((matrix.eigenvalue(0) - 0.3).abs() < 1e-14);
        assert_eq!(matrix.eigenvector(0.3).len(), 1);
    }
}
