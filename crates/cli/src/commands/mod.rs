//! One file per command.

pub(crate) mod agent;
pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod consensus;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod graph;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod launch;
pub(crate) mod man;
pub(crate) mod methods;
pub(crate) mod model;
pub(crate) mod new;
pub(crate) mod predict;
pub(crate) mod reproduce;
pub(crate) mod runs;
pub(crate) mod theory;
pub(crate) mod train;

use crate::failure::{Blame, Failure};

/// Prints a value as JSON, with a newline.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).or_work()?;
    print_text(&(text + "\n"))
}

/// Prints to standard output; a closed pipe (`| head`) is not an error.
fn print_text(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome
            .map_err(|error| anyhow::anyhow!("cannot write to standard output: {error}"))
            .or_work(),
    }
}
