//! What cannot be used is refused with exit code 2 and a message that says what, where
//! and what to do; what fails on the way has exit code 1. Nothing panics.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::io::pipe;
use std::path::Path;

use support::{Answer, command_in, consort, consort_in, names};

/// The input is refused with these words.
#[track_caller]
fn refused(line: &str, parts: &[&str]) {
    consort(line).failed(2, parts);
}

/// A folder with one file, for commands that read it.
fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join(name), text).unwrap();
    temp
}

/// The small run that every test of `consensus` begins with.
const SMALL: &str = "consensus --dim 4 --rounds 2";

/// The run is refused with these words and leaves no file.
#[track_caller]
fn run_refused(arguments: &str, parts: &[&str]) {
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), &format!("{SMALL} {arguments}")).failed(2, parts);
    assert!(names(temp.path()).is_empty(), "a refused run leaves {:?}", names(temp.path()));
}

#[test]
fn an_unknown_graph_gets_the_nearest_kind_and_the_list() {
    refused("graph dyk", &["\"dyk\"", "did you mean \"dyck\"?", "ring:N", "file:PATH"]);
    refused("graph trous:4x8", &["\"trous:4x8\"", "did you mean \"torus\"?"]);
    refused("analyze --graph rnig:16", &["\"rnig:16\"", "did you mean \"ring\"?"]);
    run_refused("--graph rnig:16", &["\"rnig:16\"", "did you mean \"ring\"?"]);
}

#[test]
fn a_size_that_no_graph_has_is_named() {
    refused("graph ring:1", &["ring needs at least 2 agents, got 1", "more agents"]);
    refused("graph torus:0x4", &["torus needs at least 2 agents, got 0"]);
    refused("graph ring:many", &["\"ring:many\"", "whole number", "ring:N"]);
    refused("graph torus:4", &["\"torus:4\"", "4x8", "torus:RxC"]);
    refused("graph hypercube:60", &["dimension 60", "from 1 to 20"]);
    refused("graph random-regular:5:3", &["5 agents of degree 3", "N * D even"]);
    refused("graph base:0:1", &["base needs at least 1 agents, got 0"]);
    refused("graph base:9:0", &["9 agents and 0 neighbours a round", "K of at least 1"]);
    refused("graph base:9", &["\"base:9\"", "whole number", "base:N:K"]);
    refused("graph equi-static:9:0", &["9 agents and 0 shifts", "M from 1"]);
    refused("graph equi-dyn:9:0", &["9 agents and 0 phases", "at least 1 phase"]);
    refused("graph equi-dyn:9:1", &["not connected in 100 draws", "more phases"]);
    refused("graph random-matching:1", &["random-matching needs at least 2 agents, got 1"]);
    refused("graph random-matching:9:1", &["not connected in 100 draws", "more phases"]);
    refused("graph random-regular-dyn:9:3", &["9 agents of degree 3", "N * S even"]);
    refused("graph random-digraph:9:9", &["send to 9 others", "1 <= OUT < N"]);
    refused("graph directed-ring:1", &["directed-ring needs at least 2 agents, got 1"]);
    refused("graph binary-tree:1", &["binary-tree needs at least 2 agents, got 1"]);
    refused("graph double-binary-tree:1", &["double-binary-tree needs at least 2", "got 1"]);
    refused("graph spanning-tree:directed-ring:4", &["directed-ring:4, which is directed"]);
    refused("graph spanning-tree:base:4:1", &["base:4:1, which changes every round"]);
    refused("graph spanning-tree:circulant:8:2", &["which is not connected"]);
    refused("graph complete:1000000", &["too many", "limit", "smaller or sparser"]);
    refused("graph ring:10000000000", &["10000000000 agents are too many", "limit"]);
}

#[test]
fn a_missing_file_is_named() {
    refused("graph file:nowhere.edges", &["nowhere.edges", "check that it exists"]);
    refused("analyze --graph file:nowhere.dot", &["nowhere.dot", "check that it exists"]);
    refused("graph ring:3 --weights file:nowhere.csv", &["nowhere.csv", "check that it exists"]);
}

#[test]
fn an_edge_list_that_cannot_be_read_gets_its_line_number() {
    let temp = folder_with("bad.edges", "# three agents\n0 1\n1 two\n");
    let parts = ["bad.edges, line 3", "\"a b\"", "\"1 two\""];
    consort_in(temp.path(), "graph file:bad.edges").failed(2, &parts);
    let temp = folder_with("bad.graph", "0 1\n");
    consort_in(temp.path(), "graph file:bad.graph").failed(2, &["bad.graph", ".edges", ".dot"]);
    let temp = folder_with("empty.edges", "");
    consort_in(temp.path(), "graph file:empty.edges").failed(2, &["empty.edges", "empty"]);
}

