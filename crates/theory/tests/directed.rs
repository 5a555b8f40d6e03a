//! Limits of mu and gamma on directed graphs and on graphs that take turns, where eigenvalues are
//! complex or not shared at all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{Method, Tunable};
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec};
use consort_theory::{AdmissionError, Analysis, Question, Stability, admit, resolve_on};

fn weights(graph: &str) -> Vec<MixingMatrix> {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    MixingSpec::OutDegree.build_all(&topology).unwrap()
}

fn stability(graph: &str) -> Stability {
    Stability::from_weights(&weights(graph)).unwrap()
}

fn method(text: &str) -> Method {
    text.parse().unwrap()
}

/// Modes of a directed ring at averaging rate gamma are 1 - gamma + gamma (1 + e^it)/2, and the
/// slowest of them lets tracking grow unless gamma < 1/(mu²/(1-mu)² + 1/(2 (1-mu))).
#[test]
fn a_directed_ring_limits_gamma() {
    let ring = stability("directed-ring:64");
    // From the roots of z² - (1+mu) l z + mu l, by bisection, outside this crate.
    for (mu, exact) in [(0.5, 0.501_811), (0.7, 0.141_165), (0.9, 0.011_662)] {
        let found = ring.largest_stable_gamma(&method("gut-sgp"), mu).unwrap();
        assert!((found - exact).abs() < 1e-5, "mu = {mu}: {found}, expected {exact}");
        let on_a_long_ring = 1.0 / (mu * mu / (1.0 - mu).powi(2) + 1.0 / (2.0 * (1.0 - mu)));
        assert!((on_a_long_ring..1.03 * on_a_long_ring).contains(&found), "{on_a_long_ring}");
    }
    // What is stable below this gamma is unstable above it.
    let at = |gamma: f64| ring.with_averaging_rate(gamma).largest_stable_mu(&method("gut-sgp"));
    assert!((at(0.501_811).unwrap() - 0.5).abs() < 1e-5, "{:?}", at(0.501_811));
    // At gamma = 1 the limit of a long ring is mu = 1/3.
    let long = stability("directed-ring:4096").largest_stable_mu(&method("gut-sgp"));
    assert!((long.unwrap() - 1.0 / 3.0).abs() < 1e-4, "{long:?}");
}

/// The directed exponential graph rotates little: mu = 0.9 needs gamma below 0.92.
#[test]
fn the_directed_exponential_graph_bears_nearly_any_mu() {
    let graph = stability("exponential:16");
    let gamma = graph.largest_stable_gamma(&method("gut-sgp"), 0.9).unwrap();
    assert!((gamma - 0.92).abs() < 0.01, "{gamma}");
    assert_eq!(graph.largest_stable_gamma(&method("gut-sgp"), 0.7), Some(1.0));
}

/// On an undirected graph GUT on push-sum has the limit of GUT, (-1/l - 1)/2.
#[test]
fn on_undirected_graphs_the_limits_are_those_of_gut() {
    for graph in ["torus:4x8", "dyck", "ring:16"] {
        let stability = stability(graph);
        for (push, plain) in [("gut-sgp", "gut"), ("qg-gutm-sgp", "qg-gutm")] {
            let limits = [push, plain].map(|name| stability.largest_stable_mu(&method(name)));
            let apart = (limits[0].unwrap() - limits[1].unwrap()).abs();
            assert!(apart < 1e-9, "{graph}: {limits:?}");
            let rates = [push, plain].map(|name| stability.rate(&method(name), 0.03));
            assert!((rates[0] - rates[1]).abs() < 1e-9, "{graph}: {rates:?}");
        }
    }
}

/// Momentum on gossip adds rotation of its own: at beta = 0.9 a directed ring needs a gamma of
/// about (1 - beta)², at beta = 0 any.
#[test]
fn momentum_on_the_update_needs_a_small_gamma_on_a_directed_ring() {
    let ring = stability("directed-ring:16");
    let limit = |beta: f64| {
        let method = Method { beta, ..method("qg-gutm-sgp") };
        ring.largest_stable_gamma(&method, 0.0).unwrap()
    };
    assert!(limit(0.9) < 0.02 && limit(0.5) < 0.4 && limit(0.0) == 1.0, "{}", limit(0.9));
}

/// Plain push-sum on a graph whose phases share no eigenvectors shrinks by what `product_gap`
/// says at most, and a period that averages exactly leaves nothing.
#[test]
fn a_period_is_taken_as_a_whole() {
    let matchings = stability("random-matching:10:6");
    assert_eq!(matchings.period(), 6);
    let rate = matchings.rate(&method("sgp"), 0.0);
    let gap = consort_graph::product_gap(&weights("random-matching:10:6")).unwrap();
    assert!(rate > 0.1 && rate.powi(6) <= 1.0 - gap + 1e-9, "{rate}, gap {gap}");
    let base = "base:6:1".parse::<GraphSpec>().unwrap().build(1).unwrap();
    let base = Stability::from_weights(&MixingSpec::Auto.build_all(&base).unwrap()).unwrap();
    assert!(base.rate(&method("sgp"), 0.0) < 1e-2);
    assert!(stability("one-peer-exponential:16").rate(&method("sgp"), 0.0) < 1e-2);
}

