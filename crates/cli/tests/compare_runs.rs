//! `consort compare` tells runs apart by what they are, and `consort resume` goes on only with
//! what was begun.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{command_in, consort_in, json_file};

/// A tiny run in `out`, with more flags.
fn train(folder: &Path, out: &str, more: &str) {
    let line = format!("train --graph ring:4 --model mlp:8 --rounds 8 --out {out} {more}");
    consort_in(folder, &line).done();
}

/// What a trial that was killed after its second evaluation leaves behind.
fn cut_short(trial: &Path) {
    let records = trial.join("records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let kept: Vec<&str> = text.lines().take(2).collect();
    fs::write(&records, kept.join("\n") + "\n").unwrap();
    fs::remove_file(trial.join("summary.json")).unwrap();
}

#[test]
fn runs_of_one_name_are_told_apart_by_their_settings() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "p/exp", "--methods dsgd --seeds 1,2 --eta 0.01");
    train(temp.path(), "q/exp", "--methods dsgd --seeds 1,2 --eta 0.1");
    let rows = consort_in(temp.path(), "compare p/exp q/exp --format csv").done().stdout;
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.contains("dsgd,\"DSGD, η = 0.01\",2,"), "{rows}");
    assert!(rows.contains("dsgd,\"DSGD, η = 0.1\",2,"), "{rows}");
}

#[test]
fn a_run_given_twice_is_refused_however_it_is_spelled() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd --seeds 1");
    for line in ["compare a a", "compare a ./a/", "compare a ../NAME/a"] {
        let name = temp.path().file_name().unwrap().to_str().unwrap();
        let line = line.replace("NAME", name);
        consort_in(temp.path(), &line).failed(2, &["are the same run", "Name it once"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(temp.path().join("a"), temp.path().join("link")).unwrap();
        consort_in(temp.path(), "compare a link").failed(2, &["a and link are the same run"]);
    }
}

#[test]
fn other_seeds_are_pooled_and_the_same_seed_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd --seeds 1,2");
    train(temp.path(), "b", "--methods dsgd --seeds 3");
    train(temp.path(), "c", "--methods dsgd --seeds 2,3");
    let rows = consort_in(temp.path(), "compare a b --format csv").done().stdout;
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.contains("dsgd,DSGD,3,"), "{rows}");
    let parts = ["contain the same result", "dsgd with seed 2", "leave one of them out"];
    consort_in(temp.path(), "compare a c").failed(2, &parts);
}

#[test]
fn a_trial_that_has_not_ended_says_how_far_it_is_and_is_not_the_best() {
    let temp = tempfile::tempdir().unwrap();
    let evaluated = "--set evaluation.every=0.0435"; // an epoch is 12 rounds of 32: at least one
    train(temp.path(), "a", &format!("--methods dsgd --seeds 1 {evaluated}"));
    train(temp.path(), "b", &format!("--methods gut --seeds 1 {evaluated}"));
    let csv = consort_in(temp.path(), "compare a b --format text").done().stdout;
    assert_eq!(csv.matches('*').count(), 1, "{csv}");
    cut_short(&temp.path().join("a/trials/1-dsgd-seed-1"));
    let text = consort_in(temp.path(), "compare a b").done().stdout;
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("DSGD").ends_with("1, at 12 %") && !row("DSGD").contains('*'), "{text}");
    assert!(row("GUT").contains('*'), "{text}");
    let format = |format: &str| {
        consort_in(temp.path(), &format!("compare a b --format {format}")).done().stdout
    };
    assert!(format("markdown").contains("at 12 %"));
    assert!(format("latex").contains("at 12 \\%"));
    assert!(format("csv").contains(",1,0.125,digits,0,"), "{}", format("csv"));
    assert!(format("json").contains("\"unfinished\": 0.125"), "{}", format("json"));
}

#[test]
fn different_data_are_never_ranked_against_each_other() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd --seeds 1");
    train(temp.path(), "b", "--methods gut --seeds 1");
    // No second dataset is at hand everywhere: the configuration says where results come from.
    let config = temp.path().join("b/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("data = \"digits\"", "data = \"mnist\"")).unwrap();
    let text = consort_in(temp.path(), "compare a b").done().stdout;
    assert!(!text.contains('*'), "{text}");
    assert!(text.contains("DSGD, digits") && text.contains("GUT, mnist"), "{text}");
}

/// The folder of an agent that did better than any averaged model.
fn agent(folder: &Path, method: &str) {
    let record = |round: u64, own: f64| {
        serde_json::json!({
            "round": round, "epoch": 0.5, "eta": 0.1, "train_loss": 0.5,
            "agents": {"mean": own, "min": own, "max": own},
            "agents_loss": {"mean": 0.125, "min": 0.125, "max": 0.125},
            "consensus_distance": "NaN", "gradient_norm": 1.0, "drift": "NaN",
            "bytes_sent": 1000, "seconds": 1.0
        })
    };
    fs::create_dir_all(folder).unwrap();
    let records = format!("{}\n{}\n", record(0, 0.25), record(8, 0.9875));
    fs::write(folder.join("records.jsonl"), records).unwrap();
    let summary = serde_json::json!({
        "method": method, "label": method, "seed": 1,
        "agents_accuracy": {"mean": 0.9875, "min": 0.9875, "max": 0.9875},
        "agents_loss": {"mean": 0.125, "min": 0.125, "max": 0.125},
        "final_consensus_distance": "NaN", "bytes_sent": 1000, "seconds": 1.0
    });
    fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
}

