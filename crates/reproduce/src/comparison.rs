//! The paper's numbers beside those of the ledger.

use consort_records::MeanStd;

use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::ledger::Ledger;

/// An experiment's cells with what the ledger holds of them, at one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The experiment's name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub paper: String,
    /// What is left of the paper's length: results of different lengths never mix.
    pub scale: f64,
    /// One row a cell.
    pub rows: Vec<ComparisonRow>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// Its name on the command line.
    pub path: String,
    /// The block's heading.
    pub block: String,
    /// The column's heading.
    pub column: String,
    /// The column's place along x.
    pub x: Option<f64>,
    /// The row's label.
    pub label: String,
    /// The method.
    pub method: String,
    /// The paper's mean and standard deviation, in percent.
    pub paper: Option<(f64, f64)>,
    /// What the ledger holds.
    pub ours: Ours,
}

/// The seeds of a cell that are in the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ours {
    /// Seed and final accuracy in percent of those that came to an end.
    pub seeds: Vec<(u64, f64)>,
    /// How many diverged.
    pub diverged: usize,
    /// How many of `seeds` learned nothing.
    pub collapsed: usize,
    /// The commits they were run at.
    pub commits: Vec<String>,
}

impl Comparison {
    /// What the ledger holds of `experiment` at a part `scale` of its length.
    ///
    /// # Errors
    /// If settings of the preset make no configuration.
    pub fn new(
        experiment: &Experiment,
        ledger: &Ledger,
        scale: f64,
    ) -> Result<Self, ReproduceError> {
        let rows = experiment.cells(scale)?.into_iter().map(|cell| {
            let mut ours = Ours::default();
            for entry in ledger.seeds_of(&cell.trial(1)) {
                let outcome = &entry.outcome;
                match (outcome.final_accuracy, &outcome.diverged) {
                    (Some(accuracy), None) => ours.seeds.push((entry.seed, accuracy)),
                    _ => ours.diverged += 1,
                }
                ours.collapsed += usize::from(outcome.collapsed.is_some());
                if !ours.commits.contains(&entry.commit) {
                    ours.commits.push(entry.commit.clone());
                }
            }
            ComparisonRow {
                path: cell.path,
                block: cell.block,
                column: cell.column,
                x: cell.x,
                label: cell.label,
                method: cell.method,
                paper: cell.paper,
                ours,
            }
        });
        Ok(Comparison {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            paper: experiment.paper.clone(),
            scale,
            rows: rows.collect(),
        })
    }

    /// Whether the ledger holds any of it.
    pub fn has_results(&self) -> bool {
        self.rows.iter().any(|row| row.ours.count() > 0)
    }

    /// How long the runs were, in words.
    pub fn length(&self) -> String {
        if self.scale == 1.0 {
            "full length".into()
        } else {
            format!("scaled down: {} of the paper's epochs", self.scale)
        }
    }
}

impl Ours {
    /// Trials in the ledger.
    pub fn count(&self) -> usize {
        self.seeds.len() + self.diverged
    }

    /// Mean and sample standard deviation over the seeds that came to an end.
    pub fn accuracy(&self) -> MeanStd {
        let values: Vec<f64> = self.seeds.iter().map(|&(_, accuracy)| accuracy).collect();
        MeanStd::from_values(&values)
    }
}

impl ComparisonRow {
    /// Whether our mean lies within two of the paper's standard deviations; none without both.
    pub fn within_two_std(&self) -> Option<bool> {
        let (mean, std) = self.paper?;
        let ours = self.ours.accuracy();
        (ours.n > 0).then(|| (ours.mean - mean).abs() <= 2.0 * std)
    }
}
