//! Images decode to what Pillow decodes them to (`images/make.py`).
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};

use consort_data::formats::image;

fn file(name: &str) -> (Vec<u8>, PathBuf) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images").join(name);
    (std::fs::read(&path).unwrap(), path)
}

/// The largest difference of any byte from Pillow's.
fn difference(name: &str) -> u8 {
    let (bytes, path) = file(name);
    let picture = image::decode(&bytes, &path).unwrap();
    assert_eq!([picture.height, picture.width], [20, 24], "{name}");
    assert_eq!(image::size(&bytes, &path).unwrap(), [20, 24], "{name}");
    let expected = file(&(name.replace('.', "-") + ".rgb")).0;
    assert_eq!(picture.pixels.len(), expected.len(), "{name}");
    picture.pixels.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
}

#[test]
fn the_head_tells_shades_of_grey_from_colours() {
    for (name, is_grey) in [
        ("grey.png", true),
        ("grey.jpg", true),
        ("palette.png", false),
        ("alpha.png", false),
        ("baseline.jpg", false),
        ("cmyk.jpg", false),
    ] {
        let (bytes, path) = file(name);
        let head = image::head(&bytes, &path).unwrap();
        assert_eq!((head.size, head.is_grey), ([20, 24], is_grey), "{name}");
    }
}

#[test]
fn png_is_exact_whatever_its_colours() {
    for name in ["grey.png", "palette.png", "alpha.png", "deep.png"] {
        assert_eq!(difference(name), 0, "{name}");
    }
}

/// The standard leaves the rounding of the transform to the decoder, and how halved colours are
/// doubled again.
#[test]
fn jpeg_is_exact_up_to_rounding() {
    for (name, most) in [
        ("baseline.jpg", 2),
        ("progressive.jpg", 2),
        ("grey.jpg", 2),
        ("subsampled.jpg", 6),
        ("cmyk.jpg", 6),
    ] {
        let difference = difference(name);
        assert!(difference <= most, "{name}: {difference}");
    }
}

#[test]
fn damaged_images_are_refused_with_their_name() {
    for name in ["baseline.jpg", "progressive.jpg", "alpha.png"] {
        let (bytes, path) = file(name);
        for cut in [0, 1, 4, 20, 50, bytes.len() * 2 / 3] {
            let error = image::decode(&bytes[..cut], &path).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
    let html = image::decode(b"<html><body>not found", Path::new("cat.jpg")).unwrap_err();
    assert!(html.to_string().contains("an HTML page"), "{html}");
}

#[test]
fn a_picture_too_large_is_refused_before_memory_is_taken() {
    let (mut bytes, path) = file("grey.png");
    // Width and height stand behind the signature, the length and the name of the first chunk.
    bytes[16..24].copy_from_slice(&[0, 0, 0x7f, 0xff, 0, 0, 0x7f, 0xff]);
    let check = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&check.to_be_bytes());
    let error = image::decode(&bytes, &path).unwrap_err().to_string();
    assert!(error.contains("got 32767 x 32767"), "{error}");
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
