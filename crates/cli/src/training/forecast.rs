//! `--dry-run`: the plan of a run, its memory, traffic and time.

use std::time::Instant;

use consort_data::Partition;
use consort_train::{MixingSchedule, Plan, PlannedMethod, Trial, partition_for};
use serde::Serialize;

use super::{long_steps, spread_words, warnings};
use crate::failure::{Blame, Failure};
use crate::table;

/// The plan and its costs.
#[derive(Serialize)]
pub(crate) struct Forecast {
    data: String,
    train_samples: usize,
    test_samples: usize,
    classes: usize,
    /// The column that a regression predicts; `classes` then counts ranges of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    partition: String,
    heterogeneity: String,
    graph: String,
    agents: usize,
    spectral_gap: f64,
    model: String,
    parameters: usize,
    kernels: String,
    seeds: Vec<u64>,
    batches_per_epoch: f64,
    threads: usize,
    methods: Vec<MethodForecast>,
    memory_bytes: u64,
    /// The time of the whole run, from two rounds and one evaluation.
    seconds: f64,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct MethodForecast {
    method: String,
    runs_as: String,
    eta: f64,
    rounds: u64,
    gradients_per_round: usize,
    bytes_per_agent: u64,
    bytes_per_agent_and_round: u64,
    memory_bytes_per_agent: u64,
    /// How mixing changes over the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    mixing: String,
    stable: bool,
    verdict: String,
}

/// What takes time, measured with the first method of a plan.
pub(super) struct Timing {
    a_gradient: f64,
    an_evaluation: f64,
    kernels: String,
    models_bytes: usize,
}

impl Timing {
    /// Times a few rounds and an evaluation.
    #[allow(clippy::disallowed_methods, reason = "an estimate of the time needs a clock")]
    pub(super) fn measure(
        plan: &Plan,
        partition: &Partition,
        threads: usize,
    ) -> Result<Self, Failure> {
        let (first, seed) = (&plan.network.methods[0], plan.config.seeds[0]);
        let mut trial = Trial::start(plan, first, seed, partition, threads).or_work()?;
        trial.round().or_work()?; // warms up memory and caches
        let start = Instant::now();
        let timed = 2.min(trial.rounds().saturating_sub(1)).max(1);
        for _ in 0..timed.min(trial.rounds() - trial.rounds_done()) {
            trial.round().or_work()?;
        }
        let a_round = start.elapsed().as_secs_f64() / timed as f64;
        let start = Instant::now();
        trial.evaluate(0.0).or_work()?;
        Ok(Timing {
            a_gradient: a_round / first.gradients_per_round() as f64,
            an_evaluation: start.elapsed().as_secs_f64(),
            kernels: trial.models().instructions(),
            models_bytes: trial.models().memory_bytes(),
        })
    }

