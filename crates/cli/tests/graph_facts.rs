//! `consort graph`: the facts of known graphs, their pictures, and the list of kinds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use serde_json::Value;
use support::{consort, consort_in, is_png, is_svg_with_text};

fn facts(line: &str) -> Value {
    consort(&format!("graph {line} --json")).done().json()
}

/// Equal to five digits after the point.
fn five_digits(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 1e-5
}

#[test]
fn the_dyck_graph_has_its_known_facts() {
    let dyck = facts("dyck");
    assert_eq!(dyck["agents"], 32);
    assert_eq!(dyck["edges"], 48);
    assert_eq!((&dyck["degree_min"], &dyck["degree_max"]), (&3.into(), &3.into()));
    assert_eq!(dyck["diameter"], 5);
    assert_eq!(dyck["girth"], 6);
    assert_eq!(dyck["bipartite"], true);
    assert_eq!(dyck["lambda_min"], -0.5);
    assert!(five_digits(&dyck["spectral_gap"], 0.19098), "{dyck}");
}

#[test]
fn spectral_gaps_are_the_published_ones() {
    let gaps = [
        ("ring:16", 0.05075),
        ("dyck", 0.19098),
        ("torus:4x8", 0.11716),
        ("circulant:32:1,4", 0.12484),
        ("torus-as-run", 0.12484),
        ("complete:9", 1.0),
    ];
    for (graph, gap) in gaps {
        let facts = facts(graph);
        assert!(five_digits(&facts["spectral_gap"], gap), "{graph}: {facts}");
    }
}

#[test]
fn text_and_json_say_the_same() {
    for graph in ["dyck", "torus:4x8", "star:9", "chain:5"] {
        let text = consort(&format!("graph {graph}")).done().stdout;
        let line = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("no {name} in:\n{text}")).trim().to_string()
        };
        let facts = facts(graph);
        assert_eq!(line("graph"), graph);
        for name in ["agents", "edges", "diameter"] {
            assert_eq!(line(name), facts[name].to_string(), "{graph}, {name}");
        }
        let girth = facts["girth"].as_u64().map_or("none".into(), |girth| girth.to_string());
        assert_eq!(line("girth"), girth, "{graph}");
        let names = [("lambda_2", "lambda_2"), ("lambda_min", "lambda_min")];
        for (name, key) in names.into_iter().chain([("spectral gap", "spectral_gap")]) {
            let printed: f64 = line(name).parse().unwrap();
            assert!(five_digits(&facts[key], printed), "{graph}, {name}: {printed}");
        }
    }
}

const PICTURED: [&str; 8] = [
    "dyck",
    "torus:4x8",
    "exponential:8",
    "erdos-renyi:12:0.5",
    "base:6:1",
    "base:25:1",
    "double-binary-tree:14",
    "random-digraph:16:3",
];

#[test]
fn pictures_are_whole_files_without_fonts() {
    let temp = tempfile::tempdir().unwrap();
    for (k, graph) in PICTURED.iter().enumerate() {
        let line = format!("graph {graph} --svg {k}.svg --png {k}.png --json");
        let answer = consort_in(temp.path(), &line).done();
        assert_eq!(answer.json()["name"], *graph, "the facts are printed all the same");
        assert!(answer.stderr.contains(&format!("wrote {k}.svg")), "{}", answer.stderr);
        let svg = fs::read_to_string(temp.path().join(format!("{k}.svg"))).unwrap();
        assert!(is_svg_with_text(&svg), "{graph}");
        assert!(svg.contains(graph), "the picture of {graph} bears its name");
        assert!(is_png(&fs::read(temp.path().join(format!("{k}.png"))).unwrap()), "{graph}");
    }
}

/// One graph of every kind.
const EVERY_KIND: [&str; 29] = [
    "ring:8",
    "chain:5",
    "star:6",
    "complete:5",
    "torus:3x4",
    "grid:3x4",
    "hypercube:3",
    "circulant:12:1,4",
    "bipartite:3x4",
    "petersen",
    "dyck",
    "dyck-as-run",
    "torus-as-run",
    "binary-tree:7",
    "double-binary-tree:14",
    "spanning-tree:grid:3x4",
    "directed-ring:8",
    "exponential:8",
    "one-peer-exponential:8",
    "base:6:1",
    "equi-static:11:2",
    "equi-dyn:9:16",
    "random-matching:9:16",
    "random-regular-dyn:10:3:8",
    "random-digraph:12:3",
    "random-regular:10:3",
    "erdos-renyi:10:0.5",
    "watts-strogatz:12:4:0.2",
    "barabasi-albert:12:2",
];

