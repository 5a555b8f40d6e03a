//! Theorem 1: the mean squared gradient norm of the averaged model and its bound, over T.

use consort_records::{Curve, CurveSet, Panel};
use consort_sim::Quadratics;
use consort_theory::{ProblemConstants, Theorem1};

use super::{Finding, Section, TheoryRunner, WeightedGraph, mean, powers_of_two};
use crate::failure::Failure;

const ROUNDS: usize = 1 << 14;

/// Title, graph, spread of the centres, noise, start.
const PROBLEMS: [(&str, &str, f32, f32, f32); 3] = [
    ("complete graph, equal data, no noise", "complete:16", 0.0, 0.0, 10.0),
    ("ring, different data, no noise", "ring:16", 1.0, 0.0, 10.0),
    ("ring, different data, noise", "ring:16", 1.0, 1.0, 10.0),
];

pub(super) fn section(runner: &TheoryRunner) -> Result<Section, Failure> {
    let (mut findings, mut panels) = (Vec::new(), Vec::new());
    for (title, graph, spread, noise, start) in PROBLEMS {
        let graph = WeightedGraph::new(graph)?;
        let problem = Quadratics::spread_out(16, 8, spread, noise, start);
        let theorem = Theorem1::new(graph.rho, problem.smoothness());
        let (eta, mu) = (theorem.largest_eta, theorem.largest_mu);
        let constants = ProblemConstants {
            gap_to_optimum: problem.gap_to_optimum(),
            noise: problem.sigma_squared(),
            heterogeneity: problem.zeta_squared(),
            agents: 16,
        };
        let method = format!("gut:mu={mu}");
        let runs = runner.measure(&problem, &graph, &method, |_| eta as f32, ROUNDS)?;
        let rounds = powers_of_two(ROUNDS);
        let bound = |t: usize| theorem.bound(&constants, eta, mu, t as u64);
        let measured = |t: usize| mean(runs.iter().map(|run| run.mean_until(t)));
        // Without steps the gradient stays the first one.
        let idle = runs[0].squared_gradients[0];
        let closest = rounds.iter().map(|&t| bound(t) / measured(t)).fold(f64::INFINITY, f64::min);
        let exceeded = rounds.iter().find(|&&t| idle > bound(t));
        findings.push(Finding {
            claim: "Theorem 1: not above the bound".into(),
            setting: format!("{title}, eta {eta:.4}, mu {mu:.5}"),
            measured: format!("bound / measured at least {closest:.2}"),
            expected: "at least 1 for every T".into(),
            holds: closest >= 1.0,
        });
        findings.push(Finding {
            claim: "Theorem 1 is not trivial".into(),
            setting: format!("{title}, no steps"),
            measured: exceeded.map_or("never above the bound".into(), |t| {
                format!("above the bound from T = {t}")
            }),
            expected: if noise == 0.0 { "above it for large T" } else { "no requirement" }.into(),
            holds: noise > 0.0 || exceeded.is_some(),
        });
        let x: Vec<f64> = rounds.iter().map(|&t| (t as f64).log2()).collect();
        let curve = |method: &str, label: &str, runs: Vec<Vec<f64>>| Curve {
            method: method.into(),
            label: label.into(),
            x: x.clone(),
            seeds: (1..=runs.len() as u64).collect(),
            runs,
        };
        let over_rounds = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            rounds.iter().map(|&t| value(t)).collect()
        };
        let all = runs.iter().map(|run| over_rounds(&|t| run.mean_until(t))).collect();
        panels.push(Panel {
            title: title.into(),
            curves: vec![
                curve("dsgd", "bound of Theorem 1", vec![over_rounds(&bound)]),
                curve("gut", "GUT, measured", all),
                curve("gt", "no steps", vec![over_rounds(&|_| idle)]),
            ],
        });
    }
    let plot = CurveSet {
        title: "Theorem 1 on quadratics".into(),
        x_label: "Rounds T (log₂)".into(),
        y_label: "Mean of |∇f|² until T".into(),
        log_y: true,
        panels,
    };
    Ok(Section { findings, plot: Some(("theorem-1", plot)) })
}
