//! Scaling a rectangle of a picture to the size of an input, with a triangle filter that widens when
//! it shrinks: what Pillow calls bilinear. First down, then across, in `f32`, rounded once.

use super::image::Picture;
use crate::augment::Crop;

/// `crop` of `picture` as pixels of three bytes.
pub(super) fn resample(picture: &Picture, crop: Crop, [height, width]: [usize; 2]) -> Vec<u8> {
    let across = Taps::new(crop.left, crop.width, width, picture.width, crop.flip);
    let down = Taps::new(crop.top, crop.height, height, picture.height, false);
    let (left, right) = across.range();
    let mut scaled = vec![0; height * width * 3];
    let mut line = vec![0.0_f32; (right - left) * 3];
    for (y, out) in scaled.chunks_exact_mut(width * 3).enumerate() {
        // Down: one row of the picture's own columns, as far as they are read.
        line.fill(0.0);
        let (top, weights) = down.of(y);
        for (&weight, row) in
            weights.iter().zip(picture.pixels.chunks_exact(picture.width * 3).skip(top))
        {
            for (sum, &byte) in line.iter_mut().zip(&row[left * 3..right * 3]) {
                *sum += weight * f32::from(byte);
            }
        }
        // Across. A cast from float to byte cuts off and saturates.
        let pixels = line.as_chunks::<3>().0;
        for (x, out) in out.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let (first, weights) = across.of(x);
            let mut sums = [0.5_f32; 3];
            for (&weight, pixel) in weights.iter().zip(&pixels[first - left..]) {
                for colour in 0..3 {
                    sums[colour] += weight * pixel[colour];
                }
            }
            for colour in 0..3 {
                out[colour] = sums[colour] as u8;
            }
        }
    }
    scaled
}

/// For each output the first input it reads, and the weights of that and the following ones.
struct Taps {
    firsts: Vec<usize>,
    ends: Vec<usize>,
    weights: Vec<f32>,
}

impl Taps {
    /// `count` outputs over `length` inputs from `start` on, which lie among the `limit` inputs
    /// that exist: so an input is never farther than 1/2 from an output's centre, and no sum of
    /// weights is 0.
    fn new(start: f64, length: f64, count: usize, limit: usize, flip: bool) -> Self {
        let step = length / count as f64;
        let reach = step.max(1.0);
        let mut taps = Taps { firsts: Vec::new(), ends: Vec::new(), weights: Vec::new() };
        for i in 0..count {
            let i = if flip { count - 1 - i } else { i };
            let centre = start + (i as f64 + 0.5) * step;
            // A cast from float to integer saturates at 0; at least one input is always read.
            let first = ((centre - reach + 0.5) as usize).min(limit - 1);
            let last = ((centre + reach + 0.5) as usize).clamp(first + 1, limit);
            let weight = |at: usize| (1.0 - ((at as f64 + 0.5 - centre) / reach).abs()).max(0.0);
            let sum: f64 = (first..last).map(weight).sum();
            taps.firsts.push(first);
            taps.weights.extend((first..last).map(|at| (weight(at) / sum) as f32));
            taps.ends.push(taps.weights.len());
        }
        taps
    }

    fn of(&self, i: usize) -> (usize, &[f32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        (self.firsts[i], &self.weights[start..self.ends[i]])
    }

    /// The inputs that are read: from the first, to before the last.
    fn range(&self) -> (usize, usize) {
        let ends = (0..self.firsts.len()).map(|i| self.firsts[i] + self.of(i).1.len());
        (self.firsts.iter().copied().min().unwrap_or(0), ends.max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn picture(height: usize, width: usize, seed: usize) -> Picture {
        let byte = |i: usize| (((i + seed) * 2_654_435_761) >> 7) as u8;
        Picture { height, width, pixels: (0..height * width * 3).map(byte).collect() }
    }

    /// The filter written out in two dimensions, in double precision.
    fn naive(
        picture: &Picture,
        crop: Crop,
        [tall, wide]: [usize; 2],
        [y, x, colour]: [usize; 3],
    ) -> f64 {
        let weight = |start: f64, length: f64, side: usize, i: usize, at: usize| {
            let step = length / side as f64;
            let distance = at as f64 + 0.5 - (start + (i as f64 + 0.5) * step);
            (1.0 - (distance / step.max(1.0)).abs()).max(0.0)
        };
        let x = if crop.flip { wide - 1 - x } else { x };
        let (mut sum, mut weights) = (0.0, 0.0);
        for row in 0..picture.height {
            for column in 0..picture.width {
                let weight = weight(crop.top, crop.height, tall, y, row)
                    * weight(crop.left, crop.width, wide, x, column);
                let pixel = picture.pixels[(row * picture.width + column) * 3 + colour];
                sum += weight * f64::from(pixel);
                weights += weight;
            }
        }
        sum / weights
    }

    proptest! {
        #[test]
        fn it_is_the_filter_written_out(
            height in 1_usize..20, width in 1_usize..20, tall in 1_usize..12, wide in 1_usize..12,
            key in 0_u64..1000, shorter in 1_usize..40,
        ) {
            let picture = picture(height, width, key as usize);
            let crop = Crop::choose(key, [height, width], shorter);
            let scaled = resample(&picture, crop, [tall, wide]);
            for y in 0..tall {
                for x in 0..wide {
                    for colour in 0..3 {
                        let got = f64::from(scaled[(y * wide + x) * 3 + colour]);
                        let expected = naive(&picture, crop, [tall, wide], [y, x, colour]);
                        prop_assert!((got - expected).abs() <= 0.501, "{got} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_whole_picture_at_its_own_size_is_itself() {
        let picture = picture(16, 16, 3);
        let crop = Crop { left: 0.0, top: 0.0, width: 16.0, height: 16.0, flip: false };
        assert_eq!(resample(&picture, crop, [16, 16]), picture.pixels);
    }
}
