//! Convolution against the definition, in double precision, over many shapes.

mod images;

use consort_kernel::conv::{Conv2d, ConvAlgorithm, ConvError, ConvRunner, Scratch};
use consort_kernel::{Isa, Shape};
use proptest::prelude::*;

/// Reproducible numbers in [-1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f32) / (1u64 << 23) as f32 - 1.0
    }

    fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Images inside a border of zeros.
    fn images(&mut self, shape: Shape, images: usize) -> Vec<f32> {
        let mut batch = vec![0.0; shape.batch_len(images)];
        for at in inside(shape, images) {
            batch[at] = self.next();
        }
        batch
    }
}

/// Positions of all floats that are not in the border, image by image, row by row.
fn inside(shape: Shape, images: usize) -> Vec<usize> {
    let mut all = vec![];
    for n in 0..images {
        for row in 0..shape.height {
            for column in 0..shape.width {
                let first = n * shape.image_stride() + shape.offset(row, column);
                all.extend(first..first + shape.channels);
            }
        }
    }
    all
}

/// A convolution with its shapes and a batch of operands.
#[derive(Clone, Debug)]
struct Case {
    conv: Conv2d,
    x: Shape,
    y: Shape,
    dy: Shape,
    images: usize,
    seed: u64,
}

struct Operands {
    x: Vec<f32>,
    w: Vec<f32>,
    b: Vec<f32>,
    dy: Vec<f32>,
}

impl Case {
    fn new(conv: Conv2d, size: (usize, usize), extra: [usize; 3], images: usize) -> Option<Self> {
        let x = Shape::plain(size.0, size.1, conv.in_channels).with_halo(conv.padding + extra[0]);
        let (height, width) = conv.output(x).ok()?;
        let y = Shape::plain(height, width, conv.out_channels).with_halo(extra[1]);
        let dy = y.with_halo(ConvRunner::dy_halo(&conv) + extra[2]);
        Some(Case { conv, x, y, dy, images, seed: 7 })
    }

    fn operands(&self) -> Operands {
        let mut numbers = Numbers(self.seed);
        Operands {
            x: numbers.images(self.x, self.images),
            w: numbers.take(self.conv.weights_len()),
            b: numbers.take(self.conv.out_channels),
            dy: numbers.images(self.dy, self.images),
        }
    }

    fn runner(&self, isa: Isa, algorithm: ConvAlgorithm) -> ConvRunner {
        ConvRunner::with_algorithm(self.conv, self.x, self.y, self.dy, isa, algorithm)
            .expect("the case was built from the convolution")
    }

