//! A larger mu than the theorem allows: how much tracking reduces the disagreement that different
//! data cause, up to the stability limit and beyond.

use consort_records::{Curve, CurveSet, Panel};
use consort_sim::Quadratics;
use consort_theory::Theorem1;

use super::{Finding, Section, TheoryRunner, WeightedGraph, mean};
use crate::failure::Failure;

const ROUNDS: usize = 4000;
const ETA: f32 = 0.05;
const MUS: [f64; 9] = [0.0, 0.0012, 0.05, 0.1, 0.19, 0.3, 0.5, 0.8, 0.98];

pub(super) fn section(runner: &TheoryRunner) -> Result<Section, Failure> {
    let graph = WeightedGraph::new("ring:16")?;
    let problem = Quadratics::spread_out(16, 8, 1.0, 0.0, 1.0);
    let theorem = Theorem1::new(graph.rho, problem.smoothness());
    let mut curves = Vec::new();
    let mut findings = Vec::new();
    for (reading, label, limit, look) in [
        ("released", "GUT, released reading", 1.0, "gut"),
        ("printed", "GUT, printed reading", 0.2, "gut:reading=printed"),
    ] {
        let mut seeds: Vec<Vec<f64>> = Vec::new();
        let (mut stable, mut unstable) = (true, true);
        for mu in MUS {
            let method = format!("gut:mu={mu},reading={reading}");
            let runs = runner.measure(&problem, &graph, &method, |_| ETA, ROUNDS)?;
            let broken = runs.iter().any(|run| run.diverged);
            if mu < limit {
                stable &= !broken
            } else {
                unstable &= broken
            }
            seeds.resize(runs.len(), Vec::new());
            for (values, run) in seeds.iter_mut().zip(&runs) {
                values.push(if run.diverged { f64::NAN } else { run.disagreement });
            }
        }
        findings.push(Finding {
            claim: format!("mu above the theorem's {:.4}", theorem.largest_mu),
            setting: format!("ring:16, different data, {reading} reading, mu from 0 to 0.98"),
            measured: match (stable, unstable) {
                (true, true) => format!("stable below {limit}, not above"),
                (true, false) => format!("also stable above {limit}"),
                (false, _) => format!("unstable below {limit}"),
            },
            expected: format!("stable below {limit} (consort analyze)"),
            holds: stable && unstable,
        });
        if reading == "released" {
            let at = |k: usize| mean(seeds.iter().map(|values| values[k]));
            let last = MUS.len() - 2;
            let gain = at(0) / at(last);
            let at_fixed_point = |mu| fixed_point_disagreement(&problem, &graph, mu);
            let expected = at_fixed_point(0.0) / at_fixed_point(MUS[last]);
            findings.push(Finding {
                claim: "Tracking reduces disagreement".into(),
                setting: format!("ring:16, different data, mu = {}", MUS[last]),
                measured: format!("{gain:.3} times less than DSGD's"),
                expected: format!("{expected:.3} times, at (I-W)X = -eta (1-mu) G"),
                holds: (gain / expected - 1.0).abs() < 0.01,
            });
        }
        curves.push(Curve {
            method: look.into(),
            label: label.into(),
            x: MUS.into(),
            seeds: (1..=seeds.len() as u64).collect(),
            runs: seeds,
        });
    }
    let plot = CurveSet {
        title: "Beyond the theorem: disagreement after 4,000 rounds".into(),
        x_label: "mu".into(),
        y_label: "1/n Σ |x_i - x̄|²".into(),
        log_y: true,
        panels: vec![Panel { title: String::new(), curves }],
    };
    Ok(Section { findings, plot: Some(("beyond-mu", plot)) })
}

/// `1/n Σ |x_i - x̄|²` at the solution of `(I-W) X = -eta (1-mu) G(WX)`, found by iteration.
fn fixed_point_disagreement(problem: &Quadratics, graph: &WeightedGraph, mu: f64) -> f64 {
    let (w, n) = (&graph.weights[0], problem.centres.len());
    let step = f64::from(ETA) * (1.0 - mu);
    let mut total = 0.0;
    for k in 0..problem.curvature.len() {
        let pull = step * f64::from(problem.curvature[k]);
        let (mut x, mut mixed) = (vec![0.0; n], vec![0.0; n]);
        for _ in 0..100_000 {
            w.multiply(&x, &mut mixed);
            for i in 0..n {
                let centre = f64::from(problem.centres[i][k]);
                x[i] -= x[i] - mixed[i] + pull * (mixed[i] - centre);
            }
        }
        let mean = x.iter().sum::<f64>() / n as f64;
        total += x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
    }
    total
}
