//! `--dry-run` of a sweep: how many trials there are, how long they take, and which combinations are
//! known to be unstable.

use consort_train::partition_for;
use serde::Serialize;

use super::forecast::{Timing, duration};
use super::sweep::SweepPlan;
use crate::failure::{Blame, Failure};
use crate::table;

/// The plan of a sweep and its costs.
#[derive(Serialize)]
pub(crate) struct SweepForecast {
    data: String,
    training_samples: usize,
    validation_samples: usize,
    trials: usize,
    threads: usize,
    /// The time of the whole sweep, from two rounds and one evaluation of its first trial.
    seconds: f64,
    combinations: Vec<CombinationForecast>,
}

#[derive(Serialize)]
struct CombinationForecast {
    name: String,
    rounds: u64,
    verdict: String,
}

/// Computes the forecast.
pub(crate) fn sweep_forecast(sweep: &SweepPlan, threads: usize) -> Result<SweepForecast, Failure> {
    let mut timing = None;
    let mut seconds = 0.0;
    let mut combinations = Vec::new();
    for candidate in &sweep.candidates {
        let name = candidate.combination.name();
        let plan = match &candidate.plan {
            Ok(plan) => plan,
            Err(reason) => {
                let verdict = format!("left out: {reason}");
                combinations.push(CombinationForecast { name, rounds: 0, verdict });
                continue;
            }
        };
        let partition = partition_for(plan, plan.config.seeds[0]).or_input()?;
        let timing = match &timing {
            Some(timing) => timing,
            None => timing.insert(Timing::measure(plan, &partition, threads)?),
        };
        let (batches, planned) = (plan.batches_per_epoch(&partition), &plan.network.methods[0]);
        seconds += timing.of_trial(plan, planned, batches) * plan.config.seeds.len() as f64;
        let rounds = plan.rounds(planned.rounds_per_epoch(batches));
        let verdict = planned.analysis.verdict.clone();
        combinations.push(CombinationForecast { name, rounds, verdict });
    }
    Ok(SweepForecast {
        data: sweep.dataset.name.clone(),
        training_samples: sweep.dataset.train.len(),
        validation_samples: sweep.dataset.validation.len(),
        trials: sweep.trials(),
        threads,
        seconds,
        combinations,
    })
}

impl SweepForecast {
    /// Plain text for a terminal.
    pub(crate) fn text(&self) -> String {
        let row = |combination: &CombinationForecast| {
            let CombinationForecast { name, rounds, verdict } = combination;
            vec![name.clone(), rounds.to_string(), verdict.clone()]
        };
        let rows: Vec<Vec<String>> = self.combinations.iter().map(row).collect();
        format!(
            "data       {}: {} samples to train on, {} for validation; the test set is not used\n\
             work       {} combinations, {} trials\n\
             time       about {} with {} threads\n\n{}",
            self.data,
            self.training_samples,
            self.validation_samples,
            self.combinations.len(),
            self.trials,
            duration(self.seconds),
            self.threads,
            table::render(&["combination", "rounds", "stability"], &rows)
        )
    }
}
