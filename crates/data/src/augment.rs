//! Random changes to training images: each a function of a key, the same on every machine
//! (`random_stream.rs`).
//!
use crate::random_stream::RandomStream;

/// What happens to a training image before it is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Augmentation {
    /// Nothing.
    None,
    /// A flip with probability 1/2, and a window of the image's own size at a random place of the
    /// image padded by `pad` black pixels on each side: the usual choice for CIFAR.
    FlipAndShift {
        /// Pixels on each side.
        pad: usize,
    },
    /// A flip with probability 1/2, and a rectangle of 8 % to 100 % of the image, of an aspect
    /// between 3:4 and 4:3, scaled to the input's size: the usual choice for ImageNet.
    FlipAndResizedCrop,
}

/// A window of an image padded by `pad`, `down` and `right` from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) pad: usize,
    pub(crate) down: usize,
    pub(crate) right: usize,
    pub(crate) flip: bool,
}

impl Shift {
    /// The window that `key` chooses.
    pub(crate) fn choose(key: u64, pad: usize) -> Self {
        let mut random = RandomStream::from_word(key);
        Self {
            pad,
            down: random.below(2 * pad as u64 + 1) as usize,
            right: random.below(2 * pad as u64 + 1) as usize,
            flip: random.below(2) == 1,
        }
    }
}

/// A rectangle of an image, in pixels, to be scaled to the input's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crop {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) flip: bool,
}

impl Crop {
    /// The rectangle that `key` chooses in an image whose shorter side was scaled to `shorter`
    /// pixels: up to ten draws of an area and an aspect until one fits, then the largest centred
    /// one, as torchvision's `RandomResizedCrop` does.
    pub(crate) fn choose(key: u64, [height, width]: [usize; 2], shorter: usize) -> Self {
        let [tall, wide] = scaled_to(shorter, [height, width]);
        let back = [height as f64 / tall, width as f64 / wide];
        let mut random = RandomStream::from_word(key);
        let flip = random.below(2) == 1;
        for _ in 0..10 {
            let area = tall * wide * (0.08 + 0.92 * random.uniform());
            let aspect = libm::exp((2.0 * random.uniform() - 1.0) * LN_4_3);
            let width = (area * aspect).sqrt().round();
            let height = (area / aspect).sqrt().round();
            if width >= 1.0 && width <= wide && height >= 1.0 && height <= tall {
                let top = random.below((tall - height) as u64 + 1) as f64;
                let left = random.below((wide - width) as u64 + 1) as f64;
                return Self { left, top, width, height, flip }.scaled(back);
            }
        }
        let width = wide.min((tall * 4.0 / 3.0).round());
        let height = tall.min((wide * 4.0 / 3.0).round());
        let (left, top) = (((wide - width) / 2.0).round(), ((tall - height) / 2.0).round());
        Self { left, top, width, height, flip }.scaled(back)
    }

    /// The middle of an image, of the shape of `input`: seven eighths of the longest sides that
    /// fit. (A side of 256 is looked at through a window of 224, others in proportion.)
    pub(crate) fn centre(size: [usize; 2], input: [usize; 2]) -> Self {
        if input[0] == input[1] {
            return Self::centred_square(size, window(input[0]), input[0]);
        }
        let [height, width] = size.map(|side| side as f64);
        let scale = (window(input[0]) as f64 / height).max(window(input[1]) as f64 / width);
        let [tall, wide] = input.map(|side| side as f64 / scale);
        let (left, top) = ((width - wide) / 2.0, (height - tall) / 2.0);
        Self { left, top, width: wide, height: tall, flip: false }
    }

    /// The square of `side` pixels in the middle of an image whose shorter side was scaled to
    /// `shorter` pixels.
    fn centred_square([height, width]: [usize; 2], shorter: usize, side: usize) -> Self {
        let [tall, wide] = scaled_to(shorter, [height, width]);
        let back = [height as f64 / tall, width as f64 / wide];
        let side = side as f64;
        let (left, top) = (((wide - side) / 2.0).round(), ((tall - side) / 2.0).round());
        Self { left, top, width: side, height: side, flip: false }.scaled(back)
    }

