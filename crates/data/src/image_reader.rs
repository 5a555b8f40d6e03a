//! From an image file to the numbers that a model sees: the same for training, tests and use.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::augment::{Crop, window};
use crate::formats::image::{self, Picture};
use crate::lookup::Table;
use crate::{DataError, Normalisation};

/// How an image becomes as large as the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fit {
    /// As a whole: it has that size already, or it is scaled, whatever its shape.
    #[default]
    Whole,
    /// Its middle: seven eighths of the longest sides that have the shape of the input.
    Centre,
}

/// Reads image files as a model sees them, without chance.
#[derive(Clone, Debug)]
pub struct ImageReader {
    input: [usize; 3],
    fit: Fit,
    table: Table,
}

impl ImageReader {
    /// A reader for a model of this `input` (height, width, channels), which was trained with this
    /// normalisation.
    pub fn new(input: [usize; 3], fit: Fit, normalisation: &Normalisation) -> Self {
        // In a file white is 255, whatever it was in the training data.
        let bytes = Normalisation { unit: 255.0, ..normalisation.clone() };
        ImageReader { input, fit, table: Table::new(&bytes) }
    }

    /// How many numbers an image becomes.
    pub fn input_len(&self) -> usize {
        self.input.iter().product()
    }

    /// Writes the image in `bytes` to `out`: rows, pixels, channels innermost. A model of one
    /// channel sees the brightness of a coloured image.
    ///
    /// # Errors
    /// If it cannot be decoded, or `out` has another length.
    pub fn read(&self, bytes: &[u8], path: &Path, out: &mut [f32]) -> Result<(), DataError> {
        let (expected, got) = (self.input_len(), out.len());
        if expected != got {
            return Err(DataError::Length { what: "a sample", expected, got });
        }
        self.table.write(&pixels(image::decode(bytes, path)?, self.fit, self.input), out);
        Ok(())
    }
}

/// The bytes of a picture at the size and with the channels of `input`.
pub(crate) fn pixels(picture: Picture, fit: Fit, [h, w, channels]: [usize; 3]) -> Vec<u8> {
    let size = [picture.height, picture.width];
    let pixels = match fit {
        Fit::Whole if size == [h, w] => picture.pixels,
        Fit::Whole => {
            let (width, height) = (size[1] as f64, size[0] as f64);
            picture.resample(Crop { left: 0.0, top: 0.0, width, height, flip: false }, [h, w])
        }
        Fit::Centre => picture.resample(Crop::centre(size, [h, w]), [h, w]),
    };
    with_channels(pixels, channels)
}

/// A crop of a picture that `key` chooses, scaled to `input`.
pub(crate) fn crop_by_key(picture: &Picture, key: u64, [h, w, channels]: [usize; 3]) -> Vec<u8> {
    let crop = Crop::choose(key, [picture.height, picture.width], window(h.min(w)));
    with_channels(picture.resample(crop, [h, w]), channels)
}

/// Three bytes a pixel, or its brightness (ITU-R BT.601), which leaves grey as it is.
fn with_channels(pixels: Vec<u8>, channels: usize) -> Vec<u8> {
    if channels != 1 {
        return pixels;
    }
    let brightness = |&[r, g, b]: &[u8; 3]| {
        let sum = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b);
        ((sum + 500) / 1000) as u8
    };
    pixels.as_chunks::<3>().0.iter().map(brightness).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_stays_as_it_is_and_colours_become_their_brightness() {
        let greys: Vec<u8> = (0..=255).flat_map(|byte| [byte; 3]).collect();
        assert!(with_channels(greys, 1).into_iter().eq(0..=255));
        assert_eq!(with_channels(vec![255, 0, 0, 0, 255, 0, 0, 0, 255], 1), [76, 150, 29]);
        assert_eq!(with_channels(vec![1, 2, 3], 3), [1, 2, 3]);
    }

    #[test]
    fn a_picture_is_taken_whole_or_its_middle() {
        let columns =
            |width: usize| (0..4 * width).flat_map(move |i| [(16 * (i % width)) as u8; 3]);
        let picture = Picture { height: 4, width: 8, pixels: columns(8).collect() };
        let row = |fit, input: [usize; 3]| pixels(picture.clone(), fit, input)[..input[1]].to_vec();
        assert_eq!(row(Fit::Whole, [4, 8, 1]), [0, 16, 32, 48, 64, 80, 96, 112]);
        assert_eq!(row(Fit::Whole, [4, 4, 1])[1..3], [40, 72], "squeezed");
        // 3.5 of 4 pixels, from 2.25 on.
        let middle = row(Fit::Centre, [4, 4, 1]);
        assert!(middle[0] >= 32 && middle[3] <= 80, "{middle:?}");
    }
}
