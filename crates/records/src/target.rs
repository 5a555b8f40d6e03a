//! How long a method takes to reach an accuracy: in rounds, epochs, bytes and seconds.
//!
//! A trial has reached the target at its first evaluation with at least that accuracy of the
//! averaged model. Nothing is interpolated, so evaluations that are far apart give coarse answers.
//! Seeds that never get there have no number; how many did is always told, because a mean over the
//! lucky ones flatters a method.

use crate::record::Record;
use crate::summary::MeanStd;
use crate::trial_records::{TrialRecords, by_method};

/// What one method needs for a target.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeToTarget {
    /// The number of seeds.
    pub seeds: usize,
    /// How many of them reached the target.
    pub reached: usize,
    /// Rounds of the seeds that reached it.
    pub rounds: MeanStd,
    /// Passes over the data.
    pub epochs: MeanStd,
    /// Bytes that one agent sent.
    pub bytes: MeanStd,
    /// Seconds of training.
    pub seconds: MeanStd,
}

/// What every method needs to reach the test accuracy `target` (0 to 1), in the order of the rows
/// of a [`MethodTable`](crate::MethodTable) of the same trials.
pub fn times_to_target(trials: &[TrialRecords], target: f64) -> Vec<TimeToTarget> {
    let groups = by_method(trials, |trial| (&trial.method, &trial.label));
    groups.iter().map(|group| time_to_target(group, target)).collect()
}

fn time_to_target(trials: &[&TrialRecords], target: f64) -> TimeToTarget {
    let there = |record: &&Record| record.test_accuracy.is_some_and(|a| a >= target);
    let first: Vec<&Record> =
        trials.iter().filter_map(|trial| trial.records.iter().find(there)).collect();
    let over = |pick: fn(&Record) -> f64| {
        MeanStd::from_values(&first.iter().map(|record| pick(record)).collect::<Vec<f64>>())
    };
    TimeToTarget {
        seeds: trials.len(),
        reached: first.len(),
        rounds: over(|r| r.round as f64),
        epochs: over(|r| r.epoch),
        bytes: over(|r| r.bytes_sent as f64),
        seconds: over(|r| r.seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{own_record, record};

    fn trial(method: &str, seed: u64, accuracies: &[f64]) -> TrialRecords {
        let records = (1..).zip(accuracies).map(|(k, a)| record(100 * k, *a)).collect();
        let (method, label) = (method.to_owned(), String::new());
        TrialRecords { method, label, seed, records, diverged: None, collapsed: None }
    }

    #[test]
    fn the_first_evaluation_that_is_good_enough_counts() {
        let mut trials = vec![
            trial("gut", 1, &[0.5, 0.75, 0.7, 0.9]),
            trial("gut", 2, &[0.5, 0.6, 0.7, 0.75]),
            trial("gut", 3, &[0.5, 0.5, 0.5, 0.5]),
            trial("dsgd", 1, &[0.1]),
        ];
        trials[3].records.push(own_record(200, 0.99));
        let [gut, dsgd] = &times_to_target(&trials, 0.75)[..] else { panic!("two methods") };
        assert_eq!((gut.seeds, gut.reached), (3, 2));
        assert_eq!((gut.rounds.mean, gut.bytes.mean), (300.0, 300e6));
        assert_eq!((gut.epochs.mean, gut.seconds.mean), (3.0, 30.0));
        assert_eq!(
            (dsgd.reached, dsgd.rounds.n),
            (0, 0),
            "an agent's own model is not the average"
        );
    }
}