fn kind(graph: &str) -> &str {
    graph.split(':').next().unwrap()
}

#[test]
fn the_list_names_every_kind_and_every_kind_builds() {
    let list = consort("graph --list").done().stdout;
    let listed: Vec<&str> = list.lines().skip(2).map(kind_of_line).collect();
    let expected: Vec<&str> = EVERY_KIND.into_iter().map(kind).chain(["file"]).collect();
    assert_eq!(listed, expected);
    for graph in EVERY_KIND {
        assert_eq!(facts(graph)["connected"], true, "{graph}");
    }
}

#[test]
fn every_listed_example_can_be_typed() {
    let list = consort("graph --list --json").done().json();
    for kind in list.as_array().unwrap() {
        let example = kind["example"].as_str().unwrap();
        assert!(kind["graph"].as_str().unwrap().starts_with(kind_of_line(example)), "{kind}");
        if !example.starts_with("file:") {
            assert_eq!(facts(example)["connected"], true, "{kind}");
        }
    }
}

/// Its line of the text, without its name.
fn line_of(graph: &str, name: &str) -> String {
    let text = consort(&format!("graph {graph}")).done().stdout;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in:\n{text}")).trim().to_string()
}

#[test]
fn who_averages_exactly_in_a_period_is_told() {
    for (graph, exact) in [
        ("base:6:1", true),
        ("base:25:1", true),
        ("base:25:4", true),
        ("one-peer-exponential:8", true),
        ("one-peer-exponential:12", false),
        ("double-binary-tree:14", false),
        ("base:6:1 --weights uniform", false),
        ("base:6:1 --weights lazy", false),
    ] {
        let facts = facts(graph);
        assert_eq!(facts["exact_averaging"], exact, "{graph}: {facts}");
        let left = facts["period_contraction"].as_f64().unwrap();
        let gap = facts["period_gap"].as_f64().unwrap();
        assert!((left + gap - 1.0).abs() < 1e-9 && (left < 1e-12) == exact, "{graph}: {left}");
        let line = line_of(graph, "exact averaging");
        assert!(line.starts_with(if exact { "yes, every" } else { "no: a period" }), "{line}");
    }
    assert!(line_of("one-peer-exponential:12", "exact averaging").contains("N = 2^k only"));
    assert!(line_of("base:6:1 --weights uniform", "exact averaging").contains("construction"));
    assert!(facts("ring:16")["exact_averaging"].is_null(), "one matrix has a spectrum instead");
}

#[test]
fn a_construction_brings_its_weights() {
    for graph in ["base:6:1", "equi-static:11:2", "equi-dyn:9:16"] {
        assert_eq!(facts(graph)["weights"], "construction", "{graph}");
        assert_eq!(facts(graph)["stochastic"], "doubly", "{graph}");
        assert_eq!(facts(&format!("{graph} --weights metropolis"))["weights"], "metropolis");
    }
    assert_eq!(facts("random-matching:9:16")["weights"], "metropolis");
    assert_eq!(facts("random-matching:8:16")["weights"], "uniform");
    let parts = ["ring:16 has no weights of its own", "auto, uniform"];
    consort("graph ring:16 --weights construction").failed(2, &parts);
}

#[test]
fn directed_graphs_tell_both_degrees_and_the_complex_eigenvalue() {
    let ring = facts("directed-ring:12");
    let (real, imaginary) = (&ring["complex_2"][0], &ring["complex_2"][1]);
    assert!(five_digits(real, 0.93301) && five_digits(imaginary, 0.25), "{ring}");
    assert!(five_digits(&ring["lambda_2"], 0.96593), "{ring}");
    assert!(line_of("directed-ring:12", "|lambda_2|").contains("0.93301 +- 0.25000i"));

    let digraph = facts("random-digraph:16:3");
    assert_eq!((&digraph["degree_min"], &digraph["degree_max"]), (&3.into(), &3.into()));
    assert!(digraph["in_degree_min"].as_u64() < Some(3), "{digraph}");
    assert!(digraph["in_degree_max"].as_u64() > Some(3), "{digraph}");
    assert_eq!(digraph["stochastic"], "rows");
    assert_eq!(facts("random-digraph:16:3 --weights out-degree")["stochastic"], "columns");
    assert_eq!(line_of("random-digraph:16:3", "connected"), "yes (strongly)");
    assert!(line_of("random-digraph:16:3", "sums to 1").contains("--weights out-degree"));
}

