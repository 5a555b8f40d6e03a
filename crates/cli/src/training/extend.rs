//! `consort resume --epochs`: a run that becomes longer, with the bits of one that was longer from
//! the start.

use consort_data::{DataDir, Partition};
use consort_train::{Config, Plan, Shape, TrainingSchedule, TrialFolder};

use super::run_folder::RunFolder;
use super::{PlannedTrial, partitions_of, plan, planned_trials};
use crate::failure::{Blame, Failure, tell};

/// The configuration of the run in `folder` with another length (`key=value` in `length`), which is
/// that of the folder from now on. Nothing is changed if the run cannot become so long.
pub(crate) fn extend(
    folder: &mut RunFolder,
    config: &Config,
    length: &str,
    data_dir: &DataDir,
) -> Result<(Plan, Vec<(u64, Partition)>), Failure> {
    let text = config.to_toml().or_input()?;
    let longer = Config::from_toml(&text, &[length.to_string()]).or_input()?;
    let plan = plan(&longer, data_dir)?;
    let partitions = partitions_of(&plan)?;
    if longer == *config {
        // The same command again: there may be something left to do.
        return Ok((plan, partitions));
    }
    let mut finished = Vec::new();
    for trial in planned_trials(&plan, &partitions) {
        let files = TrialFolder::open(&folder.trials(), &trial.name, "").or_work()?;
        if files.path().join("agent-0").exists() {
            return Err(Failure::input(format!(
                "{} was made by an MPI job; only a run in one process can become longer",
                folder.path().display()
            )));
        }
        if let Some(done) = check(folder, config, &plan, &trial, &files)? {
            finished.push((trial, files, done));
        }
    }
    // In this order an interruption leaves a run that is whole: with the old length, or the new.
    for (trial, files, rounds) in &finished {
        if files.checkpoints().rounds().or_work()?.last() != Some(rounds) {
            tell(&format!(
                "{}: the state at its end was not kept, so it is computed again from the start",
                trial.name
            ));
        }
        files.reopen().or_work()?;
    }
    folder.lengthen(config, &longer)?;
    Ok((plan, partitions))
}

/// Checks that a trial can become as long as `plan` says. Its rounds if it has to go on after its
/// end; none if it has not ended, or diverged.
fn check(
    folder: &RunFolder,
    config: &Config,
    plan: &Plan,
    trial: &PlannedTrial<'_>,
    files: &TrialFolder,
) -> Result<Option<u64>, Failure> {
    let per_epoch = trial.method.rounds_per_epoch(plan.batches_per_epoch(trial.partition));
    let [old, new] = [config, &plan.config]
        .map(|config| TrainingSchedule::new(config, trial.method.eta, per_epoch));
    if new.rounds() <= old.rounds() {
        return Err(Failure::input(format!(
            "{} already has {} rounds ({} epochs), and would then have {}; give a larger number",
            folder.path().display(),
            old.rounds(),
            old.rounds() as f64 / per_epoch,
            new.rounds()
        )));
    }
    let summary = files.summary().or_work()?;
    let ended = summary.is_some();
    // With the same step sizes, the longer trial would have diverged in the same round.
    let diverged = summary.is_some_and(|summary| summary.diverged.is_some());
    let done = match ended {
        true => old.rounds(),
        false => files.checkpoints().rounds().or_work()?.last().copied().unwrap_or(0),
    };
    if done > 0 && trial.method.mix.depends_on_length() {
        return Err(Failure::input(format!(
            "{} cannot become longer: the mixing of {} (mix.milestones, mix.graphs or \
             mix.final-merge) depends on the length of the run. Start a new run: consort train \
             {}/config.toml {}",
            folder.path().display(),
            trial.name,
            folder.path().display(),
            length_flag(&plan.config)
        )));
    }
    if let Some(round) = old.first_difference(&new, done) {
        let shape = match config.schedule.shape {
            Shape::Constant => "warm-up",
            Shape::Milestones => "milestones",
            Shape::Cosine => "cosine",
        };
        let (path, length) = (folder.path().display(), length_flag(&plan.config));
        return Err(Failure::input(format!(
            "{path} cannot become longer: its schedule ({shape}) depends on the length of the run. In \
             the longer run, round {} of {} would have had the step size {:.4}, but it had {:.4}. \
             Start a new run: consort train {path}/config.toml {length}. (With schedule.shape = \
             \"constant\" and no warm-up, runs can become longer.)",
            round + 1,
            trial.name,
            new.eta_at(round),
            old.eta_at(round)
        )));
    }
    Ok((ended && !diverged).then_some(done))
}

fn length_flag(config: &Config) -> String {
    match (config.rounds, config.epochs) {
        (Some(rounds), _) => format!("--rounds {rounds}"),
        (None, epochs) => format!("--epochs {}", epochs.unwrap_or_default()),
    }
}
