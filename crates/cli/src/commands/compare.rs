//! `consort compare`: several runs in one table and one set of plots.

mod rows;
mod significance;
mod target;

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use consort_records::table_columns::{Column, ExtraColumn, ShownColumn};
use consort_records::table_text::{self, TableView};
use consort_records::{MethodTable, OutputFolder, XAxis};

use self::rows::{TrialOrigin, row_names, settings};
use self::significance::Tests;
use super::{print_json, print_text};
use crate::arguments::{Along, ColumnName, CompareOptions, Metric, TableFormat};
use crate::failure::{Blame, Failure, tell};
use crate::table;
use crate::training::{Plot, Trials, draw, read_config, write_some_plots, write_tables};

pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    options.files.check()?;
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
    let tests = Tests::new(&trials, &table, options.against.as_deref())?;
    let mut extra = target::columns(&trials.all, &options.targets);
    extra.extend(tests.as_ref().map(Tests::columns).into_iter().flatten());
    let columns = columns(&table, &extra, options)?;
    let view = TableView::new(&table, columns, notes(&table, options));
    if let Some(path) = &options.out {
        let output = OutputFolder::claim(path, options.overwrite).or_input()?;
        write_view(&output, &table, &view, options)?;
        if let Some(tests) = &tests {
            output.write("significance.txt", tests.text()).or_work()?;
        }
        let plots = plots(&trials, options);
        write_some_plots(&output, &trials, &plots, (&options.figure, &options.chart), true)?;
        tell(&format!("plots and tables are in {}", path.display()));
    }
    if options.files.any() {
        let style = options.figure.chart_style(&options.chart);
        let picture = draw(&trials, &single_plot(options)?, &style).or_input()?;
        options.files.write(&picture, &options.figure)?;
    }
    match options.format {
        TableFormat::Text => {
            let tests = tests.map_or(String::new(), |tests| format!("\n{}", tests.text()));
            print_text(&(table::of_methods(&view) + &tests))
        }
        TableFormat::Markdown => print_text(&view.to_markdown()),
        TableFormat::Latex => print_text(&view.to_latex()),
        TableFormat::Csv => print_text(&csv(&table, &view, options)),
        TableFormat::Json => print_json(&trials.summaries()),
    }
}

/// All of the usual plots, or those of the chosen metrics and axes.
fn plots(trials: &Trials, options: &CompareOptions) -> Vec<Plot> {
    if options.metric.is_empty() && options.along.is_none() {
        return trials.usual_plots();
    }
    let metrics = match options.metric.is_empty() {
        true => Metric::value_variants(),
        false => &options.metric,
    };
    metrics.iter().map(|metric| plot(*metric, options.along.unwrap_or(Along::Epochs))).collect()
}

/// The plot of a single file.
fn single_plot(options: &CompareOptions) -> Result<Plot, Failure> {
    match options.metric[..] {
        [] => Ok(plot(Metric::Accuracy, options.along.unwrap_or(Along::Epochs))),
        [metric] => Ok(plot(metric, options.along.unwrap_or(Along::Epochs))),
        _ => Err(Failure::input(
            "a file has one plot, but --metric has several; choose one, or --out DIR for all",
        )),
    }
}

fn plot(metric: Metric, along: Along) -> Plot {
    let (quantity, over_agents) = metric.quantity();
    let word = |value: Option<clap::builder::PossibleValue>| {
        value.map_or(String::new(), |value| value.get_name().to_owned())
    };
    let mut name = word(metric.to_possible_value());
    if along != Along::Epochs {
        name = format!("{name}-by-{}", word(along.to_possible_value()));
    }
    Plot { name, quantity, along: XAxis::from(along), over_agents }
}

/// The columns that the user chose; or the usual ones, and what the other flags ask for.
fn columns<'a>(
    table: &MethodTable,
    extra: &'a [ExtraColumn],
    options: &CompareOptions,
) -> Result<Vec<ShownColumn<'a>>, Failure> {
    if options.columns.is_empty() {
        let mut columns: Vec<ShownColumn<'a>> =
            Column::usual(table).into_iter().map(ShownColumn::Own).collect();
        // Before the last column, which has the seeds.
        let last = columns.len() - 1;
        if table.has_spread() {
            let consensus = ShownColumn::Own(Column::Consensus);
            let place = columns.iter().position(|c| *c == consensus).unwrap_or(last);
            columns.insert(place, ShownColumn::Own(Column::Spread));
        }
        let last = columns.len() - 1;
        let of_targets = ["rounds-to", "bytes-to", "seconds-to"];
        let wanted = extra.iter().filter(|e| of_targets.contains(&e.key.as_str()));
        columns.splice(last..last, wanted.map(ShownColumn::Extra));
        return Ok(columns);
    }
    let mut columns = Vec::new();
    for name in &options.columns {
        if let Some(own) = name.own() {
            columns.push(ShownColumn::Own(own));
            continue;
        }
        let key = name.key();
        let found: Vec<ShownColumn<'a>> =
            extra.iter().filter(|e| e.key == key).map(ShownColumn::Extra).collect();
        if found.is_empty() {
            return Err(Failure::input(if name.needs_target() {
                format!("the column {key} needs an accuracy: add --target 0.85")
            } else {
                format!(
                    "the column {key} needs two methods with common seeds, and results of the \
                     averaged model"
                )
            }));
        }
        columns.extend(found);
    }
    Ok(columns)
}

/// What must be known to read the columns.
fn notes(table: &MethodTable, options: &CompareOptions) -> Vec<String> {
    let mut notes = Vec::new();
    let chosen = |name| options.columns.contains(&name);
    if chosen(ColumnName::Spread) || (options.columns.is_empty() && table.has_spread()) {
        notes.push(
            "Worst to best agent: test accuracies of the agents' own models, means over seeds."
                .to_owned(),
        );
    }
    if !options.targets.is_empty() {
        notes.push(
            "To a target: at the first evaluation of the averaged model that reaches it; means \
             over the seeds that do, and how many those are if not all."
                .to_owned(),
        );
    }
    notes
}

/// Every column in full, or the chosen ones.
fn csv(table: &MethodTable, view: &TableView<'_>, options: &CompareOptions) -> String {
    if options.columns.is_empty() && options.targets.is_empty() {
        table_text::to_csv(table)
    } else {
        view.to_csv()
    }
}

fn write_view(
    output: &OutputFolder,
    table: &MethodTable,
    view: &TableView<'_>,
    options: &CompareOptions,
) -> Result<(), Failure> {
    write_tables(output, table)?;
    output.write("table.txt", view.to_text()).or_work()?;
    output.write("table.md", view.to_markdown()).or_work()?;
    output.write("table.tex", view.to_latex()).or_work()?;
    output.write("table.csv", csv(table, view, options)).or_work()?;
    Ok(())
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
        let method = trial.method.clone();
        Ok(TrialOrigin { path, method, label, seed, settings })
    };
    trials.all.iter().map(origin).collect()
}
