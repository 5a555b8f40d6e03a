//! `consort compare`: several runs in one table and one set of plots.

mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use consort_records::{OutputFolder, table_text};

use self::rows::{TrialOrigin, row_names, settings};
use super::{print_json, print_text};
use crate::arguments::{CompareOptions, TableFormat};
use crate::failure::{Blame, Failure, tell};
use crate::training::{Trials, read_config, write_plots, write_tables};

pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    let paths = distinct_paths(&options.runs)?;
    let (mut trials, mut origins) = (Trials::default(), Vec::new());
    for (given, path) in options.runs.iter().zip(paths) {
        let of_run = Trials::from_run(given)?;
        if of_run.all.is_empty() {
            tell(&format!("warning: {} has no records yet", given.display()));
        }
        origins.extend(origins_of(given, &path, &of_run)?);
        trials.all.extend(of_run.all);
        trials.status.extend(of_run.status);
    }
    if trials.all.is_empty() {
        return Err(Failure::input("no run has records yet"));
    }
    for (trial, name) in trials.all.iter_mut().zip(row_names(&origins)?) {
        trial.label = name;
    }
    let table = trials.table();
    if let Some(path) = &options.out {
        let output = OutputFolder::claim(path, options.overwrite).or_input()?;
        write_tables(&output, &table)?;
        write_plots(&output, &trials)?;
        tell(&format!("plots and tables are in {}", path.display()));
    }
    match options.format {
        TableFormat::Text => print_text(&table_text::to_text(&table)),
        TableFormat::Markdown => print_text(&table_text::to_markdown(&table)),
        TableFormat::Latex => print_text(&table_text::to_latex(&table)),
        TableFormat::Csv => print_text(&table_text::to_csv(&table)),
        TableFormat::Json => print_json(&trials.summaries()),
    }
}

/// The folders of the runs with links resolved. Two equal folders are an error.
fn distinct_paths(runs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (k, run) in runs.iter().enumerate() {
        // A missing folder is reported where it is read.
        let path = fs::canonicalize(run).unwrap_or_else(|_| run.clone());
        if let Some(first) = paths.iter().position(|other| *other == path) {
            return Err(Failure::input(format!(
                "{} and {} are the same run (arguments {} and {}), so its seeds would count twice. \
                 Name it once",
                runs[first].display(),
                run.display(),
                first + 1,
                k + 1
            )));
        }
        paths.push(path);
    }
    Ok(paths)
}

/// The origin of each trial of a run. Folders of agents have no configuration.
fn origins_of(given: &Path, path: &Path, trials: &Trials) -> Result<Vec<TrialOrigin>, Failure> {
    let config = trials.from_config.then(|| read_config(given)).transpose()?;
    let origin = |trial: &consort_records::TrialRecords| {
        let settings = match &config {
            Some(config) => {
                let named = |entry: &&consort_train::MethodEntry| {
                    entry.label.as_ref().unwrap_or(&entry.method) == &trial.label
                };
                let entry = config.methods.iter().find(named);
                entry.map(|entry| settings(config, entry)).transpose()?
            }
            None => None,
        };
        let (path, label, seed) = (path.to_owned(), trial.label.clone(), trial.seed);
        Ok(TrialOrigin { path, label, seed, settings })
    };
    trials.all.iter().map(origin).collect()
}
