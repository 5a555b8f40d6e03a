//! `consort consensus`: what a run writes, and that the same run writes the same.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{consort_in, is_png, is_svg_with_text, json_file, names};

/// Runs with `--out out` in a fresh folder; the answer's folder is `out`.
fn run(arguments: &str) -> (tempfile::TempDir, support::Answer) {
    let temp = tempfile::tempdir().unwrap();
    let answer = consort_in(temp.path(), &format!("consensus {arguments} --out out")).done();
    (temp, answer)
}

fn csv(folder: &Path) -> String {
    fs::read_to_string(folder.join("out/consensus.csv")).unwrap()
}

/// The errors of one curve, by panel title, method and seed.
fn errors(folder: &Path, panel: &str, method: &str, seed: u64) -> Vec<f64> {
    let curves = json_file(&folder.join("out/consensus.json"));
    let find = |list: &Value, key: &str, name: &str| {
        let list = list.as_array().unwrap();
        list.iter().find(|item| item[key].as_str().unwrap().contains(name)).unwrap().clone()
    };
    let curve = find(&find(&curves["panels"], "title", panel)["curves"], "method", method);
    let k = curve["seeds"].as_array().unwrap().iter().position(|s| *s == json!(seed)).unwrap();
    curve["runs"][k].as_array().unwrap().iter().map(|e| e.as_f64().unwrap()).collect()
}

const FILES: [&str; 6] = [
    "consensus.csv",
    "consensus.json",
    "consensus.pdf",
    "consensus.png",
    "consensus.svg",
    "summary.json",
];

#[test]
fn a_run_writes_its_six_files_whole() {
    let (temp, answer) = run("--graph ring:8 --dim 16 --rounds 12");
    let out = temp.path().join("out");
    assert_eq!(names(&out), FILES);
    assert!(is_svg_with_text(&fs::read_to_string(out.join("consensus.svg")).unwrap()));
    assert!(is_png(&fs::read(out.join("consensus.png")).unwrap()));
    assert!(answer.stderr.is_empty(), "{}", answer.stderr);
    for part in ["ring:8", "gossip", "gut", "qg-gossip", "qg-gut", "12 rounds", "are in out"] {
        assert!(answer.stdout.contains(part), "no {part:?} in:\n{}", answer.stdout);
    }
}

#[test]
fn the_csv_has_a_header_and_one_line_per_value() {
    let (temp, _) = run("--graph ring:8 --graph star:5 --dim 8 --rounds 12 --seeds 3 --seed 5");
    let csv = csv(temp.path());
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("panel,method,label,seed,x,y"));
    let (panels, methods, seeds, rounds) = (2, 4, 3, 12);
    assert_eq!(lines.clone().count(), panels * methods * seeds * (rounds + 1));
    for line in lines {
        let (before, y) = line.rsplit_once(',').unwrap();
        let (before, x) = before.rsplit_once(',').unwrap();
        let seed: u64 = before.rsplit_once(',').unwrap().1.parse().unwrap();
        assert!((5..8).contains(&seed), "{line}");
        assert!(x.parse::<usize>().unwrap() <= rounds, "{line}");
        assert!(y.parse::<f64>().unwrap() >= 0.0, "{line}");
    }
}

#[test]
fn the_summary_says_how_to_make_the_result_again() {
    let arguments = "--graph ring:8 --dim 16 --rounds 12 --seed 3 --seeds 2 --threads 1";
    let (temp, answer) = run(&format!("{arguments} --json"));
    let summary = json_file(&temp.path().join("out/summary.json"));
    assert_eq!(answer.json(), summary, "--json prints the summary");
    assert_eq!(summary["seeds"], json!([3, 4]));
    assert_eq!((&summary["dim"], &summary["rounds"]), (&json!(16), &json!(12)));
    assert_eq!(summary["threads"], 1);
    let provenance = &summary["provenance"];
    assert_eq!(provenance["program"], "consort");
    assert_eq!(provenance["version"], env!("CARGO_PKG_VERSION"));
    assert!(!provenance["commit"].as_str().unwrap().is_empty());

    let command = provenance["command"].as_str().unwrap();
    let again = tempfile::tempdir().unwrap();
    consort_in(again.path(), command.strip_prefix("consort ").unwrap()).done();
    assert_eq!(csv(again.path()), csv(temp.path()));
}

