//! Are all eigenvalues of a complex 4 x 4 matrix inside a circle? The criterion of Schur and Cohn
//! answers without computing any, like Jury's for real polynomials.

use nalgebra::{Complex, Matrix4};

/// `z⁴ + a[3] z³ + ... + a[0]`, the characteristic polynomial of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quartic {
    a: [Complex<f64>; 5],
}

impl Quartic {
    /// By the recursion of Faddeev and LeVerrier.
    pub(crate) fn characteristic(t: &Matrix4<Complex<f64>>) -> Self {
        let identity = Matrix4::<Complex<f64>>::identity();
        let mut a = [Complex::new(1.0, 0.0); 5];
        let mut m = identity;
        for k in 1..=4 {
            let product = t * m;
            a[4 - k] = -product.trace() / k as f64;
            m = product + identity * a[4 - k];
        }
        Quartic { a }
    }

    /// True if every root has modulus below `radius`.
    pub(crate) fn roots_within(&self, radius: f64) -> bool {
        let mut a = self.a;
        let mut power = 1.0;
        for value in a.iter_mut().rev() {
            *value /= power;
            power *= radius;
        }
        // Each step removes a root without moving the others across the circle.
        for degree in (1..=4).rev() {
            let (first, last) = (a[0], a[degree]);
            if first.norm_sqr() >= last.norm_sqr() {
                return false;
            }
            let b = a;
            for k in 0..degree {
                a[k] = last.conj() * b[k + 1] - first * b[degree - k - 1].conj();
            }
            // Only ratios matter; without this the numbers would shrink to nothing.
            let scale = a[degree - 1].norm();
            a[..degree].iter_mut().for_each(|value| *value /= scale);
        }
        true
    }

    /// The largest modulus of a root, by bisection on the radius.
    pub(crate) fn spectral_radius(&self) -> f64 {
        let bound = 1.0 + self.a[..4].iter().map(|a| a.norm()).fold(0.0, f64::max);
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

    fn triangle(roots: [Complex<f64>; 4]) -> Matrix4<Complex<f64>> {
        let above = Complex::new(0.7, -0.3); // does not change the eigenvalues
        Matrix4::from_fn(|i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => above,
            std::cmp::Ordering::Equal => roots[i],
            std::cmp::Ordering::Greater => Complex::new(0.0, 0.0),
        })
    }

    #[test]
    fn the_radius_is_the_largest_modulus() {
        let c = |re: f64, im: f64| Complex::new(re, im);
        for (roots, expected) in [
            ([c(0.5, 0.0), c(0.0, -0.9), c(0.1, 0.1), c(0.0, 0.0)], 0.9),
            ([c(0.6, 0.8), c(0.3, 0.0), c(-0.2, 0.4), c(0.0, 0.0)], 1.0),
            ([c(0.0, 2.0), c(0.0, -0.5), c(1.0, 0.0), c(0.9, 0.0)], 2.0),
            ([c(0.0, 0.0); 4], 0.0),
        ] {
            let radius = Quartic::characteristic(&triangle(roots)).spectral_radius();
            assert!((radius - expected).abs() < 1e-9, "{roots:?}: {radius}");
        }
    }

    #[test]
    fn the_criterion_is_sharp() {
        let c = |re: f64, im: f64| Complex::new(re, im);
        let quartic = |r: f64| {
            let t = triangle([c(0.6, 0.8) * r, c(0.0, -0.3), c(0.99, 0.0) * r, c(0.0, 0.0)]);
            Quartic::characteristic(&t)
        };
        assert!(quartic(1.0 - 1e-9).roots_within(1.0) && !quartic(1.0 + 1e-9).roots_within(1.0));
    }
}
