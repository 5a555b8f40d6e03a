//! Speed of convolution on one core, in GFLOP/s: forward, input gradient, weight gradient; and
//! the microseconds that taking new weights and giving their gradient cost, once per step.
//!
//! `cargo run --release -p consort-kernel --example conv_speed [direct|winograd2|winograd4
//! [name [images]]]` takes the minimum of many repeats, for the layers whose name contains
//! `name`. A call gets `images` of them (4), as in a training step that runs through all layers
//! a few images at a time; the calls go round a few megabytes. The last lines sum up the time
//! of a network's layers, each as often as it occurs, for a batch of 32.
//! Winograd's numbers count the operations of the direct sum, so they may exceed the
//! machine's peak.
#![allow(clippy::disallowed_methods)] // a benchmark reads the clock

use consort_kernel::conv::{Conv2d, ConvAlgorithm, ConvError, ConvRunner, Scratch};
use consort_kernel::{Isa, Shape};
use std::time::{Duration, Instant};

/// Floats of the images that calls go round.
const ROUND_FLOATS: usize = 1 << 20;
const BATCH: usize = 32;

/// A convolution, its image's side, and how often its network has it.
struct Layer {
    network: &'static str,
    conv: Conv2d,
    size: usize,
    times: usize,
}

fn dense(
    network: &'static str,
    (in_channels, out_channels): (usize, usize),
    (side, stride, padding): (usize, usize, usize),
    size: usize,
    times: usize,
) -> Layer {
    let kernel = (side, side);
    let conv = Conv2d { in_channels, out_channels, kernel, stride, padding, groups: 1 };
    Layer { network, conv, size, times }
}

fn depthwise(channels: usize, stride: usize, size: usize, times: usize) -> Layer {
    let layer = dense("MobileNet", (channels, channels), (3, stride, 1), size, times);
    Layer { conv: Conv2d { groups: channels, ..layer.conv }, ..layer }
}

fn layers() -> Vec<Layer> {
    let mut layers = vec![
        dense("ResNet-20", (3, 16), (3, 1, 1), 32, 1),
        dense("ResNet-20", (16, 16), (3, 1, 1), 32, 6),
        dense("ResNet-20", (16, 32), (3, 2, 1), 32, 1),
        dense("ResNet-20", (16, 32), (1, 2, 0), 32, 1),
        dense("ResNet-20", (32, 32), (3, 1, 1), 16, 5),
        dense("ResNet-20", (32, 64), (3, 2, 1), 16, 1),
        dense("ResNet-20", (32, 64), (1, 2, 0), 16, 1),
        dense("ResNet-20", (64, 64), (3, 1, 1), 8, 5),
        dense("VGG-11", (16, 32), (3, 1, 1), 16, 1),
        dense("VGG-11", (32, 64), (3, 1, 1), 8, 1),
        dense("VGG-11", (64, 64), (3, 1, 1), 8, 1),
        dense("VGG-11", (64, 128), (3, 1, 1), 4, 1),
        dense("VGG-11", (128, 128), (3, 1, 1), 4, 1),
        dense("VGG-11", (128, 128), (3, 1, 1), 2, 2),
        dense("LeNet-5", (1, 6), (5, 1, 2), 28, 1),
        dense("LeNet-5", (6, 16), (5, 1, 0), 14, 1),
        dense("MobileNet", (3, 32), (3, 1, 1), 32, 1),
    ];
    let pointwise = [
        (32, 32, 32, 1),
        (32, 16, 32, 2),
        (16, 24, 32, 1),
        (16, 96, 32, 1),
        (96, 24, 32, 1),
        (24, 144, 32, 2),
        (144, 24, 32, 1),
        (144, 32, 16, 1),
        (32, 192, 16, 3),
        (192, 32, 16, 2),
        (192, 64, 8, 1),
        (64, 384, 8, 4),
        (384, 64, 8, 3),
        (384, 96, 8, 1),
        (64, 96, 8, 1),
        (96, 576, 8, 3),
        (576, 96, 8, 2),
        (576, 160, 4, 1),
        (160, 960, 4, 3),
        (960, 160, 4, 2),
        (960, 320, 4, 1),
        (160, 320, 4, 1),
        (320, 1280, 4, 1),
    ];
    for (from, to, size, times) in pointwise {
        layers.push(dense("MobileNet", (from, to), (1, 1, 0), size, times));
    }
    let by_channel = [
        (32, 1, 32, 1),
        (96, 1, 32, 1),
        (144, 1, 32, 1),
        (144, 2, 32, 1),
        (192, 1, 16, 2),
        (192, 2, 16, 1),
        (384, 1, 8, 4),
        (576, 1, 8, 2),
        (576, 2, 8, 1),
        (960, 1, 4, 3),
    ];
    for (channels, stride, size, times) in by_channel {
        layers.push(depthwise(channels, stride, size, times));
    }
    layers
}

impl Layer {
    fn input(&self) -> Shape {
        Shape::plain(self.size, self.size, self.conv.in_channels)
    }

