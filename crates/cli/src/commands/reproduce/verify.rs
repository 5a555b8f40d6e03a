//! `--verify N`: runs trials of the ledger again and compares the bits.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use consort_reproduce::{Cell, Ledger, LedgerEntry, TrialKey, experiments};
use consort_train::Config;

use super::console::ReproduceConsole;
use super::{RunEnvironment, consensus, listing, training};
use crate::failure::{Blame, Failure, tell};

pub(super) fn run(
    ledger: &Ledger,
    environment: &RunEnvironment,
    count: usize,
    seed: Option<u64>,
) -> Result<(), Failure> {
    let seed = seed.unwrap_or_else(random_seed);
    let mut entries: Vec<&LedgerEntry> = ledger.iter().collect();
    if entries.is_empty() {
        return Err(Failure::input(format!("{} contains no trial", ledger.folder().display())));
    }
    // Shuffle by a hash of seed and name, which is the same on every machine.
    entries.sort_by_key(|entry| {
        crc32fast::hash(format!("{seed} {}", entry.key().file_stem()).as_bytes())
    });
    entries.truncate(count);
    tell(&format!("trials chosen with --verify-seed {seed}"));
    let environment =
        RunEnvironment { folder: environment.folder.join("verify"), ..environment.clone() };
    let mut different = Vec::new();
    for entry in &entries {
        let name = entry.key().file_stem();
        let again = once_more(entry, &environment)?;
        let same = again.checksum == entry.checksum
            && again.outcome.final_accuracy == entry.outcome.final_accuracy;
        tell(&format!("{name}: {}", if same { "the same bits" } else { "DIFFERENT BITS" }));
        if !same {
            let sum = |entry: &LedgerEntry| entry.checksum.clone().unwrap_or_else(|| "none".into());
            tell(&format!("  ledger (commit {}): {}", entry.commit, sum(entry)));
            tell(&format!("  here   (commit {}): {}", again.commit, sum(&again)));
            different.push(name);
        }
    }
    if different.is_empty() {
        tell(&format!("{} of {} trials run again: the same bits", entries.len(), entries.len()));
        return Ok(());
    }
    let (count, all) = (different.len(), entries.len());
    Err(Failure::Work(anyhow::anyhow!(
        "{count} of {all} trials gave different bits from the ledger"
    )))
}

fn once_more(entry: &LedgerEntry, environment: &RunEnvironment) -> Result<LedgerEntry, Failure> {
    let key = entry.key();
    if entry.outcome.final_error.is_some() {
        for experiment in experiments().or_work()? {
            if let Some(again) = consensus::again(&experiment, &key, environment)? {
                return Ok(again);
            }
        }
        return Err(unknown(&key));
    }
    let config = config_of(&key)?;
    let cell = Cell {
        path: key.file_stem(),
        block: String::new(),
        column: String::new(),
        x: None,
        label: String::new(),
        method: config.methods[0].method.clone(),
        paper: None,
        config,
        scale: entry.scale,
    };
    let seed = entry.seed;
    if cell.trial(seed) != key {
        return Err(unknown(&key));
    }
    let costs = listing::costs([&cell].into_iter(), environment.threads);
    let mut console = ReproduceConsole::new(&costs, environment.line_every);
    console.begin(0, cell.path.clone());
    // Do not use the state of an earlier verification.
    let _ = fs::remove_dir_all(environment.folder.join(key.file_stem()));
    let again = training::run(&cell, seed, environment, &mut console);
    console.close();
    training::tidy(&cell, seed, environment);
    again
}

/// The configuration of an entry; its settings are lines of TOML.
fn config_of(key: &TrialKey) -> Result<Config, Failure> {
    let lines: Vec<&str> = key
        .settings()
        .iter()
        .map(String::as_str)
        .filter(|line| !line.starts_with("generation = "))
        .collect();
    Config::from_toml(&lines.join("\n"), &[]).or_input()
}

fn unknown(key: &TrialKey) -> Failure {
    let stem = key.file_stem();
    Failure::input(format!(
        "{stem} is of another version, in which the settings had another meaning"
    ))
}

#[allow(clippy::disallowed_methods, reason = "a new seed for every call")]
fn random_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