#[test]
fn a_disconnected_graph_is_refused_by_every_command() {
    let temp = folder_with("two.edges", "0 1\n2 3\n");
    let parts = ["file:two.edges is not connected", "add edges"];
    let shown = consort_in(temp.path(), "graph file:two.edges").failed(2, &parts);
    assert!(shown.stdout.contains("connected        no"), "its facts are shown all the same");
    consort_in(temp.path(), "analyze --graph file:two.edges").failed(2, &parts);
    consort_in(temp.path(), &format!("{SMALL} --graph file:two.edges")).failed(2, &parts);
    assert_eq!(names(temp.path()), ["two.edges"]);
}

#[test]
fn a_parameter_outside_its_range_gets_the_range() {
    for mu in ["1.5", "=-0.1", "nan", "inf", "much"] {
        let flag = if mu.starts_with('=') { format!("--mu{mu}") } else { format!("--mu {mu}") };
        let parts = ["gut: mu = ", mu.trim_start_matches('='), "a number from 0 to 1, or auto"];
        refused(&format!("analyze --graph ring:16 --method gut {flag}"), &parts);
        run_refused(&format!("--graph ring:8 {flag}"), &parts);
    }
    refused(
        "analyze --graph ring:16 --method qg-gutm --beta 1",
        &["beta = 1", "at least 0 and below 1"],
    );
    refused("analyze --graph ring:16 --reading other", &["reading = other", "released, printed"]);
    refused("analyze --graph ring:16 --smoothness 0", &["--smoothness 0", "above 0"]);
    assert_eq!(consort("analyze --graph ring:16 --mu -1").code, Some(2));
}

#[test]
fn an_averaging_rate_of_zero_is_refused() {
    refused("analyze --graph ring:8 --gamma 0", &["gamma = 0", "above 0 up to 1, or auto"]);
    refused("graph ring:8 --gamma 0", &["averaging rate 0", "above 0 and up to 1"]);
    refused("graph ring:8 --gamma 1.5", &["averaging rate 1.5", "above 0 and up to 1"]);
    run_refused("--graph ring:8 --methods gut:gamma=0", &["gamma = 0", "above 0 up to 1"]);
}

#[test]
fn an_unknown_method_gets_the_nearest_one() {
    let parts = ["unknown method 'gutt'", "did you mean 'gut'?", "consort methods"];
    refused("analyze --graph ring:8 --method gutt", &parts);
    refused("methods gutt", &parts);
    refused("bench method --methods gutt", &parts);
    run_refused("--graph ring:8 --methods gossip,gutt", &parts);
    run_refused("--graph ring:8 --methods ,", &["--methods contains no method"]);
}

#[test]
fn an_unknown_parameter_gets_those_that_exist() {
    let parts = ["gut has no parameter 'nu'", "it accepts mu, reading"];
    refused("analyze --graph ring:8 --method gut:nu=0.1", &parts);
    run_refused("--graph ring:8 --methods gut:nu=0.1", &parts);
    run_refused("--graph ring:8 --methods gut:mu", &["gut:mu", "'mu' has no value", "mu=VALUE"]);
    refused("analyze --graph ring:8 --method dsgd --mu 0.1", &["dsgd has no parameter 'mu'"]);
}

#[test]
fn a_matrix_whose_row_does_not_sum_to_one_gets_row_sum_and_tolerance() {
    let temp = folder_with("w.csv", "0.5,0.25,0.25\n0.25,0.5,0.24\n0.25,0.25,0.5\n");
    let parts = ["w.csv, line 2", "row 1", "sums to 0.99", "expected 1 within 0.000001", "adjust"];
    consort_in(temp.path(), "graph ring:3 --weights file:w.csv").failed(2, &parts);
    consort_in(temp.path(), "analyze --graph ring:3 --weights file:w.csv").failed(2, &parts);
    let run = format!("{SMALL} --graph ring:3 --weights file:w.csv");
    consort_in(temp.path(), &run).failed(2, &parts);
    assert_eq!(names(temp.path()), ["w.csv"]);

    let wrong_size = ["w.csv", "3 entries, expected 4"];
    consort_in(temp.path(), "graph ring:4 --weights file:w.csv").failed(2, &wrong_size);
    refused("graph ring:4 --weights out-degre", &["did you mean \"out-degree\"?"]);
    refused("graph ring:4 --weights metropolitan", &["\"metropolitan\"", "metropolis", "lazy"]);
}

#[test]
fn a_folder_that_holds_files_is_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("mine");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("consensus.csv"), "precious").unwrap();
    let run = format!("{SMALL} --graph ring:4 --methods gossip --out mine");
    let parts = ["mine", "consensus.csv", "nothing was overwritten", "--out", "--overwrite"];
    consort_in(temp.path(), &run).failed(2, &parts);
    assert_eq!(names(&out), ["consensus.csv"]);
    assert_eq!(fs::read_to_string(out.join("consensus.csv")).unwrap(), "precious");

    consort_in(temp.path(), &format!("{run} --overwrite")).done();
    assert_eq!(names(&out).len(), 6);
    assert_ne!(fs::read_to_string(out.join("consensus.csv")).unwrap(), "precious");

    let file = format!("{SMALL} --graph ring:4 --out mine/consensus.csv");
    consort_in(temp.path(), &file).failed(2, &["consensus.csv exists and is not a folder"]);
}

