//! The largest mu for which pure consensus converges, per graph, reading and momentum.
//! `limits.py` beside this file computes the numbers from the printed recursions; it shares nothing
//! with this crate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{CATALOGUE, Method, Tunable};
use consort_graph::{GraphSpec, MixingSpec, Spectrum};
use consort_theory::{Analysis, Question, Stability, admit, resolve};

fn spectrum_of(graph: &str) -> Spectrum {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    Spectrum::new(&MixingSpec::Uniform.build(topology.at(0)).unwrap()).unwrap()
}

fn limit(graph: &str, method: &str) -> Option<f64> {
    let method: Method = method.parse().unwrap();
    Stability::new(&spectrum_of(graph)).largest_stable_mu(&method)
}

const PRINTED: &str = "gut:reading=printed";
const RELEASED: &str = "gut";
const QG_PRINTED: &str = "qg-gutm:reading=printed";
const QG_PYTORCH: &str = "qg-gutm:reading=printed-pytorch";
const QG_RELEASED: &str = "qg-gutm";

/// The numbers of `limits.py`: GUT printed and released, QG-GUTm as Algorithm 2, as the "PyTorch"
/// algorithm and as released.
const TABLE: [(&str, [f64; 5]); 5] = [
    ("ring:16", [0.200, 1.000, 1.112, 0.111, 0.100]),
    ("ring:32", [0.200, 1.000, 1.026, 0.102, 0.100]),
    ("dyck", [0.125, 0.500, 1.618, 0.161, 0.101]),
    ("torus:4x8", [0.0909, 0.333, 1.306, 0.130, 0.101]),
    ("circulant:32:1,4", [0.131, 0.535, 1.332, 0.133, 0.101]),
];

/// The README's row of a graph: lambda_min, gap and these limits.
#[test]
fn the_readme_shows_these_limits() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for (graph, limits) in TABLE {
        let begins = format!("| {graph} |");
        let row = readme.lines().find(|line| line.starts_with(&begins));
        let cells: Vec<&str> = row.unwrap().split('|').map(str::trim).skip(3).collect();
        let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
        assert!((numbers[0] - spectrum_of(graph).gap).abs() < 6e-6, "{graph}: {numbers:?}");
        assert_eq!(numbers.len(), 6, "{graph}: {cells:?}");
        for (shown, limit) in numbers[1..].iter().zip(limits) {
            assert!((shown - limit).abs() < 6e-4, "{graph}: {numbers:?}, expected {limits:?}");
        }
    }
}

#[test]
fn the_table_of_limits_is_reproduced() {
    for (graph, limits) in TABLE {
        let methods = [PRINTED, RELEASED, QG_PRINTED, QG_PYTORCH, QG_RELEASED];
        for (method, expected) in methods.into_iter().zip(limits) {
            let found = limit(graph, method).unwrap_or(f64::INFINITY);
            let close = (found - expected).abs() < 0.002;
            assert!(close, "{graph}, {method}: {found}, expected {expected}");
        }
    }
}

/// The paper's mu = 0.9 for GUT is stable on its rings only as released.
#[test]
fn the_printed_algorithm_diverges_at_the_papers_own_mu() {
    let spectrum = spectrum_of("ring:16");
    let verdict = |method: &str| Analysis::new(&Question::new(method.parse().unwrap()), &spectrum);
    assert!(verdict("gut:mu=0.9").stable);
    let printed = verdict("gut:mu=0.9,reading=printed");
    assert!(!printed.stable);
    assert!(printed.verdict.starts_with("DIVERGES"), "{}", printed.verdict);
}

/// A mode with eigenvalue l < 0 is stable iff mu < (-1/l - 1)/2 (released reading).
#[test]
fn the_released_limit_has_a_closed_form() {
    for graph in ["torus:4x8", "dyck", "circulant:32:1,4", "complete:5", "star:9"] {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let w = MixingSpec::Auto.build(topology.at(0)).unwrap();
        let spectrum = Spectrum::new(&w).unwrap();
        let stability = Stability::new(&spectrum);
        let found = stability.largest_stable_mu(&RELEASED.parse().unwrap());
        let from_below = (-1.0 / spectrum.lambda_min - 1.0) / 2.0;
        if spectrum.lambda_min < -0.34 {
            assert!((found.unwrap() - from_below).abs() < 1e-6, "{graph}: {found:?}");
        }
    }
}

