//! The gradient of every built-in model is the slope of its own loss.
//!
//! Central differences: the loss at two points x+ and x-, against the sum of
//! g (x+ - x-) over the parameters, with x+ and x- as they were rounded, so that a step
//! may be small beside the parameters. What remains are three errors:
//!
//! - the loss is an f32 near 2.3, in steps of 2.4e-7: a change of 4e-4 is known to 1e-3;
//! - ReLU, max-pooling and the hard sigmoid of EvoNorm have kinks, and what has crossed one
//!   between x- and x+ shows; the steps are as small as the first error allows;
//! - curvature, of third order: smaller than both.
//!
//! A richer formula (Richardson) would magnify the first two to remove the third.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_model::{Engine, Init, Isa, Parameter, zoo};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Along the gradient the loss changes by 6e-3 (half of it each way); measured were at most
/// 6.4e-4 of that (LeNet-5).
const TOLERANCE_ALONG_GRADIENT: f64 = 2e-3;
/// Along a random direction, relative to what such a direction changes typically; measured
/// were at most 3.4e-3 (LeNet-5).
const TOLERANCE_AT_RANDOM: f64 = 1.2e-2;
/// Along the gradients of one to four parameters, each of which changes the loss by 4e-4;
/// measured were at most 2.9e-3 (ResNet-20). One of four that is 1.1 times too large is off
/// by 2.5e-2.
const TOLERANCE_BY_PARAMETER: f64 = 1e-2;

/// A model at its initial parameters, with a batch and the gradient there.
struct Probe {
    engine: Engine,
    images: Vec<f32>,
    labels: Vec<u32>,
    at: Vec<f32>,
    grad: Vec<f32>,
}

impl Probe {
    fn new(model: &str, images: usize) -> Self {
        let mut spec = zoo::by_name(model, 10).unwrap();
        // The gradients of PyTorch's small weights are small: a step that changes the loss enough
        // to be measured would cross kinks of ReLU and pooling.
        spec.init = Init::HeFanOut;
        let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
        let at = engine.parameters().initial(3);
        let labels: Vec<u32> = (0..images as u32).map(|i| 3 * i + 1).collect();
        let images = noise(images * spec.input.iter().product::<usize>(), 1);
        let mut grad = vec![0.0; at.len()];
        engine.loss_and_grad(&at, &images, &labels, &mut grad).unwrap();
        Probe { engine, images, labels, at, grad }
    }

    /// By how much the loss changes from `at - direction` to `at + direction`: measured,
    /// and as the gradient tells.
    fn change(&mut self, direction: &[f64]) -> (f64, f64) {
        let moved = |sign: f64| -> Vec<f32> {
            let both = self.at.iter().zip(direction);
            both.map(|(&x, d)| (f64::from(x) + sign * d) as f32).collect()
        };
        let (ahead, behind) = (moved(1.0), moved(-1.0));
        let mut loss = |at| f64::from(self.engine.evaluate(at, &self.images, &self.labels).0);
        let measured = loss(&ahead) - loss(&behind);
        let steps = ahead.iter().zip(&behind).map(|(&a, &b)| f64::from(a) - f64::from(b));
        (measured, self.grad.iter().zip(steps).map(|(&g, step)| f64::from(g) * step).sum())
    }

    /// How far off the gradient is along itself.
    fn off_along_gradient(&mut self) -> f64 {
        let step = 3e-3 / square(&self.grad);
        let direction: Vec<f64> = self.grad.iter().map(|&g| step * f64::from(g)).collect();
        let (measured, told) = self.change(&direction);
        (measured / told - 1.0).abs()
    }

