//! The results of a sweep: every method with every combination of the values that were tried, on
//! validation samples.
//!
//! Of each method one combination is the best: the one with the highest mean accuracy over the
//! seeds, of equal ones that with the lowest loss. A combination that diverged for any seed, or
//! learned nothing for all of them, is never the best.

use serde::Serialize;

use crate::summary::{MeanStd, TrialSummary};

/// One method with one combination of values, over all seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// The name of the method.
    pub method: String,
    /// The value of each key of the sweep, in the order of [`SweepTable::keys`]; none where the
    /// method does not have the key.
    pub values: Vec<Option<String>>,
    /// The number of seeds that have ended.
    pub seeds: usize,
    /// How many of them diverged.
    pub diverged: usize,
    /// How many of them ended at chance level.
    pub collapsed: usize,
    /// Why the combination cannot run, if it cannot.
    pub refused: Option<String>,
    /// The averaged model's accuracy on the validation samples, 0 to 1, over the seeds that did not
    /// diverge.
    pub accuracy: MeanStd,
    /// Its loss on them.
    pub loss: MeanStd,
    /// Bytes that one agent sent.
    pub bytes_sent: MeanStd,
    /// Seconds of training.
    pub seconds: MeanStd,
}

impl SweepRow {
    /// The row of a combination with these results, one for each seed.
    pub fn new(method: &str, values: Vec<Option<String>>, trials: &[TrialSummary]) -> Self {
        let sound = || trials.iter().filter(|trial| trial.diverged.is_none());
        let over_seeds = |pick: fn(&TrialSummary) -> f64| {
            MeanStd::from_values(&sound().map(pick).collect::<Vec<f64>>())
        };
        Self {
            method: method.to_owned(),
            values,
            seeds: trials.len(),
            diverged: trials.len() - sound().count(),
            collapsed: trials.iter().filter(|trial| trial.collapsed.is_some()).count(),
            refused: None,
            accuracy: over_seeds(|t| t.validation.map_or(f64::NAN, |measured| measured.accuracy)),
            loss: over_seeds(|t| t.validation.map_or(f64::NAN, |measured| measured.loss)),
            bytes_sent: over_seeds(|t| t.bytes_sent as f64),
            seconds: over_seeds(|t| t.seconds),
        }
    }

    /// The row of a combination that cannot run, with the reason.
    pub fn refused(method: &str, values: Vec<Option<String>>, reason: String) -> Self {
        Self { refused: Some(reason), ..Self::new(method, values, &[]) }
    }

    /// Whether the combination may be the best.
    fn is_eligible(&self) -> bool {
        let learned = self.collapsed < self.seeds;
        learned && self.diverged == 0 && self.accuracy.mean.is_finite()
    }

    /// Whether the combination is better than `other`.
    fn beats(&self, other: &Self) -> bool {
        let (own, its) = (self.accuracy.mean, other.accuracy.mean);
        own > its || (own == its && self.loss.mean < other.loss.mean)
    }
}

/// All combinations of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepTable {
    /// The keys whose values were tried.
    pub keys: Vec<String>,
    /// One row for each method and combination, in the order in which they ran.
    pub rows: Vec<SweepRow>,
}

/// That the best value of a method is the smallest or the largest that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// The method.
    pub method: String,
    /// The key.
    pub key: String,
    /// The best value.
    pub value: String,
    /// Whether it is the largest; if not, it is the smallest.
    pub largest: bool,
}

