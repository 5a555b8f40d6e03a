//! CSV tables, as classifications and as regressions.
#![no_main]

use std::path::Path;

use consort_data::formats::csv::{self, Answer, CsvOptions, Missing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz");
    for regression in [false, true] {
        for missing in [Missing::Error, Missing::Drop, Missing::Fill] {
            let options = CsvOptions { regression, missing, ..CsvOptions::default() };
            let Ok(table) = csv::parse(data, path, &options) else { continue };
            let rows = match &table.answer {
                Answer::Classes { classes, labels, .. } => {
                    assert!(labels.iter().all(|&label| (label as usize) < classes.len()));
                    labels.len()
                }
                Answer::Numbers { values, .. } => {
                    assert!(values.iter().all(|value| value.is_finite()));
                    values.len()
                }
            };
            assert_eq!(table.values.len(), rows * table.columns.len());
            let known = |value: &f64| value.is_finite() || missing == Missing::Fill;
            assert!(table.values.iter().all(known));
        }
    }
    let _ = csv::records(data, path, None, None, &["label"]);
});
