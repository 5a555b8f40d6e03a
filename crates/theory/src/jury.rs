//! Are all roots of a cubic inside a circle? Jury's criterion answers with four
//! inequalities. It computes no root, so it is exact even where roots coincide.

/// `z³ + a[2] z² + a[1] z + a[0]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cubic {
    a: [f64; 3],
}

impl Cubic {
    /// The characteristic polynomial of the first three rows and columns of a matrix.
    pub(crate) fn characteristic<const N: usize>(t: &[[f64; N]; N]) -> Self {
        let minor = |i: usize, j: usize| t[i][i] * t[j][j] - t[i][j] * t[j][i];
        let trace = t[0][0] + t[1][1] + t[2][2];
        let minors = minor(0, 1) + minor(0, 2) + minor(1, 2);
        let determinant = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1])
            - t[0][1] * (t[1][0] * t[2][2] - t[1][2] * t[2][0])
            + t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
        Cubic { a: [-determinant, minors, -trace] }
    }

    /// True if every root has modulus below `radius`.
    pub(crate) fn roots_within(&self, radius: f64) -> bool {
        let a2 = self.a[2] / radius;
        let a1 = self.a[1] / (radius * radius);
        let a0 = self.a[0] / (radius * radius * radius);
        a0.abs() < 1.0
            && 1.0 + a2 + a1 + a0 > 0.0
            && 1.0 - a2 + a1 - a0 > 0.0
            && (a1 - a0 * a2).abs() < 1.0 - a0 * a0
    }

    /// The largest modulus of a root, by bisection on the radius.
    pub(crate) fn spectral_radius(&self) -> f64 {
        let bound = 1.0 + self.a.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        let (mut inside, mut outside) = (bound, 0.0);
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            if self.roots_within(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_roots(roots: [f64; 3]) -> Cubic {
        let [p, q, r] = roots;
        Cubic { a: [-p * q * r, p * q + p * r + q * r, -(p + q + r)] }
    }

    #[test]
    fn the_radius_is_the_largest_modulus() {
        for (roots, expected) in [
            ([0.5, -0.9, 0.1], 0.9),
            ([0.0, 0.0, 0.0], 0.0),
            ([2.0, 0.3, -0.3], 2.0),
            ([0.7, 0.7, 0.7], 0.7),
        ] {
            let radius = with_roots(roots).spectral_radius();
            // A triple root moves by the cube root of the rounding of its coefficients.
            assert!((radius - expected).abs() < 2e-5, "{roots:?}: {radius}");
        }
    }

    #[test]
    fn complex_roots_count_by_modulus() {
        // (z - 0.5)(z² + 0.81): roots 0.5 and ±0.9i.
        let cubic = Cubic { a: [-0.405, 0.81, -0.5] };
        assert!((cubic.spectral_radius() - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_matrix_and_its_polynomial_have_the_same_roots() {
        // Companion matrix of (z - 0.2)(z - 0.4)(z + 0.6).
        let [p, q, r] = [0.2, 0.4, -0.6];
        let t =
            [[p + q + r, -(p * q + p * r + q * r), p * q * r], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert!((Cubic::characteristic(&t).spectral_radius() - 0.6).abs() < 1e-12);
    }
}
