//! `consort analyze`: the table of largest stable mu, verdicts, auto and Theorem 1.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use serde_json::Value;
use support::consort;

fn analysis(line: &str) -> Value {
    consort(&format!("analyze {line} --json")).done().json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

const GRAPHS: [&str; 5] = ["ring:16", "ring:32", "dyck", "torus:4x8", "circulant:32:1,4"];

/// The columns of the table.
const COLUMNS: [&str; 5] = [
    "--method gut --reading printed",
    "--method gut --reading released",
    "--method qg-gutm --beta 0.9 --reading printed",
    "--method qg-gutm --beta 0.9 --reading printed-pytorch",
    "--method qg-gutm --beta 0.9 --reading released",
];

#[test]
fn the_largest_stable_mu_of_every_graph_and_reading_is_the_known_one() {
    let table = [
        [0.200, 1.000, 1.112, 0.111, 0.100],
        [0.200, 1.000, 1.026, 0.102, 0.100],
        [0.125, 0.500, 1.618, 0.161, 0.101],
        [0.0909, 0.333, 1.306, 0.130, 0.101],
        [0.131, 0.535, 1.332, 0.133, 0.101],
    ];
    for (graph, row) in GRAPHS.into_iter().zip(table) {
        for (column, expected) in COLUMNS.into_iter().zip(row) {
            let found =
                number(&analysis(&format!("--graph {graph} {column}"))["largest_stable_mu"]);
            let close = (found - expected).abs() < 0.002;
            assert!(close, "{graph} {column}: {found}, expected {expected}");
        }
    }
}

#[test]
fn mu_auto_is_stable_and_within_the_limits() {
    for graph in GRAPHS {
        for column in COLUMNS {
            let auto = analysis(&format!("--graph {graph} {column} --mu auto"));
            assert_eq!(auto["stable"], true, "{graph} {column}: {auto}");
            assert!(auto["verdict"].as_str().unwrap().starts_with("STABLE"), "{auto}");
            let (mu, limit) = (number(&auto["mu"]), number(&auto["largest_stable_mu"]));
            assert!(mu > 0.0 && mu < limit, "{graph} {column}: mu {mu}, limit {limit}");
            assert!(number(&auto["consensus_rate"]) < 1.0, "{graph} {column}");
        }
    }
}

#[test]
fn the_verdict_changes_at_the_limit() {
    for (graph, reading, limit) in
        [("ring:16", "printed", 0.2), ("torus:4x8", "released", 1.0 / 3.0)]
    {
        let at = |mu: f64| {
            analysis(&format!("--graph {graph} --method gut --reading {reading} --mu {mu:.4}"))
        };
        let (below, above) = (at(0.9 * limit), at(1.1 * limit));
        assert_eq!(below["stable"], true, "{below}");
        assert!(below["verdict"].as_str().unwrap().starts_with("STABLE"), "{below}");
        assert!(number(&below["rounds_per_digit"]) > 0.0, "{below}");
        assert_eq!(above["stable"], false, "{above}");
        assert!(above["verdict"].as_str().unwrap().starts_with("DIVERGES"), "{above}");
        assert!(number(&above["consensus_rate"]) > 1.0, "{above}");
        assert!(above["rounds_per_digit"].is_null(), "{above}");
    }
}

#[test]
fn the_papers_mu_is_stable_as_released_and_not_as_printed() {
    let text = |reading: &str| {
        let line = format!("analyze --graph ring:16 --method gut --mu 0.9 --reading {reading}");
        consort(&line).done().stdout
    };
    assert!(text("released").contains("STABLE: GUT with mu = 0.9"), "{}", text("released"));
    let printed = text("printed");
    for part in ["DIVERGES: GUT with mu = 0.9", "limit 0.2000", "gamma"] {
        assert!(printed.contains(part), "no {part:?} in:\n{printed}");
    }
}

#[test]
fn a_momentum_that_never_fades_runs_away() {
    let verdict = analysis("--graph ring:16 --method qg-gutm --reading printed --mu 1");
    assert_eq!(verdict["stable"], false, "{verdict}");
    let words = verdict["verdict"].as_str().unwrap();
    assert!(words.starts_with("RUNS AWAY") && words.contains("below 1.0000"), "{words}");
}

#[test]
fn gamma_auto_makes_a_diverging_mu_stable() {
    for graph in GRAPHS {
        for reading in ["printed", "released"] {
            let line = format!("--graph {graph} --method gut --reading {reading} --mu 0.9");
            let auto = analysis(&format!("{line} --gamma auto"));
            assert_eq!(auto["stable"], true, "{graph}, {reading}: {auto}");
            let gamma = number(&auto["gamma"]);
            let advised = analysis(&line)["stable_gamma"].as_f64().unwrap_or(1.0);
            assert!(gamma > 0.0 && gamma <= advised, "{gamma}, advised {advised}");
        }
    }
}

#[test]
fn theorem_1_gives_its_limits_for_a_smoothness() {
    for graph in GRAPHS {
        let answer = analysis(&format!("--graph {graph} --method gut --smoothness 10"));
        let gap = number(&answer["spectral_gap"]);
        let theorem = &answer["theorem_1"];
        let ratio = gap / 42.0;
        for (key, expected) in [("largest_eta", gap / 70.0), ("largest_mu", ratio / (1.0 + ratio))]
        {
            let found = number(&theorem[key]);
            assert!((found / expected - 1.0).abs() < 1e-9, "{graph}, {key}: {found}");
        }
    }
    assert!(analysis("--graph dyck")["theorem_1"].is_null(), "without L there is no theorem");
    let text = consort("analyze --graph dyck --smoothness 10").done().stdout;
    assert!(text.contains("Theorem 1 covers     eta <= 0.002728, mu <= 0.004527"), "{text}");
}

#[test]
fn d2_diverges_on_the_torus_until_gamma_is_below_the_advice() {
    let diverges = analysis("--graph torus:4x8 --method d2");
    assert_eq!(diverges["stable"], false);
    let verdict = diverges["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("DIVERGES") && verdict.contains("gamma below 0.833"), "{verdict}");
    for gamma in ["0.82", "auto"] {
        let stable = analysis(&format!("--graph torus:4x8 --method d2 --gamma {gamma}"));
        assert_eq!(stable["stable"], true, "gamma {gamma}: {stable}");
    }
}

/// The default gamma of EDM is `auto`; its momentum is a mean, so its steps are not longer.
#[test]
fn edm_is_stable_on_the_torus_with_the_gamma_it_chooses() {
    let stable = analysis("--graph torus:4x8 --method edm");
    assert_eq!(stable["stable"], true, "{stable}");
    assert!(number(&stable["gamma"]) < 0.8334, "{stable}");
    assert_eq!(number(&stable["gain"]), 1.0, "{stable}");
    let diverges = analysis("--graph torus:4x8 --method edm --gamma 1");
    let verdict = diverges["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("DIVERGES") && verdict.contains("gamma below 0.833"), "{verdict}");
    for (method, gain) in [("mt", 10.0), ("decentlam", 10.0), ("ed", 1.0)] {
        let found = analysis(&format!("--graph torus:4x8 --method {method}"));
        assert_eq!(found["stable"], true, "{method}: {found}");
        assert!((number(&found["gain"]) - gain).abs() < 1e-6, "{method}: {found}");
    }
}

#[test]
fn flags_and_parameters_in_the_name_mean_the_same() {
    let flags = "--graph dyck --method qg-gutm --mu 0.07 --beta 0.8 --reading printed";
    let name = "--graph dyck --method qg-gutm:mu=0.07,beta=0.8,reading=printed";
    assert_eq!(analysis(flags), analysis(name));
    let by_its_old_name = analysis("--graph dyck --algorithm gut:mu=0.3 --mu 0.1");
    let both = analysis("--graph dyck --method gut:mu=0.3 --mu 0.1");
    assert_eq!(by_its_old_name, both);
    assert_eq!(both["mu"], 0.1, "a flag wins over the name");
}
