//! Tells the binary which commit it was built from, so that results can name it.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let mark = if changed.is_some_and(|files| !files.is_empty()) { "+changes" } else { "" };
    println!("cargo::rustc-env=CONSORT_COMMIT={commit}{mark}");
    // The reflog grows with every commit; without git there is nothing to watch.
    if let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=src");
}
