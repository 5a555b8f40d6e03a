//! `consort consensus`: the paper's average-consensus figure, for any graph and method.

use std::time::Instant;

use consort_graph::MixingMatrix;
use consort_records::{Curve, CurveSet, OutputFolder, Panel, csv, json};
use consort_sim::{ConsensusTask, consensus_errors};
use consort_view::chart_svg;
use indicatif::ProgressBar;
use serde::Serialize;

use self::finished::FinishedCurves;
use self::plan::{ConsensusPlan, PlannedCurve, PlannedPanel};
use super::{print_json, print_text};
use crate::arguments::ConsensusOptions;
use crate::failure::{Blame, Failure, tell};
use crate::figures::write_picture;
use crate::provenance::Provenance;
use crate::{progress, table};

mod finished;
mod plan;
mod runs;

pub(crate) use self::runs::{FigureRun, FigureRuns};

/// The result of the command, for the terminal and for `summary.json`.
#[derive(Serialize)]
struct Summary {
    provenance: Provenance,
    dim: usize,
    rounds: usize,
    seeds: Vec<u64>,
    threads: usize,
    seconds: f64,
    panels: Vec<PanelSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

#[derive(Serialize)]
struct PanelSummary {
    graph: String,
    agents: usize,
    weights: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph_seed: Option<u64>,
    spectral_gap: f64,
    methods: Vec<MethodSummary>,
}

#[derive(Serialize)]
struct MethodSummary {
    name: String,
    runs_as: String,
    /// The rate of the distance per round; the error is the square of the distance.
    predicted_rate: f64,
    stable: bool,
    first_error: f64,
    final_error: f64,
}

#[allow(clippy::disallowed_methods, reason = "the command reports how long it took")]
pub(crate) fn run(options: &ConsensusOptions) -> Result<(), Failure> {
    let plan = ConsensusPlan::new(options)?;
    let folder = match &options.out {
        Some(path) => OutputFolder::claim(path, options.overwrite || options.resume).or_input()?,
        None => OutputFolder::fresh("runs", "consensus").or_work()?,
    };
    let finished = FinishedCurves::in_folder(&folder, options.resume)?;
    finished.explain_interruption();
    for warning in plan.warnings() {
        tell(&format!("warning: {warning}"));
    }
    let bar = progress::bar(plan.work());
    let start = Instant::now();
    let mut panels = Vec::new();
    let mut summaries = Vec::new();
    for panel in &plan.panels {
        let curves = run_panel(&plan, panel, &finished, &bar)?;
        summaries.push(summarize(panel, &curves));
        panels.push(Panel { title: panel.title(), curves });
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();

    let curves = CurveSet {
        title: "Average consensus".into(),
        x_label: "Round".into(),
        y_label: "Consensus error".into(),
        log_y: true,
        panels,
    };
    let summary = Summary {
        provenance: Provenance::current(),
        dim: plan.dim,
        rounds: plan.rounds,
        seeds: plan.seeds.clone(),
        threads: plan.threads,
        seconds,
        panels: summaries,
        folder: Some(folder.path().display().to_string()),
    };
    write_files(&folder, &curves, &summary, options)?;
    finished.discard();
    if options.json {
        return print_json(&summary);
    }
    print_text(&report(&summary))
}

/// The number of cores, or 1 if it is unknown.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn run_panel(
    plan: &ConsensusPlan,
    panel: &PlannedPanel,
    finished: &FinishedCurves,
    bar: &ProgressBar,
) -> Result<Vec<Curve>, Failure> {
    let mut curves = Vec::new();
    for planned in &panel.methods {
        bar.set_message(format!("{} {}", panel.network.topology.name(), planned.name));
        let weights = slowed_down(&panel.network.weights, planned)?;
        let mut runs = Vec::new();
        for &seed in &plan.seeds {
            let task = ConsensusTask {
                weights: &weights,
                method: planned.method,
                dim: plan.dim,
                rounds: plan.rounds,
                seed,
            };
            let agents = panel.network.topology.agents() as u64;
            let tick = |coordinates: u64| bar.inc(coordinates * agents);
            let errors = match finished.find(&task) {
                Some(errors) => {
                    tick(plan.dim as u64);
                    errors
                }
                None => {
                    let errors = consensus_errors(&task, plan.threads, &tick).or_work()?;
                    finished.keep(&task, &errors)?;
                    errors
                }
            };
            runs.push(errors);
        }
        curves.push(Curve {
            method: planned.name.clone(),
            label: planned.label(),
            x: (0..=plan.rounds).map(|round| round as f64).collect(),
            runs,
            seeds: plan.seeds.clone(),
        });
    }
    Ok(curves)
}

/// `(1-gamma) I + gamma W` for every phase.
fn slowed_down(
    weights: &[MixingMatrix],
    planned: &PlannedCurve,
) -> Result<Vec<MixingMatrix>, Failure> {
    let gamma = planned.analysis.gamma;
    weights
        .iter()
        .map(|w| w.clone().with_averaging_rate(gamma))
        .collect::<Result<_, _>>()
        .or_input()
}

fn summarize(panel: &PlannedPanel, curves: &[Curve]) -> PanelSummary {
    let mean_at = |curve: &Curve, round: usize| {
        curve.runs.iter().map(|run| run[round]).sum::<f64>() / curve.runs.len() as f64
    };
    let summarize_method = |(planned, curve): (&PlannedCurve, &Curve)| MethodSummary {
        name: planned.name.clone(),
        runs_as: planned.analysis.method.clone(),
        predicted_rate: planned.predicted_rate,
        stable: planned.analysis.stable,
        first_error: mean_at(curve, 0),
        final_error: mean_at(curve, curve.x.len() - 1),
    };
    PanelSummary {
        graph: panel.network.topology.name().to_string(),
        agents: panel.network.topology.agents(),
        weights: panel.network.weights_name.clone(),
        graph_seed: panel.network.seed,
        spectral_gap: table::significant(panel.gap, 12),
        methods: panel.methods.iter().zip(curves).map(summarize_method).collect(),
    }
}

fn write_files(
    folder: &OutputFolder,
    curves: &CurveSet,
    summary: &Summary,
    options: &ConsensusOptions,
) -> Result<(), Failure> {
    // Write numbers first: they remain if drawing fails.
    folder.write("consensus.csv", csv::to_csv(curves)).or_work()?;
    folder.write("consensus.json", json::to_json(curves).or_work()?).or_work()?;
    let summary = serde_json::to_string_pretty(summary).or_work()? + "\n";
    folder.write("summary.json", summary).or_work()?;
    let style = options.figure.chart_style(&options.chart);
    let picture = chart_svg(curves, &style).or_input()?;
    write_picture(folder, "consensus", &picture, &options.figure, true)
}

fn report(summary: &Summary) -> String {
    let mut rows = Vec::new();
    for panel in &summary.panels {
        for method in &panel.methods {
            rows.push(vec![
                panel.graph.clone(),
                method.name.clone(),
                format!("{:.3e}", method.first_error),
                format!("{:.3e}", method.final_error),
                format!("{:.6}", method.predicted_rate.powi(2)),
                method.runs_as.clone(),
            ]);
        }
    }
    let header =
        ["graph", "method", "first error", "final error", "predicted per round", "runs as"];
    let folder = summary.folder.as_deref().unwrap_or_default();
    format!(
        "{}\n{} rounds, {} coordinates, seeds {}, {} threads: {:.1} s\n\
         consensus.svg, .pdf, .png, .csv, .json and summary.json are in {folder}\n",
        table::render(&header, &rows),
        summary.rounds,
        summary.dim,
        summary.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        summary.threads,
        summary.seconds
    )
}
