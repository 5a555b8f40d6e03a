//! `consort runs`: the runs in a folder and where they stand; `consort runs prune` removes some.

mod listed;
mod prune;

use std::path::{Path, PathBuf};

use self::listed::ListedRun;
use super::{print_json, print_text};
use crate::arguments::{RunFilter, RunState, RunsAction, RunsOptions};
use crate::failure::Failure;
use crate::{missing_file, table};

pub(crate) fn run(options: &RunsOptions) -> Result<(), Failure> {
    if let Some(RunsAction::Prune(options)) = &options.action {
        return prune::run(options);
    }
    let runs = find(options.folder.as_deref(), &options.filter)?;
    if options.json {
        return print_json(&runs);
    }
    if runs.is_empty() {
        return print_text("no such runs\n");
    }
    print_text(&text(&runs))
}

fn text(runs: &[ListedRun]) -> String {
    let row = |run: &ListedRun| {
        vec![
            run.path.display().to_string(),
            run.standing(),
            run.data.clone(),
            run.model.clone(),
            run.methods.join(", "),
            run.best.as_ref().map_or("-".into(), ToString::to_string),
            run.started.clone().unwrap_or("-".into()),
            bytes(run.bytes),
        ]
    };
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let header = ["run", "state", "data", "model", "methods", "best accuracy", "started", "size"];
    let mut text = table::render(&header, &rows);
    for run in runs {
        if let Some(problem) = &run.problem {
            text += &format!("\n{problem}\n");
        }
    }
    let stopped = runs.iter().find(|run| run.state == RunState::Stopped);
    if let Some(run) = stopped {
        text += &format!("\nContinue a stopped run with: consort resume {}\n", run.path.display());
    }
    text
}

/// The runs in `folder` (by default `runs`) that the filter lets through, the newest first.
fn find(folder: Option<&Path>, filter: &RunFilter) -> Result<Vec<ListedRun>, Failure> {
    let folder = folder.unwrap_or(Path::new("runs"));
    if !folder.is_dir() {
        let advice = "`consort train` writes its runs into runs/";
        return Err(missing_file::refused("the folder", folder, &[], advice));
    }
    let mut paths = Vec::new();
    look_for_runs(folder, 4, &mut paths);
    let mut runs: Vec<ListedRun> = paths.into_iter().map(ListedRun::read).collect();
    runs.retain(|run| run.passes(filter));
    runs.sort_by(|a, b| (&b.started, &a.path).cmp(&(&a.started, &b.path)));
    Ok(runs)
}

/// Adds `folder` if it is a run; otherwise the runs in it, at most so many levels down.
fn look_for_runs(folder: &Path, levels: usize, found: &mut Vec<PathBuf>) {
    if folder.join("config.toml").is_file() && folder.join("run.json").is_file() {
        return found.push(folder.to_owned());
    }
    let Some(levels) = levels.checked_sub(1) else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    // A link may lead anywhere, also back here.
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut inside: Vec<PathBuf> =
        entries.filter_map(Result::ok).filter(is_folder).map(|entry| entry.path()).collect();
    inside.sort();
    inside.iter().for_each(|folder| look_for_runs(folder, levels, found));
}

/// `12.3 MB`.
fn bytes(count: u64) -> String {
    match count as f64 {
        count if count < 1e6 => format!("{:.0} kB", (count / 1e3).ceil()),
        count if count < 1e9 => format!("{:.1} MB", count / 1e6),
        count => format!("{:.1} GB", count / 1e9),
    }
}
