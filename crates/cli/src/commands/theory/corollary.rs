//! The Corollary: with eta of the order of sqrt(n/T), the mean squared gradient norm falls like
//! 1/sqrt(nT), so n agents need 1/n of the rounds.

use consort_records::{Curve, CurveSet, Panel};
use consort_sim::Quadratics;

use super::{Finding, Section, TheoryRunner, WeightedGraph, exponent, mean};
use crate::failure::Failure;

const AGENTS: [usize; 4] = [2, 4, 8, 16];
const ROUNDS: [usize; 6] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];
/// eta = STEP sqrt(n/T): small enough for Theorem 1 at the largest n and the smallest T used.
const STEP: f64 = 0.5;
const MU: f64 = 0.0011;

pub(super) fn section(runner: &TheoryRunner) -> Result<Section, Failure> {
    let mut curves = Vec::new();
    let (mut x_all, mut y_all) = (Vec::new(), Vec::new());
    let mut at_last = Vec::new();
    let mut findings = Vec::new();
    for n in AGENTS {
        let graph = WeightedGraph::new(&format!("complete:{n}"))?;
        // Start near the optimum with strong noise, so that only noise matters.
        let problem = Quadratics::spread_out(n, 8, 0.2, 2.0, 0.5);
        let mut seeds: Vec<Vec<f64>> = Vec::new();
        for rounds in ROUNDS {
            let eta = STEP * (n as f64 / rounds as f64).sqrt();
            let method = format!("gut:mu={MU}");
            let runs = runner.measure(&problem, &graph, &method, |_| eta as f32, rounds)?;
            seeds.resize(runs.len(), Vec::new());
            for (values, run) in seeds.iter_mut().zip(&runs) {
                values.push(run.mean_until(rounds));
            }
        }
        let means: Vec<f64> =
            (0..ROUNDS.len()).map(|k| mean(seeds.iter().map(|values| values[k]))).collect();
        let slope = exponent(&ROUNDS.map(|t| t as f64), &means);
        findings.push(Finding {
            claim: "Corollary: falls like 1/sqrt(T)".into(),
            setting: format!("{n} agents, eta = {STEP} sqrt(n/T), T = 512 to 16384"),
            measured: format!("T^{slope:.3}"),
            expected: "T^-0.5".into(),
            holds: (slope + 0.5).abs() < 0.1,
        });
        x_all.extend(ROUNDS.map(|t| (n * t) as f64));
        y_all.extend_from_slice(&means);
        at_last.push(means[ROUNDS.len() - 1]);
        curves.push(Curve {
            method: ["dsgd", "gut", "qg-dsgdm", "qg-gutm"][curves.len() % 4].into(),
            label: format!("{n} agents"),
            x: ROUNDS.iter().map(|&t| ((n * t) as f64).log2()).collect(),
            seeds: (1..=seeds.len() as u64).collect(),
            runs: seeds,
        });
    }
    let slope = exponent(&AGENTS.map(|n| n as f64), &at_last);
    findings.push(Finding {
        claim: "Corollary: linear speed-up".into(),
        setting: "T = 16384, 2 to 16 agents".into(),
        measured: format!("n^{slope:.3}"),
        expected: "n^-0.5 at equal T".into(),
        holds: (slope + 0.5).abs() < 0.1,
    });
    let slope = exponent(&x_all, &y_all);
    findings.push(Finding {
        claim: "Corollary: n agents need 1/n of the rounds".into(),
        setting: "all n and T together".into(),
        measured: format!("(nT)^{slope:.3}"),
        expected: "(nT)^-0.5, one line for all n".into(),
        holds: (slope + 0.5).abs() < 0.05,
    });
    let plot = CurveSet {
        title: "The rate 1/sqrt(nT)".into(),
        x_label: "Agents times rounds nT (log₂)".into(),
        y_label: "Mean of |∇f|² until T".into(),
        log_y: true,
        panels: vec![Panel { title: String::new(), curves }],
    };
    Ok(Section { findings, plot: Some(("corollary", plot)) })
}
