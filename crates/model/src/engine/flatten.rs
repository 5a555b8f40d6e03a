//! From pixels with channels to PyTorch's order: channel, row, column; and back.

use consort_kernel::Shape;

/// The numbers of images as rows.
pub(super) fn flatten(n: usize, x: &[f32], shape: Shape, row: &mut [f32]) {
    for_each_entry(n, shape, |image, flat| row[flat] = x[image]);
}

/// Rows as the numbers of images.
pub(super) fn unflatten(n: usize, row: &[f32], dx: &mut [f32], shape: Shape) {
    for_each_entry(n, shape, |image, flat| dx[image] = row[flat]);
}

/// Tells where every number of a batch stands in the images and in the flat rows.
fn for_each_entry(n: usize, shape: Shape, mut tell: impl FnMut(usize, usize)) {
    let Shape { height, width, channels, .. } = shape;
    for b in 0..n {
        for r in 0..height {
            for c in 0..width {
                let pixel = b * shape.image_stride() + shape.offset(r, c);
                for channel in 0..channels {
                    let flat = ((b * channels + channel) * height + r) * width + c;
                    tell(pixel + channel, flat);
                }
            }
        }
    }
}
