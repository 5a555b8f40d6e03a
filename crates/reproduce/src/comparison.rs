//! The paper's numbers beside those of the ledger.

use consort_records::MeanStd;

use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::ledger::Ledger;

/// The cells of an experiment with the results in the ledger, at one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The name of the experiment.
    pub name: String,
    /// The title.
    pub title: String,
    /// The table or figure of the paper.
    pub paper: String,
    /// The length as a share of the paper's length. Results of different lengths are never mixed.
    pub scale: f64,
    /// One row per cell.
    pub rows: Vec<ComparisonRow>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// The name on the command line.
    pub path: String,
    /// The heading of the block.
    pub block: String,
    /// The heading of the column.
    pub column: String,
    /// The x position of the column.
    pub x: Option<f64>,
    /// The label of the row.
    pub label: String,
    /// The method.
    pub method: String,
    /// The paper's mean and standard deviation, in percent.
    pub paper: Option<(f64, f64)>,
    /// Our results.
    pub ours: Ours,
}

/// The trials of a cell in the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ours {
    /// Seed and final accuracy in percent of the trials that did not diverge.
    pub seeds: Vec<(u64, f64)>,
    /// How many trials diverged.
    pub diverged: usize,
    /// How many of `seeds` collapsed.
    pub collapsed: usize,
    /// The commits of the program.
    pub commits: Vec<String>,
}

impl Comparison {
    /// The results of `experiment` with `scale` times the paper's epochs.
    ///
    /// # Errors
    /// If the settings of a cell are not a valid configuration.
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

    /// Whether the ledger has any trial of it.
    pub fn has_results(&self) -> bool {
        self.rows.iter().any(|row| row.ours.count() > 0)
    }

    /// The length of the runs as text.
    pub fn length(&self) -> String {
        if self.scale == 1.0 {
            "full length".into()
        } else {
            format!("scaled down: {} of the paper's epochs", self.scale)
        }
    }
}

impl Ours {
    /// The number of trials in the ledger.
    pub fn count(&self) -> usize {
        self.seeds.len() + self.diverged
    }

    /// Mean and sample standard deviation over the trials that did not diverge.
    pub fn accuracy(&self) -> MeanStd {
        let values: Vec<f64> = self.seeds.iter().map(|&(_, accuracy)| accuracy).collect();
        MeanStd::from_values(&values)
    }
}

impl ComparisonRow {
    /// Whether our mean is within two of the paper's standard deviations; `None` if one of the two
    /// numbers is missing.
    pub fn within_two_std(&self) -> Option<bool> {
        let (mean, std) = self.paper?;
        let ours = self.ours.accuracy();
        (ours.n > 0).then(|| (ours.mean - mean).abs() <= 2.0 * std)
    }
}
