//! The results of trials: tables, plots and the report.

use std::path::{Path, PathBuf};

use consort_data::Partition;
use consort_graph::GraphSpec;
use consort_records::{
    CurveSet, MethodCost, MethodTable, OutputFolder, Record, TrialRecords, TrialSummary, csv,
    record, table_text,
};
use consort_records::{Quantity, XAxis, curves};
use consort_train::{Config, Plan, PlannedMethod};
use consort_view::{
    HeatMap, HeatMapStyle, Picture, ReportData, ReportProvenance, Shade, chart_svg, heat_map_svg,
    report_html,
};
use serde::Serialize;

use super::families::by_family;
use super::run_folder::{read_config, trial_name};
use super::{RunFolder, warnings};
use crate::agents::{agent_folders, trial_of_agent, trial_of_all};
use crate::failure::{Blame, Failure, tell};
use crate::network_picture::network_picture;
use crate::provenance::Provenance;

/// The trials of one run or of several.
#[derive(Default)]
pub(crate) struct Trials {
    pub(crate) all: Vec<TrialRecords>,
    /// The status of each trial, in the same order.
    pub(crate) status: Vec<TrialStatus>,
    /// Whether the folder of the run has a configuration.
    pub(crate) from_config: bool,
}

/// What must be known of a trial before it is ranked.
#[derive(Clone, Default)]
pub(crate) struct TrialStatus {
    /// The completed share of its rounds, if it has not finished.
    unfinished: Option<f64>,
    /// The training data, if known.
    data: String,
}

/// The plots of a run: file, quantity, x axis. Test results are those of the averaged model.
const PLOTS: [(&str, Quantity, XAxis); 7] = [
    ("accuracy", Quantity::TestAccuracy, XAxis::Epochs),
    ("accuracy-by-bytes", Quantity::TestAccuracy, XAxis::Megabytes),
    ("train-loss", Quantity::TrainLoss, XAxis::Epochs),
    ("train-loss-by-bytes", Quantity::TrainLoss, XAxis::Megabytes),
    ("test-loss", Quantity::TestLoss, XAxis::Epochs),
    ("consensus-distance", Quantity::ConsensusDistance, XAxis::Epochs),
    ("consensus-distance-by-bytes", Quantity::ConsensusDistance, XAxis::Megabytes),
];

/// More plots if samples are set apart for validation.
const VALIDATION_PLOTS: [(&str, Quantity, XAxis); 2] = [
    ("validation-accuracy", Quantity::ValidationAccuracy, XAxis::Epochs),
    ("validation-loss", Quantity::ValidationLoss, XAxis::Epochs),
];

/// More plots if some evaluations did not measure the averaged model.
const OWN_PLOTS: [(&str, Quantity, XAxis); 3] = [
    ("agents-accuracy", Quantity::AgentsAccuracy, XAxis::Epochs),
    ("agents-accuracy-by-bytes", Quantity::AgentsAccuracy, XAxis::Megabytes),
    ("agents-test-loss", Quantity::AgentsLoss, XAxis::Epochs),
];

impl Trials {
    /// The records of a run so far. Trials that have not started are left out. The folder of one
    /// agent is one trial, and so is the folder of a plan with all its agents.
    pub(crate) fn from_run(path: &Path) -> Result<Self, Failure> {
        // The folder of a plan may also have records of all agents together.
        let agents = agent_folders(path);
        if !agents.is_empty() {
            let all = trial_of_all(path)?;
            let last = all.as_ref().and_then(|trial| trial.records.last());
            let data = match last.and_then(|last| last.test_accuracy) {
                Some(_) => read_summary(path)?.map(|summary| summary.data),
                None => None,
            };
            return Ok(Trials::from_agents(all, &agents, data.unwrap_or_default()));
        }
        if path.join("records.jsonl").exists() {
            let (trial, folders) = (trial_of_agent(path)?, [path.to_owned()]);
            return Ok(Trials::from_agents(Some(trial), &folders, String::new()));
        }
        let config = read_config(path)?;
        if !config.sweep.is_empty() {
            let folder = path.display();
            return Err(Failure::input(format!(
                "{folder} is a sweep; its table is in {folder}/table.txt. To compare the best of its \
                 methods on the test set, run consort train {folder}/best.toml"
            )));
        }
        let mut trials = Trials { from_config: true, ..Trials::default() };
        for (k, entry) in config.methods.iter().enumerate() {
            let label = entry.label.clone().unwrap_or_else(|| entry.method.clone());
            for &seed in &config.seeds {
                let folder = path.join("trials").join(trial_name(k, &label, seed));
                let file = folder.join("records.jsonl");
                if !file.exists() {
                    continue;
                }
                let records = record::read(&file).or_work()?;
                let summary = read_summary(&folder)?;
                let unfinished = summary.is_none().then(|| share_done(&config, &records));
                let (diverged, collapsed) =
                    summary.map_or((None, None), |summary| (summary.diverged, summary.collapsed));
                trials.status.push(TrialStatus { unfinished, data: config.data.clone() });
                let (method, label) = (entry.method.clone(), label.clone());
                trials.all.push(TrialRecords { method, label, seed, records, diverged, collapsed });
            }
        }
        Ok(trials)
    }

