//! JPEG and PNG images.
#![no_main]

use std::path::Path;

use consort_data::formats::image;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz");
    // Large pictures are allowed, but would only make the fuzzer slow.
    let Ok([height, width]) = image::size(data, path) else { return };
    if height * width > 1 << 18 {
        return;
    }
    if let Ok(picture) = image::decode(data, path) {
        assert_eq!([picture.height, picture.width], [height, width]);
        assert_eq!(picture.pixels.len(), height * width * 3);
    }
});