    /// How far off it is along a random direction in which every parameter takes part as
    /// strongly as its gradient.
    fn off_at_random(&mut self, seed: u64) -> f64 {
        let step = 3e-2 / square(&self.grad);
        let mut direction: Vec<f64> =
            noise(self.grad.len(), seed).iter().map(|&r| step * f64::from(r)).collect();
        for parameter in self.engine.parameters().iter() {
            let scale = (square(parameter.slice(&self.grad)) / parameter.len() as f64).sqrt();
            let part = &mut direction[parameter.offset..][..parameter.len()];
            part.iter_mut().for_each(|d| *d *= scale);
        }
        let products = self.grad.iter().zip(&direction).map(|(&g, d)| 2.0 * f64::from(g) * d);
        let typical = products.map(|p| p * p).sum::<f64>().sqrt();
        let (measured, told) = self.change(&direction);
        (measured - told).abs() / typical
    }

    /// The worst along the gradients of `together` parameters at a time, each of which is
    /// to change the loss by as much; and the first of them.
    fn off_by_parameter(&mut self, together: usize) -> (f64, String) {
        let all: Vec<Parameter> = self.engine.parameters().iter().cloned().collect();
        let mut worst = (0.0, String::new());
        for group in all.chunks(together) {
            let mut direction = vec![0.0; self.grad.len()];
            for parameter in group {
                let own = parameter.slice(&self.grad);
                let step = 2e-4 / square(own);
                let part = &mut direction[parameter.offset..][..own.len()];
                part.iter_mut().zip(own).for_each(|(d, &g)| *d = step * f64::from(g));
            }
            let (measured, told) = self.change(&direction);
            let off = (measured / told - 1.0).abs();
            if off >= worst.0 {
                worst = (off, group[0].name.clone());
            }
        }
        worst
    }
}

fn square(numbers: &[f32]) -> f64 {
    numbers.iter().map(|&x| f64::from(x).powi(2)).sum()
}

/// Uniform, with mean 0 and variance 1.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| (random.random::<f32>() * 2.0 - 1.0) * 3.0_f32.sqrt()).collect()
}

fn check(model: &str, images: usize, together: Option<usize>) {
    let mut probe = Probe::new(model, images);
    let off = probe.off_along_gradient();
    assert!(off < TOLERANCE_ALONG_GRADIENT, "{model}: off by {off:.1e} along the gradient");
    for seed in 10..13 {
        let off = probe.off_at_random(seed);
        assert!(off < TOLERANCE_AT_RANDOM, "{model}: off by {off:.1e} in direction {seed}");
    }
    if let Some(together) = together {
        let (off, first) = probe.off_by_parameter(together);
        assert!(off < TOLERANCE_BY_PARAMETER, "{model}: off by {off:.1e} at {first}");
    }
}

#[test]
fn small_models() {
    for model in ["softmax", "mlp", "digits-cnn", "lenet5"] {
        check(model, 2, Some(1));
    }
}

#[test]
fn vgg11() {
    check("vgg11", 2, Some(1));
}

#[test]
fn resnet20() {
    check("resnet20", 2, Some(2));
}

#[test]
fn mobilenet_v2() {
    check("mobilenet-v2", 1, Some(4));
}

/// The same layers as the small form on larger images: the whole gradient is enough.
#[test]
fn mobilenet_v2_for_large_images() {
    check("mobilenet-v2-224", 1, None);
}

/// These checks would see a mistake: if the gradient of one parameter is 1.1 times too
/// large, its own direction tells, whichever it is.
#[test]
fn a_wrong_gradient_is_found() {
    for model in ["mlp", "digits-cnn", "lenet5"] {
        let mut probe = Probe::new(model, 2);
        let right = probe.grad.clone();
        let all: Vec<Parameter> = probe.engine.parameters().iter().cloned().collect();
        for wrong in all {
            probe.grad.copy_from_slice(&right);
            let part = &mut probe.grad[wrong.offset..][..wrong.len()];
            part.iter_mut().for_each(|g| *g *= 1.1);
            let (off, _) = probe.off_by_parameter(4);
            assert!(off > TOLERANCE_BY_PARAMETER, "{model}, {}: only {off:.1e}", wrong.name);
        }
    }
}