#[test]
fn the_summary_repeats_the_ends_of_the_curves() {
    let (temp, _) = run("--graph ring:8 --dim 16 --rounds 12 --seeds 1 --methods gossip,gut");
    let panel = json_file(&temp.path().join("out/summary.json"))["panels"][0].clone();
    assert_eq!((&panel["graph"], &panel["agents"]), (&json!("ring:8"), &json!(8)));
    for method in panel["methods"].as_array().unwrap() {
        let errors = errors(temp.path(), "ring:8", method["name"].as_str().unwrap(), 1);
        assert_eq!(method["first_error"].as_f64(), errors.first().copied());
        assert_eq!(method["final_error"].as_f64(), errors.last().copied());
        assert_eq!(method["stable"], true);
    }
}

#[test]
fn threads_do_not_change_a_byte_and_seeds_do() {
    let with = |flags: &str| csv(run(&format!("--graph ring:8 --rounds 20 {flags}")).0.path());
    let one = with("--dim 9001 --threads 1");
    assert!(one == with("--dim 9001 --threads 1"), "the same run twice");
    assert!(one == with("--dim 9001 --threads 2"), "one thread and two");
    assert!(one == with("--dim 9001 --threads 7"), "one thread and seven");
    assert!(one != with("--dim 9001 --threads 1 --seed 9"), "two seeds");
}

#[test]
fn without_a_folder_every_run_gets_a_fresh_one() {
    let temp = tempfile::tempdir().unwrap();
    let line = "consensus --graph ring:4 --methods gossip --dim 4 --rounds 3";
    for folder in ["consensus", "consensus-2", "consensus-3"] {
        let answer = consort_in(temp.path(), line).done();
        assert!(answer.stdout.contains(folder), "{}", answer.stdout);
        assert_eq!(names(&temp.path().join("runs").join(folder)), FILES);
    }
    assert_eq!(names(&temp.path().join("runs")), ["consensus", "consensus-2", "consensus-3"]);
}

#[test]
fn methods_take_parameters_and_keep_their_names() {
    let methods = "gossip,gut:reading=released,mu=0.3,qg-gutm:mu=0.02,beta=0.5,gt";
    let (temp, _) = run(&format!("--graph dyck --methods {methods} --dim 8 --rounds 40"));
    let summary = json_file(&temp.path().join("out/summary.json"));
    let listed = summary["panels"][0]["methods"].as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|method| method["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gossip", "gut:reading=released,mu=0.3", "qg-gutm:mu=0.02,beta=0.5", "gt"]);
    for method in listed {
        let [first, last] = ["first_error", "final_error"].map(|key| method[key].as_f64().unwrap());
        assert!(last < first, "{method}");
    }
    let released = errors(temp.path(), "dyck", "gut:reading=released", 1);
    let gossip = errors(temp.path(), "dyck", "gossip", 1);
    assert_eq!(released[0], gossip[0], "all methods start from the same vectors");
    assert_ne!(released[2..], gossip[2..]);
}

#[test]
fn parameters_in_the_name_win_over_flags() {
    let (flags, _) = run("--graph ring:8 --methods gut --mu 0.15 --dim 8 --rounds 9");
    let (name, _) = run("--graph ring:8 --methods gut:mu=0.15 --mu 0.01 --dim 8 --rounds 9");
    let of = |temp: &tempfile::TempDir| errors(temp.path(), "ring:8", "gut", 1);
    assert_eq!(of(&flags), of(&name));
}