    /// The number of rounds of agents is unknown here, and so is the progress of unfinished ones.
    fn from_agents(trial: Option<TrialRecords>, folders: &[PathBuf], data: String) -> Self {
        let ended = folders.iter().all(|folder| folder.join("summary.json").exists());
        let status = TrialStatus { unfinished: (!ended).then_some(0.0), data };
        let all: Vec<TrialRecords> = trial.into_iter().collect();
        Trials { status: vec![status; all.len()], all, from_config: false }
    }

    pub(crate) fn summaries(&self) -> Vec<TrialSummary> {
        let summary = |(trial, status): (&TrialRecords, &TrialStatus)| {
            let TrialStatus { unfinished, data } = status.clone();
            TrialSummary { unfinished, data, ..TrialSummary::new(trial) }
        };
        self.all.iter().zip(&self.status).map(summary).collect()
    }

    pub(crate) fn table(&self) -> MethodTable {
        MethodTable::new(&self.summaries())
    }
}

/// The completed share of the rounds of a trial, below 1.
fn share_done(config: &Config, records: &[Record]) -> f64 {
    let Some(last) = records.last() else { return 0.0 };
    let share = match (config.rounds, config.epochs) {
        (Some(rounds), _) => last.round as f64 / rounds as f64,
        (None, Some(epochs)) => last.epoch / epochs,
        (None, None) => 0.0,
    };
    share.clamp(0.0, 0.99)
}

