//! The results of trials: tables, plots and the report.

use std::path::{Path, PathBuf};

use consort_data::{Heterogeneity, Partition};
use consort_graph::GraphSpec;
use consort_records::{
    CurveSet, MethodCost, MethodTable, OutputFolder, Record, TrialRecords, TrialSummary, csv,
    record, table_text,
};
use consort_records::{Quantity, XAxis, curves, curves_over_agents, traffic_differs};
use consort_train::{Config, MixingSchedule, Plan, PlannedMethod};
use consort_view::{
    ChartStyle, HeatMap, HeatMapStyle, Picture, ReportData, ReportProvenance, Shade, ViewError,
    band_chart_svg, chart_svg, heat_map_svg, report_html,
};
use serde::{Deserialize, Serialize};

use super::run_folder::{read_config, trial_name};
use super::{RunFolder, warnings};
use crate::agents::{agent_folders, trial_of_agent, trial_of_all};
use crate::arguments::{ChartOptions, FigureOptions};
use crate::failure::{Blame, Failure, tell};
use crate::figures::write_picture;
use crate::method_names::name_trials;
use crate::network_picture::network_picture;
use crate::provenance::Provenance;
use crate::table;

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
    /// What the method costs, if known.
    cost: Option<MethodCost>,
}

/// One plot: the stem of its file, quantity, x axis, and whether bands show the agents.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) name: String,
    pub(crate) quantity: Quantity,
    pub(crate) along: XAxis,
    pub(crate) over_agents: bool,
}

/// The plots of a run: file, quantity, x axis. Test results are those of the averaged model. Those
/// over bytes are drawn only where methods differ in bytes.
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

/// In place of those of accuracies, of a regression.
const R2_PLOTS: [(&str, Quantity, XAxis); 2] =
    [("r2", Quantity::TestR2, XAxis::Epochs), ("r2-by-bytes", Quantity::TestR2, XAxis::Megabytes)];

/// More plots if the agents' own models were measured, with bands from the worst to the best agent.
const OWN_PLOTS: [(&str, Quantity, XAxis); 5] = [
    ("agents-r2", Quantity::AgentsR2, XAxis::Epochs),
    ("agents-r2-by-bytes", Quantity::AgentsR2, XAxis::Megabytes),
    ("agents-accuracy", Quantity::AgentsAccuracy, XAxis::Epochs),
    ("agents-accuracy-by-bytes", Quantity::AgentsAccuracy, XAxis::Megabytes),
    ("agents-test-loss", Quantity::AgentsLoss, XAxis::Epochs),
];

/// The names of all plots of a run, without their endings.
pub(crate) fn plot_names() -> impl Iterator<Item = &'static str> {
    PLOTS
        .iter()
        .chain(&VALIDATION_PLOTS)
        .chain(&R2_PLOTS)
        .chain(&OWN_PLOTS)
        .map(|(name, _, _)| *name)
        .chain(["partition"])
}

impl Trials {
    /// The records of a run so far. Trials that have not started are left out. The folder of one
    /// agent is one trial, and so is the folder of a plan with all its agents.
    pub(crate) fn from_run(path: &Path) -> Result<Self, Failure> {
        // The folder of a plan may also have records of all agents together.
        let agents = agent_folders(path);
        if !agents.is_empty() {
            let all = trial_of_all(path)?;
            let last = all.as_ref().and_then(|trial| trial.records.last());
            let data = match last.and_then(Record::quality) {
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
                trials.status.push(TrialStatus {
                    unfinished,
                    data: config.data.clone(),
                    cost: None,
                });
                let (method, label) = (entry.method.clone(), label.clone());
                trials.all.push(TrialRecords { method, label, seed, records, diverged, collapsed });
            }
        }
        // A run that has ended knows what its methods cost.
        trials.add_costs(&saved_costs(path));
        Ok(trials)
    }

    /// A finished trial. `data` are its training data, if they are known.
    pub(crate) fn of_one(trial: TrialRecords, data: String) -> Self {
        let status = vec![TrialStatus { unfinished: None, data, cost: None }];
        Trials { status, all: vec![trial], from_config: false }
    }

    /// The number of rounds of agents is unknown here, and so is the progress of unfinished ones.
    fn from_agents(trial: Option<TrialRecords>, folders: &[PathBuf], data: String) -> Self {
        let ended = folders.iter().all(|folder| folder.join("summary.json").exists());
        let status = TrialStatus { unfinished: (!ended).then_some(0.0), data, cost: None };
        let all: Vec<TrialRecords> = trial.into_iter().collect();
        Trials { status: vec![status; all.len()], all, from_config: false }
    }

