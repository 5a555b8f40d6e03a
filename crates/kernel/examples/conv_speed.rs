//! Speed of convolution on one core, in GFLOP/s: forward, input gradient, weight gradient; and
//! the microseconds that taking new weights and giving their gradient cost, once per step.
//!
//! `cargo run --release -p consort-kernel --example conv_speed [direct|winograd2|winograd4 [name]]`
//! takes the minimum of many repeats at batch 32, for the layers whose name contains `name`.
//! Winograd's numbers count the operations of the direct sum, so they may exceed the
//! machine's peak.
#![allow(clippy::disallowed_methods)] // a benchmark reads the clock

use consort_kernel::conv::{Algorithm, Conv2d, ConvError, ConvRunner};
use consort_kernel::{Path, Shape};
use std::time::{Duration, Instant};

const IMAGES: usize = 32;

fn main() -> Result<(), ConvError> {
    let algorithm = match std::env::args().nth(1).as_deref() {
        Some("winograd2") => Algorithm::Winograd2,
        Some("winograd4") => Algorithm::Winograd4,
        _ => Algorithm::Direct,
    };
    let only = std::env::args().nth(2).unwrap_or_default();
    let path = Path::detect();
    println!("{path}, {algorithm:?}, batch {IMAGES}, GFLOP/s");
    println!("{:<28} {:>8} {:>8} {:>8} {:>8} {:>9}", "layer", "forward", "dx", "dw", "set (us)", "take (us)");
    let layers = [
        ("ResNet-20 3->16", (3, 16), 3, 1, 1, 1, 32),
        ("ResNet-20 16->16", (16, 16), 3, 1, 1, 1, 32),
        ("ResNet-20 32->32", (32, 32), 3, 1, 1, 1, 16),
        ("ResNet-20 64->64", (64, 64), 3, 1, 1, 1, 8),
        ("ResNet-20 16->32 s2", (16, 32), 3, 2, 1, 1, 32),
        ("ResNet-20 16->32 1x1 s2", (16, 32), 1, 2, 0, 1, 32),
        ("VGG-11 128->128", (128, 128), 3, 1, 1, 1, 4),
        ("VGG-11 256->512", (256, 512), 3, 1, 1, 1, 4),
        ("LeNet-5 1->6 5x5", (1, 6), 5, 1, 2, 1, 28),
        ("LeNet-5 6->16 5x5", (6, 16), 5, 1, 0, 1, 14),
        ("MobileNet 32->192 1x1", (32, 192), 1, 1, 0, 1, 32),
        ("MobileNet 192->32 1x1", (192, 32), 1, 1, 0, 1, 32),
        ("MobileNet 192 depthwise", (192, 192), 3, 1, 1, 192, 32),
        ("MobileNet 192 depthwise s2", (192, 192), 3, 2, 1, 192, 32),
    ];
    for (name, (in_channels, out_channels), side, stride, padding, groups, size) in layers {
        if !name.contains(&only) {
            continue;
        }
        let kernel = (side, side);
        let conv = Conv2d { in_channels, out_channels, kernel, stride, padding, groups };
        let [forward, dx, dw, set, take] = measure(conv, size, path, algorithm)?;
        let layer = format!("{name} @{size}");
        println!("{layer:<28} {forward:>8.1} {dx:>8.1} {dw:>8.1} {set:>8.1} {take:>9.1}");
    }
    Ok(())
}

fn measure(
    conv: Conv2d,
    size: usize,
    path: Path,
    algorithm: Algorithm,
) -> Result<[f64; 5], ConvError> {
    let x = Shape::plain(size, size, conv.in_channels).with_halo(conv.padding);
    let (height, width) = conv.output(x)?;
    let y = Shape::plain(height, width, conv.out_channels);
    let dy = y.with_halo(ConvRunner::dy_halo(&conv));
    let mut runner = ConvRunner::with_algorithm(conv, x, y, dy, path, algorithm)?;
    let ramp = |len: usize| (0..len).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect::<Vec<f32>>();
    let mut weights = ramp(conv.weights_len());
    runner.set_weights(&weights);
    let (images, gradients) = (ramp(x.batch_len(IMAGES)), ramp(dy.batch_len(IMAGES)));
    let mut output = vec![0.0; y.batch_len(IMAGES)];
    let mut input_grad = vec![0.0; x.batch_len(IMAGES)];
    let flops = conv.flops(x) as f64 * IMAGES as f64;
    Ok([
        flops / fastest(|| runner.forward(IMAGES, &images, None, &mut output)),
        flops / fastest(|| runner.input_grad(IMAGES, &gradients, &mut input_grad, false)),
        flops / fastest(|| runner.weight_grad(IMAGES, &images, &gradients)),
        fastest(|| runner.set_weights(&weights)) / 1e3,
        fastest(|| runner.take_weight_grad(&mut weights)) / 1e3,
    ])
}

/// Nanoseconds of the fastest of the runs that fit in half a second.
fn fastest(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64
}
