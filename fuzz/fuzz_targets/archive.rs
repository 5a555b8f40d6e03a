//! tar archives, plain and gzipped by this target, since the fuzzer cannot see into compressed data.
#![no_main]

use std::io::{self, Read, Write};
use std::path::{Component, Path};

use consort_data::formats::archive;
use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 1 << 18;

fuzz_target!(|data: &[u8]| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(data).expect("memory");
    let packed = encoder.finish().expect("memory");
    for bytes in [data, &packed] {
        let mut total = 0;
        let _ = archive::unpack(bytes, LIMIT, Path::new("fuzz"), &mut |path, file| {
            assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            total += io::copy(&mut file.take(LIMIT * 2), &mut io::sink())?;
            assert!(total <= LIMIT);
            Ok(())
        });
    }
});
