//! gzip, unpacked into no more memory than the data may take.

use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// Deflate never packs more than this many bytes into one.
const BEST_RATIO: usize = 1032;

/// `bytes` as they are, or unpacked if they are gzipped: the name of a file does not tell, since
/// browsers unpack on the way and keep the name.
///
/// # Errors
/// If the data are damaged, or longer than `limit` when unpacked.
pub fn unpack(bytes: Vec<u8>, limit: usize, path: &Path) -> Result<Vec<u8>, DataError> {
    let too_long = || {
        DataError::format(path, limit, format!("the end, after at most {limit} bytes"), "more data")
    };
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return if bytes.len() > limit { Err(too_long()) } else { Ok(bytes) };
    }
    let guess = bytes.len().saturating_mul(BEST_RATIO).min(limit);
    let mut unpacked = Vec::with_capacity(guess.min(1 << 26));
    let mut decoder = MultiGzDecoder::new(&bytes[..]).take(limit as u64 + 1);
    if let Err(error) = decoder.read_to_end(&mut unpacked) {
        let got = match error.kind() {
            ErrorKind::UnexpectedEof => "the end of the file (cut off?)".to_owned(),
            _ => format!("damaged data: {error}"),
        };
        return Err(DataError::format(path, unpacked.len(), "more gzipped data", got));
    }
    if unpacked.len() > limit { Err(too_long()) } else { Ok(unpacked) }
}