/// gamma <= (1 + 1/(1 + 2 mu)) / (1 - lambda_min) is stable, and auto stays below it.
#[test]
fn gamma_auto_makes_the_wanted_mu_stable_on_every_graph() {
    for graph in ["torus:4x8", "dyck", "ring:16", "bipartite:4x4", "hypercube:5"] {
        for mu in [0.5, 0.9, 1.0] {
            let spectrum = spectrum_of(graph);
            let limit = (1.0 + 1.0 / (1.0 + 2.0 * mu)) / (1.0 - spectrum.lambda_min);
            let method: Method = format!("gut:mu={mu},gamma=auto").parse().unwrap();
            let stability = Stability::new(&spectrum);
            let found = stability.largest_stable_gamma(&method, mu).unwrap();
            assert!((found - limit.min(1.0)).abs() < 1e-6, "{graph}, mu {mu}: {found} != {limit}");
            let resolved = resolve(&method, &spectrum);
            let slowed = stability.with_averaging_rate(resolved.gamma);
            assert!(slowed.is_stable(&resolved.method, mu), "{graph}, mu {mu}");
            assert!(stability.with_averaging_rate(0.5).is_stable(&method, mu), "{graph}: one half");
        }
    }
}

#[test]
fn mu_auto_is_stable_for_every_method_graph_and_reading() {
    let mut methods = vec!["qg-gutm:beta=0.5".to_string(), "qg-gutm:form=own-moves".to_string()];
    for info in CATALOGUE.iter().filter(|info| info.tracks) {
        methods.push(info.name.to_string());
        if info.parameters().any(|parameter| parameter.name == "reading") {
            methods.push(format!("{}:reading=printed", info.name));
            methods.push(format!("{}:reading=printed-pytorch", info.name));
        }
    }
    for graph in ["ring:16", "dyck", "torus:4x8", "complete:8", "chain:10"] {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let w = MixingSpec::Auto.build(topology.at(0)).unwrap();
        let spectrum = Spectrum::new(&w).unwrap();
        for name in &methods {
            let mut method: Method = name.parse().unwrap();
            let _ = method.set("mu", "auto"); // exact-gut has no mu to set
            if method.name.is_nesterov() {
                // Nesterov momentum on gossip needs 1 - l < (2+2 beta)/(1+2 beta), which
                // even without tracking fails on the Dyck graph and the torus.
                method.set("gamma", "auto").unwrap();
            }
            let analysis = Analysis::new(&Question::new(method), &spectrum);
            assert!(analysis.stable, "{graph}, {name}: {}", analysis.verdict);
            assert!(analysis.mu > 0.0, "{graph}, {name}");
        }
    }
}

/// mu + beta >= 1 keeps the average's momentum for ever, whatever the graph.
#[test]
fn the_average_has_a_limit_of_its_own() {
    let spectrum = spectrum_of("ring:16");
    let question = Question::new("qg-gutm:mu=0.105,reading=printed-pytorch".parse().unwrap());
    let analysis = Analysis::new(&question, &spectrum);
    assert!(analysis.largest_stable_mu.unwrap() > 0.105, "consensus alone converges");
    assert!((analysis.largest_mu_of_average.unwrap() - 0.1).abs() < 1e-9);
    assert!(!analysis.stable);
    assert!(analysis.verdict.starts_with("RUNS AWAY"), "{}", analysis.verdict);
}

