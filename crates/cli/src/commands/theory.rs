//! `consort theory`: checks the paper's theorems on problems whose constants are known.

mod beyond;
mod corollary;
mod lemma;
mod theorem;

use consort_algo::Method;
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology};
use consort_records::{CurveSet, OutputFolder, csv};
use consort_sim::{Measured, Quadratics};
use consort_view::chart_svg;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;

use super::consensus::all_cores;
use super::{print_json, print_text};
use crate::arguments::TheoryOptions;
use crate::failure::{Blame, Failure};
use crate::figures::write_picture;
use crate::provenance::Provenance;
use crate::{progress, table};

/// One claim and its measurement.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    claim: String,
    setting: String,
    measured: String,
    expected: String,
    holds: bool,
}

/// The results of one section of the command: rows of the table, curves for a plot.
struct Section {
    findings: Vec<Finding>,
    plot: Option<(&'static str, CurveSet)>,
}

#[derive(Serialize)]
struct Summary {
    provenance: Provenance,
    seeds: u64,
    folder: String,
    findings: Vec<Finding>,
}

pub(crate) fn run(options: &TheoryOptions) -> Result<(), Failure> {
    let folder = match &options.out {
        Some(path) => OutputFolder::claim(path, options.overwrite).or_input()?,
        None => OutputFolder::fresh("runs", "theory").or_work()?,
    };
    let runner = TheoryRunner::new(options)?;
    let sections = [
        lemma::section(&runner)?,
        theorem::section(&runner)?,
        corollary::section(&runner)?,
        beyond::section(&runner)?,
    ];
    runner.bar.finish_and_clear();
    let mut findings = Vec::new();
    for section in sections {
        findings.extend(section.findings);
        if let Some((name, curves)) = section.plot {
            // Write numbers first: they remain if drawing fails.
            folder.write(&format!("{name}.csv"), csv::to_csv(&curves)).or_work()?;
            let style = options.figure.chart_style(&options.chart);
            let picture = chart_svg(&curves, &style).or_input()?;
            write_picture(&folder, name, &picture, &options.figure, true)?;
        }
    }
    let summary = Summary {
        provenance: Provenance::current(),
        seeds: options.seeds,
        folder: folder.path().display().to_string(),
        findings,
    };
    let text = serde_json::to_string_pretty(&summary).or_work()? + "\n";
    folder.write("summary.json", text).or_work()?;
    folder.write("table.txt", summary.text()).or_work()?;
    if options.json { print_json(&summary) } else { print_text(&summary.text()) }
}

impl Summary {
    fn text(&self) -> String {
        let row = |finding: &Finding| {
            let Finding { claim, setting, measured, expected, holds } = finding.clone();
            vec![claim, setting, measured, expected, if holds { "yes" } else { "NO" }.into()]
        };
        let rows: Vec<Vec<String>> = self.findings.iter().map(row).collect();
        format!(
            "{}\nmeans over {} seeds; plots and numbers are in {}\n",
            table::render(&["claim", "setting", "measured", "expected", "holds"], &rows),
            self.seeds,
            self.folder
        )
    }
}

/// Runs measurements.
struct TheoryRunner {
    seeds: u64,
    pool: rayon::ThreadPool,
    bar: ProgressBar,
}

/// A graph with its weights.
struct WeightedGraph {
    topology: Topology,
    weights: Vec<MixingMatrix>,
    rho: f64,
}

impl WeightedGraph {
    fn new(graph: &str) -> Result<Self, Failure> {
        let topology = graph.parse::<GraphSpec>().or_input()?.build(1).or_input()?;
        let weights = MixingSpec::Auto.build_all(&topology).or_input()?;
        let rho = Spectrum::new(&weights[0]).or_work()?.gap;
        Ok(WeightedGraph { topology, weights, rho })
    }
}

impl TheoryRunner {
    /// The number of measurements, for the progress bar.
    const MEASUREMENTS: u64 = 48;

    fn new(options: &TheoryOptions) -> Result<Self, Failure> {
        let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().or_work()?;
        let bar = progress::bar(Self::MEASUREMENTS * options.seeds);
        Ok(TheoryRunner { seeds: options.seeds, pool, bar })
    }

    /// Runs all seeds in parallel, each on one thread.
    fn measure(
        &self,
        problem: &Quadratics,
        network: &WeightedGraph,
        method: &str,
        eta: impl Fn(usize) -> f32 + Sync,
        rounds: usize,
    ) -> Result<Vec<Measured>, Failure> {
        let method: Method = method.parse().or_input()?;
        let run = |seed: u64| {
            let etas = (0..rounds).map(&eta);
            let WeightedGraph { topology, weights, .. } = network;
            let measured = problem.run(topology, weights, &method, etas, seed, 1).or_work();
            self.bar.inc(1);
            measured
        };
        let seeds: Vec<u64> = (1..=self.seeds).collect();
        self.pool.install(|| seeds.into_par_iter().map(run).collect())
    }
}

/// Powers of two up to `most`: the positions of curves over T.
fn powers_of_two(most: usize) -> Vec<usize> {
    (0..).map(|k| 1 << k).take_while(|&t| t <= most).collect()
}

/// The exponent of a power law: the slope of a straight line through the logarithms.
fn exponent(x: &[f64], y: &[f64]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) =
        (x.iter().map(|v| v.ln()).collect(), y.iter().map(|v| v.ln()).collect());
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let both: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    both / x.iter().map(|a| (a - mx).powi(2)).sum::<f64>()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let x: Vec<f64> = (1..20).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 * x.powf(-0.5)).collect();
        assert!((exponent(&x, &y) + 0.5).abs() < 1e-12);
    }
}
