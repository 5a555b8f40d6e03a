//! The records of a trial (one method with one seed), and the curves of a run with many trials.
//!
//! There is one curve per method, with one run per seed. A curve has a position only where every
//! seed has a record, because a mean over changing seeds would jump. After a seed has diverged the
//! curve has a gap: averaging the other seeds would hide the divergence. A quantity that was not
//! measured has no curve: results of the agents' own models never replace those of the averaged
//! model.

use crate::curves::{Curve, CurveSet, Panel};
use crate::record::{Record, Spread};
use std::collections::{BTreeMap, BTreeSet};

/// The records of one method with one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecords {
    /// The method as it was typed, for example "qg-gutm:mu=0.5"; decides the colour.
    pub method: String,
    /// The name of the method in tables and legends; if empty, `method` is shown.
    pub label: String,
    /// The seed.
    pub seed: u64,
    /// The evaluations, in the order of rounds.
    pub records: Vec<Record>,
    /// The reason, if it diverged.
    pub diverged: Option<String>,
    /// The evidence, if it collapsed: it learned nothing.
    pub collapsed: Option<String>,
}

/// What a curve shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Test accuracy of the averaged model, in percent.
    TestAccuracy,
    /// R² of the averaged model on the test set.
    TestR2,
    /// Mean of the agents' own test accuracies, in percent.
    AgentsAccuracy,
    /// Mean of the agents' own R².
    AgentsR2,
    /// Loss on training data.
    TrainLoss,
    /// Test loss of the averaged model.
    TestLoss,
    /// Mean of the agents' own test losses.
    AgentsLoss,
    /// Accuracy of the averaged model on validation samples, in percent.
    ValidationAccuracy,
    /// Loss of the averaged model on validation samples.
    ValidationLoss,
    /// Distance of the agents' models from their average.
    ConsensusDistance,
    /// Root mean square of the agents' gradient norms.
    GradientNorm,
}

/// The x axis of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XAxis {
    /// Passes over the training data.
    Epochs,
    /// Rounds of communication.
    Rounds,
    /// Megabytes (10⁶ bytes) that one agent has sent.
    Megabytes,
    /// Seconds of training, on the machine of the run.
    Seconds,
}

/// The curves of `quantity` over `x`, one per method in the order of the trials. A method without
/// measurements of `quantity` has no curve.
pub fn curves(trials: &[TrialRecords], quantity: Quantity, x: XAxis) -> CurveSet {
    let grouped = by_method(trials, |trial| (&trial.method, &trial.label));
    let keys = look_keys(&grouped, |trial| (&trial.method, &trial.label));
    let curve = |(group, key): (&Vec<&TrialRecords>, String)| curve(group, key, quantity, x);
    let measured = |(group, _): &(&Vec<&TrialRecords>, String)| {
        let mut records = group.iter().flat_map(|trial| &trial.records).peekable();
        records.peek().is_none() || records.any(|record| quantity.value(record).is_some())
    };
    let curves = grouped.iter().zip(keys).filter(measured).map(curve).collect();
    CurveSet {
        title: format!("{} over {}", quantity.name(), x.name()),
        x_label: x.label().to_owned(),
        y_label: quantity.label().to_owned(),
        log_y: quantity.on_log_axis(),
        panels: vec![Panel { title: String::new(), curves }],
    }
}

/// The curves of `quantity` over `x` with their bands: the smallest and the largest value over the
/// agents at every position, averaged over the seeds. Only the agents' own accuracies and losses
/// have such a range; a method that measured none has no curve. The result has one panel.
pub fn curves_over_agents(
    trials: &[TrialRecords],
    quantity: Quantity,
    x: XAxis,
) -> (CurveSet, Vec<Vec<(f64, f64)>>) {
    let set = curves(trials, quantity, x);
    let end = |pick: fn(&Spread) -> f64| -> Vec<Vec<f64>> {
        let one = |trial: &TrialRecords| {
            let as_mean = |record: &Record| {
                let held = |spread: Option<Spread>| spread.map(|s| Spread { mean: pick(&s), ..s });
                let (agents, agents_loss) = (held(record.agents), held(record.agents_loss));
                Record { agents, agents_loss, agents_r2: held(record.agents_r2), ..*record }
            };
            TrialRecords { records: trial.records.iter().map(as_mean).collect(), ..trial.clone() }
        };
        let ends: Vec<TrialRecords> = trials.iter().map(one).collect();
        let means = |curve: &Curve| curve.mean_and_band().into_iter().map(|b| b.0).collect();
        curves(&ends, quantity, x).panels[0].curves.iter().map(means).collect()
    };
    let (low, high) = (end(|spread| spread.min), end(|spread| spread.max));
    let bands = low.into_iter().zip(high).map(|(l, h)| l.into_iter().zip(h).collect()).collect();
    (set, bands)
}

