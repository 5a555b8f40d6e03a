//! The two ends of a large symmetric spectrum, by Lanczos iteration.
//!
//! The constant vector is projected out at every step, so what remains at the
//! upper end is lambda_2. The basis is not reorthogonalised: rounding then only
//! repeats eigenvalues that were already found (Paige 1976), which cannot
//! disturb the two ends, and it keeps memory at four vectors. Each end is frozen
//! when it first converges, before a repetition can blur its vector. A second,
//! identical run adds up the eigenvectors, and the reported residual
//! `|W y - theta y| / |y|` is measured on them, not estimated.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::sturm::SymmetricTridiagonal;
use super::{Spectrum, SpectrumError, SpectrumMethod};
use crate::mixing::MixingMatrix;

/// Residual at which an end counts as found.
const TARGET: f64 = 1e-9;
/// Steps are capped, and so is the work: about ten seconds.
const MAX_STEPS: usize = 10_000;
const MAX_WORK: usize = 8_000_000_000;

/// One end of the spectrum, as first seen with a small enough residual.
struct End {
    value: f64,
    /// Its vector in the Krylov basis; as long as the steps that were needed.
    coordinates: Vec<f64>,
}

pub(super) fn spectrum(w: &MixingMatrix) -> Result<Spectrum, SpectrumError> {
    let work_per_step = w.entries() + 8 * w.agents();
    let cap = MAX_STEPS.min(MAX_WORK / work_per_step).clamp(100, MAX_STEPS);
    let (top, bottom) = find_ends(w, cap);
    let steps = top.coordinates.len().max(bottom.coordinates.len());
    let residual = measured_residual(w, &top, &bottom);
    let how = SpectrumMethod::Lanczos { steps, residual };
    let spectrum = Spectrum::from_distances(1.0 - top.value, 1.0 - bottom.value, how);
    // Not quite there is still useful if the gap is known to three digits.
    if residual > TARGET.max(1e-3 * spectrum.gap) {
        let (method, estimate) = ("Lanczos iteration", top.value);
        return Err(SpectrumError::NotConverged { method, steps, residual, estimate });
    }
    Ok(spectrum)
}

fn find_ends(w: &MixingMatrix, cap: usize) -> (End, End) {
    let mut run = Run::start(w.agents());
    let (mut diagonal, mut off) = (Vec::new(), Vec::new());
    let (mut top, mut bottom) = (None, None);
    let mut next_look = 8;
    loop {
        let (alpha, beta) = run.step(w);
        diagonal.push(alpha);
        let steps = diagonal.len();
        // beta = 0: the start vector's span is used up, and all in it is exact.
        let last = steps == cap || beta < 1e-13;
        if steps == next_look || last {
            next_look += (steps / 10).max(8);
            let small = SymmetricTridiagonal { diagonal: &diagonal, off: &off };
            let look = |index| {
                let value = small.eigenvalue(index);
                let coordinates = small.eigenvector(value);
                let residual = beta * coordinates[steps - 1].abs();
                (last || residual < 0.5 * TARGET).then_some(End { value, coordinates })
            };
            top = top.or_else(|| look(steps - 1));
            bottom = bottom.or_else(|| look(0));
        }
        match (top, bottom) {
            (Some(top), Some(bottom)) => return (top, bottom),
            unfinished => (top, bottom) = unfinished,
        }
        off.push(beta);
    }
}

/// Runs again, adds up both eigenvectors, and measures how well they fit.
fn measured_residual(w: &MixingMatrix, top: &End, bottom: &End) -> f64 {
    let agents = w.agents();
    let ends = [top, bottom];
    let mut vectors = [vec![0.0; agents], vec![0.0; agents]];
    let mut run = Run::start(agents);
    for step in 0..top.coordinates.len().max(bottom.coordinates.len()) {
        for (vector, end) in vectors.iter_mut().zip(ends) {
            if let Some(&coordinate) = end.coordinates.get(step) {
                for (y, v) in vector.iter_mut().zip(&run.current) {
                    *y += coordinate * v;
                }
            }
        }
        run.step(w);
    }
    let mut product = vec![0.0; agents];
    let mut worst = 0.0_f64;
    for (vector, end) in vectors.iter().zip(ends) {
        w.multiply(vector, &mut product);
        let misfit = product.iter().zip(vector).map(|(p, y)| (p - end.value * y).powi(2));
        worst = worst.max(misfit.sum::<f64>().sqrt() / norm(vector));
    }
    worst
}

/// The three-term recurrence, with the constant vector kept out.
struct Run {
    previous: Vec<f64>,
    current: Vec<f64>,
    scratch: Vec<f64>,
    beta: f64,
}

impl Run {
    /// Always the same start: random enough to meet every eigenvector.
    fn start(agents: usize) -> Self {
        let mut bits = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut current: Vec<f64> =
            (0..agents).map(|_| (bits.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).collect();
        remove_mean(&mut current);
        let length = norm(&current);
        current.iter_mut().for_each(|x| *x /= length);
        Run { previous: vec![0.0; agents], current, scratch: vec![0.0; agents], beta: 0.0 }
    }

    /// One step; returns the new diagonal and off-diagonal entries.
    fn step(&mut self, w: &MixingMatrix) -> (f64, f64) {
        w.multiply(&self.current, &mut self.scratch);
        let alpha: f64 = self.scratch.iter().zip(&self.current).map(|(a, b)| a * b).sum();
        for ((u, v), p) in self.scratch.iter_mut().zip(&self.current).zip(&self.previous) {
            *u -= alpha * v + self.beta * p;
        }
        remove_mean(&mut self.scratch);
        self.beta = norm(&self.scratch);
        let scale = if self.beta > 0.0 { 1.0 / self.beta } else { 0.0 };
        self.scratch.iter_mut().for_each(|x| *x *= scale);
        std::mem::swap(&mut self.previous, &mut self.current);
        std::mem::swap(&mut self.current, &mut self.scratch);
        (alpha, self.beta)
    }
}

fn remove_mean(vector: &mut [f64]) {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|x| *x -= mean);
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}
