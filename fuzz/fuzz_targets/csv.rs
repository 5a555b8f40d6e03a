//! CSV tables.
#![no_main]

use std::path::Path;

use consort_data::formats::csv;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(table) = csv::parse(data, Path::new("fuzz")) {
        assert_eq!(table.values.len(), table.labels.len() * table.columns.len());
        assert!(table.values.iter().all(|value| value.is_finite()));
        assert!(table.labels.iter().all(|&label| (label as usize) < table.classes.len()));
    }
});
