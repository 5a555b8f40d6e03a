//! The results of a trial, and of a method over all its seeds.
//!
//! Seeds are a sample of all possible seeds, so a table shows their mean and the sample standard
//! deviation (divisor `n − 1`); a single seed has no deviation. Diverged seeds are counted but not
//! averaged, because the accuracy of a diverged model means nothing. A mean over the remaining
//! seeds makes a method look better than it is, so a method with a diverged seed is never marked as
//! the best.
//!
//! The results of the averaged model and of the agents' own models are different quantities. They
//! have separate fields and columns, neither replaces the other, and only the averaged model is
//! ranked.

use crate::float_text;
use crate::quality::Quality;
use crate::record::{Measured, Record, Spread};
use crate::trial_records::{TrialRecords, by_method, look_keys};
use serde::{Deserialize, Serialize};

/// The result of one method with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSummary {
    /// The method as it was typed.
    pub method: String,
    /// The name of the method in tables; if empty, `method` is shown.
    pub label: String,
    /// The seed.
    pub seed: u64,
    /// The test accuracy of the averaged model at the last evaluation, 0 to 1, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub final_accuracy: Option<f64>,
    /// The best test accuracy of the averaged model, if every evaluation measured it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub best_accuracy: Option<f64>,
    /// The test loss of the averaged model at the last evaluation, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub final_loss: Option<f64>,
    /// The averaged model on the samples set apart for validation, at the last evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Measured>,
    /// R² of the averaged model at the last evaluation, of a regression, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub final_r2: Option<f64>,
    /// The best R² of the averaged model, if every evaluation measured it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub best_r2: Option<f64>,
    /// The root mean squared error of the averaged model at the last evaluation, in the unit of the
    /// target of a regression, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub final_rmse: Option<f64>,
    /// The test accuracies of the agents' own models at the last evaluation, 0 to 1, if they were
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_accuracy: Option<Spread>,
    /// R² of the agents' own models at the last evaluation, of a regression, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_r2: Option<Spread>,
    /// The test losses of the agents' own models at the last evaluation, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_loss: Option<Spread>,
    /// What averaging the agents' models gained at the last evaluation, in accuracy, if it was
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "float_text::maybe")]
    pub averaging_gain: Option<f64>,
    /// The consensus distance at the last evaluation.
    #[serde(with = "float_text::one")]
    pub final_consensus_distance: f64,
    /// Bytes that one agent sent.
    pub bytes_sent: u64,
    /// Seconds of training.
    #[serde(with = "float_text::one")]
    pub seconds: f64,
    /// The reason, if it diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<String>,
    /// The evidence, if it collapsed: it ended at chance level and learned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapsed: Option<String>,
    /// The completed share of its rounds, 0 to 1, if the trial has not finished; 0 if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<f64>,
    /// The training data, if known: results on different data are not ranked against each other.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub data: String,
    /// What the method costs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MethodCost>,
}

/// What a method costs an agent, and which graphs it runs on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodCost {
    /// Gradients that an agent takes in a round.
    pub gradients_per_round: u64,
    /// Bytes that an agent sends in a round, on average.
    pub bytes_per_round: u64,
    /// Bytes that an agent keeps, messages included.
    pub memory_bytes: u64,
    /// The graphs that the method accepts, in words.
    pub graphs: String,
}

impl TrialSummary {
    /// The result of `trial`. Without records the test results are missing, and all other numbers
    /// are NaN.
    pub fn new(trial: &TrialRecords) -> Self {
        let last = trial.records.last();
        let at_last = |pick: fn(&Record) -> f64| last.map_or(f64::NAN, pick);
        Self {
            method: trial.method.clone(),
            label: trial.label.clone(),
            seed: trial.seed,
            final_accuracy: last.and_then(|r| r.test_accuracy),
            best_accuracy: best(&trial.records, |r| r.test_accuracy),
            final_loss: last.and_then(|r| r.test_loss),
            validation: last.and_then(|r| r.validation),
            final_r2: last.and_then(|r| r.test_r2),
            best_r2: best(&trial.records, |r| r.test_r2),
            final_rmse: last.and_then(|r| r.test_rmse),
            agents_accuracy: last.and_then(|r| r.agents),
            agents_r2: last.and_then(|r| r.agents_r2),
            agents_loss: last.and_then(|r| r.agents_loss),
            averaging_gain: last.and_then(|r| r.averaging_gain),
            final_consensus_distance: at_last(|r| r.consensus_distance),
            bytes_sent: last.map_or(0, |r| r.bytes_sent),
            seconds: at_last(|r| r.seconds),
            diverged: trial.diverged.clone(),
            collapsed: trial.collapsed.clone(),
            unfinished: None,
            data: String::new(),
            cost: None,
        }
    }

