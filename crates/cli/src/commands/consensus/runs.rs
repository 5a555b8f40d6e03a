//! The single runs of a consensus figure, for the ledger of `reproduce`.

use consort_sim::{ConsensusTask, consensus_errors};

use super::plan::{ConsensusPlan, PlannedCurve, PlannedPanel};
use super::slowed_down;
use crate::arguments::ConsensusOptions;
use crate::failure::{Blame, Failure};

/// All runs of a figure.
pub(crate) struct FigureRuns(ConsensusPlan);

/// One method on one graph with one seed.
pub(crate) struct FigureRun<'a> {
    plan: &'a ConsensusPlan,
    panel: &'a PlannedPanel,
    method: &'a PlannedCurve,
    pub(crate) seed: u64,
}

impl FigureRuns {
    pub(crate) fn new(options: &ConsensusOptions) -> Result<Self, Failure> {
        ConsensusPlan::new(options).map(FigureRuns)
    }

    /// All runs, by panel, method and seed.
    pub(crate) fn each(&self) -> Vec<FigureRun<'_>> {
        let plan = &self.0;
        let mut runs = Vec::new();
        for panel in &plan.panels {
            for method in &panel.methods {
                for &seed in &plan.seeds {
                    runs.push(FigureRun { plan, panel, method, seed });
                }
            }
        }
        runs
    }
}

impl FigureRun<'_> {
    /// The title of the panel.
    pub(crate) fn panel(&self) -> String {
        self.panel.title()
    }

    pub(crate) fn graph(&self) -> String {
        self.panel.network.topology.name().to_string()
    }

    /// The name of the method as the user typed it, which decides the colour.
    pub(crate) fn name(&self) -> &str {
        &self.method.name
    }

    pub(crate) fn label(&self) -> String {
        self.method.label()
    }

    pub(crate) fn runs_as(&self) -> &str {
        &self.method.analysis.method
    }

    /// The settings that decide the bits.
    pub(crate) fn settings(&self) -> Vec<String> {
        let weights = &self.panel.network.weights_name;
        vec![
            "data = \"consensus\"".into(),
            format!("graph = \"{}\"", self.graph()),
            format!("weights = \"{weights}\""),
            format!("methods = [\"{}\"]", self.runs_as()),
            format!("dim = {}", self.plan.dim),
            format!("rounds = {}", self.plan.rounds),
        ]
    }

    /// The error before the first round and after every round.
    pub(crate) fn errors(&self) -> Result<Vec<f64>, Failure> {
        let weights = slowed_down(&self.panel.network.weights, self.method)?;
        let task = ConsensusTask {
            weights: &weights,
            method: self.method.method,
            dim: self.plan.dim,
            rounds: self.plan.rounds,
            seed: self.seed,
        };
        consensus_errors(&task, self.plan.threads, &|_| {}).or_work()
    }
}
