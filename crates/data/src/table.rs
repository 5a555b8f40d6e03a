//! A table of numbers as a dataset: each column scaled by what the training rows show.

use std::path::Path;

use crate::formats::csv::Table;
use crate::{DataError, Dataset, Normalisation, Samples, split};

/// A file of more bytes than this is refused.
pub(crate) const LARGEST_FILE: usize = 1 << 30;

/// Splits the rows (one in five of each class for testing, seed 0) and scales each column to mean
/// 0 and standard deviation 1 over the training rows; a column that is constant there becomes 0.
pub(crate) fn dataset(path: &Path, table: Table) -> Result<Dataset, DataError> {
    let width = table.columns.len();
    let (train, test) = split::stratified(&table.labels, table.classes.len(), 0);
    let row = |i: usize| &table.values[i * width..][..width];

    let mut mean = vec![0.0; width];
    for &i in &train {
        for (mean, value) in mean.iter_mut().zip(row(i)) {
            *mean += value / train.len() as f64;
        }
    }
    let mut std = vec![0.0; width];
    for &i in &train {
        for ((square, value), mean) in std.iter_mut().zip(row(i)).zip(&mean) {
            *square += (value - mean).powi(2) / train.len() as f64;
        }
    }
    for (std, mean) in std.iter_mut().zip(&mean) {
        // A constant column deviates from its mean by rounding only.
        *std = if std.sqrt() > 1e-9 * f64::abs(*mean) { std.sqrt() } else { 1.0 };
    }
    let samples = |part: &[usize]| {
        let scaled = |i: usize| {
            row(i)
                .iter()
                .zip(&mean)
                .zip(&std)
                .map(|((value, mean), std)| ((value - mean) / std) as f32)
        };
        let labels = part.iter().map(|&i| table.labels[i]).collect();
        Samples::numbers(labels, part.iter().flat_map(|&i| scaled(i)).collect())
    };
    let parts = (samples(&train), samples(&test));
    let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
    let normalisation = Normalisation { mean: single(&mean), std: single(&std), unit: 1.0 };
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into());
    Dataset::new(&name, table.classes, [1, 1, width], parts, normalisation)
}
