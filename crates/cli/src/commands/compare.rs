//! `consort compare`: one table and one set of plots from many runs.

use std::path::Path;

use consort_records::{OutputFolder, table_text};

use super::{print_json, print_text};
use crate::arguments::{CompareOptions, TableFormat};
use crate::failure::{Blame, Failure, tell};
use crate::training::{Trials, write_plots, write_tables};

pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    let mut all = Vec::new();
    for path in &options.runs {
        let trials = Trials::of_run(path)?.all;
        if trials.is_empty() {
            tell(&format!("warning: {} has no records yet", path.display()));
        }
        all.push((run_name(path), trials));
    }
    let trials = Trials { all: put_together(all) };
    if trials.all.is_empty() {
        return Err(Failure::input("none of these runs has records yet"));
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

fn run_name(path: &Path) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Trials of several runs under names that tell them apart. Runs that differ in their seeds
/// alone are not told apart here: a method of two runs is two rows.
fn put_together(runs: Vec<(String, Vec<consort_records::Trial>)>) -> Vec<consort_records::Trial> {
    let several = runs.len() > 1;
    let named = |(run, trials): (String, Vec<consort_records::Trial>)| {
        trials.into_iter().map(move |mut trial| {
            if several {
                trial.label = format!("{} ({run})", trial.label);
            }
            trial
        })
    };
    runs.into_iter().flat_map(named).collect()
}
