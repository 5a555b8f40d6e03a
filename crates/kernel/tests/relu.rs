//! The rectifier, in place and not.

mod images;

use consort_kernel::{Shape, relu};
use images::{assert_close, differences, dot, framed, noise, sizes, unframed, wide};
use proptest::prelude::*;

const BORDER: f32 = 77.0;

proptest! {
    #![proptest_config(images::cases(48))]

    #[test]
    fn is_its_equation(images in 1usize..4, (h, w, halos) in sizes(), channels in 1usize..73) {
        let shape = Shape::plain(h, w, channels);
        let [x_shape, y_shape, dy_shape] = halos.map(|halo| shape.with_halo(halo));
        let (x, dy) = (noise(images * shape.inside(), 1), noise(images * shape.inside(), 2));
        let framed_x = framed(images, x_shape, &x, f32::NAN);
        let framed_dy = framed(images, dy_shape, &dy, BORDER);
        let mut y = vec![BORDER; y_shape.batch_len(images)];
        let mut dx = vec![BORDER; x_shape.batch_len(images)];
        relu::forward(images, &framed_x, x_shape, &mut y, y_shape);
        relu::backward(images, &y, y_shape, &framed_dy, dy_shape, &mut dx, x_shape);
        let inside_y = unframed(images, y_shape, &y, BORDER);
        let dx = unframed(images, x_shape, &dx, BORDER);

        for (x, y) in x.iter().zip(&inside_y) {
            prop_assert_eq!(*y, if *x > 0.0 { *x } else { 0.0 });
        }
        for (i, dx) in dx.iter().enumerate() {
            prop_assert_eq!(*dx, if x[i] > 0.0 { dy[i] } else { 0.0 });
        }
        let mut in_place = x.clone();
        relu::forward_in_place(&mut in_place);
        prop_assert_eq!(in_place, inside_y);
        let mut in_place = framed_dy;
        relu::backward_in_place(images, &y, y_shape, &mut in_place, dy_shape);
        prop_assert_eq!(unframed(images, dy_shape, &in_place, BORDER), dx);
    }
}

#[test]
fn the_gradient_is_the_difference() {
    let shape = Shape::plain(3, 5, 7);
    let (x, dy) = (noise(shape.inside(), 1), noise(shape.inside(), 2));
    let mut y = x.clone();
    relu::forward_in_place(&mut y);
    let mut dx = dy.clone();
    relu::backward_in_place(1, &y, shape, &mut dx, shape);
    let want = differences(&wide(&x), |x| {
        dot(&x.iter().map(|x| x.max(0.0)).collect::<Vec<_>>(), &wide(&dy))
    });
    assert_close("dx", &dx, &want, 1e-6);
}

#[test]
fn nan_stays_nan_and_zero_passes_nothing() {
    let mut x = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY];
    relu::forward_in_place(&mut x);
    assert!(x[0].is_nan());
    assert_eq!(x[1..], [0.0, 0.0, f32::INFINITY, 0.0]);
    let mut dy = [1.0; 5];
    relu::backward_in_place(1, &x, Shape::plain(1, 1, 5), &mut dy, Shape::plain(1, 1, 5));
    assert_eq!(dy, [1.0, 0.0, 0.0, 1.0, 0.0]);
}