    /// The name to show: the label, or the method if there is no label.
    pub fn shown_label(&self) -> &str {
        if self.label.is_empty() { &self.method } else { &self.label }
    }

    /// How good the averaged model is at the end, if it was measured.
    pub fn quality(&self) -> Option<Quality> {
        Quality::of(self.final_accuracy, self.final_r2)
    }

    /// The best that every evaluation measured.
    pub fn best_quality(&self) -> Option<Quality> {
        Quality::of(self.best_accuracy, self.best_r2)
    }

    /// How good the agents' own models are on average at the end, if they were measured.
    pub fn own_quality(&self) -> Option<Quality> {
        Quality::of(self.agents_accuracy.map(|own| own.mean), self.agents_r2.map(|own| own.mean))
    }
}

/// The best accuracy or R² of the averaged model. The best of a few evaluations cannot be compared with
/// the best of all evaluations of another trial, so there is a result only if every evaluation has
/// one.
fn best(records: &[Record], pick: fn(&Record) -> Option<f64>) -> Option<f64> {
    // `max` ignores NaN, which is right for the best of all evaluations.
    records.iter().map(pick).reduce(|best, next| Some(best?.max(next?))).flatten()
}

/// Mean and deviation of a quantity over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanStd {
    /// The mean; NaN if there are no values.
    pub mean: f64,
    /// The sample standard deviation; `None` if there are fewer than two values.
    pub std: Option<f64>,
    /// The number of values.
    pub n: usize,
}

impl MeanStd {
    /// Mean and sample standard deviation of `values`.
    pub fn from_values(values: &[f64]) -> Self {
        let n = values.len();
        let mean = if n == 0 { f64::NAN } else { values.iter().sum::<f64>() / n as f64 };
        let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let std = (n > 1).then(|| (square / (n as f64 - 1.0)).sqrt());
        Self { mean, std, n }
    }
}

/// The results of a method over all its seeds; means are over the seeds that did not diverge.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    /// The method as it was typed.
    pub method: String,
    /// The key of its colour: the method, and also its name if a method appears under several
    /// names.
    pub look: String,
    /// The name to show.
    pub label: String,
    /// The number of seeds.
    pub seeds: usize,
    /// How many of them diverged.
    pub diverged: usize,
    /// How many of them ended at chance level. They are included in the means.
    pub collapsed: usize,
    /// How many of them have not finished. They are averaged only if no seed has finished.
    pub unfinished: usize,
    /// The smallest completed share of rounds among the unfinished seeds; 1 if all have finished.
    pub least_done: f64,
    /// The training data, if known.
    pub data: String,
    /// The averaged model's final test accuracy, 0 to 1.
    pub accuracy: MeanStd,
    /// The averaged model's best test accuracy of each seed, 0 to 1.
    pub best_accuracy: MeanStd,
    /// The averaged model's final test loss.
    pub loss: MeanStd,
    /// The averaged model's final accuracy on the samples set apart for validation, 0 to 1.
    pub validation_accuracy: MeanStd,
    /// Its final loss on them.
    pub validation_loss: MeanStd,
    /// Whether it predicts numbers: it has R² where others have an accuracy.
    pub is_regression: bool,
    /// The averaged model's final R², of a regression.
    pub r2: MeanStd,
    /// The averaged model's best R² of each seed, of a regression.
    pub best_r2: MeanStd,
    /// The averaged model's final root mean squared error, of a regression.
    pub rmse: MeanStd,
    /// The mean of the agents' own final test accuracies, 0 to 1.
    pub agents_accuracy: MeanStd,
    /// The mean of the agents' own final R², of a regression.
    pub agents_r2: MeanStd,
    /// The worst of the agents' own final test accuracies of each seed, 0 to 1.
    pub worst_agent: MeanStd,
    /// The best of the agents' own final test accuracies of each seed, 0 to 1.
    pub best_agent: MeanStd,
    /// The mean of the agents' own final test losses.
    pub agents_loss: MeanStd,
    /// What averaging the agents' models gains at the end, in accuracy.
    pub averaging_gain: MeanStd,
    /// Final consensus distance.
    pub consensus_distance: MeanStd,
    /// Bytes that one agent sent.
    pub bytes_sent: MeanStd,
    /// Seconds of training.
    pub seconds: MeanStd,
    /// What the method costs, if known.
    pub cost: Option<MethodCost>,
}