#[test]
fn a_method_refuses_graphs_it_cannot_run_on_and_names_those_that_can() {
    let directed = ["gut needs", "undirected", "exponential:8 is directed", "dsgd"];
    refused("analyze --graph exponential:8 --method gut", &directed);
    run_refused("--graph exponential:8 --methods gut", &directed);
    let changing = ["gut needs", "one-peer-exponential:8 changes every round", "dsgd"];
    run_refused("--graph one-peer-exponential:8 --methods gut", &changing);
    run_refused("--graph ring:8 --graph exponential:8 --methods gossip,gut", &directed);
    let changing = ["gut needs", "base:6:1 changes every round", "dsgd"];
    run_refused("--graph base:6:1 --methods gut", &changing);
    let columns = ["dsgd needs", "only columns sum to 1", "push-sum"];
    refused("analyze --graph random-digraph:9:3 --method dsgd --weights out-degree", &columns);
    run_refused("--graph random-digraph:9:3 --methods gossip --weights out-degree", &columns);
    let drifts = ["dsgd needs", "doubly stochastic", "column"];
    run_refused("--graph random-digraph:9:3 --methods gossip", &drifts);
}

#[test]
fn d2_on_the_torus_is_refused_and_both_remedies_work() {
    let parts = ["d2 diverges", "lambda_min > -1/3", "-0.60000", "lazy weights", "below 0.833"];
    run_refused("--graph torus:4x8 --methods d2", &parts);
    let temp = tempfile::tempdir().unwrap();
    for remedy in ["--methods d2 --weights lazy", "--methods d2:gamma=0.8"] {
        consort_in(temp.path(), &format!("{SMALL} --graph torus:4x8 {remedy}")).done();
    }
}

#[test]
fn numbers_out_of_range_get_the_range() {
    run_refused("--graph ring:8 --threads 0", &["'0' for '--threads", "1..=1024"]);
    run_refused("--graph ring:8 --seeds 0", &["'0' for '--seeds", "1..=1000"]);
    refused("consensus --dim 0", &["'0' for '--dim", "1..="]);
    refused("consensus --rounds 0", &["'0' for '--rounds", "1..="]);
    refused("bench method --seconds 0", &["--seconds 0", "above 0"]);
    refused("bench train --seconds 0", &["--seconds 0", "above 0"]);
    refused("bench train --evaluate-every 0", &["--evaluate-every", "above 0"]);
    refused("bench train --model resnet21", &["resnet21", "6k+2"]);
    refused("bench train --model mlp --graph rng:16", &["rng", "ring"]);
    refused("bench train --model mlp --method gutt", &["gutt", "gut"]);
}

#[test]
fn a_misspelt_flag_or_command_gets_the_nearest_one() {
    refused("graph ring:8 --jsn", &["'--jsn'", "'--json'", "--help"]);
    refused("consensus --ruonds 3", &["'--ruonds'", "'--rounds'"]);
    refused("grph ring:8", &["'grph'", "'graph'", "--help"]);
    refused("bench beet", &["'beet'", "'beat'"]);
    refused("graph", &["<GRAPH>", "--help"]);
    refused("analyze", &["--graph <GRAPH>", "--help"]);
    assert_eq!(consort("").code, Some(2), "no command at all shows the help");
}

#[test]
fn a_graph_too_large_to_draw_is_refused_before_a_file_is_made() {
    let temp = tempfile::tempdir().unwrap();
    let answer = consort_in(temp.path(), "graph ring:100000 --svg big.svg");
    answer.failed(2, &["ring:100000", "200000 arcs", "50000"]);
    assert!(names(temp.path()).is_empty());
}

#[test]
fn a_failed_write_is_exit_code_one() {
    let temp = tempfile::tempdir().unwrap();
    for flag in ["--svg", "--png"] {
        let line = format!("graph ring:8 {flag} no/such/picture");
        let path = Path::new("no/such/picture").display().to_string();
        consort_in(temp.path(), &line).failed(1, &["cannot write", &path]);
    }
    assert!(names(temp.path()).is_empty());

    // A file stands where the folder of all runs would be.
    fs::write(temp.path().join("runs"), "").unwrap();
    let line = format!("{SMALL} --graph ring:4 --methods gossip");
    consort_in(temp.path(), &line).failed(1, &["cannot create the folder", "runs"]);
}

#[test]
fn a_message_that_nobody_reads_does_not_change_the_exit_code() {
    let temp = tempfile::tempdir().unwrap();
    for (line, code) in [("graph dyk", 2), ("graph ring:8 --svg ring.svg", 0)] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = command_in(temp.path(), line).stderr(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_not_utf_8_gets_its_files() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let temp = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"run-\xff");
    let line = format!("{SMALL} --graph ring:4 --methods gossip --out");
    let output = command_in(temp.path(), &line).arg(name).output().unwrap();
    Answer::of(output).done();
    assert_eq!(names(&temp.path().join(name)).len(), 6);
}
