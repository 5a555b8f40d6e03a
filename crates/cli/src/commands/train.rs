//! `consort train` and `consort resume`: many agents train one model, each on its own data.

use consort_data::{DataDir, Partition};
use consort_train::{Config, Plan, sweep_override};

use super::{print_json, print_text};
#[cfg(feature = "mpi")]
use crate::agents::mpi;
use crate::arguments::{
    DataOptions, JobTransport, ProgressOptions, ResumeOptions, TrainOptions, WorkOptions,
};
use crate::failure::{Blame, Failure, tell};
use crate::methods_list;
use crate::provenance::Provenance;
use crate::settings;
use crate::training::{self, RunFolder, StartedWith, SweepPlan};

pub(crate) fn run(options: &TrainOptions) -> Result<(), Failure> {
    if options.schema {
        return print_json(&consort_train::config_schema());
    }
    if options.config_reference {
        return print_text(&consort_train::config_markdown());
    }
    let config = config_of(options)?;
    if options.show_config {
        return print_text(&config.to_commented_toml().or_input()?);
    }
    let config = settings::with_absolute_paths(config);
    if options.transport == Some(JobTransport::Mpi) && !config.sweep.is_empty() {
        return Err(sweep_in_job());
    }
    if options.transport == Some(JobTransport::Mpi) && !options.dry_run {
        return train_in_job(&config, options); // every rank loads the plan itself
    }
    if !config.sweep.is_empty() {
        return sweep(&config, options);
    }
    let plan = training::plan(&config, &data_dir(&options.data_options)?)?;
    let say_what_was_found = || plan.dataset.found.iter().for_each(|found| tell(found));
    if options.dry_run {
        let forecast = training::forecast(&plan, training::threads(&options.work))?;
        say_what_was_found();
        if options.work.json {
            return print_json(&forecast);
        }
        return print_text(&forecast.text());
    }
    let partitions = training::partitions_of(&plan)?;
    let provenance = Provenance::current();
    let folder = RunFolder::create(options.out.as_deref(), &config, &provenance)?;
    say_what_was_found();
    finish(&plan, &partitions, &folder, &options.work, &options.progress)
}

/// `consort resume`: continues an interrupted run, or makes one longer.
pub(crate) fn resume(options: &ResumeOptions) -> Result<(), Failure> {
    if options.transport == Some(JobTransport::Mpi) {
        return resume_in_job(options);
    }
    let swept = !training::read_config(&options.run)?.sweep.is_empty();
    if options.transport == Some(JobTransport::Mpi) {
        return if swept { Err(sweep_in_job()) } else { resume_in_job(options) };
    }
    let data_dir = data_dir(&options.data_options)?;
    let length = match (options.epochs, options.rounds) {
        (Some(epochs), _) => Some(format!("epochs={epochs:?}")),
        (None, rounds) => rounds.map(|rounds| format!("rounds={rounds}")),
    };
    if swept {
        return resume_sweep(options, length.as_deref(), &data_dir);
    }
    let with = length.as_ref().map_or(StartedWith::TheSame, |_| StartedWith::AnyLength);
    let (mut folder, config) = RunFolder::open(&options.run, with)?;
    let (plan, partitions) = match length {
        Some(length) => training::extend(&mut folder, &config, &length, &data_dir)?,
        None => {
            let plan = training::plan(&config, &data_dir)?;
            let partitions = training::partitions_of(&plan)?;
            (plan, partitions)
        }
    };
    finish(&plan, &partitions, &folder, &options.work, &options.progress)
}

fn finish(
    plan: &Plan,
    partitions: &[(u64, Partition)],
    folder: &RunFolder,
    work: &WorkOptions,
    progress: &ProgressOptions,
) -> Result<(), Failure> {
    tell(&format!("{} (Ctrl-C saves and stops)", folder.path().display()));
    let summary = training::run(plan, partitions, folder, work, progress)?;
    show(&summary, work.json)
}

/// `consort train --sweep`: every combination, on validation samples.
fn sweep(config: &Config, options: &TrainOptions) -> Result<(), Failure> {
    let plan = SweepPlan::new(config, &data_dir(&options.data_options)?)?;
    plan.check_partitions()?;
    if options.dry_run {
        let forecast = training::sweep_forecast(&plan, training::threads(&options.work))?;
        if options.work.json {
            return print_json(&forecast);
        }
        return print_text(&forecast.text());
    }
    let provenance = Provenance::current();
    let folder = RunFolder::create(options.out.as_deref(), config, &provenance)?;
    finish_sweep(&plan, &folder, &options.work, &options.progress)
}