/// The summary of the trial in `folder`, if it has finished.
pub(crate) fn read_summary(folder: &Path) -> Result<Option<TrialSummary>, Failure> {
    let path = folder.join("summary.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).or_work()?;
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The result of the command, for the terminal and for `summary.json`.
#[derive(Serialize)]
pub(crate) struct Summary {
    provenance: Provenance,
    folder: String,
    data: String,
    partition: String,
    graph: String,
    model: String,
    parameters: usize,
    kernels: String,
    threads: usize,
    trials: Vec<TrialSummary>,
    #[serde(skip)]
    table: MethodTable,
}

impl Summary {
    /// True if every trial diverged.
    pub(crate) fn all_diverged(&self) -> bool {
        self.trials.iter().all(|trial| trial.diverged.is_some())
    }

    pub(crate) fn text(&self) -> String {
        let best = (0..self.table.rows.len()).any(|row| self.table.is_best(row));
        let star = if best {
            "* the averaged model with the highest mean accuracy; mean ± std over the seeds\n"
        } else {
            ""
        };
        format!(
            "{}, {}, {}, {} ({} parameters)\n\n{}{star}\nreport.html, plots, tables, records and \
             models are in {}\n",
            self.data,
            self.partition,
            self.graph,
            self.model,
            self.parameters,
            table_text::to_text(&self.table),
            self.folder
        )
    }
}

/// Writes all results of a run whose trials have finished.
pub(crate) fn write(
    plan: &Plan,
    folder: &RunFolder,
    partition: &Partition,
    threads: usize,
) -> Result<Summary, Failure> {
    let trials = Trials::from_run(folder.path())?;
    let costs = method_costs(plan, partition)?;
    let priced = |summary: TrialSummary| TrialSummary {
        cost: costs.iter().find(|(label, _)| *label == summary.label).map(|(_, cost)| cost.clone()),
        ..summary
    };
    let summaries: Vec<TrialSummary> = trials.summaries().into_iter().map(priced).collect();
    let summary = Summary {
        provenance: Provenance::current(),
        folder: folder.path().display().to_string(),
        data: plan.dataset.name.clone(),
        partition: plan.scheme.to_string(),
        graph: plan.network.topology.name().to_string(),
        model: plan.model.name.clone(),
        parameters: plan.parameters.len(),
        kernels: consort_model::Isa::detect().to_string(),
        threads,
        table: MethodTable::new(&summaries),
        trials: summaries,
    };
    let output = folder.output();
    // Write numbers first: they remain if drawing fails.
    let text = serde_json::to_string_pretty(&summary).or_work()? + "\n";
    output.write("summary.json", text).or_work()?;
    write_tables(output, &summary.table)?;
    let plots = write_plots(output, &trials)?;
    let heat_map = heat_map_of(plan, partition);
    let picture = heat_map_svg(&heat_map, &HeatMapStyle::default()).or_work()?;
    write_picture(output, "partition", &picture)?;
    let report = report_html(&report_data(plan, &summary, plots, heat_map)?).or_work()?;
    output.write("report.html", report).or_work()?;
    Ok(summary)
}

/// What each method costs an agent, by its label.
fn method_costs(plan: &Plan, partition: &Partition) -> Result<Vec<(String, MethodCost)>, Failure> {
    let parameters = plan.parameters.len();
    let cost = |planned: &PlannedMethod| {
        let rounds =
            plan.rounds(planned.rounds_per_epoch(plan.batches_per_epoch(partition))).max(1);
        let bytes = planned.messages.bytes_until(rounds, planned.traffic(parameters).or_work()?);
        let cost = MethodCost {
            gradients_per_round: planned.gradients_per_round() as u64,
            bytes_per_round: bytes / rounds / planned.topology.agents().max(1) as u64,
            memory_bytes: planned.bytes_of_agent(parameters).or_work()?,
            graphs: planned.method.info().needs.name().to_string(),
        };
        Ok((planned.label.clone(), cost))
    };
    plan.network.methods.iter().map(cost).collect()
}

fn heat_map_of(plan: &Plan, partition: &Partition) -> HeatMap {
    let dataset = &plan.dataset;
    let seed = plan.config.partition_seed.unwrap_or(plan.config.seeds[0]);
    let title = format!("{} over {} agents: {}", dataset.name, partition.agents(), plan.scheme);
    heat_map(dataset, partition, title, seed)
}

/// A heat map of a partition: how many samples of which class each agent has.
pub(crate) fn heat_map(
    dataset: &consort_data::Dataset,
    partition: &Partition,
    title: String,
    seed: u64,
) -> HeatMap {
    let (labels, classes) = (&dataset.train.labels, dataset.classes.len());
    let counts = partition.counts(labels, classes).into_iter();
    let wide = |row: Vec<usize>| row.into_iter().map(|count| count as u64).collect();
    HeatMap {
        title,
        subtitle: format!("seed {seed}: {}", partition.heterogeneity(labels, classes)),
        counts: counts.map(wide).collect(),
        classes: dataset.classes.clone(),
        shade: Shade::OfAgent,
    }
}

fn report_data(
    plan: &Plan,
    summary: &Summary,
    plots: Vec<CurveSet>,
    partition: HeatMap,
) -> Result<ReportData, Failure> {
    let spec: GraphSpec = plan.config.graph.parse().or_input()?;
    let Provenance { command, version, commit, date, .. } = summary.provenance.clone();
    let provenance = ReportProvenance {
        command,
        version: version.into(),
        commit: commit.into(),
        date,
        machine: format!("{} kernels, {} threads", summary.kernels, summary.threads),
    };
    let seeds: Vec<String> = plan.config.seeds.iter().map(u64::to_string).collect();
    let setup = [
        ("data", summary.data.clone()),
        ("partition", summary.partition.clone()),
        ("graph", summary.graph.clone()),
        ("spectral gap", format!("{:.5}", plan.network.spectrum.gap)),
        ("model", format!("{}, {} parameters", summary.model, summary.parameters)),
        ("seeds", seeds.join(", ")),
        ("batch", plan.config.batch.to_string()),
    ];
    Ok(ReportData {
        title: format!("{} on {}", summary.model, summary.data),
        provenance,
        trials: summary.trials.clone(),
        warnings: warnings(plan),
        plots,
        partition: Some(partition),
        network: network_picture(&spec, &plan.network.topology),
        setup: setup.map(|(name, value)| (name.to_string(), value)).into(),
        config: plan.config.to_toml().or_input()?,
    })
}

/// The table in every format.
pub(crate) fn write_tables(output: &OutputFolder, table: &MethodTable) -> Result<(), Failure> {
    output.write("table.txt", table_text::to_text(table)).or_work()?;
    output.write("table.md", table_text::to_markdown(table)).or_work()?;
    output.write("table.tex", table_text::to_latex(table)).or_work()?;
    output.write("table.csv", table_text::to_csv(table)).or_work()?;
    Ok(())
}

/// Draws and writes every plot; a plot without data is left out.
pub(crate) fn write_plots(
    output: &OutputFolder,
    trials: &Trials,
) -> Result<Vec<CurveSet>, Failure> {
    let mut plots = Vec::new();
    let own = trials.all.iter().flat_map(|trial| &trial.records).any(|r| r.test_accuracy.is_none());
    let validated =
        trials.all.iter().flat_map(|trial| &trial.records).any(|r| r.validation.is_some());
    let more = OWN_PLOTS.into_iter().filter(|_| own);
    let more = more.chain(VALIDATION_PLOTS.into_iter().filter(|_| validated));
    for (name, quantity, along) in PLOTS.into_iter().chain(more) {
        let curves = curves(&trials.all, quantity, along);
        output.write(&format!("{name}.csv"), csv::to_csv(&curves)).or_work()?;
        let (curves, style) = by_family(curves);
        match chart_svg(&curves, &style) {
            Ok(picture) => {
                write_picture(output, name, &picture)?;
                plots.push(curves);
            }
            Err(error) => tell(&format!("warning: no plot {name}: {error}")),
        }
    }
    Ok(plots)
}

fn write_picture(output: &OutputFolder, name: &str, picture: &Picture) -> Result<(), Failure> {
    output.write(&format!("{name}.svg"), picture.svg()).or_work()?;
    output.write(&format!("{name}.png"), picture.png(2.0).or_work()?).or_work()?;
    Ok(())
}