    fn scaled(self, [down, across]: [f64; 2]) -> Self {
        Self {
            left: self.left * across,
            top: self.top * down,
            width: self.width * across,
            height: self.height * down,
            flip: self.flip,
        }
    }
}

/// The side that is looked at through a window of `side` pixels.
pub(crate) fn window(side: usize) -> usize {
    (side * 256).div_ceil(224)
}

/// Height and width of an image when its shorter side is scaled to `shorter` pixels.
fn scaled_to(shorter: usize, size: [usize; 2]) -> [f64; 2] {
    let scale = shorter as f64 / size[0].min(size[1]) as f64;
    size.map(|side| (side as f64 * scale).round())
}

/// ln(4/3).
const LN_4_3: f64 = 0.287_682_072_451_780_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_chooses_the_same_on_every_machine() {
        let choices: Vec<_> = (0..4).map(|key| Shift::choose(key, 4)).collect();
        let choices: Vec<_> = choices.iter().map(|s| (s.down, s.right, s.flip)).collect();
        assert_eq!(choices, [(2, 3, false), (7, 6, false), (6, 4, true), (0, 5, true)]);
    }

    #[test]
    fn shifts_are_uniform_over_all_places() {
        let mut seen = [[0; 9]; 9];
        let mut flips = 0;
        for key in 0..81_000 {
            let shift = Shift::choose(key, 4);
            seen[shift.down][shift.right] += 1;
            flips += usize::from(shift.flip);
        }
        // 1,000 expected at each place, standard deviation 31.
        assert!(seen.iter().flatten().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert!((39_800..41_200).contains(&flips), "{flips}");
    }

    #[test]
    fn crops_lie_inside_the_image_whatever_its_shape() {
        for size in [[1, 1], [1, 500], [300, 2], [224, 224], [375, 500], [3000, 17]] {
            for key in 0..500 {
                let crop = Crop::choose(key, size, 256);
                let [height, width] = size.map(|side| side as f64);
                let slack = 1e-9 * height.max(width);
                assert!(crop.left >= 0.0 && crop.top >= 0.0, "{size:?} {crop:?}");
                assert!(crop.left + crop.width <= width + slack, "{size:?} {crop:?}");
                assert!(crop.top + crop.height <= height + slack, "{size:?} {crop:?}");
                assert!(crop.width > 0.0 && crop.height > 0.0);
            }
        }
    }

    #[test]
    fn crops_of_a_square_have_the_areas_and_aspects_asked_for() {
        let (mut area, mut flips) = (0.0, 0);
        for key in 0..4000 {
            let crop = Crop::choose(key, [256, 256], 256);
            let aspect = crop.width / crop.height;
            assert!((0.72..1.4).contains(&aspect), "{crop:?}");
            area += crop.width * crop.height / 65_536.0 / 4000.0;
            flips += usize::from(crop.flip);
        }
        // The mean is a little below 0.54, since large rectangles that are not square do not fit.
        assert!((0.45..0.54).contains(&area), "{area}");
        assert!((1900..2100).contains(&flips), "{flips}");
    }

    #[test]
    fn the_centre_of_a_square_is_seven_eighths_of_it() {
        let crop = Crop::centre([512, 512], [224, 224]);
        assert_eq!((crop.left, crop.top, crop.width, crop.height), (32.0, 32.0, 448.0, 448.0));
        let crop = Crop::centre([512, 900], [224, 448]);
        // As wide as 900 pixels allow: 7/8 of 450 x 900.
        assert!((crop.height - 393.75).abs() < 1e-9 && (crop.width - 787.5).abs() < 1e-9);
        assert!((crop.left - 56.25).abs() < 1e-9 && (crop.top - 59.125).abs() < 1e-9);
    }
}
