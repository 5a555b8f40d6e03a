//! `consort reproduce`: a trial is run once, its entry says everything, and what is generated
//! from the ledger of this repository is up to date.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use support::{command_in, consort_in, is_png, json_file, names};

/// One cell at a tenth of its length.
const SMALL: &str = "reproduce digits --rows dsgd,gut --seeds 2 --scale 0.1";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn a_trial_is_run_once_and_its_entry_says_everything() {
    let temp = tempfile::tempdir().unwrap();
    let first = consort_in(temp.path(), SMALL).done();
    assert!(first.stdout.contains("scaled down: 0.1 of the paper's epochs"), "{}", first.stdout);
    assert_eq!(first.stderr.matches(" of 4: ").count(), 4, "{}", first.stderr);
    let results = temp.path().join("results");
    let files = names(&results);
    assert_eq!(files.len(), 4);
    let entry = json_file(&results.join(&files[0]));
    for key in ["hash", "seed", "settings", "commit", "machine", "seconds", "outcome", "curve"] {
        assert!(entry.get(key).is_some(), "{key}");
    }
    assert!(entry["checksum"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(entry["scale"], 0.1);
    // The work folder is empty again, and the same command runs nothing.
    let left = names(&temp.path().join("runs/reproduce"));
    assert!(left.iter().all(|name| name == ".lock"), "{left:?}");
    let again = consort_in(temp.path(), SMALL).done();
    assert_eq!((again.stderr.as_str(), again.stdout), ("", first.stdout));
}

#[test]
fn other_lengths_are_other_trials_and_never_mix() {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), SMALL).done();
    let full = consort_in(temp.path(), "reproduce digits --show").done();
    assert!(full.stdout.contains("full length"), "{}", full.stdout);
    assert!(!full.stdout.contains("(2)"), "{}", full.stdout);
    let scaled = consort_in(temp.path(), "reproduce digits --show --scale 0.1 --format latex");
    assert!(scaled.done().stdout.contains("(2)"));
}

#[test]
fn a_killed_run_goes_on_and_ends_in_the_same_bits() {
    let temp = tempfile::tempdir().unwrap();
    let line = "reproduce digits --rows qg-gutm --seeds 3";
    let mut child = command_in(temp.path(), line).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(150));
    child.kill().unwrap();
    child.wait().unwrap();
    consort_in(temp.path(), line).done();
    let undisturbed = tempfile::tempdir().unwrap();
    consort_in(undisturbed.path(), line).done();
    let sums = |folder: &Path| {
        let results = folder.join("results");
        let sum = |name: &String| json_file(&results.join(name))["checksum"].to_string();
        names(&results).iter().map(sum).collect::<Vec<_>>()
    };
    assert_eq!(sums(temp.path()).len(), 3);
    assert_eq!(sums(temp.path()), sums(undisturbed.path()));
}

/// Bits do not depend on the machine: some of the ledger's own trials, here and now.
#[test]
fn trials_of_the_ledger_give_the_same_bits_here() {
    let temp = tempfile::tempdir().unwrap();
    let results = temp.path().join("results");
    fs::create_dir(&results).unwrap();
    let ledger = repository().join("results");
    for name in names(&ledger).iter().filter(|name| name.starts_with("digits-")) {
        fs::copy(ledger.join(name), results.join(name)).unwrap();
    }
    let answer = consort_in(temp.path(), "reproduce --verify 3 --verify-seed 1").done();
    assert!(answer.stderr.contains("3 of 3 trials run again: the same bits"), "{}", answer.stderr);
    // Verification sees a difference.
    for name in names(&results) {
        let text = fs::read_to_string(results.join(&name)).unwrap();
        fs::write(results.join(&name), text.replace("sha256:", "sha256:0")).unwrap();
    }
    let answer = consort_in(temp.path(), "reproduce --verify 1 --verify-seed 1");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains("DIFFERENT BITS"), "{}", answer.stderr);
}

/// RESULTS.md, tables and plots are what the ledger says.
#[test]
fn what_is_generated_is_up_to_date() {
    let answer = consort_in(&repository(), "reproduce --report --check").done();
    assert!(answer.stderr.contains("are up to date"), "{}", answer.stderr);
}

#[test]
fn a_table_can_be_drawn() {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), &format!("{SMALL} --plots pictures")).done();
    let pictures = names(&temp.path().join("pictures"));
    assert!(pictures.iter().any(|name| name.ends_with(".svg")), "{pictures:?}");
    for name in pictures.iter().filter(|name| name.ends_with(".png")) {
        assert!(is_png(&fs::read(temp.path().join("pictures").join(name)).unwrap()));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let temp = tempfile::tempdir().unwrap();
    for (line, parts) in [
        ("reproduce", &["which table or figure", "--list"][..]),
        ("reproduce table1", &["did you mean table-1?"]),
        ("reproduce table-1 --rows vgg", &["no row", "vgg11-16/alpha-0.1/gut"]),
        ("reproduce table-1 --scale 2", &["--scale", "up to 1"]),
        ("reproduce --verify 1", &["contains no trial"]),
        ("reproduce --report", &["RESULTS.md", "root of the repository"]),
    ] {
        consort_in(temp.path(), line).failed(2, parts);
    }
    let list = consort_in(temp.path(), "reproduce --list digits").done();
    assert!(list.stdout.contains("0 of 12"), "{}", list.stdout);
}
