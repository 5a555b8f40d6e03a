//! IDX files, plain or gzipped: never a panic, never more memory than the limit.
#![no_main]

use std::path::Path;

use consort_data::formats::{gzip, idx};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz");
    let Ok(bytes) = gzip::unpack(data.to_vec(), 1 << 16, path) else { return };
    assert!(bytes.len() <= 1 << 16);
    if let Ok(images) = idx::images(&bytes, path) {
        assert_eq!(images.pixels.len(), images.count * images.rows * images.columns);
    }
    if let Ok(labels) = idx::labels(&bytes, 10, path) {
        assert!(labels.iter().all(|&label| label < 10));
    }
});
