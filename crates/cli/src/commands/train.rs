//! `consort train`: many agents train one model, each on its own data.

use std::fs;

use consort_data::{DataDir, Partition};
use consort_train::{Config, Plan};

use super::{print_json, print_text};
use crate::arguments::{DataOptions, ResumeOptions, TrainOptions, WorkOptions};
use crate::failure::{Blame, Failure, tell};
use crate::methods_list;
use crate::provenance::Provenance;
use crate::training::{self, RunFolder};

pub(crate) fn run(options: &TrainOptions) -> Result<(), Failure> {
    let config = config_of(options)?;
    if options.show_config {
        return print_text(&config.to_toml().map_err(|error| Failure::input(error.to_string()))?);
    }
    let plan = training::plan(&config, &data_dir(&options.data_options)?)?;
    if options.dry_run {
        let forecast = training::forecast(&plan, training::threads(&options.work))?;
        if options.work.json {
            return print_json(&forecast);
        }
        return print_text(&forecast.text());
    }
    let partitions = training::share_out(&plan)?;
    let provenance = Provenance::of_this_call();
    let folder = RunFolder::create(options.out.as_deref(), &config, &provenance)?;
    finish(&plan, &partitions, &folder, &options.work)
}

/// `consort resume`: the same, from where it stopped.
pub(crate) fn resume(options: &ResumeOptions) -> Result<(), Failure> {
    let (folder, config) = RunFolder::open(&options.run)?;
    let plan = training::plan(&config, &data_dir(&options.data_options)?)?;
    let partitions = training::share_out(&plan)?;
    finish(&plan, &partitions, &folder, &options.work)
}

fn finish(
    plan: &Plan,
    partitions: &[(u64, Partition)],
    folder: &RunFolder,
    work: &WorkOptions,
) -> Result<(), Failure> {
    tell(&format!("{} (Ctrl-C saves and stops)", folder.path().display()));
    let summary = training::run(plan, partitions, folder, work)?;
    if work.json { print_json(&summary) } else { print_text(&summary.text()) }
}

pub(crate) fn data_dir(options: &DataOptions) -> Result<DataDir, Failure> {
    DataDir::find(options.data_dir.as_deref()).or_input()
}

/// The file, then the flags, then `--set`.
fn config_of(options: &TrainOptions) -> Result<Config, Failure> {
    let text = match &options.config {
        Some(path) => fs::read_to_string(path).map_err(|error| {
            Failure::input(format!("cannot read the configuration {}: {error}", path.display()))
        })?,
        None => String::new(),
    };
    let mut overrides = Vec::new();
    let mut set = |key: &str, value: String| overrides.push(format!("{key}={value}"));
    // Debug quotes and escapes as TOML does.
    let texts = [
        ("data", &options.data),
        ("partition", &options.partition),
        ("graph", &options.graph),
        ("weights", &options.weights),
        ("model", &options.model),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            set(key, format!("{value:?}"));
        }
    }
    if let Some(methods) = &options.methods {
        set("methods", format!("{:?}", methods_list::split(methods)));
    }
    if !options.seeds.is_empty() {
        set("seeds", format!("{:?}", options.seeds));
    }
    for (key, value) in
        [("epochs", options.epochs), ("eta", options.eta), ("weight-decay", options.weight_decay)]
    {
        if let Some(value) = value {
            set(key, format!("{value:?}"));
        }
    }
    if let Some(rounds) = options.rounds {
        set("rounds", rounds.to_string());
    }
    if let Some(batch) = options.batch {
        set("batch", batch.to_string());
    }
    if options.tensorboard {
        set("tensorboard", "true".into());
    }
    overrides.extend(options.set.iter().cloned());
    Config::from_toml(&text, &overrides).map_err(|error| match &options.config {
        Some(path) => Failure::input(format!("{}: {error}", path.display())),
        None => Failure::input(error.to_string()),
    })
}