impl MethodRow {
    /// Whether only the agents' own models were measured, for at least one seed. Such a row is not
    /// ranked.
    pub fn has_only_own(&self) -> bool {
        self.score().mean.is_nan() && self.own_score().n > 0
    }

    /// How good the averaged model is: its accuracy, or R² of a regression.
    pub fn score(&self) -> MeanStd {
        if self.is_regression { self.r2 } else { self.accuracy }
    }

    /// The best of each seed.
    pub fn best_score(&self) -> MeanStd {
        if self.is_regression { self.best_r2 } else { self.best_accuracy }
    }

    /// How good the agents' own models are.
    pub fn own_score(&self) -> MeanStd {
        if self.is_regression { self.agents_r2 } else { self.agents_accuracy }
    }
}

/// All methods of a run, in the order of the trials.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodTable {
    /// One row per method.
    pub rows: Vec<MethodRow>,
}

impl MethodTable {
    /// Groups trials by method.
    pub fn new(trials: &[TrialSummary]) -> Self {
        let groups = by_method(trials, |trial| (&trial.method, &trial.label));
        let looks = look_keys(&groups, |trial| (&trial.method, &trial.label));
        Self { rows: groups.iter().zip(looks).map(|(group, look)| row(group, look)).collect() }
    }

    /// Whether to show the results of the agents' own models: some row has no other results.
    pub fn shows_own(&self) -> bool {
        self.rows.iter().any(MethodRow::has_only_own)
    }

    /// Whether to show results on validation samples: some row has them.
    pub fn shows_validation(&self) -> bool {
        self.rows.iter().any(|row| row.validation_accuracy.n > 0)
    }

    /// Whether to show what the methods cost: it is known, and they differ in the gradients or in
    /// the bytes of a round.
    pub fn shows_cost(&self) -> bool {
        let cost = |row: &MethodRow| {
            row.cost.as_ref().map(|cost| (cost.gradients_per_round, cost.bytes_per_round))
        };
        let first = self.rows.first().and_then(cost);
        first.is_some() && self.rows.iter().any(|row| cost(row) != first)
    }

    /// Whether some row is a regression, and whether some row is none.
    pub fn tasks(&self) -> (bool, bool) {
        let regressions = self.rows.iter().filter(|row| row.is_regression).count();
        (regressions > 0, regressions < self.rows.len())
    }

    /// Whether some row has results of several agents' own models, so that they have a spread.
    pub fn has_spread(&self) -> bool {
        self.rows.iter().any(|row| row.worst_agent.mean < row.best_agent.mean)
    }

    /// Whether to show what averaging gains: it was measured.
    pub fn shows_averaging_gain(&self) -> bool {
        self.rows.iter().any(|row| row.averaging_gain.n > 0)
    }

    /// Whether the averaged model of row `i` has the highest mean accuracy, or R², of all methods on the
    /// same data (several rows may share it). Only rows whose seeds have all finished without
    /// diverging count. Rows with only the agents' own results are not ranked, and a single method
    /// is never the best.
    pub fn is_best(&self, i: usize) -> bool {
        let Some(own) = self.rows.get(i) else { return false };
        let eligible = |row: &&MethodRow| {
            let learned = row.collapsed < row.seeds;
            learned && row.diverged == 0 && row.unfinished == 0 && row.score().mean.is_finite()
        };
        let same = |r: &&MethodRow| r.data == own.data && r.is_regression == own.is_regression;
        let rivals = || self.rows.iter().filter(same).filter(|r| !r.has_only_own());
        let highest = rivals().filter(eligible).map(|r| r.score().mean).fold(f64::NAN, f64::max);
        rivals().count() > 1 && eligible(&own) && own.score().mean == highest
    }
}

