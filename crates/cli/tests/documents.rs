//! The documents for developers are true of the tree: files that they name exist, and a crate uses
//! only what the picture has above it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// What stands between backticks and looks like a file or a folder.
fn paths(line: &str) -> Vec<&str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let ends = [".rs", ".py", ".toml", ".md", "/"];
        let named = ends.iter().any(|end| word.ends_with(end)) || word.contains('/');
        named && !word.starts_with("//") && !word.contains([' ', '<', '(', '=', ':', '*'])
    };
    quoted.filter(is_path).collect()
}

/// Where `path` may lie: in the tree, in a crate that it begins with (`node/drive.rs`), in the crate
/// that was named last, or beside the file that was named last.
fn places(path: &str, last_crate: &str, last_folder: &Path) -> Vec<PathBuf> {
    // `NAME.rs` is any file of that folder.
    let path = path.split("NAME").next().unwrap().trim_end_matches('/');
    let crates = root().join("crates");
    let mut all = vec![root().join(path), last_folder.join(path)];
    all.extend([
        crates.join(last_crate).join("src").join(path),
        crates.join(last_crate).join(path),
    ]);
    if let Some((first, rest)) = path.split_once('/') {
        all.push(crates.join(first).join("src").join(rest));
    }
    all
}

#[test]
fn every_file_that_is_named_exists() {
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = document(name);
        let (mut last_crate, mut last_folder) = (String::new(), root());
        let mut count = 0;
        for (number, line) in text.lines().enumerate() {
            for path in paths(line) {
                if let Some(rest) = path.strip_prefix("crates/") {
                    last_crate = rest.split('/').next().unwrap().to_string();
                }
                let places = places(path, &last_crate, &last_folder);
                let found = places.into_iter().find(|place| place.exists());
                let found = found
                    .unwrap_or_else(|| panic!("{name}, line {}: there is no {path}", number + 1));
                last_folder = found.parent().unwrap().to_path_buf();
                count += 1;
            }
        }
        assert!(count > 30, "{name} names only {count} files");
    }
}

/// One mini-batch from the file to the plot: no file twice.
#[test]
fn the_road_of_a_mini_batch_does_not_turn_back() {
    let text = document("ARCHITECTURE.md");
    let (_, road) = text.split_once("## The road of one mini-batch").unwrap();
    let (road, _) = road.split_once("\n## ").unwrap();
    let mut seen = HashSet::new();
    for line in road.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let path = paths(line)[0];
        assert!(seen.insert(path), "{path} stands on the road twice");
    }
    assert!(seen.len() > 25, "{} files", seen.len());
}

/// The crate that each line of the picture is about, from above.
fn picture() -> Vec<String> {
    let text = document("ARCHITECTURE.md");
    let picture = text.split("```").nth(1).unwrap();
    let word = |line: &str| {
        let from = line.find(|c: char| c.is_ascii_lowercase())?;
        let rest = &line[from..];
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        Some(rest[..end.unwrap_or(rest.len())].to_string())
    };
    picture.lines().skip(1).filter_map(word).collect()
}

#[test]
fn a_crate_uses_only_what_the_picture_has_above_it() {
    let picture = picture();
    let place = |name: &str| {
        picture.iter().position(|drawn| drawn == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let mut crates = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let own = folder.file_name().unwrap().to_str().unwrap().to_string();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let (_, uses) = manifest.split_once("[dependencies]").unwrap_or_default();
        let uses = uses.split("\n[").next().unwrap();
        for line in uses.lines().filter_map(|line| line.strip_prefix("consort-")) {
            let end = line.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap();
            let used = line[..end].replace('-', "_");
            assert!(place(&used) < place(&own), "{own} uses {used}, which is below it");
        }
        crates += 1;
    }
    assert_eq!(crates, picture.len(), "{picture:?}");
}
