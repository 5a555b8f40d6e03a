//! `consort`: the command line, and the only crate that knows all others.
//!
//! It turns words into plans, calls the libraries, and turns their answers into
//! tables, files and exit codes: 0 done, 1 something failed on the way, 2 the input
//! was wrong, 3 every trial diverged.

mod agents;
mod arguments;
mod commands;
mod failure;
mod methods_list;
mod network;
mod network_picture;
mod progress;
mod provenance;
mod settings;
mod table;
mod training;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};

/// Models and their activations on large pages: up to a tenth faster.
#[global_allocator]
static ALLOCATOR: consort_large_pages::LargePages = consort_large_pages::LargePages;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Train(options) => commands::train::run(&options),
        Command::Resume(options) => commands::train::resume(&options),
        Command::Init(options) => commands::init::run(&options),
        Command::Agent(options) => commands::agent::run(&options),
        Command::Launch(options) => commands::launch::run(&options),
        Command::Compare(options) => commands::compare::run(&options),
        Command::Reproduce(options) => commands::reproduce::run(&options),
        Command::Eval(options) => commands::eval::run(&options),
        Command::Data(options) => commands::data::run(&options),
        Command::Consensus(options) => commands::consensus::run(&options),
        Command::Analyze(options) => commands::analyze::run(&options),
        Command::Theory(options) => commands::theory::run(&options),
        Command::Graph(options) => commands::graph::run(&options),
        Command::Methods(options) => commands::methods::run(&options),
        Command::Bench(options) => commands::bench::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure::tell(&failure.to_string());
            failure.exit_code()
        }
    }
}