#[test]
fn an_agents_own_accuracy_is_never_taken_for_the_averaged_models() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd,gut --seeds 1");
    agent(&temp.path().join("agent-3"), "gt");
    let lone = consort_in(temp.path(), "compare a --format text").done().stdout;
    assert!(lone.contains("Averaged model (%)") && !lone.contains("Agents' own"), "{lone}");
    let text = consort_in(temp.path(), "compare agent-3 a --out both").done().stdout;
    let lines: Vec<&str> = text.lines().collect();
    let place = |heading: &str| {
        let start = lines[0].find(heading).unwrap();
        lines[0][..start].chars().count()
    };
    let cell = |row: &str, heading: &str| -> String {
        let line = lines.iter().find(|line| line.starts_with(row)).unwrap();
        line.chars().skip(place(heading)).collect::<String>().split("  ").next().unwrap().into()
    };
    for heading in ["Averaged model (%)", "Its best (%)", "Its loss"] {
        assert_eq!(cell("GT", heading), "–", "{text}");
    }
    assert_eq!(cell("GT", "Agents' own (%)"), "98.75", "{text}");
    assert_eq!(cell("GT", "Their loss"), "0.1250", "{text}");
    assert!(cell("DSGD", "Averaged model (%)").starts_with(char::is_numeric), "{text}");
    assert!(cell("DSGD", "Agents' own (%)").starts_with(char::is_numeric), "{text}");
    // One star, on one of the two that have an averaged model.
    assert_eq!(text.matches('*').count(), 1, "{text}");
    assert!(!lines.iter().any(|line| line.starts_with("GT") && line.contains('*')), "{text}");
    assert!(text.contains("It is not the averaged model's, and is not ranked."), "{text}");

    let both = |name: &str| fs::read_to_string(temp.path().join("both").join(name)).unwrap();
    let (averaged, own) = (both("accuracy.csv"), both("agents-accuracy.csv"));
    assert!(averaged.contains("DSGD") && !averaged.contains("GT,"), "{averaged}");
    assert!(own.contains("dsgd") && own.contains("98.75"), "{own}");
    assert!(both("table.md").contains("Agents' own"));
    let json = consort_in(temp.path(), "compare agent-3 a --format json").done().json();
    assert!(json[0].get("final_accuracy").is_none(), "{json}");
    assert_eq!(json[0]["agents_accuracy"]["mean"], 0.9875);
    assert!(json[1]["final_accuracy"].is_f64(), "{json}");
    // Two agents are not ranked either: their own models are not the method's result.
    agent(&temp.path().join("other/agent-0"), "d2");
    let own = consort_in(temp.path(), "compare agent-3 other/agent-0").done().stdout;
    assert!(!own.contains('*') && own.contains("98.75"), "{own}");
}

#[test]
fn a_run_whose_configuration_was_edited_does_not_go_on() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd --seeds 1");
    let config = temp.path().join("a/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("# a comment changes nothing\n{text}")).unwrap();
    consort_in(temp.path(), "resume a").done();
    fs::write(&config, text.replace("eta = 0.1", "eta = 0.2")).unwrap();
    let parts = ["a/config.toml was changed", "Restore it", "start a new run"];
    consort_in(temp.path(), "resume a").failed(2, &parts);
}

#[test]
fn a_run_of_a_version_with_other_starting_values_does_not_go_on() {
    let temp = tempfile::tempdir().unwrap();
    train(temp.path(), "a", "--methods dsgd --seeds 1");
    let file = temp.path().join("a/run.json");
    let mut begun = json_file(&file);
    begun["version"] = "0.1.9".into();
    fs::write(&file, begun.to_string()).unwrap();
    consort_in(temp.path(), "resume a").failed(2, &["consort 0.1.9", "start a new run"]);
    fs::remove_file(&file).unwrap();
    consort_in(temp.path(), "resume a").failed(2, &["run.json", "Restore the file"]);
}

/// On a narrow terminal the table of methods becomes blocks of lines that fit.
#[test]
fn a_table_of_methods_fits_into_sixty_columns() {
    let temp = tempfile::tempdir().unwrap();
    let run = "train --graph ring:4 --methods dsgd,gut --seeds 1,2 --rounds 4 --out run";
    consort_in(temp.path(), run).done();
    let wide = consort_in(temp.path(), "compare run").done().stdout;
    let narrow = command_in(temp.path(), "compare run").env("COLUMNS", "60").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    let widest = |text: &str, begin: &str| {
        let lines = text.lines().filter(|line| line.starts_with(begin));
        lines.map(|line| line.chars().count()).max().unwrap()
    };
    assert!(widest(&wide, "Method") > 60, "{wide}");
    assert!(widest(&narrow, "  ") <= 60, "{narrow}");
    for part in ["DSGD", "GUT", "Consensus distance", "Seeds"] {
        assert!(narrow.contains(part), "{narrow}");
    }
}
