//! A sweep: every combination of the values to try, for every method and seed, on validation
//! samples.
//!
//! ```text
//!   Config with [sweep] ─► combinations ─► one plan each ─► trials ─► table, best of each method
//!                          the data are loaded once, and have no test samples
//! ```
//!
//! A combination that a method refuses (a graph, say) is a row of the table with the reason; so is
//! one that diverges. Neither ends the sweep.

use std::sync::Arc;

use consort_data::{DataDir, Dataset};
use consort_records::{SweepRow, SweepTable, TrialSummary};
use consort_train::{
    Combination, Config, Ending, Plan, PlannedNetwork, Sweep, TrainError, TrialFolder, load_data,
    partition_for, run_trial,
};

use super::console::Console;
use super::run_folder::trial_name;
use super::sweep_results::{self, SweepSummary};
use super::{RunFolder, threads};
use crate::arguments::{ProgressOptions, WorkOptions};
use crate::failure::{Blame, Failure, tell};

/// All combinations, found and checked.
pub(crate) struct SweepPlan {
    pub(super) config: Config,
    pub(super) dataset: Arc<Dataset>,
    /// The columns of the table: the keys.
    pub(super) keys: Vec<String>,
    pub(super) candidates: Vec<Candidate>,
}

/// A combination, ready to run; or why it cannot.
pub(super) struct Candidate {
    pub(super) combination: Combination,
    pub(super) plan: Result<Plan, String>,
}

impl SweepPlan {
    /// Finds and checks everything that the sweep of `config` names. Every error is wrong input.
    pub(crate) fn new(config: &Config, data_dir: &DataDir) -> Result<Self, Failure> {
        let keys = Sweep::columns(config).or_input()?;
        let combinations = Sweep::combinations(config).or_input()?;
        for (k, entry) in config.methods.iter().enumerate() {
            let name = label(config, k);
            if (0..k).any(|other| label(config, other) == name) {
                let label = name.to_string();
                return Err(TrainError::SameLabel { label }).or_input();
            }
            // A method that does not exist is told before the data are loaded.
            entry.method.parse::<consort_algo::Method>().or_input()?;
        }
        let networks = combinations.iter().map(network).collect::<Result<Vec<_>, _>>()?;
        let dataset = Arc::new(load_data(config, data_dir).or_input()?);
        let candidate = |(combination, network): (Combination, Result<PlannedNetwork, String>)| {
            let plan = match network {
                Ok(network) => Ok(plan_of(&combination.config, network, &dataset)?),
                Err(reason) => Err(reason),
            };
            Ok(Candidate { combination, plan })
        };
        let candidates = combinations.into_iter().zip(networks).map(candidate);
        let candidates = candidates.collect::<Result<Vec<_>, Failure>>()?;
        let refused = candidates.iter().filter_map(|candidate| candidate.plan.as_ref().err());
        if refused.clone().count() == candidates.len()
            && let Some(first) = refused.clone().next()
        {
            let words = format!("no combination of the sweep can run; the first: {first}");
            return Err(Failure::input(words));
        }
        Ok(SweepPlan { config: config.clone(), dataset, keys, candidates })
    }

    /// How many trials there are.
    pub(super) fn trials(&self) -> usize {
        let sound = self.candidates.iter().filter(|candidate| candidate.plan.is_ok());
        sound.count() * self.config.seeds.len()
    }

    /// Refuses data of which a seed cannot be shared out, before anything is written.
    pub(crate) fn check_partitions(&self) -> Result<(), Failure> {
        for plan in self.candidates.iter().filter_map(|candidate| candidate.plan.as_ref().ok()) {
            partition_for(plan, plan.config.seeds[0]).or_input()?;
        }
        Ok(())
    }
}

/// The name of method `k` in tables.
fn label(config: &Config, k: usize) -> &str {
    let entry = &config.methods[k];
    entry.label.as_deref().unwrap_or(&entry.method)
}

/// The network of a combination; or why the method refuses it.
fn network(combination: &Combination) -> Result<Result<PlannedNetwork, String>, Failure> {
    match PlannedNetwork::new(&combination.config) {
        Ok(network) => Ok(Ok(network)),
        Err(error @ (TrainError::Admission(_) | TrainError::Stability(_))) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(Failure::input(format!("{}: {error}", combination.name()))),
    }
}

fn plan_of(
    config: &Config,
    network: PlannedNetwork,
    dataset: &Arc<Dataset>,
) -> Result<Plan, Failure> {
    let scheme = config.partition.parse().map_err(TrainError::from).or_input()?;
    Plan::with_dataset(network, scheme, config, dataset.clone()).or_input()
}

/// Runs all unfinished trials of the sweep, then writes the results.
pub(crate) fn run_sweep(
    sweep: &SweepPlan,
    folder: &RunFolder,
    work: &WorkOptions,
    progress: &ProgressOptions,
) -> Result<SweepSummary, Failure> {
    let (config, threads) = (&sweep.config, threads(work));
    sweep.dataset.found.iter().for_each(|found| tell(found));
    keep_partitions(sweep, folder)?;
    for candidate in &sweep.candidates {
        if let Err(reason) = &candidate.plan {
            tell(&format!("warning: {}: left out: {reason}", candidate.combination.name()));
        }
    }
    let mut console = Console::new(config, sweep.trials(), progress.progress_every);
    let mut rows = Vec::new();
    for (k, Candidate { combination, plan }) in sweep.candidates.iter().enumerate() {
        let values = sweep.keys.iter().map(|key| value_of(combination, key)).collect();
        let plan = match plan {
            Ok(plan) => plan,
            Err(reason) => {
                rows.push(SweepRow::refused(&combination.label, values, reason.clone()));
                continue;
            }
        };
        let mut trials: Vec<TrialSummary> = Vec::new();
        for &seed in &config.seeds {
            let partition = partition_for(plan, seed).or_work()?;
            let name = trial_name(k, &combination.name(), seed);
            let identity = folder.identity(&combination.config, &partition)?;
            let files = TrialFolder::open(&folder.trials(), &name, &identity).or_work()?;
            console.begin(&combination.name(), seed, &files);
            let method = &plan.network.methods[0];
            let ending = run_trial(plan, method, seed, &partition, threads, &files, &mut console);
            match ending.or_work()? {
                Ending::Done(summary) => {
                    console.end(&summary);
                    trials.push(summary);
                }
                Ending::Stopped => {
                    console.close();
                    return Err(Failure::Stopped(format!(
                        "stopped; the state is saved. Continue with: consort resume {}",
                        folder.path().display()
                    )));
                }
            }
        }
        rows.push(SweepRow::new(&combination.label, values, &trials));
    }
    console.close();
    let table = SweepTable { keys: sweep.keys.clone(), rows };
    sweep_results::write(sweep, table, folder)
}

fn value_of(combination: &Combination, key: &str) -> Option<String> {
    let mut values = combination.values.iter();
    values.find(|(name, _)| name == key).map(|(_, value)| value.clone())
}

/// Saves the partitions of the first combination: if the data have changed since the sweep was
/// started, it is refused.
fn keep_partitions(sweep: &SweepPlan, folder: &RunFolder) -> Result<(), Failure> {
    let first = sweep.candidates.iter().find_map(|candidate| candidate.plan.as_ref().ok());
    for (plan, &seed) in
        first.iter().flat_map(|plan| sweep.config.seeds.iter().map(move |s| (plan, s)))
    {
        folder.keep_partition(seed, &partition_for(plan, seed).or_input()?)?;
    }
    Ok(())
}