    /// Calls `visit(x, w, y, o)` with the positions of each product of the definition; `x` and
    /// `y` count floats without borders, `o` is the output channel.
    fn products(&self, mut visit: impl FnMut(usize, usize, usize, usize)) {
        let c = self.conv;
        let (gi, go) = (c.in_channels / c.groups, c.out_channels / c.groups);
        for n in 0..self.images {
            for r in 0..self.y.height {
                for q in 0..self.y.width {
                    for o in 0..c.out_channels {
                        for i in 0..gi {
                            for u in 0..c.kernel.0 {
                                for v in 0..c.kernel.1 {
                                    let (row, column) = (r * c.stride + u, q * c.stride + v);
                                    if row < c.padding || column < c.padding {
                                        continue;
                                    }
                                    let (row, column) = (row - c.padding, column - c.padding);
                                    if row >= self.x.height || column >= self.x.width {
                                        continue;
                                    }
                                    let x = ((n * self.x.height + row) * self.x.width + column)
                                        * c.in_channels
                                        + o / go * gi
                                        + i;
                                    let w = ((o * gi + i) * c.kernel.0 + u) * c.kernel.1 + v;
                                    let y = ((n * self.y.height + r) * self.y.width + q)
                                        * c.out_channels
                                        + o;
                                    visit(x, w, y, o);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The floats of a batch without its borders.
fn crop(shape: Shape, images: usize, batch: &[f32]) -> Vec<f64> {
    inside(shape, images).into_iter().map(|at| f64::from(batch[at])).collect()
}

/// `tolerance` is relative to the largest of `expected` and to how far a sum of `terms` numbers
/// in [-1, 1) strays on its way: where little is left of it, its rounding is not as little.
fn assert_close(what: &str, got: &[f64], expected: &[f64], tolerance: f64, terms: usize) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let strays = (terms as f64).sqrt();
    let scale = expected.iter().fold(strays.max(1.0), |m, v| m.max(v.abs()));
    for (at, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= tolerance * scale, "{what}[{at}]: expected {e}, got {g}");
    }
}

/// The border keeps what was in it.
fn assert_border(what: &str, shape: Shape, images: usize, batch: &[f32], mark: f32) {
    let mut border = vec![true; batch.len()];
    for at in inside(shape, images) {
        border[at] = false;
    }
    for at in 0..batch.len() {
        assert!(!border[at] || batch[at] == mark, "{what}: border changed at {at}");
    }
}

/// All three passes, on one isa, against the definition.
fn check(case: &Case, isa: Isa, algorithm: ConvAlgorithm, tolerance: f64) {
    let Operands { x, w, b, dy } = case.operands();
    let plain_x = crop(case.x, case.images, &x);
    let plain_dy = crop(case.dy, case.images, &dy);
    let mut y_ref = vec![0.0; plain_dy.len()];
    let mut dx_ref = vec![0.0; plain_x.len()];
    let mut dw_ref = vec![0.0; w.len()];
    let mut db_ref = vec![0.0; b.len()];
    case.products(|xi, wi, yi, _| {
        y_ref[yi] += plain_x[xi] * f64::from(w[wi]);
        dx_ref[xi] += plain_dy[yi] * f64::from(w[wi]);
        dw_ref[wi] += plain_x[xi] * plain_dy[yi];
    });
    for (at, value) in plain_dy.iter().enumerate() {
        db_ref[at % b.len()] += value;
    }

    let mut runner = case.runner(isa, algorithm);
    let mut scratch = Scratch::default();
    runner.set_weights(&w);
    let mark = 99.0;
    let area = case.conv.kernel.0 * case.conv.kernel.1;
    let inputs = 1 + area * case.conv.in_channels / case.conv.groups;
    let outputs = 2 * area * case.conv.out_channels / case.conv.groups;
    let pixels = 2 * case.images * case.y.height * case.y.width;

    let mut y = vec![mark; case.y.batch_len(case.images)];
    runner.forward(case.images, &x, None, &mut y, &mut scratch);
    assert_close("forward", &crop(case.y, case.images, &y), &y_ref, tolerance, inputs);
    assert_border("forward", case.y, case.images, &y, mark);
    let with_bias: Vec<f64> =
        y_ref.iter().enumerate().map(|(at, v)| v + f64::from(b[at % b.len()])).collect();
    runner.forward(case.images, &x, Some(&b), &mut y, &mut scratch);
    assert_close("forward + bias", &crop(case.y, case.images, &y), &with_bias, tolerance, inputs);
    runner.forward(case.images, &x, None, &mut y, &mut scratch);
    assert_close("forward again", &crop(case.y, case.images, &y), &y_ref, tolerance, inputs);
    runner.forward_add(case.images, &x, &mut y, &mut scratch);
    let twice: Vec<f64> = y_ref.iter().map(|v| 2.0 * v).collect();
    assert_close("forward +=", &crop(case.y, case.images, &y), &twice, tolerance, 2 * inputs);
    assert_border("forward +=", case.y, case.images, &y, mark);

    let mut dx = vec![mark; case.x.batch_len(case.images)];
    runner.input_grad(case.images, &dy, &mut dx, false, &mut scratch);
    assert_close("input_grad", &crop(case.x, case.images, &dx), &dx_ref, tolerance, outputs);
    runner.input_grad(case.images, &dy, &mut dx, true, &mut scratch);
    let twice: Vec<f64> = dx_ref.iter().map(|v| 2.0 * v).collect();
    assert_close("input_grad +=", &crop(case.x, case.images, &dx), &twice, tolerance, outputs);
    assert_border("input_grad", case.x, case.images, &dx, mark);

    let (mut dw, mut db) = (vec![mark; w.len()], vec![0.0; b.len()]);
    let wide = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
    runner.weight_grad(case.images, &x, &dy, &mut scratch);
    runner.take_weight_grad(&mut dw);
    runner.bias_grad(case.images, &dy, &mut db);
    assert_close("weight_grad", &wide(&dw), &dw_ref, tolerance, pixels);
    assert_close("bias_grad", &wide(&db), &db_ref, tolerance, pixels);
    for _ in 0..2 {
        runner.weight_grad(case.images, &x, &dy, &mut scratch);
    }
    runner.take_weight_grad(&mut dw);
    runner.bias_grad(case.images, &dy, &mut db);
    let twice: Vec<f64> = dw_ref.iter().map(|v| 2.0 * v).collect();
    assert_close("weight_grad twice", &wide(&dw), &twice, tolerance, pixels);
    runner.take_weight_grad(&mut dw);
    assert!(dw.iter().all(|&dw| dw == 0.0), "a taken sum begins anew");
    let twice: Vec<f64> = db_ref.iter().map(|v| 2.0 * v).collect();
    assert_close("bias_grad +=", &wide(&db), &twice, tolerance, pixels);
}

/// A 1x1 convolution whose inputs come in two parts: the outputs add up, every part has its
/// own input gradient, and the parts' weight gradients fill the whole one.
fn check_parts(case: &Case, cut: usize, isa: Isa) {
    let Operands { x, w, b, dy } = case.operands();
    let (images, mut scratch) = (case.images, Scratch::default());
    let mut whole = case.runner(isa, ConvAlgorithm::Direct);
    whole.set_weights(&w);
    let mut y = vec![0.0; case.y.batch_len(images)];
    let mut dx = vec![0.0; case.x.batch_len(images)];
    let mut dw = vec![0.0; w.len()];
    whole.forward(images, &x, Some(&b), &mut y, &mut scratch);
    whole.input_grad(images, &dy, &mut dx, false, &mut scratch);
    whole.weight_grad(images, &x, &dy, &mut scratch);
    whole.take_weight_grad(&mut dw);
    let (mut sum, mut dw_of_parts) = (vec![99.0; y.len()], vec![99.0; w.len()]);
    let channels = case.conv.in_channels;
    for (first, count) in [(0, cut), (cut, channels - cut)] {
        let shape = Shape { channels: count, ..case.x };
        let of_part = |at: &usize| (first..first + count).contains(&(at % channels));
        let mine: Vec<usize> = (0..x.len()).filter(of_part).collect();
        let x_part: Vec<f32> = mine.iter().map(|&at| x[at]).collect();
        let mut part = ConvRunner::for_inputs(case.conv, first, shape, case.y, case.dy, isa)
            .expect("a part of the convolution");
        part.set_weights(&w);
        match first {
            0 => part.forward(images, &x_part, Some(&b), &mut sum, &mut scratch),
            _ => part.forward_add(images, &x_part, &mut sum, &mut scratch),
        }
        let mut dx_part = vec![0.0; x_part.len()];
        part.input_grad(images, &dy, &mut dx_part, false, &mut scratch);
        let expected: Vec<f32> = mine.iter().map(|&at| dx[at]).collect();
        assert_eq!(crop(shape, images, &dx_part), crop(shape, images, &expected), "input_grad");
        part.weight_grad(images, &x_part, &dy, &mut scratch);
        part.take_weight_grad(&mut dw_of_parts);
    }
    let (sum, y) = (crop(case.y, images, &sum), crop(case.y, images, &y));
    assert_close("sum of the parts", &sum, &y, 1e-5, channels);
    assert_eq!(dw_of_parts, dw, "weight_grad");
}

/// Any split of the batch gives the same bits, whatever is fetched ahead meanwhile.
fn check_split(case: &Case, isa: Isa, algorithm: ConvAlgorithm) {
    let Operands { x, w, b, dy } = case.operands();
    let mut runner = case.runner(isa, algorithm);
    let mut scratch = Scratch::default();
    runner.set_weights(&w);
    let mut whole = vec![0.0; case.y.batch_len(case.images)];
    let mut whole_dx = vec![0.0; case.x.batch_len(case.images)];
    runner.forward(case.images, &x, Some(&b), &mut whole, &mut scratch);
    runner.input_grad(case.images, &dy, &mut whole_dx, false, &mut scratch);
    let mut whole_dw = vec![0.0; w.len()];
    runner.weight_grad(case.images, &x, &dy, &mut scratch);
    runner.take_weight_grad(&mut whole_dw);
    let mut parts = vec![0.0; whole.len()];
    let mut parts_dx = vec![0.0; whole_dx.len()];
    let mut parts_dw = vec![0.0; w.len()];
    scratch.fetch_ahead(&vec![0.0; 10_000]); // which are gone by then
    for n in 0..case.images {
        let (x_at, y_at, dy_at) = (case.x.batch_len(n), case.y.batch_len(n), case.dy.batch_len(n));
        runner.forward(1, &x[x_at..], Some(&b), &mut parts[y_at..], &mut scratch);
        runner.input_grad(1, &dy[dy_at..], &mut parts_dx[x_at..], false, &mut scratch);
        runner.weight_grad(1, &x[x_at..], &dy[dy_at..], &mut scratch);
    }
    runner.take_weight_grad(&mut parts_dw);
    assert_eq!(whole, parts, "forward");
    assert_eq!(whole_dx, parts_dx, "input_grad");
    assert_eq!(whole_dw, parts_dw, "weight_grad");
}

/// <conv(x), dy> = <x, conv^T(dy)> = <w, dw>
fn check_adjoint(case: &Case, isa: Isa) {
    let Operands { x, w, dy, .. } = case.operands();
    let mut runner = case.runner(isa, ConvAlgorithm::Auto);
    let mut scratch = Scratch::default();
    runner.set_weights(&w);
    let mut y = vec![0.0; case.y.batch_len(case.images)];
    let mut dx = vec![0.0; case.x.batch_len(case.images)];
    let mut dw = vec![0.0; w.len()];
    runner.forward(case.images, &x, None, &mut y, &mut scratch);
    runner.input_grad(case.images, &dy, &mut dx, false, &mut scratch);
    runner.weight_grad(case.images, &x, &dy, &mut scratch);
    runner.take_weight_grad(&mut dw);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let wide = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
    let plain_y = crop(case.y, case.images, &y);
    let forward = dot(&plain_y, &crop(case.dy, case.images, &dy));
    let backward = dot(&wide(&x), &wide(&dx));
    let weights = dot(&wide(&w), &wide(&dw));
    let scale = 1.0 + plain_y.iter().map(|v| v.abs()).sum::<f64>();
    assert!((forward - backward).abs() < 1e-5 * scale, "{forward} {backward}");
    assert!((forward - weights).abs() < 1e-5 * scale, "{forward} {weights}");
}

prop_compose! {
    fn cases()(
        channels in prop::sample::select(vec![1usize, 3, 6, 10, 16, 24, 33]),
        outputs in prop::sample::select(vec![1usize, 3, 6, 10, 16, 24, 33]),
        grouping in 0usize..4,
        kernel in prop::sample::select(vec![(1, 1), (3, 3), (5, 5), (1, 3), (3, 1), (2, 4)]),
        stride in 1usize..4,
        padding in 0usize..3,
        size in (1usize..12, 1usize..12),
        extra in prop::array::uniform3(0usize..3),
        images in 1usize..4,
        seed in any::<u64>(),
    ) -> Option<Case> {
        let (in_channels, out_channels, groups) = match grouping {
            0 | 1 => (channels, outputs, 1),
            2 => (2 * channels.min(16), 2 * outputs.min(16), 2),
            _ => (channels, channels, channels),
        };
        let conv = Conv2d { in_channels, out_channels, kernel, stride, padding, groups };
        Case::new(conv, size, extra, images).map(|case| Case { seed, ..case })
    }
}

proptest! {
    #![proptest_config(images::cases(400))]

    #[test]
    fn all_passes_equal_the_definition(case in cases().prop_filter_map("fits", |c| c)) {
        for isa in images::isas() {
            check(&case, isa, ConvAlgorithm::Direct, 1e-5);
            check(&case, isa, ConvAlgorithm::Winograd2, 1e-5);
            check(&case, isa, ConvAlgorithm::Auto, 5e-5);
        }
    }

    #[test]
    fn a_split_batch_gives_the_same_bits(case in cases().prop_filter_map("fits", |c| c)) {
        for isa in images::isas() {
            check_split(&case, isa, ConvAlgorithm::Direct);
            check_split(&case, isa, ConvAlgorithm::Auto);
        }
    }

    #[test]
    fn parts_of_the_inputs_add_up(
        channels in (2..40_usize, 1..40_usize),
        cut in 0.0..1.0_f64,
        (size, stride, images) in ((1..9_usize, 1..9_usize), 1..3_usize, 1..4_usize),
        extra in [0..2_usize, 0..2_usize, 0..2_usize],
    ) {
        let case = Case::new(conv(channels, 1, stride, 0), size, extra, images).unwrap();
        let cut = 1 + (cut * (channels.0 - 1) as f64) as usize;
        for isa in images::isas() {
            check_parts(&case, cut, isa);
        }
    }

    #[test]
    fn the_gradients_are_adjoint(case in cases().prop_filter_map("fits", |c| c)) {
        check_adjoint(&case, Isa::detect());
    }
}

fn conv(channels: (usize, usize), kernel: usize, stride: usize, padding: usize) -> Conv2d {
    let (in_channels, out_channels) = channels;
    Conv2d { in_channels, out_channels, kernel: (kernel, kernel), stride, padding, groups: 1 }
}

#[test]
fn layers_of_networks_equal_the_definition() {
    // The long sums of 5x5x130 and 1x1x700 channels are taken in chunks.
    let layers = [
        (conv((3, 16), 3, 1, 1), 32),
        (conv((64, 64), 3, 1, 1), 8),
        (conv((16, 32), 3, 2, 1), 32),
        (conv((16, 32), 1, 2, 0), 32),
        (conv((130, 20), 5, 1, 2), 5),
        (conv((700, 10), 1, 1, 0), 3),
        (conv((20, 40), 3, 1, 1), 26),
        (conv((5, 60), 3, 2, 1), 19),
        (conv((1, 6), 5, 1, 2), 28),
        (conv((6, 16), 5, 1, 0), 14),
        (Conv2d { groups: 40, ..conv((40, 40), 3, 1, 1) }, 13),
        (Conv2d { groups: 40, ..conv((40, 40), 3, 2, 1) }, 14),
        (Conv2d { groups: 8, ..conv((8, 24), 3, 1, 1) }, 6),
    ];
    for (conv, size) in layers {
        let case = Case::new(conv, (size, size), [0, 0, 0], 2).unwrap();
        for isa in images::isas() {
            check(&case, isa, ConvAlgorithm::Direct, 1e-5);
            check_split(&case, isa, ConvAlgorithm::Direct);
        }
    }
}

#[test]
fn windows_of_one_pixel_equal_the_definition() {
    // Whole vectors of outputs or inputs make a product of matrices, with tiles of one to three
    // vectors; 143 pixels, 100 and 700 inputs are taken in blocks.
    for inputs in [1, 3, 8, 22, 24, 100, 700] {
        for outputs in [6, 8, 16, 24, 40, 48, 72] {
            for (size, count) in [((1, 1), 1), ((3, 5), 2), ((13, 11), 3)] {
                let pointwise = conv((inputs, outputs), 1, 1, 0);
                let case = Case::new(pointwise, size, [0, 0, 0], count).unwrap();
                for isa in images::isas() {
                    check(&case, isa, ConvAlgorithm::Auto, 1e-5);
                    check_split(&case, isa, ConvAlgorithm::Auto);
                    if inputs > 1 {
                        check_parts(&case, inputs / 2, isa);
                    }
                }
            }
        }
    }
}

#[test]
fn one_channel_and_any_number_of_columns_equal_the_definition() {
    for columns in 1..=8 {
        for outputs in [columns, columns + 8] {
            let conv = Conv2d { kernel: (3, columns), ..conv((1, outputs), 3, 1, 1) };
            let case = Case::new(conv, (5, 11 + columns), [1, 1, 0], 2).unwrap();
            for isa in images::isas() {
                check(&case, isa, ConvAlgorithm::Direct, 1e-5);
                check_split(&case, isa, ConvAlgorithm::Direct);
            }
        }
    }
}

#[test]
fn few_channels_to_blocks_of_outputs_equal_the_definition() {
    for (channels, kernel, padding) in [((3, 16), 3, 1), ((3, 32), 5, 2), ((2, 16), 4, 0)] {
        for width in [5, 6, 7, 8, 13, 32] {
            let conv = conv(channels, kernel, 1, padding);
            let case = Case::new(conv, (9, width), [1, 0, 2], 3).unwrap();
            for isa in Isa::available() {
                check(&case, isa, ConvAlgorithm::Auto, 3e-5);
                check_split(&case, isa, ConvAlgorithm::Auto);
                check_adjoint(&case, isa);
            }
        }
    }
}

#[test]
fn winograd_equals_the_definition_or_falls_back() {
    let channels = [(16, 16), (32, 16), (16, 48), (64, 64), (16, 10)];
    for (size, channels) in [(4, 4), (8, 12), (16, 16), (6, 6), (5, 7)].into_iter().zip(channels) {
        for extra in [[0, 0, 0], [1, 2, 1]] {
            let case = Case::new(conv(channels, 3, 1, 1), size, extra, 3).unwrap();
            for isa in images::isas() {
                check(&case, isa, ConvAlgorithm::Winograd2, 1e-5);
                check(&case, isa, ConvAlgorithm::Winograd4, 5e-5);
                check_split(&case, isa, ConvAlgorithm::Winograd2);
                check_split(&case, isa, ConvAlgorithm::Winograd4);
            }
        }
    }
}

/// Where an image is one tile, factors are made of the windows for each group of tiles; 50
/// images are more than one.
#[test]
fn winograd_on_a_single_tile_equals_the_definition() {
    for (channels, images) in [((16, 48), 7), ((48, 16), 50), ((32, 32), 1)] {
        for (size, algorithm) in [(2, ConvAlgorithm::Winograd2), (4, ConvAlgorithm::Winograd4)] {
            let case = Case::new(conv(channels, 3, 1, 1), (size, size), [0, 1, 0], images).unwrap();
            for isa in images::isas() {
                check(&case, isa, algorithm, 5e-5);
                check_split(&case, isa, algorithm);
            }
        }
    }
}

/// Only the taps on the image count; 50 images are more than one group, and 1 to 6 are all
/// the heights of a register tile.
#[test]
fn images_of_at_most_four_pixels_equal_the_definition() {
    let channels = [(16, 16), (32, 16), (16, 48), (64, 32)];
    for (size, channels) in [(2, 2), (1, 2), (2, 1), (1, 1)].into_iter().zip(channels) {
        for (images, extra) in [1, 2, 3, 4, 5, 6, 50].into_iter().zip([0, 1, 0, 2, 0, 1, 0]) {
            let extra = [extra, extra, 0];
            let case = Case::new(conv(channels, 3, 1, 1), size, extra, images).unwrap();
            for isa in images::isas() {
                assert_eq!(
                    case.runner(isa, ConvAlgorithm::Auto).implementation_name(),
                    "conv, tiny image"
                );
                check(&case, isa, ConvAlgorithm::Auto, 1e-5);
                check_split(&case, isa, ConvAlgorithm::Auto);
            }
        }
    }
}

#[test]
fn a_wrong_shape_is_refused() {
    let plain = conv((3, 8), 3, 1, 1);
    let x = Shape::plain(5, 5, 3).with_halo(1);
    let y = Shape::plain(5, 5, 8);
    let dy = y.with_halo(1);
    let new = |conv, x, y, dy| ConvRunner::new(conv, x, y, dy, Isa::Portable).err();
    assert_eq!(new(plain, x, y, dy), None);
    let halo = |operand| Some(ConvError::Halo { operand, expected: 1, got: 0 });
    assert_eq!(new(plain, x.with_halo(0), y, dy), halo("input"));
    assert_eq!(new(plain, x, y, y), halo("output gradient"));
    let small = Shape { height: 4, ..y };
    let size = ConvError::Size { operand: "output", expected: (5, 5), got: (4, 5) };
    assert_eq!(new(plain, x, small, dy), Some(size));
    let channels = ConvError::Channels { operand: "input", expected: 3, got: 2 };
    assert_eq!(new(plain, Shape { channels: 2, ..x }, y, dy), Some(channels));
    let groups = Conv2d { groups: 2, ..plain };
    assert_eq!(new(groups, x, y, dy), Some(ConvError::Groups { groups: 2, channels: 3 }));
    let stride = Conv2d { stride: 0, ..plain };
    assert_eq!(new(stride, x, y, dy), Some(ConvError::Zero { part: "stride" }));
    assert_eq!(plain.output(Shape::plain(1, 5, 3)), Ok((1, 5)));
    let large = Conv2d { padding: 0, ..plain };
    assert_eq!(large.output(x.with_halo(0)).ok(), Some((3, 3)));
    let window = ConvError::TooSmall { window: 3, got: 2 };
    assert_eq!(large.output(Shape::plain(2, 5, 3)), Err(window));
    let part = |whole, first| ConvRunner::for_inputs(whole, first, x, y, dy, Isa::Portable).err();
    let pointwise = conv((8, 8), 1, 1, 0);
    assert_eq!(part(pointwise, 5), None);
    let beyond = |first| Some(ConvError::Part { first, channels: 3, of: 8 });
    assert_eq!(part(pointwise, 6), beyond(6));
    assert_eq!(part(conv((8, 8), 3, 1, 1), 0), beyond(0));
}

#[test]
fn flops_count_a_multiply_add_twice() {
    let layer = conv((16, 32), 3, 2, 1);
    assert_eq!(layer.weights_len(), 16 * 32 * 9);
    assert_eq!(layer.flops(Shape::plain(32, 32, 16)), 2 * 16 * 16 * 16 * 32 * 9);
}