/// Whether some methods sent more than others in as many rounds. If not, curves over bytes are
/// those over epochs with other numbers below them.
pub fn traffic_differs(trials: &[TrialRecords]) -> bool {
    let rates = trials.iter().filter_map(|trial| {
        let last = trial.records.iter().rfind(|record| record.round > 0)?;
        Some(last.bytes_sent as f64 / last.round as f64)
    });
    let rates: Vec<f64> = rates.collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    // Seeds of a method may differ a little, on random graphs.
    most > 1.02 * least
}

/// `items` grouped by method and name, in the order in which they first occur.
pub(crate) fn by_method<'a, T>(
    items: &'a [T],
    method: impl Fn(&'a T) -> (&'a str, &'a str),
) -> Vec<Vec<&'a T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| method(group[0]) == method(item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// The key of the look of each group: the method, and its name too if a method appears under
/// several names. As a parameter of the method, the name changes the shade and not the hue.
pub(crate) fn look_keys<'a, T>(
    groups: &[Vec<&'a T>],
    method: impl Fn(&'a T) -> (&'a str, &'a str),
) -> Vec<String> {
    let names: Vec<(&str, &str)> = groups.iter().map(|group| method(group[0])).collect();
    let key = |&(method, label): &(&str, &str)| {
        let alone = names.iter().filter(|(other, _)| *other == method).count() == 1;
        let separator = if method.contains(':') { ',' } else { ':' };
        if alone { method.to_owned() } else { format!("{method}{separator}{label}") }
    };
    names.iter().map(key).collect()
}

/// The curve of one method.
fn curve(trials: &[&TrialRecords], method: String, quantity: Quantity, x: XAxis) -> Curve {
    let runs: Vec<BTreeMap<u64, &Record>> =
        trials.iter().map(|t| t.records.iter().map(|r| (r.round, r)).collect()).collect();
    let rounds = shared_rounds(trials, &runs, quantity);
    let x = rounds.iter().map(|round| {
        // On random graphs seeds may have sent different amounts. Compute the mean from the first
        // value and the differences from it, so that equal values stay equal to the last bit.
        let all: Vec<f64> =
            runs.iter().filter_map(|run| run.get(round)).map(|r| x.value(r)).collect();
        let first = all.first().copied().unwrap_or(f64::NAN);
        first + all.iter().map(|v| (v - first) / all.len() as f64).sum::<f64>()
    });
    let value = |run: &BTreeMap<u64, &Record>, round| {
        run.get(round).and_then(|record| quantity.value(record)).unwrap_or(f64::NAN)
    };
    Curve {
        method,
        label: trials.first().map(|t| t.label.clone()).unwrap_or_default(),
        x: x.collect(),
        runs: runs.iter().map(|run| rounds.iter().map(|r| value(run, r)).collect()).collect(),
        seeds: trials.iter().map(|t| t.seed).collect(),
    }
}

/// The rounds at which the quantity was measured and every seed that did not diverge has a record.
/// If all seeds diverged: all rounds of all seeds.
fn shared_rounds(
    trials: &[&TrialRecords],
    runs: &[BTreeMap<u64, &Record>],
    quantity: Quantity,
) -> Vec<u64> {
    let measured = runs.iter().flatten().filter(|(_, record)| quantity.value(record).is_some());
    let all: BTreeSet<u64> = measured.map(|(round, _)| *round).collect();
    let needed: Vec<_> =
        trials.iter().zip(runs).filter(|(t, _)| t.diverged.is_none()).map(|(_, run)| run).collect();
    all.into_iter().filter(|round| needed.iter().all(|run| run.contains_key(round))).collect()
}

impl Quantity {
    /// The value in a record; `None` if it was not measured.
    fn value(self, record: &Record) -> Option<f64> {
        match self {
            Self::TestAccuracy => record.test_accuracy.map(|share| 100.0 * share),
            Self::TestR2 => record.test_r2,
            Self::AgentsAccuracy => record.agents.map(|all| 100.0 * all.mean),
            Self::AgentsR2 => record.agents_r2.map(|all| all.mean),
            Self::TrainLoss => Some(record.train_loss),
            Self::TestLoss => record.test_loss,
            Self::AgentsLoss => record.agents_loss.map(|all| all.mean),
            Self::ValidationAccuracy => record.validation.map(|all| 100.0 * all.accuracy),
            Self::ValidationLoss => record.validation.map(|all| all.loss),
            Self::ConsensusDistance => Some(record.consensus_distance),
            Self::GradientNorm => Some(record.gradient_norm),
        }
    }

    /// The name at the start of a title.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestAccuracy => "Test accuracy of the averaged model",
            Self::TestR2 => "Test R² of the averaged model",
            Self::AgentsAccuracy => "Test accuracy of the agents' own models",
            Self::AgentsR2 => "Test R² of the agents' own models",
            Self::TrainLoss => "Training loss",
            Self::TestLoss => "Test loss of the averaged model",
            Self::AgentsLoss => "Test loss of the agents' own models",
            Self::ValidationAccuracy => "Validation accuracy of the averaged model",
            Self::ValidationLoss => "Validation loss of the averaged model",
            Self::ConsensusDistance => "Consensus distance",
            Self::GradientNorm => "Gradient norm",
        }
    }

    /// The label of its axis: whose it is, and its unit.
    pub fn label(self) -> &'static str {
        match self {
            Self::TestAccuracy => "Test accuracy of the averaged model (%)",
            Self::AgentsAccuracy => "Mean test accuracy of the agents' own models (%)",
            Self::TrainLoss => "Training loss, mean over agents",
            Self::AgentsR2 => "Mean test R² of the agents' own models",
            Self::AgentsLoss => "Mean test loss of the agents' own models",
            Self::ValidationAccuracy => "Validation accuracy of the averaged model (%)",
            other => other.name(),
        }
    }

    fn on_log_axis(self) -> bool {
        matches!(self, Self::ConsensusDistance | Self::GradientNorm)
    }
}

