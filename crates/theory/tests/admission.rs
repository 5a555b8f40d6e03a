//! Every method of the catalogue runs on a graph, or is refused there with the reason and with what
//! would work instead.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{CATALOGUE, Method, MethodName};
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology};
use consort_theory::{AdmissionError, admit};

/// Graphs that some methods cannot use, each with weights: undirected, with small eigenvalues,
/// directed, changing, irregular and directed with either weights, a tree, and all to all.
const GRAPHS: [(&str, &str); 9] = [
    ("ring:8", "auto"),
    ("bipartite:4x4", "auto"),
    ("star:8", "uniform"),
    ("exponential:8", "auto"),
    ("one-peer-exponential:8", "auto"),
    ("random-digraph:9:4", "out-degree"),
    ("random-digraph:9:4", "auto"),
    ("chain:6", "auto"),
    ("complete:6", "auto"),
];

fn build(graph: &str, weights: &str) -> (Topology, Vec<MixingMatrix>) {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = weights.parse::<MixingSpec>().unwrap().build_all(&topology).unwrap();
    (topology, weights)
}

fn admitted(
    name: MethodName,
    topology: &Topology,
    weights: &[MixingMatrix],
) -> Result<(), AdmissionError> {
    let lambda_min = Spectrum::new(&weights[0]).map_or(0.0, |spectrum| spectrum.lambda_min);
    admit(&Method::new(name), topology, weights, lambda_min)
}

#[test]
fn a_method_is_admitted_or_refused_with_the_reason_and_a_remedy() {
    for (graph, spec) in GRAPHS {
        let (topology, weights) = build(graph, spec);
        let mut refused = 0;
        for info in &CATALOGUE {
            let Err(error) = admitted(info.id, &topology, &weights) else { continue };
            refused += 1;
            let told = error.to_string();
            let remedies =
                ["Methods that accept it: ", "use ", "Use ", "give it", "other methods need "];
            assert!(remedies.iter().any(|remedy| told.contains(remedy)), "{graph}: {told}");
            assert!(told.contains(info.name), "{graph}, {}: {told}", info.name);
            // What it says would work does.
            let Some((_, named)) = told.split_once("Methods that accept it: ") else { continue };
            let (named, others) = match named.split_once(", with --weights out-degree") {
                Some((named, _)) => (named, build(graph, "out-degree").1),
                None => (named, weights.clone()),
            };
            for name in named.split(", ") {
                let other = admitted(name.parse().unwrap(), &topology, &others);
                assert!(other.is_ok(), "{graph}: {told}, but {}", other.unwrap_err());
            }
        }
        assert!(refused > 0, "{graph}: every method runs here, so it tests nothing");
    }
}
