//! From files on disk to numbers: every layout, and every way in which files can be wrong.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use consort_data::{Augmentation, DataDir, DataError, Dataset, Normalisation, Samples, Task, load};
use tempfile::TempDir;

fn folder() -> (TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = DataDir::find(Some(folder.path())).unwrap();
    (folder, data_dir)
}

fn write(path: impl AsRef<Path>, bytes: &[u8]) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn message(name: &str, data_dir: &DataDir) -> String {
    load(name, data_dir).unwrap_err().to_string()
}

/// The four files of MNIST, pixel i of image n being `n + i`, its label `n % 10`.
fn idx_files(folder: &Path, count: [u32; 2]) {
    for (part, count) in ["train", "t10k"].iter().zip(count) {
        let mut images =
            [&[0, 0, 8, 3][..], &count.to_be_bytes(), &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
        images.extend((0..count).flat_map(|n| (0..784).map(move |i| (n + i) as u8)));
        write(folder.join(format!("{part}-images-idx3-ubyte")), &images);
        let mut labels = [&[0, 0, 8, 1][..], &count.to_be_bytes()].concat();
        labels.extend((0..count).map(|n| (n % 10) as u8));
        write(folder.join(format!("{part}-labels-idx1-ubyte.gz")), &gzip(&labels));
    }
}

#[test]
fn digits_need_no_file() {
    let (_folder, data_dir) = folder();
    let digits = load("digits", &data_dir).unwrap();
    assert_eq!((digits.train.len(), digits.test.len()), (1438, 359));
    assert_eq!((digits.input, digits.classes.len()), ([8, 8, 1], 10));
    let mut sample = [0.0; 64];
    let (mut sum, mut squares) = (0.0, 0.0);
    for index in 0..digits.train.len() {
        digits.write_train(index, 0, &mut sample).unwrap();
        for value in sample.map(f64::from) {
            sum += value;
            squares += value * value;
        }
    }
    let count = (digits.train.len() * 64) as f64;
    // Mean 0 and standard deviation 1, up to the three figures of the constants.
    assert!((sum / count).abs() < 2e-3, "{}", sum / count);
    assert!((squares / count - 1.0).abs() < 4e-3, "{}", squares / count);
    // As the tables of scikit-learn's `load_digits` count them, both parts together.
    let both: Vec<usize> = digits
        .train
        .histogram(10)
        .iter()
        .zip(digits.test.histogram(10))
        .map(|(a, b)| a + b)
        .collect();
    assert_eq!(both, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
}

/// An agent keeps its own training samples only; they look as before, and the test set is whole.
#[test]
fn a_dataset_can_keep_some_training_samples_only() {
    let (_folder, data_dir) = folder();
    let all = load("digits", &data_dir).unwrap();
    let kept = all.clone().with_train(&[7, 3, 1000]).unwrap();
    assert_eq!((kept.train.len(), kept.test.len()), (3, all.test.len()));
    assert!(kept.train.memory_bytes() < 300 && all.train.memory_bytes() > 80_000);
    let (mut own, mut whole) = (vec![0.0; all.sample_len()], vec![0.0; all.sample_len()]);
    for (new, old) in [7, 3, 1000].into_iter().enumerate() {
        kept.write_train(new, 5, &mut own).unwrap();
        all.write_train(old, 5, &mut whole).unwrap();
        assert_eq!((&own, kept.train.labels[new]), (&whole, all.train.labels[old]));
    }
    let error = all.with_train(&[1, 5000]).unwrap_err();
    assert!(matches!(error, DataError::Index { index: 5000, .. }), "{error}");
}

#[test]
fn mnist_is_read_plain_and_gzipped_and_normalised() {
    let (folder, data_dir) = folder();
    idx_files(&folder.path().join("MNIST/raw"), [60_000, 10_000]);
    let mnist = load("mnist", &data_dir).unwrap();
    assert_eq!((mnist.train.len(), mnist.test.len()), (60_000, 10_000));
    assert_eq!(mnist.test.labels[1234], 4);
    let mut sample = vec![0.0; 784];
    mnist.write_train(1000, 99, &mut sample).unwrap();
    for (i, &value) in sample.iter().enumerate() {
        let byte = ((1000 + i) % 256) as f32;
        assert_eq!(value.to_bits(), ((byte / 255.0 - 0.1307) / 0.3081).to_bits());
    }
    assert!(matches!(mnist.write_test(10_000, &mut sample), Err(DataError::Index { .. })));
    assert!(matches!(mnist.write_test(0, &mut sample[1..]), Err(DataError::Length { .. })));
}

#[test]
fn files_of_idx_that_contradict_each_other_are_refused() {
    let (folder, data_dir) = folder();
    let place = folder.path().join("fashion-mnist");
    idx_files(&place, [40, 20]);
    assert!(message("fashion-mnist", &data_dir).contains("47040016 bytes in all"));

    let images = fs::read(place.join("t10k-images-idx3-ubyte")).unwrap();
    write(place.join("train-images-idx3-ubyte"), &images);
    let error = message("fashion-mnist", &data_dir);
    assert!(error.contains("holds 20 images") && error.contains("holds 40 labels"), "{error}");

    write(place.join("train-labels-idx1-ubyte.gz"), &gzip(&[0, 0, 8, 1, 0, 0, 0, 1, 10]));
    assert!(message("fashion-mnist", &data_dir).contains("expected a label below 10, got 10"));

    write(place.join("train-labels-idx1-ubyte.gz"), b"<!DOCTYPE html>");
    assert!(message("fashion-mnist", &data_dir).contains("got an HTML page"));

    let whole = gzip(&vec![1; 60_008]);
    write(place.join("train-labels-idx1-ubyte.gz"), &whole[..whole.len() / 2]);
    assert!(message("fashion-mnist", &data_dir).contains("the end of the file (cut off?)"));

    write(place.join("train-labels-idx1-ubyte.gz"), &gzip(&vec![0; 10_000_000]));
    let error = message("fashion-mnist", &data_dir);
    assert!(error.contains("byte 60008: expected the end"), "{error}");

    write(place.join("train-labels-idx1-ubyte.gz"), b"\x1f\x8bnot so");
    assert!(message("fashion-mnist", &data_dir).contains("more gzipped data"));
}

#[test]
fn what_is_missing_is_told_with_where_and_what_to_do() {
    let (folder, data_dir) = folder();
    let error = message("cifar10", &data_dir);
    let place = folder.path().join("cifar-10-batches-bin");
    assert!(error.contains("missing data_batch_1.bin"), "{error}");
    assert!(error.contains("`consort data get cifar10` fetches it (170 MB)"), "{error}");
    assert!(error.contains(&format!("put it into {}", place.display())), "{error}");

    for batch in 1..=5 {
        write(place.join(format!("data_batch_{batch}.bin")), &[]);
    }
    let error = message("cifar10", &data_dir);
    assert!(error.starts_with("cifar10: missing test_batch.bin\n"), "{error}");
    assert!(message("imagenette", &data_dir).contains("missing imagenette2-320/train"));
}

#[test]
fn cifar_is_read_whole() {
    let (folder, data_dir) = folder();
    let place = folder.path().join("cifar-10-batches-bin");
    for (batch, name) in (0..).zip([
        "data_batch_1",
        "data_batch_2",
        "data_batch_3",
        "data_batch_4",
        "data_batch_5",
        "test_batch",
    ]) {
        let mut records = vec![0; 3073 * 10_000];
        for (i, record) in records.chunks_exact_mut(3073).enumerate() {
            record[0] = (i % 10) as u8;
            record[1..].fill(batch * 10 + (i % 7) as u8);
        }
        write(place.join(format!("{name}.bin")), &records);
    }
    // The folder itself may be named, too.
    let cifar = load("cifar10", &DataDir::find(Some(&place)).unwrap()).unwrap();
    assert_eq!((cifar.train.len(), cifar.test.len()), (50_000, 10_000));
    assert_eq!(cifar.train.labels[20_013], 3);
    assert_eq!(cifar.augmentation, Augmentation::FlipAndShift { pad: 4 });
    let mut sample = vec![0.0; 3072];
    cifar.write_test(8, &mut sample).unwrap();
    let expected = |mean: f32, std: f32| (51.0 / 255.0 - mean) / std;
    assert_eq!(
        sample[..3],
        [expected(0.4914, 0.2023), expected(0.4822, 0.1994), expected(0.4465, 0.2010)]
    );

    let first = place.join("data_batch_1.bin");
    let records = fs::read(&first).unwrap();
    write(&first, &records[..9_999 * 3073]);
    let error = message("cifar10", &data_dir);
    assert!(error.contains("data_batch_1.bin, byte 30726927"), "{error}");
    assert!(error.contains("expected 30730000 bytes in all"), "{error}");
    write(&first, &[records, vec![0]].concat());
    let error = message("cifar10", &data_dir);
    assert!(error.contains("expected the end, after at most 30730000 bytes"), "{error}");
}

#[test]
fn cifar_100_takes_the_fine_label() {
    let (folder, data_dir) = folder();
    for (name, count) in [("train", 50_000), ("test", 10_000)] {
        let mut records = vec![7; 3074 * count];
        for (i, record) in records.chunks_exact_mut(3074).enumerate() {
            record[..2].copy_from_slice(&[(i % 20) as u8, (i % 100) as u8]);
        }
        write(folder.path().join("cifar-100-binary").join(format!("{name}.bin")), &records);
    }
    let cifar = load("cifar100", &data_dir).unwrap();
    assert_eq!(cifar.train.histogram(100), [500; 100]);
    assert_eq!(cifar.classes[cifar.test.labels[1999] as usize], "worm");
}

/// A dataset of one image whose pixel at (y, x) of channel c is `100 c + 10 y + x + 1`.
fn little(channels: usize, pad: usize) -> Dataset {
    let image: Vec<u8> = (0..4 * 5 * channels)
        .map(|i| (100 * (i % channels) + 10 * (i / channels / 5) + i / channels % 5 + 1) as u8)
        .collect();
    let part = || Samples::bytes(vec![0], image.clone());
    let normalisation =
        Normalisation { mean: vec![0.0; channels], std: vec![1.0; channels], unit: 1.0 };
    let classes = vec!["only".to_owned()];
    Dataset::new("little", classes, [4, 5, channels], (part(), part()), normalisation)
        .unwrap()
        .augmented(Augmentation::FlipAndShift { pad })
}

#[test]
fn a_shifted_image_is_a_window_of_the_padded_one() {
    for channels in [1, 2, 3] {
        for pad in [0, 1, 4, 9] {
            let dataset = little(channels, pad);
            let mut plain = vec![0.0; 20 * channels];
            dataset.write_test(0, &mut plain).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for key in 0..300 {
                let mut out = vec![f32::NAN; 20 * channels];
                dataset.write_train(0, key, &mut out).unwrap();
                // Find the window that explains the whole image, if any.
                let pixel = |y: isize, x: isize, c: usize| {
                    let inside = (0..4).contains(&y) && (0..5).contains(&x);
                    if inside { plain[(y as usize * 5 + x as usize) * channels + c] } else { 0.0 }
                };
                let pad = pad as isize;
                let explained = (-pad..=pad).flat_map(|dy| (-pad..=pad).map(move |dx| (dy, dx)));
                let explained = explained.flat_map(|(dy, dx)| [(dy, dx, false), (dy, dx, true)]);
                let explained = explained.filter(|&(dy, dx, flip)| {
                    out.iter().enumerate().all(|(i, &value)| {
                        let (y, x) = ((i / channels / 5) as isize, (i / channels % 5) as isize);
                        let x = if flip { 4 - x } else { x };
                        value == pixel(y + dy, x + dx, i % channels)
                    })
                });
                let explained: Vec<_> = explained.collect();
                assert!(
                    !explained.is_empty(),
                    "channels {channels}, pad {pad}, key {key}: {out:?}"
                );
                seen.insert(explained[0]);
                let mut again = vec![0.0; 20 * channels];
                dataset.write_train(0, key, &mut again).unwrap();
                assert_eq!(out, again);
            }
            if pad == 1 {
                assert_eq!(seen.len(), 18, "every window and its mirror image");
            }
        }
    }
}

fn png(height: u32, width: u32, grey: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![grey; (height * width) as usize]).unwrap();
    writer.finish().unwrap();
    bytes
}

fn photos(root: &Path, classes: &[(&str, usize)]) {
    for (class, count) in classes {
        for i in 0..*count {
            write(root.join(class).join(format!("{i}.png")), &png(10 + i as u32, 30, i as u8));
        }
    }
}

fn path_of(prefix: &str, path: &Path, suffix: &str) -> String {
    format!("{prefix}{}{suffix}", path.display())
}

#[test]
fn folders_of_classes_are_split_or_taken_as_they_are() {
    let (folder, data_dir) = folder();
    let root = folder.path().join("photos");
    photos(&root, &[("dog", 10), ("cat", 5)]);
    write(root.join("cat/.hidden.png"), b"");
    write(root.join("cat/notes.txt"), b"");
    write(root.join("LICENSE"), b"");
    for name in [path_of("folder:", &root, ":size=16"), path_of("", &root, ":size=16")] {
        let photos = load(&name, &data_dir).unwrap();
        assert_eq!((photos.name.as_str(), photos.input), ("photos", [16, 16, 1]));
        assert_eq!(photos.classes, ["cat", "dog"]);
        assert_eq!(photos.train.histogram(2), [4, 8]);
        assert_eq!(photos.test.histogram(2), [1, 2]);
        let mut out = vec![0.0; 16 * 16];
        photos.write_train(0, 5, &mut out).unwrap();
        // A grey of one brightness stays so, whatever the crop.
        assert!(out.iter().all(|pixel| *pixel == out[0]));
        assert_eq!(
            photos.found.unwrap(),
            "photos: 15 grey images of 10 sizes, scaled to 16x16; training images are flipped and \
             cropped by chance, of test images the middle is taken"
        );
    }

    let root = folder.path().join("divided");
    photos(&root.join("train"), &[("ant", 2), ("bee", 3), ("fly", 1)]);
    photos(&root.join("val"), &[("bee", 1), ("fly", 2)]);
    let divided = load(&path_of("folder:", &root, ":size=8"), &data_dir).unwrap();
    assert_eq!(divided.train.labels, [0, 0, 1, 1, 1, 2]);
    assert_eq!(divided.test.labels, [1, 2, 2]);
}

#[test]
fn folders_that_are_wrong_are_told() {
    let (folder, data_dir) = folder();
    let root = folder.path().join("photos");
    let name = path_of("folder:", &root, ":size=8");
    assert!(message(&name, &data_dir).starts_with("cannot list"));
    fs::create_dir_all(root.join("ant")).unwrap();
    assert!(message(&name, &data_dir).contains("two or more classes, got only {\"ant\"}"));
    photos(&root, &[("bee", 3)]);
    assert!(message(&name, &data_dir).contains("ant: expected images"));
    photos(&root, &[("ant", 3)]);
    write(root.join("bee/x.jpg"), b"<html>");
    let error = message(&name, &data_dir);
    assert!(
        error.contains("x.jpg, byte 0: expected a JPEG or PNG image, got an HTML page"),
        "{error}"
    );

    // A damaged body is found when the image is asked for.
    let whole = png(40, 40, 7);
    write(root.join("bee/x.jpg"), &whole[..whole.len() - 20]);
    let dataset = load(&name, &data_dir).unwrap();
    let mut out = vec![0.0; 8 * 8];
    let outcomes = (0..dataset.train.len()).map(|i| dataset.write_train(i, 0, &mut out));
    let tests: Vec<_> = outcomes.filter_map(Result::err).collect();
    let mut out = vec![0.0; 8 * 8];
    let outcomes = (0..dataset.test.len()).map(|i| dataset.write_test(i, &mut out));
    let errors: Vec<_> = outcomes.filter_map(Result::err).chain(tests).collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].to_string().contains("bee/x.jpg"), "{}", errors[0]);

    let divided = folder.path().join("divided");
    photos(&divided.join("train"), &[("ant", 2), ("bee", 3)]);
    photos(&divided.join("test"), &[("bee", 1), ("wasp", 2)]);
    let error = message(&path_of("folder:", &divided, ""), &data_dir);
    assert!(error.contains("only the classes of") && error.contains("got `wasp`"), "{error}");
    let error = message(&path_of("folder:", &root, ":size=big"), &data_dir);
    assert!(error.contains("got `big`"), "{error}");
    assert!(message(&path_of("folder:", &root, ":size=0"), &data_dir).contains("from 1 to 4096"));
}

