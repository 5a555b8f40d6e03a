//! The real files, if `CONSORT_TEST_DATA` names a folder that holds them.
//!
//! What is expected was computed with NumPy from the same files:
//! `md5(bytes[:100])`, `((bytes / 255 - mean) / std).mean()`, `.std()`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use consort_data::{DataDir, DataError, Dataset, load};
use md5::{Digest, Md5};

/// The dataset, or nothing (and a note) if it is not there.
fn real(name: &str) -> Option<Dataset> {
    let Some(folder) = std::env::var_os("CONSORT_TEST_DATA") else {
        eprintln!("{name}: skipped, CONSORT_TEST_DATA names no folder with real data");
        return None;
    };
    match load(name, &DataDir::find(Some(Path::new(&folder))).unwrap()) {
        Ok(dataset) => Some(dataset),
        Err(missing @ DataError::Missing { .. }) => {
            eprintln!("{name}: skipped, {missing}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The bytes that a test sample was made of, from its numbers.
fn bytes_of(dataset: &Dataset, index: usize) -> Vec<u8> {
    let mut numbers = vec![0.0; dataset.sample_len()];
    dataset.write_test(index, &mut numbers).unwrap();
    let normalisation = &dataset.normalisation;
    let channels = normalisation.mean.len();
    let byte = |(i, number): (usize, &f32)| {
        let value = number * normalisation.std[i % channels] + normalisation.mean[i % channels];
        (value * normalisation.unit).round() as u8
    };
    numbers.iter().enumerate().map(byte).collect()
}

fn md5_of(dataset: &Dataset, samples: usize) -> String {
    let mut digest = Md5::new();
    for index in 0..samples {
        digest.update(bytes_of(dataset, index));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Mean and standard deviation of the whole test set, normalised, over all channels.
fn moments(dataset: &Dataset) -> (f64, f64) {
    let mut numbers = vec![0.0; dataset.sample_len()];
    let (mut sum, mut squares) = (0.0, 0.0);
    for index in 0..dataset.test.len() {
        dataset.write_test(index, &mut numbers).unwrap();
        for &number in &numbers {
            sum += f64::from(number);
            squares += f64::from(number).powi(2);
        }
    }
    let count = (dataset.test.len() * numbers.len()) as f64;
    (sum / count, (squares / count - (sum / count).powi(2)).sqrt())
}

fn check(dataset: &Dataset, counts: [usize; 2], md5: &str, (mean, std): (f64, f64)) {
    assert_eq!([dataset.train.len(), dataset.test.len()], counts);
    assert_eq!(md5_of(dataset, 100), md5, "{}: the first hundred test images", dataset.name);
    let got = moments(dataset);
    assert!((got.0 - mean).abs() < 1e-4 && (got.1 - std).abs() < 1e-4, "{}: {got:?}", dataset.name);
}

#[test]
fn mnist() {
    let Some(mnist) = real("mnist") else { return };
    check(&mnist, [60_000, 10_000], "e8ad6caa33fe69492bddea491f0fd3da", (0.00589, 1.00773));
    assert_eq!(
        mnist.train.histogram(10),
        [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    );
}

#[test]
fn fashion_mnist() {
    let Some(fashion) = real("fashion-mnist") else { return };
    check(&fashion, [60_000, 10_000], "669a5080ddffe9e055e4a88c93dc4b39", (-0.42630, 0.70489));
    assert_eq!(fashion.train.histogram(10), [6000; 10]);
    assert_eq!(fashion.train.labels[..5], [9, 0, 0, 3, 0]);
}

#[test]
fn cifar10() {
    let Some(cifar) = real("cifar10") else { return };
    check(&cifar, [50_000, 10_000], "796251537f3ed503ef5bc0591fcd95aa", (0.01602, 1.24688));
    assert_eq!(cifar.train.histogram(10), [5000; 10]);
    assert_eq!(cifar.test.labels[..5], [3, 8, 8, 0, 6]);
}

#[test]
fn imagenette() {
    let Some(imagenette) = real("imagenette") else { return };
    assert!(imagenette.train.histogram(10).iter().all(|&count| count >= 150));
    let mut numbers = vec![0.0; imagenette.sample_len()];
    for index in 0..imagenette.train.len() {
        imagenette.write_train(index, index as u64, &mut numbers).unwrap();
        assert!(numbers.iter().all(|number| (-2.2..2.7).contains(number)));
    }
    let (mean, std) = moments(&imagenette);
    // Photographs are near ImageNet's mean, and of a little more contrast.
    assert!(mean.abs() < 0.2 && (0.9..1.3).contains(&std), "{mean} {std}");
}
