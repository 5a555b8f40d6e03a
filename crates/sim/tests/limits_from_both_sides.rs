//! A limit that the analysis tells is a limit of the simulation: just below it
//! disagreement shrinks, just above it grows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{Method, Tunable};
use consort_graph::{GraphSpec, MixingSpec, Spectrum};
use consort_sim::{ConsensusTask, consensus_errors};
use consort_theory::Stability;

/// Disagreement after 3000 rounds, relative to the start.
fn left_over(graph: &str, method: &str, share_of_limit: f64) -> f64 {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = [MixingSpec::Auto.build(topology.at(0)).unwrap()];
    let mut method: Method = method.parse().unwrap();
    let stability = Stability::new(&Spectrum::new(&weights[0]).unwrap());
    let limit = stability.largest_stable_mu(&method).unwrap();
    method.mu = Tunable::Value(limit * share_of_limit);
    let task = ConsensusTask { weights: &weights, method, dim: 32, rounds: 3000, seed: 3 };
    let errors = consensus_errors(&task, 2, &|_| {}).unwrap();
    // Overflow to infinity is growth too.
    if errors[3000].is_finite() { errors[3000] / errors[0] } else { f64::INFINITY }
}

#[test]
fn disagreement_shrinks_below_the_limit_and_grows_above_it() {
    for (graph, method) in [
        ("torus:4x8", "gut"),
        ("dyck", "gut"),
        ("ring:16", "gut:reading=printed"),
        ("torus:4x8", "gut:reading=printed"),
        ("ring:16", "qg-gutm"),
        ("torus:4x8", "rule-b"),
        ("dyck", "rule-b"),
    ] {
        let below = left_over(graph, method, 0.98);
        let above = left_over(graph, method, 1.02);
        assert!(below < 5e-2, "{graph}, {method}: {below:e} is left below its limit");
        assert!(above > 1e2, "{graph}, {method}: {above:e} is left above its limit");
    }
}