impl XAxis {
    fn value(self, record: &Record) -> f64 {
        match self {
            Self::Epochs => record.epoch,
            Self::Rounds => record.round as f64,
            Self::Seconds => record.seconds,
            Self::Megabytes => record.bytes_sent as f64 / 1e6,
        }
    }

    /// The name at the end of a title.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epochs => "epochs",
            Self::Rounds => "rounds",
            Self::Megabytes => "data sent",
            Self::Seconds => "time",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Epochs => "Epoch",
            Self::Rounds => "Round",
            Self::Megabytes => "Sent per agent (MB)",
            Self::Seconds => "Time (s)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One method under two names has two looks of one hue; alone it has its own.
    #[test]
    fn one_method_under_two_names_can_be_told_apart() {
        let trial = |method: &str, label: &str| TrialRecords {
            method: method.into(),
            label: label.into(),
            seed: 1,
            records: vec![],
            diverged: None,
            collapsed: None,
        };
        let trials = [trial("gut", "a"), trial("dsgd", ""), trial("gut", "b")];
        let set = curves(&trials, Quantity::TestLoss, XAxis::Epochs);
        let keys: Vec<&str> = set.panels[0].curves.iter().map(|c| c.method.as_str()).collect();
        assert_eq!(keys, ["gut:a", "dsgd", "gut:b"]);
    }
    use crate::record::tests::{own_record, record};

    fn trial(method: &str, seed: u64, rounds: &[u64], diverged: bool) -> TrialRecords {
        TrialRecords {
            method: method.into(),
            label: method.to_uppercase(),
            seed,
            records: rounds.iter().map(|r| record(*r, 0.25 * seed as f64)).collect(),
            diverged: diverged.then(|| "loss is inf".to_owned()),
            collapsed: None,
        }
    }

    #[test]
    fn seeds_of_a_method_become_the_runs_of_one_curve() {
        let trials = [
            trial("gut", 1, &[100, 200], false),
            trial("dsgd", 1, &[100, 200], false),
            trial("gut", 2, &[100, 200], false),
        ];
        let set = curves(&trials, Quantity::TestAccuracy, XAxis::Megabytes);
        set.check().unwrap();
        let [gut, dsgd] = &set.panels[0].curves[..] else { panic!("two curves") };
        assert_eq!((gut.label.as_str(), dsgd.method.as_str()), ("GUT", "dsgd"));
        assert_eq!((&gut.seeds[..], &gut.x[..]), (&[1, 2][..], &[100.0, 200.0][..]));
        assert_eq!(gut.runs, [[25.0; 2], [50.0; 2]]);
        assert!(!set.log_y);
        assert!(curves(&trials, Quantity::ConsensusDistance, XAxis::Epochs).log_y);
    }