    /// Seconds of a trial of `planned`.
    pub(super) fn of_trial(
        &self,
        plan: &Plan,
        planned: &PlannedMethod,
        batches_per_epoch: f64,
    ) -> f64 {
        let rounds_per_epoch = planned.rounds_per_epoch(batches_per_epoch);
        let rounds = plan.rounds(rounds_per_epoch) as f64;
        let interval = plan.config.evaluation.every * rounds_per_epoch;
        let evaluations = 1.0 + (rounds / interval.max(1.0)).ceil();
        let gradients = rounds * planned.gradients_per_round() as f64;
        gradients * self.a_gradient + evaluations * self.an_evaluation
    }
}

/// Computes the forecast. Times a few rounds of the first method.
pub(crate) fn forecast(plan: &Plan, threads: usize) -> Result<Forecast, Failure> {
    let config = &plan.config;
    let partition = partition_for(plan, config.seeds[0]).or_input()?;
    let batches_per_epoch = plan.batches_per_epoch(&partition);
    let timing = Timing::measure(plan, &partition, threads)?;
    let agents = plan.network.topology.agents() as u64;
    let methods = plan.network.methods.iter();
    let methods = methods.map(|planned| method_forecast(plan, planned, batches_per_epoch));
    let methods = methods.collect::<Result<Vec<_>, _>>()?;
    let planned = plan.network.methods.iter();
    let seconds: f64 =
        planned.map(|planned| timing.of_trial(plan, planned, batches_per_epoch)).sum();
    let state = methods.iter().map(|method| method.memory_bytes_per_agent).max().unwrap_or(0);
    // SAM takes its gradient at a second point.
    let uphill = plan.network.methods.iter().any(|planned| planned.rule.gradients() > 1);
    let scratch = ((2 + usize::from(uphill)) * 4 * plan.parameters.len() * threads) as u64;
    let labels = &plan.dataset.train.labels;
    let figures = partition.heterogeneity(labels, plan.dataset.classes.len());
    Ok(Forecast {
        data: plan.dataset.name.clone(),
        train_samples: labels.len(),
        test_samples: plan.dataset.test.labels.len(),
        classes: plan.dataset.classes.len(),
        target: plan.dataset.task.target().map(|target| target.name.clone()),
        partition: plan.scheme.to_string(),
        heterogeneity: spread_words(&plan.dataset, figures),
        graph: plan.network.topology.name().to_string(),
        agents: agents as usize,
        spectral_gap: table::significant(plan.network.spectrum.gap, 6),
        model: plan.model.name.clone(),
        parameters: plan.parameters.len(),
        kernels: timing.kernels,
        seeds: config.seeds.clone(),
        batches_per_epoch,
        threads,
        methods,
        memory_bytes: agents * state
            + timing.models_bytes as u64
            + scratch
            + (plan.dataset.train.memory_bytes() + plan.dataset.test.memory_bytes()) as u64,
        seconds: config.seeds.len() as f64 * seconds,
        warnings: warnings(plan).into_iter().chain(long_steps(plan)).collect(),
    })
}

fn method_forecast(
    plan: &Plan,
    planned: &PlannedMethod,
    batches_per_epoch: f64,
) -> Result<MethodForecast, Failure> {
    let agents = plan.network.topology.agents() as u64;
    let parameters = plan.parameters.len();
    let rounds = plan.rounds(planned.rounds_per_epoch(batches_per_epoch));
    let traffic = planned.traffic(parameters).or_work()?;
    let memory = planned.bytes_of_agent(parameters).or_work()?;
    let mixing = MixingSchedule::new(&planned.mix, &plan.config.schedule, rounds);
    let (count, messages) = (agents as usize, &planned.messages);
    let bytes = mixing.bytes_until(rounds, messages, traffic, count, parameters) / agents;
    Ok(MethodForecast {
        method: planned.label.clone(),
        runs_as: planned.analysis.method.clone(),
        eta: planned.eta,
        rounds,
        gradients_per_round: planned.gradients_per_round(),
        bytes_per_agent: bytes,
        bytes_per_agent_and_round: bytes / rounds.max(1),
        memory_bytes_per_agent: memory,
        mixing: planned.mix.describe(),
        stable: planned.analysis.stable,
        verdict: planned.analysis.verdict.clone(),
    })
}

impl Forecast {
    /// Plain text for a terminal.
    pub(crate) fn text(&self) -> String {
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let answers = match &self.target {
            Some(target) => format!("a regression of `{target}`"),
            None => format!("{} classes", self.classes),
        };
        let lines = [
            (
                "data",
                format!(
                    "{}: {} training and {} test samples, {}",
                    self.data, self.train_samples, self.test_samples, answers
                ),
            ),
            ("partition", format!("{}: {}", self.partition, self.heterogeneity)),
            (
                "graph",
                format!(
                    "{}: {} agents, spectral gap {}",
                    self.graph, self.agents, self.spectral_gap
                ),
            ),
            (
                "model",
                format!("{}: {} parameters, {} kernels", self.model, self.parameters, self.kernels),
            ),
            (
                "work",
                format!(
                    "methods: {}; seeds: {}; {} mini-batches per epoch",
                    self.methods.len(),
                    seeds.join(", "),
                    table::significant(self.batches_per_epoch, 5)
                ),
            ),
            ("memory", bytes(self.memory_bytes)),
            ("time", format!("about {} with {} threads", duration(self.seconds), self.threads)),
        ];
        let mut text: String =
            lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect();
        let mixing_changes = self.methods.iter().any(|method| !method.mixing.is_empty());
        let rows: Vec<Vec<String>> = self
            .methods
            .iter()
            .map(|method| {
                let mut row = vec![
                    method.method.clone(),
                    method.eta.to_string(),
                    method.rounds.to_string(),
                    method.gradients_per_round.to_string(),
                    bytes(method.bytes_per_agent_and_round),
                    bytes(method.bytes_per_agent),
                    bytes(method.memory_bytes_per_agent),
                    method.verdict.clone(),
                ];
                if mixing_changes {
                    row.insert(1, method.mixing.clone());
                }
                row
            })
            .collect();
        let mut header = vec![
            "method",
            "eta",
            "rounds",
            "gradients per round",
            "sent per round",
            "sent in total",
            "memory per agent",
            "stability",
        ];
        if mixing_changes {
            header.insert(1, "mixing");
        }
        text += "\n";
        text += &table::render(&header, &rows);
        if !self.warnings.is_empty() {
            text += "\n";
        }
        for warning in &self.warnings {
            text += &format!("warning: {warning}\n");
        }
        text
    }
}

/// `12.3 MB`.
pub(super) fn bytes(count: u64) -> String {
    let count = count as f64;
    match count {
        c if c < 1e3 => format!("{c:.0} B"),
        c if c < 1e6 => format!("{:.1} kB", c / 1e3),
        c if c < 1e9 => format!("{:.1} MB", c / 1e6),
        c => format!("{:.2} GB", c / 1e9),
    }
}

/// `3 s`, `12 min`, `4.5 h`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