#[test]
fn every_graph_is_a_panel() {
    let graphs = ["ring:8", "torus:3x4", "dyck"];
    let flags: Vec<String> = graphs.iter().map(|graph| format!("--graph {graph}")).collect();
    let arguments =
        format!("{} --methods gossip,gut --mu 0.05 --dim 4 --rounds 5", flags.join(" "));
    let (temp, _) = run(&arguments);
    let curves = json_file(&temp.path().join("out/consensus.json"));
    let titles: Vec<&str> =
        curves["panels"].as_array().unwrap().iter().map(|p| p["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["8 agents (ring:8)", "12 agents (torus:3x4)", "32 agents (dyck)"]);
    let svg = fs::read_to_string(temp.path().join("out/consensus.svg")).unwrap();
    for title in titles {
        assert!(svg.contains(title), "the picture describes {title}");
    }
}

#[test]
fn a_diverging_run_is_announced_and_still_drawn() {
    let (temp, answer) = run("--graph ring:8 --methods gossip,gut --mu 0.9 --dim 4 --rounds 30");
    assert!(answer.stderr.starts_with("warning: ring:8, gut: DIVERGES"), "{}", answer.stderr);
    assert!(answer.stderr.contains("0.2000"), "{}", answer.stderr);
    assert_eq!(answer.stderr.lines().count(), 1, "gossip needs no warning");
    assert_eq!(names(&temp.path().join("out")), FILES);
    let errors = errors(temp.path(), "ring:8", "gut", 1);
    assert!(errors[30] > 1e6 * errors[0], "{errors:?}");

    let (_, calm) = run("--graph ring:8 --methods gut:gamma=auto --mu 0.9 --dim 4 --rounds 30");
    assert!(calm.stderr.is_empty(), "the advice of the warning works: {}", calm.stderr);
}

#[test]
fn a_run_that_overflows_still_gets_all_its_files() {
    let (temp, _) = run("--graph ring:8 --methods gossip,gut --mu 1 --dim 4 --rounds 400");
    assert_eq!(names(&temp.path().join("out")), FILES);
    let svg = fs::read_to_string(temp.path().join("out/consensus.svg")).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "only finite coordinates are drawn");
    json_file(&temp.path().join("out/consensus.json"));
    let gut = &json_file(&temp.path().join("out/summary.json"))["panels"][0]["methods"][1];
    assert_eq!((&gut["stable"], &gut["final_error"]), (&json!(false), &Value::Null));
}

#[test]
fn exact_sequences_agree_after_one_period() {
    for (graph, period) in [
        ("one-peer-exponential:8", 3),
        ("one-peer-exponential:32", 5),
        ("base:6:1", 4),
        ("base:25:1", 9),
    ] {
        let (temp, _) = run(&format!("--graph {graph} --methods gossip --dim 50 --rounds 10"));
        for seed in [1, 2] {
            let errors = errors(temp.path(), graph, "gossip", seed);
            let (before, after) = (errors[period - 1], errors[period]);
            assert!(before > 1e-3 * errors[0], "{graph}: {errors:?}");
            assert!(after < 1e-6 * errors[0], "{graph}: {errors:?}");
        }
    }
}

/// The error is a mean squared distance, the rate is that of the distance.
#[test]
fn the_error_of_gossip_shrinks_by_the_square_of_the_predicted_rate() {
    let (temp, _) = run("--graph ring:8 --methods gossip --dim 64 --rounds 30");
    let summary = json_file(&temp.path().join("out/summary.json"));
    let predicted = summary["panels"][0]["methods"][0]["predicted_rate"].as_f64().unwrap();
    let errors = errors(temp.path(), "ring:8", "gossip", 1);
    let measured = (errors[25] / errors[15]).powf(0.1);
    assert!((measured - predicted.powi(2)).abs() < 1e-3, "{measured}, rate {predicted}");
}
