//! The digits that are built in: 1,797 real ones of 8x8 pixels, so that a first run needs no file.
//!
//! They come without a division; the usual stratified one with seed 0 leaves 1,438 for training
//! and 359 for testing. Origin and licence: `data/README.md`.

use std::path::Path;

use crate::catalogue::Entry;
use crate::formats::csv::{self, Answer, CsvOptions};
use crate::formats::gzip;
use crate::{DataError, Dataset, Normalisation, Samples, split};

const FILE: &[u8] = include_bytes!("../data/digits.csv.gz");

/// Pixels go from 0 to this.
const WHITE: f64 = 16.0;

pub(crate) fn load(entry: &Entry) -> Result<Dataset, DataError> {
    let path = Path::new("digits.csv.gz (built in)");
    let bytes = gzip::unpack(FILE.to_vec(), 1 << 20, path)?;
    let table = csv::parse(&bytes, path, &CsvOptions::default())?;
    let Answer::Classes { classes, labels, .. } = &table.answer else {
        return Err(DataError::format(path, 0, "labels", "numbers"));
    };
    if let Some(&value) = table.values.iter().find(|value| !(0.0..=WHITE).contains(*value)) {
        return Err(DataError::format(path, 0, "pixels from 0 to 16", value.to_string()));
    }
    let (train, test) = split::stratified(labels, classes.len(), 0);
    let samples = |part: &[usize]| {
        let pixels = part.iter().flat_map(|&i| &table.values[i * 64..][..64]);
        let labels = part.iter().map(|&i| labels[i]).collect();
        Samples::bytes(labels, pixels.map(|&value| value as u8).collect())
    };
    // Mean and standard deviation of the training part.
    let normalisation = Normalisation { mean: vec![0.305], std: vec![0.376], unit: WHITE as f32 };
    let parts = (samples(&train), samples(&test));
    Dataset::new(entry.name, classes.clone(), entry.input, parts, normalisation)
}
