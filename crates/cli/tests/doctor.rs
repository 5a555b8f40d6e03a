//! `consort doctor`, completions and manual pages.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::net::TcpListener;

use support::{consort, consort_in, names};

const CHECKS: [&str; 14] = [
    "instruction set",
    "threads",
    "memory",
    "large pages",
    "clock",
    "MPI",
    "git",
    "built in",
    "loopback",
    "ports",
    "new keys",
    "keys here",
    "datasets",
    "disk space",
];

#[test]
fn the_doctor_looks_at_everything_and_says_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    let line = "doctor --base-port 28400 --data-dir data";
    let found = consort_in(temp.path(), &format!("{line} --json")).done().json();
    let checks = found["checks"].as_array().unwrap();
    let looked_at: Vec<&str> = checks.iter().map(|check| check["what"].as_str().unwrap()).collect();
    assert_eq!(looked_at, CHECKS);
    for check in checks {
        assert!(!check["found"].as_str().unwrap().is_empty(), "{check}");
        assert_eq!(check["verdict"] != "ok", check["advice"].is_string(), "{check}");
    }
    assert_eq!(found["works"], true);
    let text = consort_in(temp.path(), line).done().stdout;
    for what in CHECKS {
        assert!(text.contains(what), "no {what:?} in:\n{text}");
    }
    assert!(text.contains("digits") && text.contains("(in data)"), "{text}");
    assert!(names(temp.path()).is_empty(), "it leaves nothing: {:?}", names(temp.path()));
}

#[test]
fn the_doctor_finds_taken_ports_and_keys_that_others_can_read() {
    let temp = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().min(65_527);
    let answer = consort_in(temp.path(), &format!("doctor --base-port {port} --json")).done();
    let ports = &answer.json()["checks"][9];
    assert_eq!(ports["verdict"], "note");
    assert!(ports["advice"].as_str().unwrap().contains("--base-port"), "{ports}");
    consort_in(temp.path(), "key new a.key").done();
    let found = |line: &str| consort_in(temp.path(), line);
    let keys = &found("doctor --json").done().json()["checks"][11];
    assert_eq!(keys["found"], "1, readable by their owner only");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(temp.path().join("a.key"), open).unwrap();
        let answer = found("doctor").failed(1, &["keys here"]);
        assert!(answer.stdout.contains("BAD") && answer.stdout.contains("chmod 600"), "{answer:?}");
        let answer = found("doctor --keys . --json");
        assert_eq!((answer.code, &answer.json()["works"]), (Some(1), &false.into()));
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = consort(&format!("completions {shell}")).done().stdout;
        for word in ["doctor", "completions", "show-config", "progress-every"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    consort("completions tcsh").failed(2, &["tcsh", "bash"]);
    let temp = tempfile::tempdir().unwrap();
    consort_in(temp.path(), "man pages/man1").done();
    let pages = names(&temp.path().join("pages/man1"));
    let help = consort("--help").done().stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        if !command.is_empty() && command != "help" {
            assert!(pages.contains(&format!("consort-{command}.1")), "{command}: {pages:?}");
        }
    }
    let page = fs::read_to_string(temp.path().join("pages/man1/consort-train.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("show\\-config"), "{page}");
    assert!(page.contains("consort train \\-\\-dry\\-run"), "the examples are in it: {page}");
}

#[test]
fn a_picture_has_the_format_of_its_name() {
    let temp = tempfile::tempdir().unwrap();
    let parts = ["--png x.jpg would be a PNG file", "choose --png x.png"];
    consort_in(temp.path(), "graph ring:4 --png x.jpg").failed(2, &parts);
    let parts = ["--svg x.png would be a SVG file", "use --png x.png"];
    consort_in(temp.path(), "graph ring:4 --svg x.png").failed(2, &parts);
    assert!(names(temp.path()).is_empty());
    consort_in(temp.path(), "graph ring:4 --png x.PNG --svg y").done();
    assert_eq!(names(temp.path()), ["x.PNG", "y"]);
}

/// On a narrow terminal, tables of text stay readable.
#[test]
fn tables_fit_into_sixty_columns() {
    let temp = tempfile::tempdir().unwrap();
    for line in ["graph --list", "methods", "data list", "train --dry-run --methods gut,dsgd"] {
        let mut command = support::command_in(temp.path(), line);
        let output = command.env("COLUMNS", "60").output().unwrap();
        let text = support::Answer::of(output).done().stdout;
        let wide = consort(line).done().stdout;
        let rows = |text: &str| text.lines().filter(|l| l.chars().count() > 60).count();
        assert!(rows(&text) < rows(&wide), "{line}:\n{text}");
        if line == "graph --list" {
            assert_eq!(rows(&text), 0, "{text}");
        }
    }
}