impl SweepTable {
    /// The best row of each method, in the order of the methods. A method of which no combination
    /// is sound has none.
    pub fn best(&self) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        for (place, row) in self.rows.iter().enumerate().filter(|(_, row)| row.is_eligible()) {
            match best.iter_mut().find(|held| self.rows[**held].method == row.method) {
                Some(held) if row.beats(&self.rows[*held]) => *held = place,
                Some(_) => {}
                None => best.push(place),
            }
        }
        best
    }

    /// The methods of which no combination is sound.
    pub fn without_best(&self) -> Vec<&str> {
        let best = self.best();
        let mut lost: Vec<&str> = Vec::new();
        for row in &self.rows {
            let found = best.iter().any(|&place| self.rows[place].method == row.method);
            if !found && !lost.contains(&row.method.as_str()) {
                lost.push(&row.method);
            }
        }
        lost
    }

    /// Where the best value of a method is at the edge of the numbers that were tried for it, so
    /// that a better one may lie beyond.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for best in self.best().into_iter().map(|place| &self.rows[place]) {
            for (k, key) in self.keys.iter().enumerate() {
                let number = |row: &SweepRow| row.values[k].as_ref()?.parse::<f64>().ok();
                let Some(value) = number(best) else { continue };
                let own = self.rows.iter().filter(|row| row.method == best.method);
                let tried: Vec<f64> = own.filter_map(number).collect();
                let (largest, smallest) =
                    (tried.iter().all(|&x| x <= value), tried.iter().all(|&x| x >= value));
                if largest != smallest {
                    let (method, key) = (best.method.clone(), key.clone());
                    let value = best.values[k].clone().unwrap_or_default();
                    edges.push(Edge { method, key, value, largest });
                }
            }
        }
        edges
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::Measured;
    use crate::summary::tests::outcome;

    /// A combination with these accuracies, one for each seed; none: it diverged.
    pub(crate) fn combination(method: &str, eta: &str, accuracies: &[Option<f64>]) -> SweepRow {
        let trial = |(seed, accuracy): (usize, &Option<f64>)| {
            let mut trial = outcome(method, seed as u64, *accuracy);
            trial.validation = accuracy.map(|accuracy| Measured { accuracy, loss: 1.0 - accuracy });
            trial
        };
        let trials: Vec<TrialSummary> = accuracies.iter().enumerate().map(trial).collect();
        SweepRow::new(method, vec![Some(eta.to_owned())], &trials)
    }

    fn table(rows: Vec<SweepRow>) -> SweepTable {
        SweepTable { keys: vec!["eta".into()], rows }
    }

    #[test]
    fn each_method_has_its_own_best_and_divergence_never_wins() {
        let table = table(vec![
            combination("dsgd", "0.1", &[Some(0.5), Some(0.75)]),
            combination("dsgd", "0.3", &[Some(1.0), None]),
            combination("gut", "0.1", &[Some(0.25)]),
            combination("gut", "0.3", &[Some(0.5)]),
            combination("d2", "0.1", &[None]),
            SweepRow::refused("cga", vec![Some("0.1".into())], "directed".into()),
        ]);
        assert_eq!(table.best(), [0, 3]);
        assert_eq!(table.without_best(), ["d2", "cga"]);
        assert_eq!((table.rows[1].diverged, table.rows[1].accuracy.mean), (1, 1.0));
    }

    #[test]
    fn of_equal_accuracies_the_lower_loss_wins() {
        let mut rows =
            vec![combination("gut", "1", &[Some(0.5)]), combination("gut", "2", &[Some(0.5)])];
        assert_eq!(table(rows.clone()).best(), [0]);
        rows[1].loss.mean = 0.25;
        assert_eq!(table(rows).best(), [1]);
    }

    #[test]
    fn a_best_value_at_the_edge_of_the_numbers_is_told() {
        let tried = |accuracies: [f64; 3], values: [&str; 3]| {
            let rows = values.iter().zip(accuracies);
            table(rows.map(|(eta, share)| combination("gut", eta, &[Some(share)])).collect())
        };
        let numbers = ["0.1", "0.03", "0.3"];
        assert!(tried([0.75, 0.5, 0.5], numbers).edges().is_empty(), "0.1 is in the middle");
        let edge = |largest, value: &str| Edge {
            method: "gut".into(),
            key: "eta".into(),
            value: value.into(),
            largest,
        };
        assert_eq!(tried([0.5, 0.5, 0.75], numbers).edges(), [edge(true, "0.3")]);
        assert_eq!(tried([0.5, 0.75, 0.5], numbers).edges(), [edge(false, "0.03")]);
        // A word is no edge, and neither is the only number.
        assert!(tried([0.75, 0.5, 0.5], ["auto", "0.1", "0.3"]).edges().is_empty());
        assert!(tried([0.5, 0.75, 0.5], ["auto", "0.1", "none"]).edges().is_empty());
    }

    /// A larger value that diverged was tried too: the best is not at the edge.
    #[test]
    fn what_diverged_beyond_the_best_is_no_edge() {
        let rows = vec![
            combination("gut", "0.1", &[Some(0.25)]),
            combination("gut", "0.3", &[Some(0.5)]),
            combination("gut", "1", &[None]),
        ];
        assert!(table(rows).edges().is_empty());
    }
}