fn row(trials: &[&TrialSummary], look: String) -> MethodRow {
    // An unfinished seed counts only if no seed has finished.
    let any_ended = trials.iter().any(|t| t.unfinished.is_none() && t.diverged.is_none());
    let counts =
        |t: &&&TrialSummary| t.diverged.is_none() && (t.unfinished.is_none() || !any_ended);
    let over_seeds = |pick: fn(&TrialSummary) -> f64| {
        let values: Vec<f64> = trials.iter().filter(counts).map(|t| pick(t)).collect();
        MeanStd::from_values(&values)
    };
    // If only some seeds were measured, there is no mean: it might look better than it is.
    let where_measured = |pick: fn(&TrialSummary) -> Option<f64>| {
        let values: Vec<Option<f64>> = trials.iter().filter(counts).map(|t| pick(t)).collect();
        if values.iter().all(Option::is_none) {
            return MeanStd::from_values(&[]);
        }
        MeanStd::from_values(&values.iter().map(|v| v.unwrap_or(f64::NAN)).collect::<Vec<f64>>())
    };
    MethodRow {
        look,
        method: trials.first().map(|t| t.method.clone()).unwrap_or_default(),
        label: trials.first().map(|t| t.shown_label().to_owned()).unwrap_or_default(),
        seeds: trials.len(),
        diverged: trials.iter().filter(|t| t.diverged.is_some()).count(),
        collapsed: trials.iter().filter(|t| t.collapsed.is_some()).count(),
        unfinished: trials.iter().filter(|t| t.unfinished.is_some()).count(),
        least_done: trials.iter().filter_map(|t| t.unfinished).fold(1.0, f64::min),
        data: trials.first().map(|t| t.data.clone()).unwrap_or_default(),
        accuracy: where_measured(|t| t.final_accuracy),
        best_accuracy: where_measured(|t| t.best_accuracy),
        loss: where_measured(|t| t.final_loss),
        validation_accuracy: where_measured(|t| t.validation.map(|measured| measured.accuracy)),
        validation_loss: where_measured(|t| t.validation.map(|measured| measured.loss)),
        is_regression: trials.iter().any(|t| t.final_r2.is_some() || t.agents_r2.is_some()),
        r2: where_measured(|t| t.final_r2),
        best_r2: where_measured(|t| t.best_r2),
        rmse: where_measured(|t| t.final_rmse),
        agents_accuracy: where_measured(|t| t.agents_accuracy.map(|own| own.mean)),
        agents_r2: where_measured(|t| t.agents_r2.map(|own| own.mean)),
        worst_agent: where_measured(|t| t.agents_accuracy.map(|own| own.min)),
        best_agent: where_measured(|t| t.agents_accuracy.map(|own| own.max)),
        agents_loss: where_measured(|t| t.agents_loss.map(|own| own.mean)),
        averaging_gain: where_measured(|t| t.averaging_gain),
        consensus_distance: over_seeds(|t| t.final_consensus_distance),
        bytes_sent: over_seeds(|t| t.bytes_sent as f64),
        seconds: over_seeds(|t| t.seconds),
        cost: trials.first().and_then(|t| t.cost.clone()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::tests::{own_record, record, regression_record};

    /// An outcome with this accuracy; `None` diverged.
    pub(crate) fn outcome(method: &str, seed: u64, accuracy: Option<f64>) -> TrialSummary {
        let reached = accuracy.unwrap_or(0.1);
        let trial = TrialRecords {
            method: method.into(),
            label: String::new(),
            seed,
            records: vec![record(100, reached + 0.125), record(200, reached)],
            diverged: accuracy.is_none().then(|| "the loss is inf in round 200".into()),
            collapsed: None,
        };
        TrialSummary::new(&trial)
    }

    /// The result of a regression.
    pub(crate) fn regression_outcome(method: &str, seed: u64, r2: f64) -> TrialSummary {
        let trial = TrialRecords {
            method: method.into(),
            label: String::new(),
            seed,
            records: vec![regression_record(100, r2 + 0.125), regression_record(200, r2)],
            diverged: None,
            collapsed: None,
        };
        TrialSummary::new(&trial)
    }

    /// The result of a single agent.
    pub(crate) fn own_outcome(method: &str, accuracy: f64) -> TrialSummary {
        let trial = TrialRecords {
            method: method.into(),
            label: String::new(),
            seed: 1,
            records: vec![own_record(100, 0.25), own_record(200, accuracy)],
            diverged: None,
            collapsed: None,
        };
        TrialSummary::new(&trial)
    }

    #[test]
    fn a_summary_tells_the_last_and_the_best_evaluation() {
        let summary = outcome("gut", 1, Some(0.5));
        assert_eq!((summary.final_accuracy, summary.best_accuracy), (Some(0.5), Some(0.625)));
        assert_eq!((summary.final_loss, summary.bytes_sent), (Some(1.0), 200_000_000));
        let json = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<TrialSummary>(&json).unwrap(), summary);
    }

    #[test]
    fn own_results_are_told_apart_from_the_averaged_models() {
        let own = own_outcome("gut", 0.75);
        assert_eq!((own.final_accuracy, own.best_accuracy, own.final_loss), (None, None, None));
        assert_eq!(own.agents_accuracy, Spread::from_values(&[0.75]));
        let json = serde_json::to_string(&own).unwrap();
        assert!(!json.contains("final_accuracy") && !json.contains("null"), "{json}");
        assert_eq!(serde_json::from_str::<TrialSummary>(&json).unwrap(), own);
        // Measured at the end alone, the averaged model has no best evaluation.
        let mut trial = TrialRecords {
            method: "gut".into(),
            label: String::new(),
            seed: 1,
            records: vec![own_record(100, 0.5), record(200, 0.75)],
            diverged: None,
            collapsed: None,
        };
        let summary = TrialSummary::new(&trial);
        assert_eq!((summary.final_accuracy, summary.best_accuracy), (Some(0.75), None));
        trial.records.swap(0, 1);
        assert_eq!(TrialSummary::new(&trial).final_accuracy, None);
    }

    #[test]
    fn a_summary_from_before_it_told_whose_is_the_averaged_models() {
        let json = r#"{"method":"gut","label":"","seed":1,"final_accuracy":0.5,
            "best_accuracy":0.625,"final_loss":"NaN","final_consensus_distance":0.0,
            "bytes_sent":1,"seconds":2.0}"#;
        let summary: TrialSummary = serde_json::from_str(json).unwrap();
        assert_eq!((summary.final_accuracy, summary.best_accuracy), (Some(0.5), Some(0.625)));
        assert!(summary.final_loss.unwrap().is_nan() && summary.agents_accuracy.is_none());
    }

    #[test]
    fn regressions_are_ranked_by_r2_and_never_against_accuracies() {
        let summary = regression_outcome("gut", 1, 0.75);
        assert_eq!(summary.quality(), Some(Quality::R2(0.75)));
        assert_eq!((summary.best_r2, summary.final_rmse), (Some(0.875), Some(50.0)));
        let json = serde_json::to_string(&summary).unwrap();
        assert!(!json.contains("accuracy"), "{json}");
        assert_eq!(serde_json::from_str::<TrialSummary>(&json).unwrap(), summary);
        let table = MethodTable::new(&[
            regression_outcome("a", 1, 0.5),
            summary,
            outcome("c", 1, Some(0.9)),
            outcome("d", 1, Some(0.4)),
        ]);
        assert_eq!(table.tasks(), (true, true));
        let best = [0, 1, 2, 3].map(|row| table.is_best(row));
        assert_eq!(best, [false, true, true, false]);
    }

    #[test]
    fn own_results_are_neither_ranked_nor_rivals() {
        let own = || own_outcome("gt", 0.9375);
        let table =
            MethodTable::new(&[outcome("a", 1, Some(0.5)), own(), outcome("b", 1, Some(0.75))]);
        assert!(table.rows[1].has_only_own() && table.shows_own());
        assert_eq!((table.rows[1].accuracy.n, table.rows[1].agents_accuracy.mean), (0, 0.9375));
        assert_eq!([0, 1, 2].map(|row| table.is_best(row)), [false, false, true]);
        let table = MethodTable::new(&[own(), outcome("a", 1, Some(0.5))]);
        assert!(!table.is_best(0) && !table.is_best(1), "alone beside what is not ranked");
        assert!(
            !MethodTable::new(&[outcome("a", 1, Some(0.5)), outcome("b", 1, None)]).shows_own()
        );
        // Two kinds of seeds have no common mean.
        let mixed = MethodTable::new(&[outcome("gt", 2, Some(0.5)), own()]);
        assert!(mixed.rows[0].accuracy.mean.is_nan() && mixed.rows[0].has_only_own());
    }

    #[test]
    fn a_trial_without_records_is_not_a_number() {
        let trial = TrialRecords {
            method: "gut".into(),
            label: String::new(),
            seed: 1,
            records: vec![],
            diverged: Some("at once".into()),
            collapsed: None,
        };
        let summary = TrialSummary::new(&trial);
        assert!(summary.final_accuracy.is_none() && summary.best_accuracy.is_none());
        assert!(MethodTable::new(&[summary]).rows[0].accuracy.mean.is_nan());
    }

    #[test]
    fn mean_and_sample_std_by_hand() {
        // 2, 4, 9: mean 5; deviations -3, -1, 4; squares 26; 26 / 2 = 13.
        assert_eq!(
            MeanStd::from_values(&[2.0, 4.0, 9.0]),
            MeanStd { mean: 5.0, std: Some(13f64.sqrt()), n: 3 }
        );
        assert_eq!(MeanStd::from_values(&[7.0]), MeanStd { mean: 7.0, std: None, n: 1 });
        assert!(MeanStd::from_values(&[]).mean.is_nan());
    }

    #[test]
    fn methods_are_grouped_and_the_diverged_counted_but_not_averaged() {
        let table = MethodTable::new(&[
            outcome("gut", 1, Some(0.5)),
            outcome("dsgd", 1, Some(0.25)),
            outcome("gut", 2, Some(0.75)),
            outcome("gut", 3, None),
        ]);
        let gut = &table.rows[0];
        assert_eq!((gut.label.as_str(), gut.seeds, gut.diverged), ("gut", 3, 1));
        // Deviations ±0.125, divisor 1.
        assert_eq!((gut.accuracy.mean, gut.accuracy.n), (0.625, 2));
        assert_eq!(gut.accuracy.std, Some((2.0 * 0.125f64.powi(2)).sqrt()));
        // The higher mean, but of the seeds that were left.
        assert!(!table.is_best(0) && table.is_best(1));
    }

    #[test]
    fn the_collapsed_are_averaged_and_counted_and_never_all_the_best() {
        let mut trials =
            [outcome("a", 1, Some(0.5)), outcome("a", 2, Some(0.25)), outcome("b", 1, Some(0.125))];
        trials[1].collapsed = Some("at chance level".into());
        trials[2].collapsed = Some("at chance level".into());
        let table = MethodTable::new(&trials);
        assert_eq!((table.rows[0].collapsed, table.rows[0].accuracy.mean), (1, 0.375));
        assert!(table.is_best(0));
        assert!(!MethodTable::new(&trials[1..]).is_best(0), "nobody learned anything");
    }

    #[test]
    fn a_single_method_is_not_the_best_and_ties_share() {
        assert!(!MethodTable::new(&[outcome("gut", 1, Some(0.5))]).is_best(0));
        let tie = MethodTable::new(&[outcome("a", 1, Some(0.5)), outcome("b", 1, Some(0.5))]);
        assert!(tie.is_best(0) && tie.is_best(1) && !tie.is_best(2));
    }

    #[test]
    fn what_has_not_ended_and_what_has_other_data_is_not_ranked() {
        let mut trials = [outcome("a", 1, Some(0.75)), outcome("b", 1, Some(0.5))];
        trials[0].unfinished = Some(0.12);
        let table = MethodTable::new(&trials);
        assert!(!table.is_best(0) && table.is_best(1));
        assert_eq!((table.rows[0].unfinished, table.rows[0].least_done), (1, 0.12));
        let ended = outcome("a", 2, Some(0.25));
        let mixed = MethodTable::new(&[trials[0].clone(), ended]);
        assert_eq!(mixed.rows[0].accuracy.mean, 0.25);
        trials[0] = TrialSummary { data: "other".into(), unfinished: None, ..trials[0].clone() };
        let table = MethodTable::new(&trials);
        assert!(!table.is_best(0) && !table.is_best(1));
    }
}
