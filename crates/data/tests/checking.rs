//! Checking a dataset: everything that is damaged is named, not the first alone.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;

use consort_data::{DataDir, DataError, Inspection, check};
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

fn checked(name: &str, data_dir: &DataDir) -> Inspection {
    check(name, data_dir, &mut |_, _| ()).unwrap()
}

fn damages(found: &Inspection) -> Vec<String> {
    found.damaged.iter().map(ToString::to_string).collect()
}

fn png(shade: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 16, 16);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let pixels: Vec<u8> = (0..16 * 16 * 3).map(|i| (i as u8).wrapping_mul(31) ^ shade).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    bytes
}

#[test]
fn digits_are_whole() {
    let (_folder, data_dir) = folder();
    let found = checked("digits", &data_dir);
    assert_eq!((found.train.iter().sum::<usize>(), found.test.iter().sum::<usize>()), (1438, 359));
    assert!(found.damaged.is_empty());
}

/// A cut file of images and a label that cannot be, in the same dataset: both are told.
#[test]
fn every_damaged_file_of_idx_is_named() {
    let (folder, data_dir) = folder();
    let place = folder.path().join("fashion-mnist");
    for (part, count) in [("train", 60_000_u32), ("t10k", 10_000)] {
        let mut images =
            [&[0, 0, 8, 3][..], &count.to_be_bytes(), &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
        images.resize(16 + 784 * count as usize, 9);
        let mut labels = [&[0, 0, 8, 1][..], &count.to_be_bytes()].concat();
        labels.extend((0..count).map(|n| (n % 10) as u8));
        write(place.join(format!("{part}-images-idx3-ubyte")), &images);
        write(place.join(format!("{part}-labels-idx1-ubyte")), &labels);
    }
    let whole = checked("fashion-mnist", &data_dir);
    assert!(whole.damaged.is_empty(), "{:?}", damages(&whole));
    assert_eq!((whole.train[3], whole.test[3]), (6000, 1000));

    let images = place.join("train-images-idx3-ubyte");
    fs::write(&images, &fs::read(&images).unwrap()[..1_000_000]).unwrap();
    let labels = place.join("t10k-labels-idx1-ubyte");
    let mut bytes = fs::read(&labels).unwrap();
    bytes[8 + 4321] = 10;
    fs::write(&labels, bytes).unwrap();
    let told = damages(&checked("fashion-mnist", &data_dir));
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("train-images-idx3-ubyte") && told[0].contains("999984 bytes"));
    assert!(told[1].contains("t10k-labels-idx1-ubyte, byte 4329"), "{}", told[1]);
    assert!(told[1].ends_with("(record 4321, counted from 0)"), "{}", told[1]);
}

/// Batches that are cut in the middle of a record, or hold a label that cannot be.
#[test]
fn every_damaged_batch_of_cifar_is_named_with_its_record() {
    let (folder, data_dir) = folder();
    let place = folder.path().join("cifar-10-batches-bin");
    let mut records = vec![5_u8; 3073 * 10_000];
    records.chunks_exact_mut(3073).enumerate().for_each(|(i, r)| r[0] = (i % 10) as u8);
    for batch in 1..=5 {
        write(place.join(format!("data_batch_{batch}.bin")), &records);
    }
    write(place.join("test_batch.bin"), &records);
    write(place.join("data_batch_2.bin"), &records[..3073 * 1234 + 17]);
    let mut wrong = records.clone();
    wrong[3073 * 77] = 200;
    write(place.join("data_batch_4.bin"), &wrong);
    let found = checked("cifar10", &data_dir);
    let told = damages(&found);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("data_batch_2.bin") && told[0].contains("17 bytes (cut off?)"));
    assert!(told[0].contains("(record 1234"), "{}", told[0]);
    assert!(told[1].contains("data_batch_4.bin") && told[1].contains("(record 77"), "{}", told[1]);
    assert_eq!((found.train[0], found.test[0]), (3000, 1000));

    // A cut between two records is a cut too.
    write(place.join("data_batch_2.bin"), &records[..3073 * 1234]);
    assert!(damages(&checked("cifar10", &data_dir))[0].contains("30730000 bytes in all"));
}

/// CIFAR-100 is checked on made records only: no registry offers the real files.
#[test]
fn cifar_100_is_checked_by_its_fine_labels() {
    let (folder, data_dir) = folder();
    for (name, count) in [("train", 50_000), ("test", 10_000)] {
        let mut records = vec![7; 3074 * count];
        for (i, record) in records.chunks_exact_mut(3074).enumerate() {
            record[..2].copy_from_slice(&[(i % 20) as u8, (i % 100) as u8]);
        }
        if name == "test" {
            records[3074 * 9 + 1] = 100;
        }
        write(folder.path().join("cifar-100-binary").join(format!("{name}.bin")), &records);
    }
    let found = checked("cifar100", &data_dir);
    assert_eq!(found.train, [500; 100]);
    let told = damages(&found);
    assert!(told.len() == 1 && told[0].contains("(record 9,"), "{told:?}");
}

#[test]
fn every_damaged_image_of_a_folder_is_named() {
    let (folder, data_dir) = folder();
    let root = folder.path().join("photos");
    for class in ["cat", "dog"] {
        for i in 0..10 {
            write(root.join(class).join(format!("{i}.png")), &png(i));
        }
    }
    let name = format!("folder:{}", root.display());
    let whole = checked(&name, &data_dir);
    assert_eq!((whole.train, whole.test), (vec![8, 8], vec![2, 2]));
    assert!(whole.damaged.is_empty());

    let image = png(1);
    // Its head is whole, so that loading alone would not notice.
    write(root.join("cat/3.png"), &image[..image.len() / 2]);
    let mut flipped = png(2);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    write(root.join("dog/4.png"), &flipped);
    write(root.join("dog/5.jpg"), b"<!DOCTYPE html>");
    let jpeg = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images/baseline.jpg");
    let jpeg = fs::read(jpeg).unwrap();
    write(root.join("dog/6.jpg"), &jpeg[..jpeg.len() * 2 / 3]);
    write(root.join("dog/7.jpg"), &jpeg);
    let mut steps = Vec::new();
    let found = check(&name, &data_dir, &mut |done, total| steps.push((done, total))).unwrap();
    assert_eq!(steps.last(), Some(&(23, 23)));
    let mut told = damages(&found);
    told.sort();
    assert_eq!(told.len(), 4, "{told:?}");
    for (told, part) in told.iter().zip(["cat/3.png", "dog/4.png", "dog/5.jpg", "dog/6.jpg"]) {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(found.train.iter().chain(&found.test).sum::<usize>(), 19);
}

#[test]
fn a_table_is_told_with_its_row_and_what_is_missing_with_advice() {
    let (folder, data_dir) = folder();
    let path = folder.path().join("t.csv");
    write(&path, b"x,label\n1,a\n2,b\nthree,a\n");
    let found = checked(&format!("csv:{}", path.display()), &data_dir);
    assert!(damages(&found)[0].contains("line 4"), "{:?}", damages(&found));
    let missing = |name: &str| check(name, &data_dir, &mut |_, _| ()).unwrap_err();
    assert!(matches!(missing("cifar10"), DataError::Missing { .. }));
    assert!(matches!(missing("imagenette"), DataError::Missing { .. }));
    assert!(matches!(missing("csv:none.csv"), DataError::FileSystem { .. }));
    assert!(matches!(missing("cifer10"), DataError::Unknown { .. }));
}
