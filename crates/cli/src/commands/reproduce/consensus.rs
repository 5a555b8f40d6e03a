//! The consensus figure: every run is an entry of the ledger.

use std::time::Instant;

use consort_records::{Curve, CurveSet, Panel};
use consort_reproduce::{
    CurvePoints, Experiment, Ledger, LedgerEntry, TrialKey, TrialOutcome, checksum,
};

use super::RunEnvironment;
use crate::arguments::{
    ChartOptions, ComparisonFormat, ConsensusOptions, Equations, FigureOptions, WeightOptions,
};
use crate::commands::consensus::{FigureRun, FigureRuns, all_cores};
use crate::failure::{Blame, Failure, tell};
use crate::provenance::Provenance;
use crate::{progress, table};

/// The approximate time of one run; the largest ring takes three times as long as the smallest.
pub(super) const SECONDS_OF_A_RUN: f64 = 15.0;

/// The number of points of a curve in the ledger.
const POINTS: usize = 200;

/// Runs everything that is not in the ledger.
pub(super) fn run(
    experiment: &Experiment,
    ledger: &mut Ledger,
    environment: &RunEnvironment,
) -> Result<(), Failure> {
    let Some(runs) = runs(experiment, environment.threads)? else { return Ok(()) };
    let missing: Vec<FigureRun<'_>> =
        runs.each().into_iter().filter(|run| ledger.find(&key(run)).is_none()).collect();
    let bar = progress::bar(missing.len() as u64);
    for run in missing {
        let words = format!("{}, {}, seed {}", run.panel(), run.label(), run.seed);
        bar.set_message(words.clone());
        let entry = entry(&run, environment)?;
        let took = entry.seconds;
        ledger.add(entry).or_work()?;
        bar.inc(1);
        let line = format!("{words}: {took:.0} s");
        if bar.is_hidden() { tell(&line) } else { bar.println(line) }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Runs once and returns the entry for the ledger.
#[allow(clippy::disallowed_methods, reason = "the ledger contains how long a run took")]
fn entry(run: &FigureRun<'_>, environment: &RunEnvironment) -> Result<LedgerEntry, Failure> {
    let key = key(run);
    let start = Instant::now();
    let errors = run.errors()?;
    let bytes: Vec<u8> = errors.iter().flat_map(|error| error.to_le_bytes()).collect();
    let Provenance { version, commit, date, .. } = Provenance::current();
    let curve = CurvePoints::from_errors(&errors, POINTS);
    Ok(LedgerEntry {
        hash: key.hash(),
        seed: run.seed,
        settings: key.settings().to_vec(),
        runs_as: run.runs_as().into(),
        scale: 1.0,
        version: version.into(),
        commit: commit.into(),
        date,
        machine: environment.machine("portable".into()),
        seconds: (10.0 * start.elapsed().as_secs_f64()).round() / 10.0,
        outcome: TrialOutcome {
            final_error: curve.error.last().copied().flatten(),
            ..TrialOutcome::default()
        },
        checksum: Some(checksum(&bytes)),
        curve,
    })
}

/// Runs an entry again; `None` if it is not a run of this figure.
pub(super) fn again(
    experiment: &Experiment,
    of: &TrialKey,
    environment: &RunEnvironment,
) -> Result<Option<LedgerEntry>, Failure> {
    let Some(runs) = runs(experiment, environment.threads)? else { return Ok(None) };
    let same = runs.each().into_iter().find(|run| key(run) == *of);
    same.map(|run| entry(&run, environment)).transpose()
}

/// The number of finished runs, and of all runs.
pub(super) fn progress(
    experiment: &Experiment,
    ledger: &Ledger,
) -> Result<(usize, usize), Failure> {
    let Some(runs) = runs(experiment, all_cores())? else { return Ok((0, 0)) };
    let each = runs.each();
    let done = each.iter().filter(|run| ledger.find(&key(run)).is_some()).count();
    Ok((done, each.len()))
}

/// The figure from the ledger. Panels without runs are left out.
pub(super) fn curves(experiment: &Experiment, ledger: &Ledger) -> Result<CurveSet, Failure> {
    let mut panels: Vec<Panel> = Vec::new();
    if let Some(runs) = runs(experiment, all_cores())? {
        for run in runs.each() {
            let Some(entry) = ledger.find(&key(&run)) else { continue };
            if panels.last().is_none_or(|panel| panel.title != run.panel()) {
                panels.push(Panel { title: run.panel(), curves: Vec::new() });
            }
            let Some(panel) = panels.last_mut() else { continue };
            let numbers = |row: &[Option<f64>]| -> Vec<f64> {
                row.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
            };
            if panel.curves.last().is_none_or(|curve| curve.label != run.label()) {
                panel.curves.push(Curve {
                    method: run.name().into(),
                    label: run.label(),
                    x: numbers(&entry.curve.x),
                    runs: Vec::new(),
                    seeds: Vec::new(),
                });
            }
            let Some(curve) = panel.curves.last_mut() else { continue };
            curve.runs.push(numbers(&entry.curve.error));
            curve.seeds.push(run.seed);
        }
    }
    Ok(CurveSet {
        title: experiment.title.clone(),
        x_label: "Round".into(),
        y_label: "Consensus error".into(),
        log_y: true,
        panels,
    })
}

/// The first and the final errors as a table.
pub(super) fn text(experiment: &Experiment, ledger: &Ledger, format: ComparisonFormat) -> String {
    let header = ["agents", "method", "first error", "final error", "seeds"];
    let Ok(figure) = curves(experiment, ledger) else { return String::new() };
    let mut rows = Vec::new();
    for panel in &figure.panels {
        for curve in &panel.curves {
            let mean = |at: fn(&Vec<f64>) -> Option<&f64>| {
                let values = curve.runs.iter().filter_map(at);
                let count = curve.runs.len().max(1) as f64;
                format!("{:.3e}", values.sum::<f64>() / count)
            };
            rows.push(vec![
                panel.title.clone(),
                curve.label.clone(),
                mean(|run| run.first()),
                mean(|run| run.last()),
                curve.seeds.len().to_string(),
            ]);
        }
    }
    match format {
        ComparisonFormat::Text => table::render(&header, &rows),
        ComparisonFormat::Markdown => {
            let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            let rule = format!("|{}\n", "---|".repeat(header.len()));
            let head = line(header.map(String::from).into());
            head + &rule + &rows.into_iter().map(line).collect::<String>()
        }
        ComparisonFormat::Latex => {
            rows.iter().map(|row| row.join(" & ") + " \\\\\n").collect::<String>()
        }
    }
}

fn key(run: &FigureRun<'_>) -> TrialKey {
    TrialKey::from_lines(run.settings(), run.seed)
}

fn runs(experiment: &Experiment, threads: usize) -> Result<Option<FigureRuns>, Failure> {
    let Some(figure) = &experiment.consensus else { return Ok(None) };
    let options = ConsensusOptions {
        graphs: figure.graphs.clone(),
        dim: figure.dim as u64,
        rounds: figure.rounds as u64,
        methods: figure.methods.join(","),
        mu: "0.1".into(),
        mu_momentum: "0.01".into(),
        beta: "0.9".into(),
        equations: Equations::Released,
        seed: figure.seeds.first().copied().unwrap_or(1),
        seeds: figure.seeds.len() as u64,
        threads: Some(threads as u64),
        out: None,
        overwrite: false,
        resume: false,
        json: false,
        weights: WeightOptions { weights: "auto".into(), graph_seed: 1 },
        figure: FigureOptions::default(),
        chart: ChartOptions::default(),
    };
    FigureRuns::new(&options).map(Some)
}