/// `consort resume` of a sweep, with the length that the user wants, if any.
fn resume_sweep(
    options: &ResumeOptions,
    length: Option<&str>,
    data_dir: &DataDir,
) -> Result<(), Failure> {
    if let Some(length) = length {
        let (run, length) = (options.run.display(), length.replace('=', " "));
        return Err(Failure::input(format!(
            "{run} is a sweep, and cannot become longer: which combination is the best was found for \
             its length. Start a new one: consort train {run}/config.toml --{length}"
        )));
    }
    let (folder, config) = RunFolder::open(&options.run, StartedWith::TheSame)?;
    let plan = SweepPlan::new(&config, data_dir)?;
    finish_sweep(&plan, &folder, &options.work, &options.progress)
}

fn sweep_in_job() -> Failure {
    Failure::input("a sweep runs in one process; leave --transport mpi out")
}

fn finish_sweep(
    plan: &SweepPlan,
    folder: &RunFolder,
    work: &WorkOptions,
    progress: &ProgressOptions,
) -> Result<(), Failure> {
    tell(&format!("{} (Ctrl-C saves and stops)", folder.path().display()));
    let summary = training::run_sweep(plan, folder, work, progress)?;
    if work.json {
        print_json(&summary)?
    } else {
        print_text(&summary.text())?
    }
    if summary.found_nothing() {
        let words = "no combination learned anything for every seed: try a smaller eta or mu, or \
                     set clip-norm (consort analyze shows which mu is stable on this graph)";
        return Err(Failure::Diverged(words.into()));
    }
    Ok(())
}

/// Prints the results. It is a failure if every trial diverged, but the results are written.
fn show(summary: &training::Summary, json: bool) -> Result<(), Failure> {
    if json {
        print_json(summary)?
    } else {
        print_text(&summary.text())?
    }
    if summary.all_diverged() {
        let words = "every trial diverged: lower eta or mu, or set clip-norm (consort analyze \
                     shows which mu is stable on this graph)";
        return Err(Failure::Diverged(words.into()));
    }
    Ok(())
}

#[cfg(feature = "mpi")]
fn train_in_job(config: &Config, options: &TrainOptions) -> Result<(), Failure> {
    let out = options
        .out
        .as_deref()
        .ok_or_else(|| Failure::input("--transport mpi needs --out DIR: all ranks write there"))?;
    let data_dir = data_dir(&options.data_options)?;
    in_job(config, &mpi::Place::New(out), &data_dir, &options.work)
}

#[cfg(feature = "mpi")]
fn resume_in_job(options: &ResumeOptions) -> Result<(), Failure> {
    let config = training::read_config(&options.run)?;
    let data_dir = data_dir(&options.data_options)?;
    in_job(&config, &mpi::Place::Begun(&options.run), &data_dir, &options.work)
}

#[cfg(feature = "mpi")]
fn in_job(
    config: &Config,
    place: &mpi::Place<'_>,
    data_dir: &DataDir,
    work: &WorkOptions,
) -> Result<(), Failure> {
    // Ranks may share a machine: one thread each, unless the user wants more.
    let threads = work.threads.map_or(1, |threads| threads as usize);
    match mpi::run(config, place, data_dir, threads)? {
        Some(summary) => show(&summary, work.json),
        None => Ok(()), // only rank 0 prints
    }
}

#[cfg(not(feature = "mpi"))]
fn train_in_job(_config: &Config, _options: &TrainOptions) -> Result<(), Failure> {
    Err(without_mpi())
}

#[cfg(not(feature = "mpi"))]
fn resume_in_job(_options: &ResumeOptions) -> Result<(), Failure> {
    Err(without_mpi())
}

#[cfg(not(feature = "mpi"))]
fn without_mpi() -> Failure {
    Failure::input(
        "this consort was built without MPI; build it with --features mpi (docs/cluster.md)",
    )
}

pub(crate) fn data_dir(options: &DataOptions) -> Result<DataDir, Failure> {
    DataDir::find(options.data_dir.as_deref()).or_input()
}

/// The file, then the flags, then `--set`.
fn config_of(options: &TrainOptions) -> Result<Config, Failure> {
    let mut overrides = settings::overrides(&options.settings);
    if let Some(methods) = &options.methods {
        overrides.push(format!("methods={:?}", methods_list::split(methods)));
    }
    if !options.seeds.is_empty() {
        overrides.push(format!("seeds={:?}", options.seeds));
    }
    if options.tensorboard {
        overrides.push("tensorboard=true".into());
    }
    if let Some(share) = options.validation {
        overrides.push(format!("validation={share:?}"));
    }
    for flag in &options.sweep {
        overrides.push(sweep_override(flag).or_input()?);
    }
    overrides.extend(options.settings.set.iter().cloned());
    settings::read(options.config.as_deref(), &overrides)
}
