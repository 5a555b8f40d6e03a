//! How fast the normalisations and linear layers are on this machine, one thread:
//! nanoseconds per float of EvoNorm, GFLOP/s of linear layers.
//!
//! `cargo run --release -p consort-kernel --example norm_speed [images]` gives `images` (4) to
//! a call. EvoNorm's calls go round a batch of 32, as in a training step.
#![allow(clippy::disallowed_methods)] // a stopwatch reads the clock

use consort_kernel::evonorm::{EvoNorm, EvoNormForm};
use consort_kernel::linear::{Gradient, Linear};
use consort_kernel::{IndivisibleChannels, Isa, Shape};
use std::hint::black_box;
use std::time::Instant;

const BATCH: usize = 32;

/// Channels and side of the images of ResNet-20 and MobileNet-V2.
const SHAPES: [(usize, usize); 15] = [
    (16, 32),
    (24, 32),
    (32, 32),
    (96, 32),
    (144, 32),
    (32, 16),
    (144, 16),
    (192, 16),
    (64, 8),
    (192, 8),
    (384, 8),
    (576, 8),
    (576, 4),
    (960, 4),
    (1280, 4),
];

fn main() -> Result<(), IndivisibleChannels> {
    let images = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4);
    for isa in [Isa::Portable, Isa::detect()] {
        println!("{isa}: EvoNorm, ns per float      forward  backward");
        for form in [EvoNormForm::HardSigmoid, EvoNormForm::S0] {
            for (channels, size) in SHAPES {
                evonorm(isa, form, images, Shape::plain(size, size, channels))?;
            }
        }
        println!("{isa}: linear, GFLOP/s              forward  dx  dW");
        for (inputs, outputs) in
            [(400, 120), (120, 84), (84, 10), (64, 10), (1280, 10), (128, 10), (512, 512)]
        {
            linear(isa, images, Linear { inputs, outputs });
        }
    }
    Ok(())
}

fn evonorm(
    isa: Isa,
    form: EvoNormForm,
    images: usize,
    plain: Shape,
) -> Result<(), IndivisibleChannels> {
    let padded = plain.with_halo(1);
    let layer = EvoNorm::new(plain.channels, 8, form)?;
    let calls = BATCH.div_ceil(images);
    let all = calls * images;
    let (z, dy) = (noise(plain.batch_len(all), 1), noise(padded.batch_len(all), 2));
    let mut y = vec![0.0; padded.batch_len(all)];
    let mut dz = vec![0.0; plain.batch_len(all)];
    let mut stats = vec![0.0; layer.stats_len(all)];
    let ones = vec![1.0; plain.channels];
    let zeros = vec![0.0; plain.channels];
    let v = Some(ones.as_slice());
    let (mut dgamma, mut dbeta, mut dv) = (zeros.clone(), zeros.clone(), zeros.clone());
    let (plain_len, padded_len) = (plain.batch_len(images), padded.batch_len(images));
    let stats_len = layer.stats_len(images);
    let forward = best_seconds(|| {
        let stats = stats.chunks_mut(stats_len);
        for ((z, y), stats) in z.chunks(plain_len).zip(y.chunks_mut(padded_len)).zip(stats) {
            layer.forward(isa, images, z, plain, &ones, &zeros, v, y, padded, stats);
        }
    });
    let backward = best_seconds(|| {
        let operands = z.chunks(plain_len).zip(dy.chunks(padded_len));
        let outcomes = dz.chunks_mut(plain_len).zip(stats.chunks(stats_len));
        for ((z, dy), (dz, stats)) in operands.zip(outcomes) {
            layer.backward(
                isa,
                images,
                z,
                plain,
                dy,
                padded,
                &ones,
                v,
                stats,
                dz,
                plain,
                &mut dgamma,
                &mut dbeta,
                Some(&mut dv),
            );
        }
    });
    black_box((&y, &dz, &dgamma, &dbeta, &dv));
    let floats = (all * plain.inside()) as f64;
    let Shape { height, width, channels, .. } = plain;
    println!(
        "  {:12} {channels:4} @ {height:2}x{width:2}         {:8.3} {:8.3}   ({:.3} ms)",
        format!("{form:?}"),
        1e9 * forward / floats,
        1e9 * backward / floats,
        1e3 * (forward + backward)
    );
    Ok(())
}

fn linear(isa: Isa, images: usize, layer: Linear) {
    let Linear { inputs, outputs } = layer;
    let (x, dy) = (noise(images * inputs, 3), noise(images * outputs, 4));
    let (weights, bias) = (noise(inputs * outputs, 5), noise(outputs, 6));
    let (mut y, mut dx) = (vec![0.0; images * outputs], vec![0.0; images * inputs]);
    let (mut dweights, mut dbias) = (vec![0.0; inputs * outputs], vec![0.0; outputs]);
    let flops = 2e-9 * (images * inputs * outputs) as f64;
    let forward = best_seconds(|| layer.forward(isa, images, &x, &weights, &bias, &mut y));
    let input = best_seconds(|| layer.input_gradient(isa, images, &dy, &weights, &mut dx));
    let weight = best_seconds(|| {
        let how = Gradient::Overwrite;
        layer.weight_gradient(isa, images, &x, &dy, &mut dweights, &mut dbias, how);
    });
    black_box((&y, &dx, &dweights, &dbias));
    println!(
        "  {inputs:4} -> {outputs:3}                      {:6.1} {:6.1} {:6.1}",
        flops / forward,
        flops / input,
        flops / weight
    );
}

/// The shortest of many runs: the one that nothing disturbed.
fn best_seconds(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < 0.08 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Numbers in [-3.5, 3.5), the same at every run.
fn noise(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9);
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 * (7.0 / (1 << 24) as f32) - 3.5
        })
        .collect()
}
