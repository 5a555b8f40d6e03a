//! `consort runs prune`: removes runs, or only their checkpoints: what is listed, and only with
//! `--yes`.

use std::fs;
use std::path::{Path, PathBuf};

use super::listed::ListedRun;
use super::{bytes, find};
use crate::arguments::{PruneOptions, RunFilter, RunState};
use crate::commands::print_text;
use crate::failure::{Blame, Failure, tell};
use crate::training::{lock, plot_names};

const SECONDS_PER_DAY: u64 = 86_400;

/// What is removed of one run.
struct Cut {
    run: ListedRun,
    /// Files and folders, in the order in which they go.
    gone: Vec<PathBuf>,
    /// Names in the run's folder that consort does not give.
    stay: Vec<String>,
}

pub(super) fn run(options: &PruneOptions) -> Result<(), Failure> {
    let RunFilter { data, method, state } = &options.filter;
    let selects = data.is_some() || method.is_some() || state.is_some();
    let selects = selects || options.older_than.is_some() || options.all;
    if !selects && !options.checkpoints {
        return Err(Failure::input(
            "say which runs: --state, --data, --method or --older-than; or --all",
        ));
    }
    let mut runs = find(options.folder.as_deref(), &options.filter)?;
    if let Some(days) = options.older_than {
        runs.retain(|run| run.idle_seconds >= days.saturating_mul(SECONDS_PER_DAY));
    }
    if options.checkpoints && state.is_none() && !options.all {
        runs.retain(|run| matches!(run.state, RunState::Finished | RunState::Diverged));
    }
    let (running, runs): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.state == RunState::Running);
    for run in running {
        tell(&format!("{} is running, and stays as it is", run.path.display()));
    }
    let cut = |run| if options.checkpoints { checkpoints_of(run) } else { whole(run) };
    let cuts: Vec<Cut> = runs.into_iter().map(cut).filter(|cut| !cut.gone.is_empty()).collect();
    if cuts.is_empty() {
        return print_text("nothing to remove\n");
    }
    let size: u64 = cuts.iter().flat_map(|cut| &cut.gone).map(|path| size_of(path)).sum();
    print_text(&cuts.iter().map(told).collect::<String>())?;
    let (count, size) = (cuts.len(), bytes(size));
    let runs = if count == 1 { "run" } else { "runs" };
    if !options.yes {
        return print_text(&format!(
            "\nnothing was removed; with --yes, this would be, of {count} {runs}: {size}\n"
        ));
    }
    for cut in &cuts {
        remove(cut)?;
    }
    print_text(&format!("\nremoved of {count} {runs}: {size}\n"))
}

/// Everything that consort wrote, what makes it a run last: an interrupted removal can be repeated.
fn whole(run: ListedRun) -> Cut {
    let mut names = names_in(&run.path);
    let stay: Vec<String> = names.iter().filter(|name| !is_ours(name)).cloned().collect();
    names.retain(|name| is_ours(name));
    names.sort_by_key(|name| (is_mark(name), name.clone()));
    let gone = names.iter().map(|name| run.path.join(name)).collect();
    Cut { gone, stay, run }
}

/// The checkpoints of all trials.
fn checkpoints_of(run: ListedRun) -> Cut {
    let trials = run.path.join("trials");
    let mut gone = Vec::new();
    for trial in names_in(&trials) {
        let folder = trials.join(trial);
        let files = names_in(&folder).into_iter().filter(|name| name.ends_with(".checkpoint"));
        gone.extend(files.map(|name| folder.join(name)));
    }
    Cut { gone, stay: Vec::new(), run }
}

/// What a run cannot be recognised without.
fn is_mark(name: &str) -> bool {
    matches!(name, "config.toml" | "run.json" | ".lock")
}

fn is_ours(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let plot = matches!(ending, "svg" | "png" | "pdf" | "csv") && plot_names().any(|p| p == stem);
    let table = stem == "table" && matches!(ending, "txt" | "md" | "tex" | "csv");
    let partition = stem.starts_with("partition-seed-") && ending == "json";
    // A file that was being written when the machine died.
    let part = name.starts_with(".part-");
    let other =
        matches!(name, "trials" | "summary.json" | "report.html" | "sweep.json" | "best.toml");
    is_mark(name) || plot || table || partition || part || other
}

fn told(cut: &Cut) -> String {
    let path = cut.run.path.display();
    let mut text = format!("{path}: {}\n", cut.run.standing());
    for gone in &cut.gone {
        let name = gone.strip_prefix(&cut.run.path).unwrap_or(gone).display();
        let inside = files_in(gone);
        let inside = if gone.is_dir() { format!("/, {inside} files") } else { String::new() };
        text += &format!("  {name}{inside}, {}\n", bytes(size_of(gone)));
    }
    if !cut.stay.is_empty() {
        text += &format!("  these stay, consort did not write them: {}\n", cut.stay.join(", "));
    }
    text
}

fn remove(cut: &Cut) -> Result<(), Failure> {
    // No process can begin to work in it meanwhile.
    let _lock = lock(&cut.run.path)?;
    for path in &cut.gone {
        let outcome = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        outcome
            .map_err(|error| anyhow::anyhow!("cannot remove {}: {error}", path.display()))
            .or_work()?;
    }
    if cut.gone.iter().any(|path| path.ends_with("config.toml")) {
        // The lock has made its file anew, if there was none.
        let _ = fs::remove_file(cut.run.path.join(".lock"));
        if cut.stay.is_empty() {
            fs::remove_dir(&cut.run.path).or_work()?;
        }
    }
    Ok(())
}

fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(Result::ok);
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn size_of(path: &Path) -> u64 {
    match path.is_dir() {
        true => names_in(path).iter().map(|name| size_of(&path.join(name))).sum(),
        false => path.metadata().map_or(0, |about| about.len()),
    }
}

fn files_in(path: &Path) -> usize {
    match path.is_dir() {
        true => names_in(path).iter().map(|name| files_in(&path.join(name))).sum(),
        false => 1,
    }
}
