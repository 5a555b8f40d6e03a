//! Group normalisation against its equation in `f64` and against differences of it.

mod images;

use consort_kernel::group_norm::GroupNorm;
use consort_kernel::{Isa, Shape};
use images::{
    assert_close, differences, dot, framed, isas, noise, same_bits, sizes, unframed, wide,
};
use proptest::prelude::*;

const BORDER: f32 = 77.0;

/// One image, as the equation says.
fn reference(c: usize, groups: usize, x: &[f64], gamma: &[f64], beta: &[f64]) -> Vec<f64> {
    let of_group = |i: usize| (i % c) / (c / groups);
    let n = (x.len() / groups) as f64;
    let (mut mean, mut deviation) = (vec![0.0; groups], vec![0.0; groups]);
    for i in 0..x.len() {
        mean[of_group(i)] += x[i] / n;
    }
    for i in 0..x.len() {
        deviation[of_group(i)] += (x[i] - mean[of_group(i)]).powi(2) / n;
    }
    for deviation in &mut deviation {
        *deviation = (*deviation + 1e-5).sqrt();
    }
    (0..x.len())
        .map(|i| gamma[i % c] * (x[i] - mean[of_group(i)]) / deviation[of_group(i)] + beta[i % c])
        .collect()
}

/// y, dx, dgamma, dbeta of images without borders.
fn run(
    isa: Isa,
    images: usize,
    shape: Shape,
    halos: [usize; 3],
    groups: usize,
    [x, dy, gamma, beta]: [&[f32]; 4],
) -> [Vec<f32>; 4] {
    let [x_shape, y_shape, dy_shape] = halos.map(|halo| shape.with_halo(halo));
    let layer = GroupNorm::new(shape.channels, groups).expect("groups that fit");
    let x = framed(images, x_shape, x, f32::NAN);
    let dy = framed(images, dy_shape, dy, f32::NAN);
    let mut y = vec![BORDER; y_shape.batch_len(images)];
    let mut dx = vec![BORDER; x_shape.batch_len(images)];
    let mut stats = vec![0.0; layer.stats_len(images)];
    let (mut dgamma, mut dbeta) = (vec![0.0; shape.channels], vec![0.0; shape.channels]);
    layer.forward(isa, images, &x, x_shape, gamma, beta, &mut y, y_shape, &mut stats);
    let first = y.clone();
    y.fill(BORDER);
    layer.forward_again(isa, images, &x, x_shape, gamma, beta, &mut y, y_shape, &stats);
    assert_eq!(y, first, "the same once more");
    layer.backward(
        isa,
        images,
        &x,
        x_shape,
        &dy,
        dy_shape,
        gamma,
        &stats,
        &mut dx,
        x_shape,
        &mut dgamma,
        &mut dbeta,
    );
    let y = unframed(images, y_shape, &y, BORDER);
    [y, unframed(images, x_shape, &dx, BORDER), dgamma, dbeta]
}

fn check(images: usize, shape: Shape, halos: [usize; 3], groups: usize) {
    let (c, inside) = (shape.channels, shape.inside());
    let (x, dy) = (noise(images * inside, 1), noise(images * inside, 2));
    let (gamma, beta) = (noise(c, 3), noise(c, 4));
    let [wide_x, wide_dy, wide_gamma, wide_beta] = [&x, &dy, &gamma, &beta].map(|p| wide(p));
    let pairs: Vec<_> = wide_x.chunks(inside).zip(wide_dy.chunks(inside)).collect();
    let loss = |gamma: &[f64], beta: &[f64]| {
        pairs.iter().map(|(x, dy)| dot(&reference(c, groups, x, gamma, beta), dy)).sum::<f64>()
    };
    let y: Vec<f64> =
        pairs.iter().flat_map(|(x, _)| reference(c, groups, x, &wide_gamma, &wide_beta)).collect();
    let dx: Vec<f64> = pairs
        .iter()
        .flat_map(|(x, dy)| {
            differences(x, |x| dot(&reference(c, groups, x, &wide_gamma, &wide_beta), dy))
        })
        .collect();
    let dgamma = differences(&wide_gamma, |gamma| loss(gamma, &wide_beta));
    let dbeta = differences(&wide_beta, |beta| loss(&wide_gamma, beta));
    for isa in isas() {
        let got = run(isa, images, shape, halos, groups, [&x, &dy, &gamma, &beta]);
        for ((got, want), what) in
            got.iter().zip([&y, &dx, &dgamma, &dbeta]).zip(["y", "dx", "dgamma", "dbeta"])
        {
            assert_close(what, got, want, 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(images::cases(24))]

    #[test]
    fn is_its_equation(
        images in 1usize..4, (h, w, halos) in sizes(), eighths in 1usize..10,
        groups in prop_oneof![Just(8), Just(2), Just(1)],
    ) {
        // One or two floats of nearly the same value would magnify rounding.
        check(images, Shape::plain(h + 1, w + 1, 8 * eighths), halos, groups);
    }

    #[test]
    fn a_batch_is_its_images((h, w, halos) in sizes(), eighths in 1usize..10) {
        let shape = Shape::plain(h, w, 8 * eighths);
        let (x, dy) = (noise(2 * shape.inside(), 1), noise(2 * shape.inside(), 2));
        let (gamma, beta) = (noise(shape.channels, 3), noise(shape.channels, 4));
        for isa in isas() {
            let together = run(isa, 2, shape, halos, 8, [&x, &dy, &gamma, &beta]);
            let mut apart = [(); 2].map(|()| Vec::new());
            for (x, dy) in x.chunks(shape.inside()).zip(dy.chunks(shape.inside())) {
                let [y, dx, _, _] = run(isa, 1, shape, halos, 8, [x, dy, &gamma, &beta]);
                apart[0].extend(y);
                apart[1].extend(dx);
            }
            prop_assert!(same_bits(&apart[0], &together[0]));
            prop_assert!(same_bits(&apart[1], &together[1]));
        }
    }
}

#[test]
fn takes_any_channels_and_many_pixels() {
    check(1, Shape::plain(5, 4, 6), [0, 1, 2], 3);
    check(1, Shape::plain(4, 5, 15), [1, 1, 0], 5);
    check(1, Shape::plain(18, 17, 8), [0, 0, 0], 4);
}

#[test]
fn names_channels_and_groups_that_do_not_fit() {
    let message = GroupNorm::new(9, 2).unwrap_err().to_string();
    assert_eq!(message, "9 channels cannot be divided into 2 equal groups");
}