/// D², ED and EDM: l (2x - x') shrinks if and only if l > -1/3, so an averaging rate below
/// (4/3)/(1 - lambda_min) makes them stable, and `gamma = auto`, the default of ED and EDM, chooses
/// one.
#[test]
fn exact_diffusion_needs_eigenvalues_above_minus_one_third() {
    for graph in ["torus:4x8", "dyck", "ring:16", "ring:5", "bipartite:4x4", "star:9"] {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = [MixingSpec::Auto.build(topology.at(0)).unwrap()];
        let spectrum = Spectrum::new(&weights[0]).unwrap();
        let limit = ((4.0 / 3.0) / (1.0 - spectrum.lambda_min)).min(1.0);
        let stability = Stability::new(&spectrum);
        for name in ["d2", "ed", "edm", "edm:beta=0"] {
            let method: Method = name.parse().unwrap();
            let found = stability.largest_stable_gamma(&method, 0.0).unwrap();
            assert!((found - limit).abs() < 1e-6, "{graph}, {name}: {found}, not {limit}");
            assert!(
                stability.with_averaging_rate(0.5).is_stable(&method, 0.0),
                "{graph}: one half"
            );
            let gamma_one = Method { gamma: Tunable::Value(1.0), ..method };
            let stable = Analysis::new(&Question::new(gamma_one), &spectrum).stable;
            let admitted = admit(&gamma_one, &topology, &weights, spectrum.lambda_min);
            assert_eq!(stable, spectrum.lambda_min > -1.0 / 3.0 + 1e-9, "{graph}, {name}");
            assert_eq!(admitted.is_ok(), stable, "{graph}, {name}: {admitted:?}");
        }
        for name in ["ed", "edm"] {
            let analysis = Analysis::new(&Question::new(name.parse().unwrap()), &spectrum);
            assert!(analysis.stable, "{graph}, {name}: {}", analysis.verdict);
            assert_eq!(analysis.gain, Some(1.0), "{graph}, {name}");
            let method: Method = analysis.method.parse().unwrap();
            admit(&method, &topology, &weights, analysis.lambda_min).unwrap();
        }
    }
}

/// The price of mixing fully correctly: with 0 < l < 1 a mode shrinks by sqrt(l) a round.
#[test]
fn exact_diffusion_shrinks_disagreement_by_the_root_of_lambda_2() {
    let spectrum = spectrum_of("ring:16");
    let stability = Stability::new(&spectrum).with_averaging_rate(0.5);
    let lambda_2 = 1.0 - 0.5 * (1.0 - spectrum.lambda_2);
    for name in ["d2", "ed", "edm"] {
        let rate = stability.rate(&name.parse().unwrap(), 0.0);
        assert!((rate - lambda_2.sqrt()).abs() < 1e-9, "{name}: {rate}");
    }
}

/// Gradient and momentum tracking gossip like DSGD in either order, and DecentLaM is heavy ball on
/// gossip: stable on every connected graph with symmetric weights. Momentum on the sum of gradients
/// makes the steps 1/(1-beta) times as long.
#[test]
fn tracking_and_decentlam_agree_on_every_graph() {
    for graph in ["ring:16", "dyck", "torus:4x8", "bipartite:4x4", "star:9", "chain:10"] {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let w = MixingSpec::Auto.build(topology.at(0)).unwrap();
        let spectrum = Spectrum::new(&w).unwrap();
        for (name, gain) in [
            ("gt", 1.0),
            ("gt:order=awc", 1.0),
            ("mt:beta=0.9", 10.0),
            ("mt:beta=0.9,order=atc", 10.0),
            ("decentlam:beta=0.9", 10.0),
            ("decentlam:beta=0", 1.0),
        ] {
            let analysis = Analysis::new(&Question::new(name.parse().unwrap()), &spectrum);
            assert!(analysis.stable, "{graph}, {name}: {}", analysis.verdict);
            assert!((analysis.gain.unwrap() - gain).abs() < 1e-9, "{graph}, {name}");
            if !name.starts_with("decentlam:beta=0.9") {
                let gossip = analysis.gossip_rate;
                assert!((analysis.consensus_rate - gossip).abs() < 1e-9, "{graph}, {name}");
            }
        }
    }
}

/// GT and MT preserve the average on directed and time-varying graphs too; ED, EDM and DecentLaM
/// need symmetric weights.
#[test]
fn only_tracking_is_admitted_to_directed_graphs() {
    for graph in ["exponential:8", "one-peer-exponential:8"] {
        let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = MixingSpec::Auto.build_all(&topology).unwrap();
        for name in ["gt", "gt:order=awc", "mt", "mt:order=atc"] {
            admit(&name.parse().unwrap(), &topology, &weights, 0.0).unwrap();
        }
        for name in ["ed", "edm", "decentlam"] {
            let refused = admit(&name.parse().unwrap(), &topology, &weights, 0.0).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("{name} needs a fixed")), "{refused}");
        }
    }
}