#[test]
fn what_is_too_large_is_told() {
    let told = |graph: &str| Stability::from_weights(&weights(graph)).unwrap_err().to_string();
    assert!(told("random-digraph:700:3").contains("up to 600 agents; it has 700"));
    assert!(told("random-matching:300:4").contains("up to 256 agents; these have 300"));
    assert_eq!(stability("one-peer-exponential:1024").period(), 10);
}

#[test]
fn auto_weighs_mu_against_gamma() {
    let chosen = |graph: &str| {
        let stability = stability(graph);
        let resolved = resolve_on(&method("gut-sgp:mu=auto,gamma=auto"), &stability, 1.0);
        let slowed = stability.with_averaging_rate(resolved.gamma);
        assert!(slowed.is_stable(&resolved.method, resolved.mu), "{graph}");
        (resolved.mu, resolved.gamma)
    };
    // A larger mu would need a gamma that costs more than it gains.
    assert_eq!(chosen("directed-ring:64"), (0.3, 1.0));
    let (mu, gamma) = chosen("exponential:16");
    assert!((1.0 - mu) / gamma < 0.22, "mu {mu}, gamma {gamma}");
    let (mu, gamma) = chosen("torus:4x8");
    assert_eq!(mu, 0.9);
    assert!((0.7..0.85).contains(&gamma), "{gamma}");
    for graph in ["random-digraph:16:3", "one-peer-exponential:16", "random-matching:8:4"] {
        let (mu, gamma) = chosen(graph);
        assert!((1.0 - mu) / gamma < 1.0, "{graph}: mu {mu}, gamma {gamma}");
    }
}

#[test]
fn one_auto_alone_follows_the_other() {
    let ring = stability("directed-ring:64");
    let resolve = |text: &str| resolve_on(&method(text), &ring, 1.0);
    let gamma = resolve("gut-sgp:mu=0.5,gamma=auto").gamma;
    assert!((gamma - 0.95 * 0.501).abs() < 2e-3, "{gamma}");
    let mu = resolve("gut-sgp:mu=auto").mu;
    assert!((0.29..0.31).contains(&mu), "{mu}");
    let resolved = resolve("qg-gutm-sgp:mu=auto");
    let slowed = ring.with_averaging_rate(resolved.gamma);
    assert!(slowed.is_stable(&resolved.method, resolved.mu), "{resolved:?}");
}

#[test]
fn an_analysis_names_both_limits() {
    let question = Question::new(method("gut-sgp:mu=0.7"));
    let analysis = Analysis::on(&question, &stability("directed-ring:64"));
    assert!(!analysis.stable, "{}", analysis.verdict);
    assert!((analysis.largest_stable_gamma.unwrap() - 0.141).abs() < 1e-3);
    assert!((analysis.largest_stable_mu.unwrap() - 0.3339).abs() < 1e-4, "{analysis:?}");
    assert!(analysis.verdict.contains("gamma below 0.141"), "{}", analysis.verdict);

    let analysis =
        Analysis::on(&Question::new(method("sgp")), &stability("one-peer-exponential:8"));
    assert!(analysis.stable && analysis.period == Some(3), "{}", analysis.verdict);
}

fn admitted(graph: &str, weights: &MixingSpec, name: &str) -> Result<(), AdmissionError> {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    admit(&method(name), &topology, &weights.build_all(&topology).unwrap(), 0.0)
}

#[test]
fn push_sum_is_admitted_where_columns_sum_to_one() {
    let (push, auto) = (MixingSpec::OutDegree, MixingSpec::Auto);
    for name in ["sgp", "gut-sgp", "qg-gutm-sgp"] {
        admitted("random-digraph:12:3", &push, name).unwrap();
        admitted("one-peer-exponential:8", &auto, name).unwrap();
        admitted("star:5", &push, name).unwrap();
        let refused = admitted("random-digraph:12:3", &auto, name).unwrap_err();
        assert!(matches!(refused, AdmissionError::Columns { .. }), "{refused}");
        assert!(refused.to_string().contains("--weights out-degree"), "{refused}");
    }
    let refused = admitted("directed-ring:8", &auto, "gut").unwrap_err().to_string();
    assert!(refused.contains("gut-sgp"), "{refused}");
    admitted("random-digraph:12:3", &push, "dsgd").unwrap_err();
}

/// Without an own weight all of the push-sum weight may be given away, and x/w is 0/0.
#[test]
fn an_agent_that_keeps_nothing_is_refused() {
    let topology = "directed-ring:2".parse::<GraphSpec>().unwrap().build(1).unwrap();
    let swap = MixingMatrix::from_rows(vec![vec![(1, 1.0)], vec![(0, 1.0)]]).unwrap();
    let refused = admit(&method("sgp"), &topology, &[swap], 0.0).unwrap_err();
    assert!(matches!(refused, AdmissionError::NoOwnWeight { agent: 0, .. }), "{refused}");
}

/// Mu as a number, as it is typed.
#[test]
fn a_given_mu_and_gamma_stay() {
    let stability = stability("directed-ring:8");
    let resolved = resolve_on(&method("gut-sgp:mu=0.9,gamma=0.5"), &stability, 1.0);
    assert_eq!((resolved.mu, resolved.gamma), (0.9, 0.5));
    assert_eq!(resolved.method.mu, Tunable::Value(0.9));
}
