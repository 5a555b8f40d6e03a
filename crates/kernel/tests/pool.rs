//! Pooling against naive windows in `f64`.

mod images;

use consort_kernel::pool::Pool;
use consort_kernel::{Isa, Shape};
use images::{assert_close, differences, dot, framed, isas, noise, unframed, wide};
use proptest::prelude::*;

const BORDER: f32 = 77.0;

/// The windows of one image: for every output float the input floats it looks at.
fn windows(pool: Pool, shape: Shape) -> Vec<Vec<usize>> {
    let mut windows = Vec::new();
    for top in (0..=shape.height - pool.height).step_by(pool.stride) {
        for left in (0..=shape.width - pool.width).step_by(pool.stride) {
            for channel in 0..shape.channels {
                let mut window = Vec::new();
                for row in top..top + pool.height {
                    for column in left..left + pool.width {
                        window.push((row * shape.width + column) * shape.channels + channel);
                    }
                }
                windows.push(window);
            }
        }
    }
    windows
}

fn max(windows: &[Vec<usize>], x: &[f64]) -> Vec<f64> {
    windows.iter().map(|w| w.iter().fold(f64::NEG_INFINITY, |most, &i| most.max(x[i]))).collect()
}

fn average(windows: &[Vec<usize>], x: &[f64]) -> Vec<f64> {
    windows.iter().map(|w| w.iter().map(|&i| x[i]).sum::<f64>() / w.len() as f64).collect()
}

fn check(images: usize, shape: Shape, halos: [usize; 2], pool: Pool) {
    for isa in isas() {
        check_on(isa, images, shape, halos, pool);
    }
}

fn check_on(isa: Isa, images: usize, shape: Shape, [x_halo, y_halo]: [usize; 2], pool: Pool) {
    let (x_shape, y_shape) = (shape.with_halo(x_halo), pool.output_shape(shape).with_halo(y_halo));
    let inputs = noise(images * shape.inside(), 1);
    let gradients = noise(images * y_shape.inside(), 2);
    let x = framed(images, x_shape, &inputs, f32::NAN);
    let dy = framed(images, y_shape, &gradients, f32::NAN);
    let y = || vec![BORDER; y_shape.batch_len(images)];
    let dx = || vec![BORDER; x_shape.batch_len(images)];
    let (mut max_y, mut max_dx, mut mean_y, mut mean_dx) = (y(), dx(), y(), dx());
    let mut argmax = vec![u32::MAX; pool.argmax_len(images, x_shape)];
    pool.max_forward(isa, images, &x, x_shape, &mut max_y, y_shape, &mut argmax);
    pool.max_backward(isa, images, &argmax, &dy, y_shape, &mut max_dx, x_shape);
    pool.average_forward(images, &x, x_shape, &mut mean_y, y_shape);
    pool.average_backward(images, &dy, y_shape, &mut mean_dx, x_shape);

    let windows = windows(pool, shape);
    let (mut want_max, mut want_mean) = ([vec![], vec![]], [vec![], vec![]]);
    for (x, dy) in inputs.chunks(shape.inside()).zip(gradients.chunks(y_shape.inside())) {
        let (x, dy) = (wide(x), wide(dy));
        want_max[0].extend(max(&windows, &x));
        want_mean[0].extend(average(&windows, &x));
        want_mean[1].extend(differences(&x, |x| dot(&average(&windows, x), &dy)));
        let mut dx = vec![0.0; x.len()];
        for (window, dy) in windows.iter().zip(&dy) {
            let mut best = window[0];
            for &i in window {
                best = if x[i] > x[best] { i } else { best };
            }
            dx[best] += dy;
        }
        want_max[1].extend(dx);
    }
    assert_close("max", &unframed(images, y_shape, &max_y, BORDER), &want_max[0], 0.0);
    assert_close("dmax", &unframed(images, x_shape, &max_dx, BORDER), &want_max[1], 1e-6);
    assert_close("mean", &unframed(images, y_shape, &mean_y, BORDER), &want_mean[0], 1e-6);
    assert_close("dmean", &unframed(images, x_shape, &mean_dx, BORDER), &want_mean[1], 1e-6);
}

proptest! {
    #![proptest_config(images::cases(32))]

    #[test]
    fn is_the_naive_window(
        images in 1usize..4, rest in [0usize..4, 0usize..4], channels in 1usize..24,
        halos in [0usize..3, 0usize..3], window in [1usize..4, 1usize..4], stride in 1usize..4,
    ) {
        let pool = Pool { height: window[0], width: window[1], stride };
        let shape = Shape::plain(window[0] + rest[0], window[1] + rest[1], channels);
        check(images, shape, halos, pool);
        check(images, shape, halos, Pool::global(shape));
        let shape = Shape::plain(2 + rest[0], 2 + rest[1], channels);
        check(images, shape, halos, Pool::square(2, 2));
    }
}

/// The gradient at the maximum is the difference, where no two floats are near.
#[test]
fn the_gradient_of_the_maximum_is_the_difference() {
    let shape = Shape::plain(5, 4, 3);
    let pool = Pool::square(2, 1);
    // All values apart: a permutation of 0..60 by a step prime to 60.
    let x: Vec<f32> = (0..60).map(|i| (i * 37 % 60) as f32).collect();
    let y_shape = pool.output_shape(shape);
    let dy = noise(y_shape.inside(), 2);
    let (mut y, mut dx) = (vec![0.0; y_shape.inside()], vec![0.0; 60]);
    let mut argmax = vec![0; pool.argmax_len(1, shape)];
    pool.max_forward(Isa::detect(), 1, &x, shape, &mut y, y_shape, &mut argmax);
    pool.max_backward(Isa::detect(), 1, &argmax, &dy, y_shape, &mut dx, shape);
    let windows = windows(pool, shape);
    let want = differences(&wide(&x), |x| dot(&max(&windows, x), &wide(&dy)));
    assert_close("dx", &dx, &want, 1e-6);
}

#[test]
fn the_first_of_equal_maxima_wins_and_nan_is_a_maximum() {
    let (shape, pool) = (Shape::plain(2, 2, 2), Pool::square(2, 2));
    let x = [1.0, 5.0, 3.0, f32::NAN, 3.0, 2.0, 3.0, 9.0];
    let (mut y, mut argmax, mut dx) = ([0.0; 2], [9; 2], [9.0; 8]);
    pool.max_forward(Isa::detect(), 1, &x, shape, &mut y, Shape::plain(1, 1, 2), &mut argmax);
    assert_eq!(argmax, [1, 1]);
    assert!(y[0] == 3.0 && y[1].is_nan());
    pool.max_backward(
        Isa::detect(),
        1,
        &argmax,
        &[7.0, 8.0],
        Shape::plain(1, 1, 2),
        &mut dx,
        shape,
    );
    assert_eq!(dx, [0.0, 0.0, 7.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_shapes_of_the_models() {
    assert_eq!(Pool::square(2, 2).output_shape(Shape::plain(28, 28, 6)), Shape::plain(14, 14, 6));
    assert_eq!(Pool::square(2, 2).output_shape(Shape::plain(5, 7, 8)), Shape::plain(2, 3, 8));
    let last = Shape::plain(8, 8, 64).with_halo(1);
    assert_eq!(Pool::global(last).output_shape(last), Shape::plain(1, 1, 64));
}
