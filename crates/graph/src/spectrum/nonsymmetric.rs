//! Directed graphs: complex eigenvalues, of which the moduli matter.
//!
//! A directed ring or exponential graph is translation-invariant and solved
//! exactly. Otherwise a small matrix gets a Schur decomposition, and a large one
//! a power iteration on what is left of a vector when its mean is taken away
//! (since W 1 = 1, that quotient has all eigenvalues of W but the consensus one).

use nalgebra::linalg::Schur;

use super::dense::dense;
use super::translation::Translates;
use super::{DENSE_LIMIT, Spectrum, SpectrumError, SpectrumMethod};
use crate::mixing::MixingMatrix;

/// Residual at which the iteration counts as converged.
const TARGET: f64 = 1e-8;
const MAX_STEPS: usize = 20_000;
const MAX_WORK: usize = 4_000_000_000;

/// The spectrum of a row-stochastic matrix.
pub(super) fn spectrum(w: &MixingMatrix) -> Result<Spectrum, SpectrumError> {
    if let Some(shape) = Translates::new(w) {
        return Ok(shape.nonsymmetric_spectrum());
    }
    // The decomposition may stall; then the iteration is asked instead.
    match (w.agents() <= DENSE_LIMIT).then(|| by_schur(w)).flatten() {
        Some(spectrum) => Ok(spectrum),
        None => by_power_iteration(w),
    }
}

pub(super) fn by_schur(w: &MixingMatrix) -> Option<Spectrum> {
    let others = eigenvalues(w)?;
    let modulus = |[re, im]: &[f64; 2]| re.hypot(*im);
    let second = others.iter().max_by(|a, b| modulus(a).total_cmp(&modulus(b)))?;
    let lambda_min = others.iter().map(|[re, _]| *re).fold(f64::INFINITY, f64::min);
    let lambda_2 = modulus(second);
    let (gap, how) = ((1.0 - lambda_2).max(0.0), SpectrumMethod::DenseNonSymmetric);
    let complex_2 = Some((second[0], second[1].abs()));
    Some(Spectrum { lambda_2, complex_2, ..Spectrum::from_moduli(gap, lambda_min, how) })
}

/// All eigenvalues but the one of consensus, as (real, imaginary) part.
pub(super) fn eigenvalues(w: &MixingMatrix) -> Option<Vec<[f64; 2]>> {
    let schur = Schur::try_new(dense(w), f64::EPSILON, 100 * w.agents())?;
    let mut others: Vec<_> = schur.complex_eigenvalues().iter().copied().collect();
    // Perron: 1 is an eigenvalue, and it is the one that stands for consensus.
    let distance_from_one = |index: &usize| (others[*index].re - 1.0).hypot(others[*index].im);
    let consensus =
        (0..others.len()).min_by(|a, b| distance_from_one(a).total_cmp(&distance_from_one(b)))?;
    others.swap_remove(consensus);
    Some(others.iter().map(|z| [z.re, z.im]).collect())
}

/// After enough steps the vector lies in the plane of the leading eigenvalue
/// and its conjugate, where `x_2 = a x_1 + b x_0`; the roots of `z^2 = a z + b` are
/// the two. A real leading eigenvalue is the case in which one term is enough.
pub(super) fn by_power_iteration(w: &MixingMatrix) -> Result<Spectrum, SpectrumError> {
    let agents = w.agents();
    let cap = (MAX_WORK / (w.entries() + 4 * agents)).clamp(100, MAX_STEPS);
    let mut x: Vec<f64> = (0..agents).map(|i| ((i * 7919 + 13) % 104_729) as f64).collect();
    remove_mean(&mut x);
    let (mut steps, mut burst, mut last) = (0, 16, f64::INFINITY);
    loop {
        let mut vanished = false;
        for _ in 0..burst {
            let length = x.iter().map(|value| value * value).sum::<f64>().sqrt();
            vanished |= length < 1e-100;
            let scale = if vanished { 0.0 } else { 1.0 / length };
            x.iter_mut().for_each(|value| *value *= scale);
            x = applied(w, &x);
        }
        steps += burst;
        let Fit { modulus, residual } =
            if vanished { Fit { modulus: 0.0, residual: 0.0 } } else { fit(w, &x) };
        let change = (modulus - last).abs().min(residual);
        last = modulus;
        // At the cap, a gap that is settled to a hundredth is still worth saying.
        let out_of_time = steps + burst > cap;
        let needed = if out_of_time { TARGET.max(1e-2 * (1.0 - modulus)) } else { TARGET };
        if change <= needed {
            let how = SpectrumMethod::PowerIteration { steps, change };
            let least_own = (0..agents).map(|i| w.weight(i, i)).fold(1.0, f64::min);
            // Both bound every real part: the modulus, and Gershgorin's discs.
            let lambda_min = (-modulus).max(2.0 * least_own - 1.0);
            let gap = (1.0 - modulus).max(0.0);
            let found = Spectrum::from_moduli(gap, lambda_min, how);
            return Ok(Spectrum { lambda_2: modulus, ..found });
        }
        if out_of_time {
            let (method, estimate) = ("power iteration", modulus);
            return Err(SpectrumError::NotConverged { method, steps, residual: change, estimate });
        }
        burst += burst / 4;
    }
}

struct Fit {
    modulus: f64,
    residual: f64,
}

/// The best recurrence through `x_0`, `x_1 = W x_0`, `x_2 = W x_1`.
fn fit(w: &MixingMatrix, x0: &[f64]) -> Fit {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let x1 = applied(w, x0);
    let x2 = applied(w, &x1);
    let (s00, s01, s11) = (dot(x0, x0), dot(x0, &x1), dot(&x1, &x1));
    let one_term = s01 / s00;
    let misfit = x1.iter().zip(x0).map(|(b, a)| (b - one_term * a).powi(2)).sum::<f64>();
    let one = Fit { modulus: one_term.abs(), residual: (misfit / s00).sqrt() };
    let determinant = s00 * s11 - s01 * s01;
    if one.residual <= TARGET || determinant <= 0.0 {
        return one;
    }
    let (t0, t1) = (dot(x0, &x2), dot(&x1, &x2));
    let a = (t1 * s00 - t0 * s01) / determinant;
    let b = (t0 * s11 - t1 * s01) / determinant;
    let terms = x2.iter().zip(&x1).zip(x0);
    let misfit = terms.map(|((z, y), x)| (z - a * y - b * x).powi(2)).sum::<f64>();
    let discriminant = a * a / 4.0 + b;
    let modulus =
        if discriminant < 0.0 { (-b).sqrt() } else { (a / 2.0).abs() + discriminant.sqrt() };
    Fit { modulus, residual: (misfit / s00).sqrt() }
}

/// `W x` with its mean taken away.
fn applied(w: &MixingMatrix, x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    w.multiply(x, &mut product);
    remove_mean(&mut product);
    product
}

fn remove_mean(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|value| *value -= mean);
}