    #[test]
    fn own_results_are_no_curve_of_the_averaged_model() {
        let mut trials = [trial("gut", 1, &[10, 20], false), trial("dsgd", 1, &[10, 20], false)];
        // Combined from agents: the averaged model was measured only at the end.
        trials[0].records[0] = own_record(10, 0.5);
        trials[1].records = vec![own_record(10, 0.5), own_record(20, 0.75)];
        let set = curves(&trials, Quantity::TestAccuracy, XAxis::Epochs);
        let [gut] = &set.panels[0].curves[..] else { panic!("one curve: {set:?}") };
        assert_eq!(
            (gut.method.as_str(), &gut.x[..], &gut.runs[0][..]),
            ("gut", &[0.2][..], &[25.0][..])
        );
        assert_eq!(set.y_label, "Test accuracy of the averaged model (%)");
        let own = curves(&trials, Quantity::AgentsAccuracy, XAxis::Epochs);
        assert_eq!(own.panels[0].curves[1].runs, [[50.0, 75.0]]);
        assert!(own.y_label.contains("agents' own"), "{}", own.y_label);
        let losses = curves(&trials, Quantity::AgentsLoss, XAxis::Epochs);
        assert_eq!(losses.panels[0].curves[1].runs, [[1.0, 0.75]]);
    }

    #[test]
    fn bands_over_agents_are_from_the_worst_to_the_best() {
        // `record` has agents at the accuracy and a quarter below it: 25 % and 50 % here.
        let trials = [trial("gut", 1, &[10, 20], false), trial("gut", 2, &[10, 20], false)];
        let (set, bands) = curves_over_agents(&trials, Quantity::AgentsAccuracy, XAxis::Rounds);
        assert_eq!(set.panels[0].curves[0].runs, [[12.5; 2], [37.5; 2]]);
        assert_eq!(set.panels[0].curves[0].x, [10.0, 20.0]);
        assert_eq!(bands, [[(12.5, 37.5); 2]]);
        let none = curves_over_agents(&trials, Quantity::AgentsLoss, XAxis::Rounds);
        assert!(none.0.panels[0].curves.is_empty() && none.1.is_empty());
    }

    #[test]
    fn traffic_differs_only_if_a_round_costs_more() {
        let mut trials = [trial("gut", 1, &[10, 20], false), trial("dsgd", 1, &[10], false)];
        assert!(!traffic_differs(&trials), "fewer rounds are no other traffic");
        trials[1].records[0].bytes_sent *= 2;
        assert!(traffic_differs(&trials));
        assert!(!traffic_differs(&trials[1..]) && !traffic_differs(&[]));
    }

    #[test]
    fn only_shared_positions_are_shown() {
        let trials = [trial("gut", 1, &[10, 20, 30], false), trial("gut", 2, &[10, 15, 20], false)];
        let set = curves(&trials, Quantity::TrainLoss, XAxis::Epochs);
        assert_eq!(set.panels[0].curves[0].x, [0.1, 0.2]);
    }

    #[test]
    fn a_diverged_seed_leaves_a_gap() {
        let trials = [trial("gut", 1, &[10, 20, 30], false), trial("gut", 2, &[10], true)];
        let curve = &curves(&trials, Quantity::TestAccuracy, XAxis::Epochs).panels[0].curves[0];
        assert_eq!(curve.x, [0.1, 0.2, 0.3]);
        assert!(curve.runs[1][0] == 50.0 && curve.runs[1][1].is_nan());
        assert!(curve.mean_and_band()[2].0.is_nan());
        let lost = [trial("gut", 1, &[10, 20], true), trial("gut", 2, &[10], true)];
        let curve = &curves(&lost, Quantity::TestAccuracy, XAxis::Epochs).panels[0].curves[0];
        assert_eq!(curve.x, [0.1, 0.2]);
    }

    #[test]
    fn positions_that_differ_are_averaged_and_equal_ones_kept_exactly() {
        let mut trials: Vec<TrialRecords> = (1..=3).map(|s| trial("gut", s, &[7], false)).collect();
        let x = |trials: &[TrialRecords], along| {
            curves(trials, Quantity::TestLoss, along).panels[0].curves[0].x[0]
        };
        assert_eq!(x(&trials, XAxis::Epochs).to_bits(), 0.07f64.to_bits());
        trials[0].records[0].bytes_sent += 3_000_000;
        assert_eq!(x(&trials, XAxis::Megabytes), 8.0);
    }
}