/// A PNG of one size with a pattern in colours, or in shades of grey.
fn pattern(height: u32, width: u32, seed: usize, grey: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(if grey { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    let channels = if grey { 1 } else { 3 };
    let pixels = (0..(height * width) as usize * channels).map(|i| (i * 31 + seed * 7) as u8);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels.collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Images of one size are seen as they are: every pixel, nothing scaled, nothing cut off. So are
/// they if that size is asked for.
#[test]
fn images_of_one_size_are_taken_as_they_are() {
    for grey in [false, true] {
        let (folder, data_dir) = folder();
        let root = folder.path().join("tiles");
        for class in ["a", "b"] {
            for i in 0..5 {
                write(root.join(class).join(format!("{i}.png")), &pattern(6, 9, i, grey));
            }
        }
        let channels = if grey { 1 } else { 3 };
        for options in ["", ":size=6x9"] {
            let tiles = load(&path_of("folder:", &root, options), &data_dir).unwrap();
            assert_eq!(tiles.input, [6, 9, channels]);
            let mut out = vec![0.0; tiles.sample_len()];
            tiles.write_train(0, 1, &mut out).unwrap();
            let Normalisation { mean, std, .. } = &tiles.normalisation;
            // The seed is the one of the sample of class `a` that is trained on first.
            let expected = |seed: usize| -> Vec<f32> {
                let number = |i: usize| {
                    let byte = f32::from((i * 31 + seed * 7) as u8);
                    (byte / 255.0 - mean[i % channels]) / std[i % channels]
                };
                (0..54 * channels).map(number).collect()
            };
            assert!((0..5).any(|seed| out == expected(seed)), "{grey} {options}");
            assert!(tiles.found.as_ref().unwrap().contains("of 6x9, taken as they are"));
            // Someone who reads a file by himself sees the same.
            let reader = tiles.image_reader().unwrap();
            let mut read = vec![0.0; reader.input_len()];
            let alike = (0..5).any(|i| {
                let path = root.join(format!("a/{i}.png"));
                reader.read(&fs::read(&path).unwrap(), &path, &mut read).unwrap();
                read == out
            });
            assert!(alike);
        }
        // Shifted by up to an eighth, at least a pixel, if asked for.
        let shifted = load(&path_of("folder:", &root, ":augment=shift"), &data_dir).unwrap();
        assert_eq!(shifted.augmentation, Augmentation::FlipAndShift { pad: 1 });
        let cropped = load(&path_of("folder:", &root, ":augment=crop"), &data_dir).unwrap();
        let mut out = vec![0.0; cropped.sample_len()];
        cropped.write_train(0, 3, &mut out).unwrap();
    }
}

/// One image in colours makes all of them colours.
#[test]
fn images_of_several_sizes_need_a_word_about_it() {
    let (folder, data_dir) = folder();
    let root = folder.path().join("photos");
    photos(&root, &[("ant", 3), ("bee", 5)]);
    let error = message(&path_of("folder:", &root, ""), &data_dir);
    for part in [
        "its images have 5 sizes: 10x30 (2 images)",
        "14x30 (1 image)",
        "height x width",
        &path_of("folder:", &root, ":size=10"),
    ] {
        assert!(error.contains(part), "no {part} in: {error}");
    }
    write(root.join("ant/colour.png"), &pattern(10, 30, 1, false));
    let scaled = load(&path_of("folder:", &root, ":size=12x20:augment=none"), &data_dir).unwrap();
    assert_eq!((scaled.input, scaled.augmentation), ([12, 20, 3], Augmentation::None));
    let (mut a, mut b) = (vec![0.0; 720], vec![0.0; 720]);
    scaled.write_train(1, 1, &mut a).unwrap();
    scaled.write_train(1, 2, &mut b).unwrap();
    assert_eq!(a, b, "nothing is left to chance");

    // Photographs as a camera makes them are too large for any model.
    let root = folder.path().join("camera");
    for class in ["ant", "bee"] {
        write(root.join(class).join("1.png"), &png(600, 800, 1));
        write(root.join(class).join("2.png"), &png(600, 800, 1));
    }
    let error = message(&path_of("folder:", &root, ""), &data_dir);
    assert!(error.contains("too large") && error.contains(":size=224"), "{error}");
}

#[test]
fn imagenette_knows_its_classes() {
    let (folder, data_dir) = folder();
    let synsets = [
        "n01440764",
        "n02102040",
        "n02979186",
        "n03000684",
        "n03028079",
        "n03394916",
        "n03417042",
        "n03425413",
        "n03445777",
    ];
    let root = folder.path().join("imagenette2-160");
    for part in ["train", "val"] {
        photos(&root.join(part), &synsets.map(|synset| (synset, 1)));
    }
    assert!(message("imagenette", &data_dir).contains("expected the classes n01440764"));
    for part in ["train", "val"] {
        photos(&root.join(part), &[("n03888257", 2)]);
    }
    let imagenette = load("imagenette", &data_dir).unwrap();
    assert_eq!((imagenette.name.as_str(), imagenette.train.len()), ("imagenette", 11));
    assert_eq!((&*imagenette.classes[0], &*imagenette.classes[9]), ("tench", "parachute"));
}

#[test]
fn a_table_is_split_and_scaled_by_its_training_rows() {
    let (folder, data_dir) = folder();
    let mut text = "height,same,class\n".to_owned();
    for i in 0..50 {
        text += &format!("{},0.1,{}\n", 1_700_000_000 + i, if i % 5 < 2 { "low" } else { "high" });
    }
    let plain: PathBuf = folder.path().join("plants.csv");
    write(&plain, text.as_bytes());
    let packed = folder.path().join("plants.csv.gz");
    write(&packed, &gzip(text.as_bytes()));
    for name in [path_of("csv:", &plain, ""), path_of("", &plain, ""), path_of("csv:", &packed, "")]
    {
        let table = load(&name, &data_dir).unwrap();
        assert_eq!((table.input, table.classes.len()), ([1, 1, 2], 2));
        assert_eq!((table.train.len(), table.test.len()), (40, 10));
        assert_eq!(table.test.histogram(2), [6, 4]);
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut row = [0.0; 2];
        for index in 0..40 {
            table.write_train(index, index as u64, &mut row).unwrap();
            sum += row[0];
            squares += row[0] * row[0];
            assert!(row[1].abs() < 1e-6);
        }
        // Large numbers lose nothing on the way.
        assert!(sum.abs() < 1e-4 && (squares / 40.0 - 1.0).abs() < 1e-4, "{sum} {squares}");
    }
}

/// Numbers are scaled by their training rows, categories are 0 or 1, and the target is scaled, too.
#[test]
fn a_regression_has_targets_and_ranges_of_them() {
    let (folder, data_dir) = folder();
    let path = folder.path().join("flats.csv");
    let mut text = "rooms,town,price\n".to_owned();
    for i in 0..100 {
        let town = ["bonn", "kiel", "ulm"][i % 3];
        text += &format!("{},{town},{}\n", i % 7, 1000 * i + 500);
    }
    write(&path, text.as_bytes());
    let flats = load(&path_of("csv:", &path, ":target=price"), &data_dir).unwrap();
    assert_eq!((flats.input, flats.outputs()), ([1, 1, 4], 1));
    assert_eq!((flats.train.len(), flats.test.len()), (80, 20));
    let Task::Regression(target) = &flats.task else { panic!("{:?}", flats.task) };
    assert_eq!(target.name, "price");
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    assert!(mean(&flats.train.targets).abs() < 1e-5);
    let squares: Vec<f32> = flats.train.targets.iter().map(|t| t * t).collect();
    assert!((mean(&squares) - 1.0).abs() < 1e-5);
    // A float of the scaled target keeps a price to a cent: measured 2e-3 at most.
    let thousands = (target.unscaled(flats.train.targets[0]) - 500.0) / 1000.0;
    assert!((thousands - thousands.round()).abs() < 1e-5, "{thousands}");
    // Ten ranges with eight samples each, for partitions.
    assert_eq!(flats.train.histogram(flats.classes.len()), [8; 10]);
    assert!(flats.classes[0].starts_with("up to "), "{:?}", flats.classes);
    let kinds: Vec<usize> = flats.columns.iter().map(|column| column.width()).collect();
    assert_eq!(kinds, [1, 3]);
    // A row is encoded in the same way by whoever has the columns.
    let mut own = Vec::new();
    flats.columns[0].append("3", &mut own).unwrap();
    flats.columns[1].append("kiel", &mut own).unwrap();
    let mut seen = [0.0; 4];
    let is_the_row = |i: usize, seen: &mut [f32; 4]| {
        flats.write_train(i, 0, seen).unwrap();
        seen[..] == own[..]
    };
    assert!((0..80).any(|i| is_the_row(i, &mut seen)), "{own:?}");
    assert_eq!(
        flats.found.as_deref().unwrap(),
        "flats.csv: 100 rows of 3 columns: 1 number, 1 category, target \"price\" from 500 to 99500"
    );
    let kept = flats.with_train(&[5, 2]).unwrap();
    assert_eq!(kept.train.targets.len(), 2);
    let few = folder.path().join("few.csv");
    write(&few, b"x,y\n1,2\n");
    assert!(message(&path_of("csv:", &few, ":target=y"), &data_dir).contains("2 alone"));
}

#[test]
fn a_misspelt_name_gets_a_suggestion_and_the_list() {
    let (_folder, data_dir) = folder();
    assert_eq!(
        message("fashion-minst", &data_dir),
        "no dataset `fashion-minst`, did you mean `fashion-mnist`?; known are digits, mnist, \
         fashion-mnist, cifar10, cifar100, imagenette, `folder:PATH` (images, a folder a class) \
         and `csv:PATH`"
    );
    assert!(message("penguins", &data_dir).starts_with("no dataset `penguins`; known are"));
}

#[test]
fn parts_that_do_not_fit_make_no_dataset() {
    let normalisation = || Normalisation::bytes(&[0.5], &[0.5]);
    let classes = || vec!["a".to_owned(), "b".to_owned()];
    let part = |labels: &[u32], bytes| Samples::bytes(labels.to_vec(), vec![0; bytes]);
    let make = |train, input| {
        Dataset::new("own", classes(), input, (train, part(&[0], 4)), normalisation())
    };
    assert!(make(part(&[0, 1], 8), [2, 2, 1]).is_ok());
    assert!(matches!(make(part(&[0, 1], 7), [2, 2, 1]), Err(DataError::Length { .. })));
    assert!(matches!(make(part(&[0, 2], 8), [2, 2, 1]), Err(DataError::Index { .. })));
    assert!(matches!(make(part(&[0, 1], 8), [2, 1, 2]), Err(DataError::Length { .. })));
    assert!(make(part(&[0, 1], 0), [0, 2, 1]).is_err());
}
