//! An averaging rate that falls over a run takes no method over its limit of stability.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{CATALOGUE, GraphNeeds, Method};
use consort_graph::{GraphSpec, MixingSpec, Spectrum};
use consort_theory::{Analysis, Question, RunStability, graph_of, resolve_on};

/// The rates at which each method is unstable although it is stable with W itself.
fn lost(graph: &str, text: &str) -> Vec<f64> {
    let method: Method = text.parse().unwrap();
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    let topology = graph_of(&method, &topology).unwrap().unwrap_or(topology);
    let weights = match method.info().needs {
        GraphNeeds::ColumnStochastic => "out-degree".parse::<MixingSpec>().unwrap(),
        _ => MixingSpec::Auto,
    };
    let weights = weights.build_all(&topology).unwrap();
    let run = RunStability::new(&weights, &Spectrum::from_period(&weights).unwrap());
    let stability = run.of(&method).unwrap();
    // Once for the whole run.
    let method = resolve_on(&method, stability, f64::INFINITY).method;
    let is_stable = |rate: f64| {
        Analysis::on(&Question::new(method), &stability.with_averaging_rate(rate)).stable
    };
    if !is_stable(1.0) {
        return Vec::new();
    }
    [0.9, 0.5, 0.1, 0.01].into_iter().filter(|&rate| !is_stable(rate)).collect()
}

/// Smaller rates move all eigenvalues towards 1. What diverges there only, the averaged model
/// under too much momentum, diverges at every rate.
#[test]
fn what_is_stable_stays_stable_when_the_averaging_rate_falls() {
    let mut texts: Vec<String> = CATALOGUE.iter().map(|info| info.name.to_string()).collect();
    for reading in ["released", "printed", "printed-pytorch"] {
        for mu in [0.02, 0.05, 0.09, 0.1, 0.101, 0.3, 0.5, 0.9, 1.0] {
            for name in ["gut", "gutm", "qg-gutm", "qg-gutm-n"] {
                texts.push(format!("{name}:mu={mu},reading={reading}"));
            }
            for form in ["quasi-global", "own-moves"] {
                texts.push(format!("qg-gutm:mu={mu},reading={reading},form={form}"));
            }
        }
    }
    let lost: Vec<_> = ["ring:16", "dyck", "torus:4x8", "star:9"]
        .into_iter()
        .flat_map(|graph| texts.iter().map(move |text| (graph, text)))
        .map(|(graph, text)| (graph, text, lost(graph, text)))
        .filter(|(_, _, lost)| !lost.is_empty())
        .collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

/// On directed graphs, where eigenvalues are complex.
#[test]
fn on_directed_graphs_too() {
    for graph in ["directed-ring:16", "exponential:16"] {
        for mu in [0.05, 0.1, 0.3, 0.5, 0.7, 0.9] {
            for name in ["gut-sgp", "qg-gutm-sgp", "qg-gutm-sgp-n"] {
                let text = format!("{name}:mu={mu}");
                assert_eq!(lost(graph, &text), [0.0; 0], "{text} on {graph}");
            }
        }
    }
}