/// The formula of Vogels et al., by hand for the two-valued spectrum of the complete graph
/// slowed down: eigenvalues 1 once and 1/2 otherwise.
#[test]
fn the_effective_number_of_neighbours_is_the_papers() {
    let half = facts("complete:9 --gamma 0.5");
    let decay = half["decay"].as_f64().unwrap();
    let variance = (1.0 / (1.0 - decay) + 8.0 * 0.25 / (1.0 - decay * 0.25)) / 9.0;
    let expected = 1.0 / (1.0 - decay) / variance;
    let found = half["effective_neighbours"].as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-5, "{found}, expected {expected}");
    let more = |a: &str, b: &str| {
        let of = |graph: &str| facts(graph)["effective_neighbours"].as_f64().unwrap();
        assert!(of(a) > of(b), "{a} against {b}");
    };
    more("dyck", "torus:4x8 --gamma 0.5");
    more("torus:4x8", "ring:32");
    more("base:32:1", "ring:32");
    assert!(facts("random-digraph:16:3 --weights out-degree")["effective_neighbours"].is_null());
}

fn kind_of_line(line: &str) -> &str {
    kind(line.split_whitespace().next().unwrap())
}

#[test]
fn a_file_gives_the_graph_it_describes() {
    let temp = tempfile::tempdir().unwrap();
    let edges: String = (0..16).map(|i| format!("{i} {}\n", (i + 1) % 16)).collect();
    fs::write(temp.path().join("mine.edges"), edges).unwrap();
    let dot: String = (0..16).map(|i| format!("  {i} -- {};\n", (i + 1) % 16)).collect();
    fs::write(temp.path().join("mine.dot"), format!("graph mine {{\n{dot}}}\n")).unwrap();
    for file in ["mine.edges", "mine.dot"] {
        let answer = consort_in(temp.path(), &format!("graph file:{file} --json")).done().json();
        let ring = facts("ring:16");
        for key in ["agents", "edges", "diameter", "girth", "lambda_2", "spectral_gap"] {
            assert_eq!(answer[key], ring[key], "{file}, {key}");
        }
    }
}

#[test]
fn the_seed_decides_a_random_graph() {
    for graph in ["random-regular:20:3", "erdos-renyi:20:0.4", "watts-strogatz:20:4:0.3"] {
        let seeded = |seed: u32| facts(&format!("{graph} --graph-seed {seed}"));
        assert_eq!(seeded(7), seeded(7), "{graph}");
        assert_ne!(seeded(7)["lambda_2"], seeded(8)["lambda_2"], "{graph}");
        let named = facts(&format!("{graph}:seed=7 --graph-seed 8"));
        assert_eq!(named["lambda_2"], seeded(7)["lambda_2"], "{graph}: its own seed wins");
    }
    for graph in ["equi-dyn:25:8", "random-matching:25:8", "random-regular-dyn:24:3:4"] {
        let seeded = |seed: u32| facts(&format!("{graph} --graph-seed {seed}"));
        assert_eq!(seeded(7), seeded(7), "{graph}");
        assert_ne!(seeded(7)["period_gap"], seeded(8)["period_gap"], "{graph}");
        assert_eq!(seeded(7)["graph_seed"], 7, "{graph}");
    }
}

#[test]
fn an_averaging_rate_moves_the_eigenvalues_towards_one() {
    let slow = facts("dyck --gamma 0.5");
    assert!(five_digits(&slow["lambda_min"], 1.0 - 0.5 * 1.5), "{slow}");
    assert!(five_digits(&slow["spectral_gap"], 0.5 * 0.190983), "{slow}");
}

#[test]
fn a_ring_of_a_hundred_thousand_agents_is_answered() {
    let ring = facts("ring:100000");
    assert_eq!(ring["agents"], 100_000);
    assert_eq!(ring["diameter"], 50_000);
    let expected = 2.0 / 3.0 * (1.0 - (std::f64::consts::TAU / 1e5).cos());
    let gap = ring["spectral_gap"].as_f64().unwrap();
    assert!((gap / expected - 1.0).abs() < 1e-3, "{gap}, expected {expected}");
}
