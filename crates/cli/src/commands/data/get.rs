//! `consort data get`: downloads a dataset, or says where it is.

use consort_data::catalogue::Entry;
use consort_data::fetch::{self, FetchOptions};
use consort_data::{DataDir, presence};
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::print_text;
use crate::failure::{Blame, Failure, tell};

pub(super) fn run(
    name: &str,
    options: &FetchOptions,
    dry_run: bool,
    data_dir: &DataDir,
) -> Result<(), Failure> {
    let Some(entry) = Entry::find(name) else {
        // The loader suggests a similar name.
        return consort_data::load(name, data_dir).or_input().map(drop);
    };
    let found = presence(entry, data_dir);
    match (&found.folder, found.is_complete) {
        (None, true) => {
            return print_text(&format!("{} is built in: nothing is fetched\n", entry.name));
        }
        (Some(folder), true) => {
            let (name, folder) = (entry.name, folder.display());
            print_text(&format!("{name} was found in {folder}: nothing is fetched\n"))?;
            return match dry_run {
                true => Ok(()),
                false => usable(entry, data_dir),
            };
        }
        (Some(folder), false) => {
            let problems = found.problems.join("\n  ");
            let words = format!(
                "{} was found in {}, but not all of it:\n  {problems}\n  move that folder away to \
                 fetch the whole, or use what is there",
                entry.name,
                folder.display()
            );
            // Folders that miss whole files are completed.
            let cut = found.problems.iter().any(|problem| !problem.ends_with("is missing"));
            if cut || entry.files.is_empty() {
                return Err(Failure::input(words));
            }
        }
        (None, false) => {}
    }
    print_text(&(fetch::plan(entry, data_dir, options) + "\n"))?;
    if dry_run {
        return Ok(());
    }
    let template = "{msg:32!} [{bar:32}] {bytes} of {total_bytes}  {bytes_per_sec}, {eta} left";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(entry.download_bytes()).with_style(style);
    let mut progress = |progress: fetch::Progress<'_>| {
        bar.set_message(progress.file.to_string());
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    };
    let place = fetch::fetch(entry, data_dir, options, &mut progress).or_work()?;
    bar.finish_and_clear();
    tell(&format!("{} is in {}", entry.name, place.display()));
    usable(entry, data_dir)
}

/// Reads a dataset once, to check that it can be used.
fn usable(entry: &Entry, data_dir: &DataDir) -> Result<(), Failure> {
    consort_data::load(entry.name, data_dir).or_work().map(drop)
}
