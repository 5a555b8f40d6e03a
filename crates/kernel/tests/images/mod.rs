//! What the tests share: noise, batches inside borders, and gradients by differences.
#![allow(dead_code)] // each test takes what it needs

use consort_kernel::{Isa, Shape};
use proptest::prelude::*;

/// `cases` cases a law; PROPTEST_CASES asks for another number (20,000 take minutes).
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..Default::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return default;
    }
    ProptestConfig { cases, ..default }
}

/// Every isa of this machine.
pub(crate) fn isas() -> Vec<Isa> {
    Isa::available().collect()
}

/// Numbers in [-4, 4), none near +-3, where the hard sigmoid has no derivative, or near 0,
/// where the rectifier has none.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut noise = Vec::with_capacity(len);
    while noise.len() < len {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (state >> 40) as f32 * (8.0 / (1 << 24) as f32) - 4.0;
        if (x.abs() - 3.0).abs() > 2e-3 && x.abs() > 2e-3 {
            noise.push(x);
        }
    }
    noise
}

/// A batch with `inside` (no borders) inside borders of `border`.
pub(crate) fn framed(images: usize, shape: Shape, inside: &[f32], border: f32) -> Vec<f32> {
    let mut values = vec![border; shape.batch_len(images)];
    for (at, &x) in places(images, shape).zip(inside) {
        values[at] = x;
    }
    values
}

/// The floats inside the borders; the borders must all still be `border`.
pub(crate) fn unframed(images: usize, shape: Shape, values: &[f32], border: f32) -> Vec<f32> {
    let mut touched = values.to_vec();
    let inside = places(images, shape)
        .map(|at| {
            touched[at] = border;
            values[at]
        })
        .collect();
    assert!(touched.iter().all(|x| x.to_bits() == border.to_bits()), "the border was written");
    inside
}

fn places(images: usize, shape: Shape) -> impl Iterator<Item = usize> {
    (0..images).flat_map(move |image| {
        (0..shape.height).flat_map(move |row| {
            (0..shape.width).flat_map(move |column| {
                let first = image * shape.image_stride() + shape.offset(row, column);
                first..first + shape.channels
            })
        })
    })
}

/// The gradient of `f` by central differences of fourth order: where a group's deviation is
/// small its curvature is large, and differences of second order would be the larger error.
pub(crate) fn differences(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-4;
    let mut moved = at.to_vec();
    (0..at.len())
        .map(|i| {
            let mut difference = |step: f64| {
                moved[i] = at[i] + step;
                let above = f(&moved);
                moved[i] = at[i] - step;
                let below = f(&moved);
                moved[i] = at[i];
                (above - below) / (2.0 * step)
            };
            (4.0 * difference(step) - difference(2.0 * step)) / 3.0
        })
        .collect()
}

pub(crate) fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `got` is `want` up to `tolerance`, relative to the largest of `want` (at least 1).
pub(crate) fn assert_close(what: &str, got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let scale = want.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(got) - want).abs();
        assert!(error <= tolerance * scale, "{what}[{i}]: {got} for {want}, scale {scale}");
    }
}

pub(crate) fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Odd sizes, and three borders: of the input, of the output, of the gradient.
pub(crate) fn sizes() -> impl Strategy<Value = (usize, usize, [usize; 3])> {
    (1usize..6, 1usize..6, [0usize..3, 0usize..3, 0usize..3])
}
