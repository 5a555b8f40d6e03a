//! `consort theory`: every claim holds, and the number of threads does not show.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use support::{consort_in, is_png};

#[test]
fn every_claim_holds_and_threads_do_not_show() {
    let temp = tempfile::tempdir().unwrap();
    let numbers = |threads: usize| {
        let line = format!("theory --seeds 2 --threads {threads} --out t{threads} --json");
        let answer = consort_in(temp.path(), &line).done().json();
        let findings = answer["findings"].as_array().unwrap().clone();
        assert!(findings.len() > 12);
        for finding in &findings {
            assert_eq!(finding["holds"], true, "{finding}");
        }
        ["theorem-1", "corollary", "beyond-mu"].map(|name| {
            let file = |ending: &str| temp.path().join(format!("t{threads}/{name}.{ending}"));
            assert!(is_png(&fs::read(file("png")).unwrap()));
            fs::read(file("csv")).unwrap()
        })
    };
    assert_eq!(numbers(1), numbers(2));
    consort_in(temp.path(), "theory --seeds 2 --out t1").failed(2, &["t1"]);
}
