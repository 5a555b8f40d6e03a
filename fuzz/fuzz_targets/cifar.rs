//! The binary files of CIFAR-10 and CIFAR-100.
#![no_main]

use std::path::Path;

use consort_data::formats::cifar::{self, Kind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for (kind, classes) in [(Kind::Cifar10, 10), (Kind::Cifar100, 100)] {
        // Also whole records, whose length the fuzzer would rarely hit.
        let record = kind.record();
        let whole = data.iter().copied().cycle().take(record * (data.len().min(3)));
        let whole: Vec<u8> = whole.collect();
        for bytes in [data, &whole] {
            let (mut labels, mut pixels) = (Vec::new(), Vec::new());
            if cifar::append(kind, bytes, Path::new("fuzz"), &mut labels, &mut pixels).is_ok() {
                assert_eq!(labels.len() * record, bytes.len());
                assert_eq!(labels.len() * 3072, pixels.len());
                assert!(labels.iter().all(|&label| label < classes));
            }
        }
    }
});
