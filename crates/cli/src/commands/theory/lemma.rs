//! Lemma 1: tracking does not change the average. So without noise the averaged model follows plain
//! gradient descent on f, in every reading, also if the step size changes.

use consort_sim::Quadratics;

use super::{Finding, Section, TheoryRunner, WeightedGraph};
use crate::failure::Failure;

const ROUNDS: usize = 200;

pub(super) fn section(runner: &TheoryRunner) -> Result<Section, Failure> {
    let graph = WeightedGraph::new("ring:16")?;
    let problem = Quadratics::spread_out(16, 8, 1.0, 0.0, 1.0);
    // Warm-up, then two decays.
    let eta = |round: usize| match round {
        0..10 => 0.01 * (round + 1) as f32,
        10..100 => 0.1,
        100..150 => 0.01,
        _ => 0.001,
    };
    let mut descent: Vec<f64> = problem.start.iter().copied().map(f64::from).collect();
    let optimum = problem.optimum();
    for round in 0..ROUNDS {
        for k in 0..descent.len() {
            let gradient = f64::from(problem.curvature[k]) * (descent[k] - optimum[k]);
            descent[k] -= f64::from(eta(round)) * gradient;
        }
    }
    let mut findings = Vec::new();
    for method in ["gut:mu=0.9", "gut:mu=0.15,reading=printed", "gut:mu=0.9,memory=copies"] {
        let measured = runner.measure(&problem, &graph, method, eta, ROUNDS)?;
        let away = measured[0].average.iter().zip(&descent).map(|(a, b)| (a - b).abs());
        let off = away.fold(0.0, f64::max);
        findings.push(Finding {
            claim: "Lemma 1: the average follows gradient descent".into(),
            setting: format!("ring:16, {method}, eta rises and falls twice"),
            measured: format!("off by {off:.1e}"),
            expected: "0, up to rounding".into(),
            holds: off < 1e-5,
        });
    }
    Ok(Section { findings, plot: None })
}