    fn name(&self) -> String {
        let Conv2d { in_channels, out_channels, kernel, stride, groups, .. } = self.conv;
        let kind = if groups > 1 { "depthwise" } else { "dense" };
        let stride = if stride > 1 { format!(" s{stride}") } else { String::new() };
        let channels = format!("{in_channels}->{out_channels}");
        let window = format!("{}x{}{stride}", kernel.0, kernel.1);
        format!("{} {kind} {channels} {window} @{}", self.network, self.size)
    }
}

fn main() -> Result<(), ConvError> {
    let algorithm = match std::env::args().nth(1).as_deref() {
        Some("winograd2") => ConvAlgorithm::Winograd2,
        Some("winograd4") => ConvAlgorithm::Winograd4,
        _ => ConvAlgorithm::Direct,
    };
    let only = std::env::args().nth(2).unwrap_or_default();
    let images = std::env::args().nth(3).and_then(|text| text.parse().ok()).unwrap_or(4);
    let isa = Isa::detect();
    println!("{isa}, {algorithm:?}, {images} images at a time, GFLOP/s");
    let columns = ["forward", "dx", "dw", "set (us)", "take (us)"];
    let [forward, dx, dw, set, take] = columns;
    println!("{:<40} {forward:>8} {dx:>8} {dw:>8} {set:>9} {take:>9}", "layer");
    let mut totals: Vec<(String, [f64; 5])> = vec![];
    for layer in layers().iter().filter(|layer| layer.name().contains(&only)) {
        let ns = measure(layer.conv, layer.size, images, isa, algorithm)?;
        let flops = layer.conv.flops(layer.input()) as f64;
        let [forward, dx, dw] = [0, 1, 2].map(|pass| flops / ns[pass]);
        let [set, take] = [3, 4].map(|pass| ns[pass] / 1e3);
        let name = layer.name();
        println!("{name:<40} {forward:>8.1} {dx:>8.1} {dw:>8.1} {set:>9.1} {take:>9.1}");
        let group = name.split(' ').take(2).collect::<Vec<_>>().join(" ");
        if totals.last().is_none_or(|(last, _)| *last != group) {
            totals.push((group, [0.0; 5]));
        }
        if let Some((_, sums)) = totals.last_mut() {
            for pass in 0..5 {
                let calls = if pass < 3 { BATCH } else { 1 };
                sums[pass] += ns[pass] * (layer.times * calls) as f64 / 1e6;
            }
        }
    }
    println!("\nms for a batch of {BATCH}");
    for (group, [forward, dx, dw, set, take]) in totals {
        println!("{group:<40} {forward:>8.2} {dx:>8.2} {dw:>8.2} {set:>9.2} {take:>9.2}");
    }
    Ok(())
}

/// Nanoseconds of each pass per image, and of setting weights and taking their gradient.
fn measure(
    conv: Conv2d,
    size: usize,
    images: usize,
    isa: Isa,
    algorithm: ConvAlgorithm,
) -> Result<[f64; 5], ConvError> {
    let x = Shape::plain(size, size, conv.in_channels).with_halo(conv.padding);
    let (height, width) = conv.output(x)?;
    let dy_halo = ConvRunner::dy_halo(&conv);
    let y = Shape::plain(height, width, conv.out_channels).with_halo(dy_halo);
    let mut runner = ConvRunner::with_algorithm(conv, x, y, y, isa, algorithm)?;
    let mut scratch = Scratch::default();
    let ramp = |len: usize| (0..len).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect::<Vec<f32>>();
    let mut weights = ramp(conv.weights_len());
    runner.set_weights(&weights);
    let calls = (ROUND_FLOATS / (images * (x.image_stride() + y.image_stride()))).max(1);
    let all = calls * images;
    let (inputs, gradients) = (ramp(x.batch_len(all)), ramp(y.batch_len(all)));
    let mut output = vec![0.0; y.batch_len(all)];
    let mut input_grad = vec![0.0; x.batch_len(all)];
    let (x_call, y_call) = (x.batch_len(images), y.batch_len(images));
    let per_image = 1.0 / all as f64;
    let forward = fastest(|| {
        for (x, y) in inputs.chunks(x_call).zip(output.chunks_mut(y_call)) {
            runner.forward(images, x, None, y, &mut scratch);
        }
    });
    let dx = fastest(|| {
        for (dy, dx) in gradients.chunks(y_call).zip(input_grad.chunks_mut(x_call)) {
            runner.input_grad(images, dy, dx, false, &mut scratch);
        }
    });
    let dw = fastest(|| {
        for (x, dy) in inputs.chunks(x_call).zip(gradients.chunks(y_call)) {
            runner.weight_grad(images, x, dy, &mut scratch);
        }
    });
    let set = fastest(|| runner.set_weights(&weights));
    let take = fastest(|| runner.take_weight_grad(&mut weights));
    Ok([forward * per_image, dx * per_image, dw * per_image, set, take])
}

/// Nanoseconds of the fastest of the runs that fit in a tenth of a second.
fn fastest(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < Duration::from_millis(100) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64
}
