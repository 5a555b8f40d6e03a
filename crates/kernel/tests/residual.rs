//! Sums and copies of batches whose borders differ.

mod images;

use consort_kernel::{Shape, residual};
use images::{framed, noise, sizes, unframed};
use proptest::prelude::*;

const BORDER: f32 = 77.0;

proptest! {
    #![proptest_config(images::cases(48))]

    #[test]
    fn adds_and_copies_the_inside(
        images in 1usize..4, (h, w, [x_halo, y_halo, _]) in sizes(), channels in 1usize..73,
    ) {
        let shape = Shape::plain(h, w, channels);
        let (x_shape, y_shape) = (shape.with_halo(x_halo), shape.with_halo(y_halo));
        let (x, y) = (noise(images * shape.inside(), 1), noise(images * shape.inside(), 2));
        let framed_x = framed(images, x_shape, &x, f32::NAN);
        let mut sum = framed(images, y_shape, &y, BORDER);
        residual::add(images, &framed_x, x_shape, &mut sum, y_shape);
        let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        prop_assert_eq!(unframed(images, y_shape, &sum, BORDER), want);

        let mut copy = framed(images, y_shape, &y, BORDER);
        residual::copy(images, &framed_x, x_shape, &mut copy, y_shape);
        prop_assert_eq!(unframed(images, y_shape, &copy, BORDER), x);
    }
}

#[test]
#[should_panic(expected = "different sizes")]
fn images_of_different_sizes_do_not_add() {
    residual::add(1, &[0.0; 6], Shape::plain(2, 3, 1), &mut [0.0; 6], Shape::plain(3, 2, 1));
}
