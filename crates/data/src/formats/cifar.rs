//! The binary files of CIFAR: records of one or two labels and 32x32 pixels, colour by colour.
//!
//! ```text
//!   CIFAR-10:  label | 1024 red | 1024 green | 1024 blue
//!   CIFAR-100: coarse label | fine label | 1024 red | 1024 green | 1024 blue
//! ```

use std::path::Path;

use super::describe;
use crate::DataError;

/// Pixels of one colour of one image.
const PLANE: usize = 32 * 32;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ten classes, one label a record.
    Cifar10,
    /// A hundred classes; the first of a record's two labels, its group, is not kept.
    Cifar100,
}

impl Kind {
    /// Bytes of a record.
    pub const fn record(self) -> usize {
        self.labels() + 3 * PLANE
    }

    const fn labels(self) -> usize {
        match self {
            Kind::Cifar10 => 1,
            Kind::Cifar100 => 2,
        }
    }

    const fn classes(self) -> u8 {
        match self {
            Kind::Cifar10 => 10,
            Kind::Cifar100 => 100,
        }
    }
}

/// Appends the records of a file to `labels` and `pixels`, the latter rows, pixels, colours
/// innermost.
///
/// # Errors
/// If the file is no whole number of records, at least one, or a label is too large.
pub fn append(
    kind: Kind,
    bytes: &[u8],
    path: &Path,
    labels: &mut Vec<u32>,
    pixels: &mut Vec<u8>,
) -> Result<(), DataError> {
    let size = kind.record();
    let records = bytes.chunks_exact(size);
    let (count, rest) = (records.len(), records.remainder().len());
    if count == 0 || rest != 0 {
        let got = match count {
            0 => format!("{} bytes, {}", bytes.len(), describe(bytes)),
            _ => format!("{rest} bytes (cut off?)"),
        };
        return Err(DataError::format(
            path,
            count * size,
            format!("a record of {size} bytes"),
            got,
        ));
    }
    labels.reserve(count);
    pixels.reserve(count * 3 * PLANE);
    for (i, record) in records.enumerate() {
        let (label, planes) = record.split_at(kind.labels());
        let label = label[kind.labels() - 1];
        if label >= kind.classes() {
            return Err(DataError::format(
                path,
                i * size + kind.labels() - 1,
                format!("a label below {}", kind.classes()),
                describe_label(label, bytes),
            ));
        }
        labels.push(u32::from(label));
        let (red, rest) = planes.split_at(PLANE);
        let (green, blue) = rest.split_at(PLANE);
        let start = pixels.len();
        pixels.resize(start + 3 * PLANE, 0);
        let image = pixels[start..].as_chunks_mut::<3>().0;
        for (((pixel, &red), &green), &blue) in image.iter_mut().zip(red).zip(green).zip(blue) {
            *pixel = [red, green, blue];
        }
    }
    Ok(())
}

/// A label that is too large may be the first sign that the file is another one altogether.
fn describe_label(label: u8, bytes: &[u8]) -> String {
    let whole = describe(bytes);
    if whole.starts_with("bytes") {
        label.to_string()
    } else {
        format!("{label} (this is {whole})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(kind: Kind, bytes: &[u8]) -> Result<(Vec<u32>, Vec<u8>), DataError> {
        let (mut labels, mut pixels) = (Vec::new(), Vec::new());
        append(kind, bytes, Path::new("f"), &mut labels, &mut pixels)?;
        Ok((labels, pixels))
    }

    fn record(labels: &[u8], pixel: impl Fn(usize, usize) -> u8) -> Vec<u8> {
        let mut bytes = labels.to_vec();
        bytes.extend((0..3 * PLANE).map(|i| pixel(i / PLANE, i % PLANE)));
        bytes
    }

    #[test]
    fn colours_become_innermost() {
        let image = |colour: usize, at: usize| (colour * 80 + at % 61) as u8;
        for (kind, label) in [(Kind::Cifar10, &[7][..]), (Kind::Cifar100, &[19, 99][..])] {
            let (labels, pixels) = read(kind, &record(label, image)).unwrap();
            assert_eq!(labels, [u32::from(*label.last().unwrap())]);
            for at in 0..PLANE {
                for colour in 0..3 {
                    assert_eq!(pixels[3 * at + colour], image(colour, at));
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let mut bytes = record(&[3], |_, _| 0);
        bytes.extend(record(&[10], |_, _| 0));
        let message = |bytes: &[u8]| read(Kind::Cifar10, bytes).unwrap_err().to_string();
        assert_eq!(message(&bytes), "f, byte 3073: expected a label below 10, got 10");
        assert_eq!(
            message(&bytes[..4000]),
            "f, byte 3073: expected a record of 3073 bytes, got 927 bytes (cut off?)"
        );
        assert!(
            message(b"<html>").ends_with("got 6 bytes, an HTML page (a download that failed?)")
        );
        assert!(message(b"").contains("an empty file"));
    }

    proptest! {
        #[test]
        fn any_number_of_records_reads_back(count in 1_usize..5, extra in 1_usize..3072) {
            let mut bytes = Vec::new();
            for i in 0..count {
                bytes.extend(record(&[0, i as u8], |_, at| (at + i) as u8));
            }
            let (labels, pixels) = read(Kind::Cifar100, &bytes).unwrap();
            prop_assert_eq!(labels, (0..count as u32).collect::<Vec<_>>());
            prop_assert_eq!(pixels.len(), count * 3 * PLANE);
            bytes.truncate(bytes.len() - extra);
            prop_assert!(read(Kind::Cifar100, &bytes).is_err());
        }
    }
}
