//! IDX, the format of MNIST: a magic number, big-endian sizes, bytes.
//!
//! ```text
//!   images: 00 00 08 03 | count | rows | columns | pixels        labels: 00 00 08 01 | count | labels
//! ```

use std::path::Path;

use super::describe;
use crate::DataError;

/// Grey images of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Images<'a> {
    /// How many.
    pub count: usize,
    /// Their height.
    pub rows: usize,
    /// Their width.
    pub columns: usize,
    /// Image after image, row after row.
    pub pixels: &'a [u8],
}

/// Reads a file of images.
///
/// # Errors
/// If it is another file, or its length is not what its header says.
pub fn images<'a>(bytes: &'a [u8], path: &Path) -> Result<Images<'a>, DataError> {
    let ([count, rows, columns], pixels) = open(bytes, "images", path)?;
    Ok(Images { count, rows, columns, pixels })
}

/// Reads a file of labels, each below `classes`.
///
/// # Errors
/// If it is another file, its length is not what its header says, or a label is too large.
pub fn labels<'a>(bytes: &'a [u8], classes: usize, path: &Path) -> Result<&'a [u8], DataError> {
    let ([_], labels) = open(bytes, "labels", path)?;
    match labels.iter().position(|&label| usize::from(label) >= classes) {
        None => Ok(labels),
        Some(at) => Err(DataError::format(
            path,
            8 + at,
            format!("a label below {classes}"),
            format!("{}", labels[at]),
        )),
    }
}

/// The sizes of a header of `N` dimensions, and the bytes behind it.
fn open<'a, const N: usize>(
    bytes: &'a [u8],
    what: &str,
    path: &Path,
) -> Result<([usize; N], &'a [u8]), DataError> {
    let magic = [0, 0, 8, N as u8];
    if !bytes.starts_with(&magic) {
        let expected = format!("an IDX file of {what}, which begins with 00 00 08 {N:02x}");
        return Err(DataError::format(path, 0, expected, describe(bytes)));
    }
    let mut sizes = [0; N];
    for (i, size) in sizes.iter_mut().enumerate() {
        let Some(&field) = bytes.get(4 + 4 * i..).and_then(|rest| rest.first_chunk::<4>()) else {
            let expected = format!("a header of {} bytes", 4 + 4 * N);
            return Err(DataError::format(path, bytes.len(), expected, "the end of the file"));
        };
        *size = u32::from_be_bytes(field) as usize;
    }
    let data = &bytes[4 + 4 * N..];
    let expected = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    if expected != Some(data.len()) {
        let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
        return Err(DataError::format(
            path,
            4 + 4 * N,
            format!("{} bytes of {what}, as the header says", sizes.join(" x ")),
            format!("{} bytes", data.len()),
        ));
    }
    Ok((sizes, data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(magic: u8, sizes: &[u32], data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, magic];
        bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
        bytes.extend(data);
        bytes
    }

    fn message<T: std::fmt::Debug>(result: Result<T, DataError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_small_file_reads_as_written() {
        let bytes = file(3, &[2, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let images = images(&bytes, Path::new("a")).unwrap();
        assert_eq!((images.count, images.rows, images.columns), (2, 2, 3));
        assert_eq!(images.pixels[6..], [7, 8, 9, 10, 11, 12]);
        let bytes = file(1, &[3], &[2, 0, 1]);
        assert_eq!(labels(&bytes, 3, Path::new("b")).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let path = Path::new("f");
        let bytes = file(1, &[3], &[2, 0, 1]);
        assert_eq!(message(labels(&bytes, 2, path)), "f, byte 8: expected a label below 2, got 2");
        assert_eq!(
            message(images(&bytes, path)),
            "f, byte 0: expected an IDX file of images, which begins with 00 00 08 03, \
             got bytes 00 00 08 01 00 00 00 03"
        );
        assert!(message(images(b"  <!DOCTYPE html><p>404", path)).contains("an HTML page"));
        assert!(message(images(b"", path)).contains("an empty file"));
        assert_eq!(
            message(images(&[0, 0, 8, 3, 0, 0], path)),
            "f, byte 6: expected a header of 16 bytes, got the end of the file"
        );
        let huge = file(3, &[u32::MAX, u32::MAX, u32::MAX], &[0; 5]);
        assert_eq!(
            message(images(&huge, path)),
            "f, byte 16: expected 4294967295 x 4294967295 x 4294967295 bytes of images, \
             as the header says, got 5 bytes"
        );
    }

    proptest! {
        #[test]
        fn every_shape_reads_back_and_every_other_length_is_refused(
            count in 0_u32..5, rows in 0_u32..9, columns in 0_u32..9, cut in 1_usize..40,
        ) {
            let data: Vec<u8> = (0..count * rows * columns).map(|i| i as u8).collect();
            let mut bytes = file(3, &[count, rows, columns], &data);
            prop_assert_eq!(images(&bytes, Path::new("a")).unwrap().pixels, &data[..]);
            let whole = bytes.len();
            prop_assert!(images(&bytes[..whole.saturating_sub(cut)], Path::new("a")).is_err());
            bytes.push(0);
            prop_assert!(images(&bytes, Path::new("a")).is_err());
        }
    }
}