    pub(crate) fn summaries(&self) -> Vec<TrialSummary> {
        let summary = |(trial, status): (&TrialRecords, &TrialStatus)| {
            let TrialStatus { unfinished, data, cost } = status.clone();
            TrialSummary { unfinished, data, cost, ..TrialSummary::new(trial) }
        };
        self.all.iter().zip(&self.status).map(summary).collect()
    }

    pub(crate) fn table(&self) -> MethodTable {
        MethodTable::new(&self.summaries())
    }

    /// Says what each method costs, by its label.
    fn add_costs(&mut self, costs: &[(String, MethodCost)]) {
        for (trial, status) in self.all.iter().zip(&mut self.status) {
            let own = costs.iter().find(|(label, _)| *label == trial.label);
            status.cost = own.map(|(_, cost)| cost.clone());
        }
    }

    /// The same trials under the names that tables and legends show.
    fn with_paper_names(mut self) -> Self {
        name_trials(&mut self.all);
        self
    }

    /// The plots that these trials can have.
    pub(crate) fn usual_plots(&self) -> Vec<Plot> {
        let bytes_differ = traffic_differs(&self.all);
        let records = || self.all.iter().flat_map(|trial| &trial.records);
        let own = records().any(|r| r.agents.is_some() || r.agents_r2.is_some());
        let of_regression = |r: &Record| r.test_r2.is_some() || r.agents_r2.is_some();
        let regressions = records().any(of_regression);
        let validated = records().any(|record| record.validation.is_some());
        let classifications = records().any(|record| !of_regression(record));
        let fits = |plot: &Plot| match plot.quantity {
            Quantity::TestR2 | Quantity::AgentsR2 => regressions,
            Quantity::TestAccuracy | Quantity::AgentsAccuracy => classifications || !regressions,
            _ => true,
        };
        let plot = |over_agents: bool| {
            move |(name, quantity, along): (&str, Quantity, XAxis)| {
                let name = name.to_owned();
                Plot { name, quantity, along, over_agents }
            }
        };
        let own_plots = OWN_PLOTS.into_iter().filter(|_| own).map(plot(true));
        R2_PLOTS
            .into_iter()
            .chain(PLOTS)
            .chain(VALIDATION_PLOTS.into_iter().filter(|_| validated))
            .map(plot(false))
            .chain(own_plots)
            .filter(|plot| bytes_differ || plot.along != XAxis::Megabytes)
            .filter(fits)
            .collect()
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

/// What the methods of the run in `folder` cost, by their labels; nothing if it has not ended.
fn saved_costs(folder: &Path) -> Vec<(String, MethodCost)> {
    #[derive(Deserialize)]
    struct Saved {
        trials: Vec<TrialSummary>,
    }
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_default();
    // Whatever other versions wrote there, tables can do without costs.
    let saved: Option<Saved> = serde_json::from_str(&text).ok();
    let trials = saved.map_or_else(Vec::new, |saved| saved.trials);
    trials.into_iter().filter_map(|trial| Some((trial.label, trial.cost?))).collect()
}

/// The summary of the trial in `folder`, if it has finished.
pub(crate) fn read_summary(folder: &Path) -> Result<Option<TrialSummary>, Failure> {
    let path = folder.join("summary.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).or_work()?;
    serde_json::from_str(&text)
        .or_else(|error| match serde_json::from_str(&text) {
            // A plan's folder has the summary of a run, with one trial.
            Ok(OneTrial { trials: [trial] }) => Ok(trial),
            Err(_) => Err(Failure::input(format!("{}: {error}", path.display()))),
        })
        .map(Some)
}

/// The summary of a run that has one trial.
#[derive(Deserialize)]
struct OneTrial {
    trials: [TrialSummary; 1],
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
            match self.table.tasks() {
                (true, false) => {
                    "* the averaged model with the highest mean R²; mean ± std over the seeds\n"
                }
                _ => {
                    "* the averaged model with the highest mean accuracy; mean ± std over the seeds\n"
                }
            }
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
            table::of_methods(&table_text::TableView::usual(&self.table)),
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
    let mut trials = Trials::from_run(folder.path())?;
    trials.add_costs(&method_costs(plan, partition)?);
    write_into(plan, folder.output(), trials, Some(partition), threads)
}

/// Writes all results of `trials`, which have finished, into a folder. Without a partition every
/// agent has data of its own.
pub(crate) fn write_into(
    plan: &Plan,
    output: &OutputFolder,
    trials: Trials,
    partition: Option<&Partition>,
    threads: usize,
) -> Result<Summary, Failure> {
    let own = || format!("own data of {} agents", plan.network.topology.agents());
    let summaries = trials.summaries();
    let trials = trials.with_paper_names();
    let summary = Summary {
        provenance: Provenance::current(),
        folder: output.path().display().to_string(),
        data: partition.map_or_else(own, |_| plan.dataset.name.clone()),
        partition: partition.map_or("not shared out".into(), |_| plan.scheme.to_string()),
        graph: plan.network.topology.name().to_string(),
        model: plan.model.name.clone(),
        parameters: plan.parameters.len(),
        kernels: consort_model::Isa::detect().to_string(),
        threads,
        trials: summaries,
        table: trials.table(),
    };
    // Write numbers first: they remain if drawing fails.
    let text = serde_json::to_string_pretty(&summary).or_work()? + "\n";
    output.write("summary.json", text).or_work()?;
    write_tables(output, &summary.table)?;
    let plots = write_plots(output, &trials)?;
    let heat_map = partition.map(|partition| heat_map_of(plan, partition));
    if let Some(heat_map) = &heat_map {
        let picture = heat_map_svg(heat_map, &HeatMapStyle::default()).or_work()?;
        write_picture(output, "partition", &picture, &FigureOptions::default(), false)?;
    }
    let named = trials.summaries();
    let report = report_html(&report_data(plan, &summary, named, plots, heat_map)?).or_work()?;
    output.write("report.html", report).or_work()?;
    Ok(summary)
}

/// What each method costs an agent, by its label.
fn method_costs(plan: &Plan, partition: &Partition) -> Result<Vec<(String, MethodCost)>, Failure> {
    let parameters = plan.parameters.len();
    let cost = |planned: &PlannedMethod| {
        let rounds =
            plan.rounds(planned.rounds_per_epoch(plan.batches_per_epoch(partition))).max(1);
        let mixing = MixingSchedule::new(&planned.mix, &plan.config.schedule, rounds);
        let (agents, traffic) = (planned.topology.agents(), planned.traffic(parameters).or_work()?);
        let bytes = mixing.bytes_until(rounds, &planned.messages, traffic, agents, parameters);
        let cost = MethodCost {
            gradients_per_round: planned.gradients_per_round() as u64,
            bytes_per_round: bytes / rounds / agents.max(1) as u64,
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

/// How unlike the agents are; of a regression ranges of the target stand for classes.
pub(crate) fn spread_words(dataset: &consort_data::Dataset, figures: Heterogeneity) -> String {
    let text = figures.to_string();
    match dataset.task.target() {
        Some(_) => text.replace("classes an agent", "ranges of the target an agent"),
        None => text,
    }
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
    let figures = spread_words(dataset, partition.heterogeneity(labels, classes));
    let ranges = dataset.task.target().map(|target| format!(", by ranges of {}", target.name));
    HeatMap {
        title: title + &ranges.unwrap_or_default(),
        subtitle: format!("seed {seed}: {figures}"),
        counts: counts.map(wide).collect(),
        classes: dataset.classes.clone(),
        shade: Shade::Samples,
    }
}

fn report_data(
    plan: &Plan,
    summary: &Summary,
    trials: Vec<TrialSummary>,
    plots: Vec<CurveSet>,
    partition: Option<HeatMap>,
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
        trials,
        warnings: warnings(plan),
        plots,
        partition,
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

/// Draws and writes every plot of a run as SVG and PNG; a plot without data is left out.
pub(crate) fn write_plots(
    output: &OutputFolder,
    trials: &Trials,
) -> Result<Vec<CurveSet>, Failure> {
    let (figure, chart) = (FigureOptions::default(), ChartOptions::default());
    write_some_plots(output, trials, &trials.usual_plots(), (&figure, &chart), false)
}

/// Draws and writes these plots as SVG and PNG, and as PDF for a paper; a plot without data is left
/// out.
pub(crate) fn write_some_plots(
    output: &OutputFolder,
    trials: &Trials,
    plots: &[Plot],
    (figure, chart): (&FigureOptions, &ChartOptions),
    pdf: bool,
) -> Result<Vec<CurveSet>, Failure> {
    let mut drawn = Vec::new();
    for plot in plots {
        let curves = curves(&trials.all, plot.quantity, plot.along);
        output.write(&format!("{}.csv", plot.name), csv::to_csv(&curves)).or_work()?;
        match draw(trials, plot, &figure.chart_style(chart)) {
            Ok(picture) => {
                write_picture(output, &plot.name, &picture, figure, pdf)?;
                drawn.push(curves);
            }
            Err(error @ ViewError::BadMeasure { .. }) => {
                return Err(Failure::input(error.to_string()));
            }
            Err(error) => tell(&format!("warning: no plot {}: {error}", plot.name)),
        }
    }
    Ok(drawn)
}

/// Draws one plot.
pub(crate) fn draw(trials: &Trials, plot: &Plot, style: &ChartStyle) -> Result<Picture, ViewError> {
    if !plot.over_agents {
        return chart_svg(&curves(&trials.all, plot.quantity, plot.along), style);
    }
    let (curves, bands) = curves_over_agents(&trials.all, plot.quantity, plot.along);
    band_chart_svg(&curves, &[bands], "from the smallest to the largest value of an agent", style)
}
