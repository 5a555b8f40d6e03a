//! Samples that are set apart for validation come from the training samples, and from nowhere else.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use consort_data::{DataDir, DataError, Dataset, Normalisation, Samples, load};

fn digits() -> Dataset {
    load("digits", &DataDir::find(Some(Path::new("."))).unwrap()).unwrap()
}

/// Every sample of a part as the model sees it, with its label; sorted.
fn content(dataset: &Dataset, labels: &[u32], write: Writer) -> Vec<(u32, Vec<u32>)> {
    let one = |(index, &label): (usize, &u32)| {
        let mut sample = vec![0.0; dataset.sample_len()];
        write(dataset, index, &mut sample).unwrap();
        (label, sample.into_iter().map(f32::to_bits).collect())
    };
    let mut all: Vec<(u32, Vec<u32>)> = labels.iter().enumerate().map(one).collect();
    all.sort();
    all
}

type Writer = fn(&Dataset, usize, &mut [f32]) -> Result<(), DataError>;

#[test]
fn validation_samples_are_training_samples_and_the_test_set_is_untouched() {
    let train: Writer = |data, index, out| data.write_train(index, 0, out);
    let whole = digits();
    let divided = digits().with_validation(0.1).unwrap();
    assert_eq!((divided.train.len(), divided.validation.len()), (1293, 145));
    let mut both = content(&divided, &divided.train.labels, train);
    both.extend(content(&divided, &divided.validation.labels, Dataset::write_validation));
    both.sort();
    assert!(both == content(&whole, &whole.train.labels, train), "nothing is lost or twice");
    let tested = content(&whole, &whole.test.labels, Dataset::write_test);
    assert!(content(&divided, &divided.test.labels, Dataset::write_test) == tested);
    assert!(whole.validation.is_empty());
    // What a search for settings is given has no test samples at all.
    let blind = divided.clone().without_test();
    assert!(blind.test.is_empty() && blind.write_test(0, &mut [0.0; 64]).is_err());
    assert_eq!((blind.train.len(), blind.validation.len()), (1293, 145));
}

/// All methods, seeds and settings are compared on the same samples.
#[test]
fn the_choice_depends_on_the_labels_and_the_share_alone() {
    let of = |share| {
        let data = digits().with_validation(share).unwrap();
        content(&data, &data.validation.labels, Dataset::write_validation)
    };
    assert!(of(0.1) == of(0.1) && of(0.1) != of(0.2));
    let data = digits().with_validation(0.2).unwrap();
    let (apart, all) = (data.validation.histogram(10), digits().train.histogram(10));
    for (apart, all) in apart.iter().zip(all) {
        // Rounded: at most half a sample off.
        assert!((*apart as f64 - 0.2 * all as f64).abs() <= 0.5, "{apart} of {all}");
    }
}

#[test]
fn too_few_samples_are_told() {
    let part = |labels: Vec<u32>| {
        let numbers = labels.iter().map(|&label| label as f32).collect();
        Samples::numbers(labels, numbers)
    };
    let parts = (part(vec![0, 1]), part(vec![0]));
    let normalisation = Normalisation { mean: vec![0.0], std: vec![1.0], unit: 1.0 };
    let classes = vec!["a".into(), "b".into()];
    let tiny = Dataset::new("tiny", classes, [1, 1, 1], parts, normalisation).unwrap();
    let told = tiny.with_validation(0.5).unwrap_err().to_string();
    assert!(told.contains("tiny") && told.contains("no class has two"), "{told}");
}
