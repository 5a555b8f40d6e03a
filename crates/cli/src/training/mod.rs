//! A training run from its configuration to its report, for `train` and `resume`.

mod console;
mod extend;
mod forecast;
mod results;
mod run_folder;
mod sweep;
mod sweep_forecast;
mod sweep_results;
mod train_command;

use consort_data::{DataDir, Partition};
use consort_train::{Config, Ending, Plan, PlannedMethod, TrialFolder, partition_for, run_trial};

use crate::arguments::{ProgressOptions, WorkOptions};
use crate::commands::consensus::all_cores;
use crate::failure::{Blame, Failure, tell};
use console::Console;
pub(crate) use console::{listen_to_ctrl_c, stop_is_wanted};
pub(crate) use extend::extend;
pub(crate) use forecast::{duration, forecast};
pub(crate) use results::{
    Plot, Summary, Trials, draw, heat_map, plot_names, read_summary, spread_words, write_into,
    write_some_plots, write_tables,
};
pub(crate) use run_folder::{RunFolder, StartedWith, is_running, lock, read_config, started};
pub(crate) use sweep::{SweepPlan, run_sweep};
pub(crate) use sweep_forecast::sweep_forecast;

/// The number of threads: the user's, or one per core.
pub(crate) fn threads(work: &WorkOptions) -> usize {
    work.threads.map_or_else(all_cores, |threads| threads as usize)
}

/// One method with one seed.
pub(crate) struct PlannedTrial<'a> {
    pub(crate) method: &'a PlannedMethod,
    pub(crate) seed: u64,
    pub(crate) partition: &'a Partition,
    /// The name of the folder of the trial.
    pub(crate) name: String,
}

/// Runs all unfinished trials of `plan`, then writes the results.
pub(crate) fn run(
    plan: &Plan,
    partitions: &[(u64, Partition)],
    folder: &RunFolder,
    work: &WorkOptions,
    progress: &ProgressOptions,
) -> Result<Summary, Failure> {
    for warning in warnings(plan) {
        tell(&format!("warning: {warning}"));
    }
    for (seed, partition) in partitions {
        folder.keep_partition(*seed, partition)?;
    }
    let trials = planned_trials(plan, partitions);
    let open = |trial: &PlannedTrial<'_>| {
        let identity = folder.identity(&plan.config, trial.partition)?;
        let earlier = folder.earlier_identities(trial.partition);
        TrialFolder::open_extended(&folder.trials(), &trial.name, &identity, &earlier).or_work()
    };
    let files = trials.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let threads = threads(work);
    let mut console = Console::new(&plan.config, trials.len(), progress.progress_every);
    for (trial, files) in trials.iter().zip(&files) {
        let PlannedTrial { method, seed, partition, .. } = *trial;
        console.begin(&method.label, seed, files);
        let ending = run_trial(plan, method, seed, partition, threads, files, &mut console);
        match ending.or_work()? {
            Ending::Done(summary) => console.end(&summary),
            Ending::Stopped => {
                console.close();
                return Err(Failure::Stopped(format!(
                    "stopped; the state is saved. Continue with: consort resume {}",
                    folder.path().display()
                )));
            }
        }
    }
    console.close();
    results::write(plan, folder, &partitions[0].1, threads)
}

/// Warnings about methods that will not converge on this graph.
pub(crate) fn warnings(plan: &Plan) -> Vec<String> {
    let unstable = plan.network.methods.iter().filter(|planned| !planned.analysis.stable);
    unstable.map(|planned| format!("{}: {}", planned.label, planned.analysis.verdict)).collect()
}

/// Warnings about methods with steps that may be too long for the model.
pub(crate) fn long_steps(plan: &Plan) -> Vec<String> {
    // LeNet-5 collapsed at 1.1 (docs/training.md); for VGG-11 the paper's search chose up to 9.1.
    const WITHOUT_NORMALISATION: f64 = 1.0;
    const WITH_NORMALISATION: f64 = 10.0;
    if plan.config.schedule.warmup > 0.0 {
        return Vec::new();
    }
    let bare = !plan.model.normalises();
    let limit = if bare { WITHOUT_NORMALISATION } else { WITH_NORMALISATION };
    let warning = |planned: &PlannedMethod| {
        let gain = planned.analysis.gain?;
        let step = planned.eta * gain;
        if step < limit * (1.0 - 1e-9) || planned.rule.clip_norm.is_some() {
            return None;
        }
        let without = if bare { ", which has no normalisation" } else { "" };
        Some(format!(
            "{}: momentum makes the effective step {:.3} (eta x {gain:.1}), which is long for {}\
             {without}. If the loss jumps or units die, try schedule.warmup = 0.05, clip-norm = 5 \
             or a smaller eta",
            planned.label, step, plan.model.name
        ))
    };
    plan.network.methods.iter().filter_map(warning).collect()
}

/// The partition of every seed. If the data cannot be partitioned, this fails before anything is
/// written.
pub(crate) fn partitions_of(plan: &Plan) -> Result<Vec<(u64, Partition)>, Failure> {
    let partition = |&seed: &u64| Ok((seed, partition_for(plan, seed).or_input()?));
    plan.config.seeds.iter().map(partition).collect()
}

/// Writes the results of a run whose trials have finished in an MPI job.
#[cfg(feature = "mpi")]
pub(crate) fn write_results(
    plan: &Plan,
    partitions: &[(u64, Partition)],
    folder: &RunFolder,
    threads: usize,
) -> Result<Summary, Failure> {
    for (seed, partition) in partitions {
        folder.keep_partition(*seed, partition)?;
    }
    results::write(plan, folder, &partitions[0].1, threads)
}

/// All trials of `plan`, in the order in which they run.
pub(crate) fn planned_trials<'a>(
    plan: &'a Plan,
    partitions: &'a [(u64, Partition)],
) -> Vec<PlannedTrial<'a>> {
    let mut trials = Vec::new();
    for (k, method) in plan.network.methods.iter().enumerate() {
        for &(seed, ref partition) in partitions {
            let name = run_folder::trial_name(k, &method.label, seed);
            trials.push(PlannedTrial { method, seed, partition, name });
        }
    }
    trials
}

/// Loads everything that `config` names. Every error is wrong input.
pub(crate) fn plan(config: &Config, data_dir: &DataDir) -> Result<Plan, Failure> {
    Plan::new(config, data_dir).or_input()
}
