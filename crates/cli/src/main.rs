//! `consort`: the command line, and the only crate that uses all others.
//!
//! It turns arguments into plans, calls the libraries, and turns their results into tables, files
//! and exit codes: 0 done, 1 an error during the work, 2 wrong input, 3 every trial diverged, 130
//! Ctrl-C.

mod agents;
mod arguments;
mod commands;
mod failure;
mod figures;
mod method_names;
mod methods_list;
mod missing_file;
mod network;
mod network_picture;
mod progress;
mod provenance;
mod saved_model;
mod settings;
mod table;
mod training;

use std::process::ExitCode;

use crate::arguments::Command;

/// Puts models and activations on large pages, which is up to 10 % faster.
#[global_allocator]
static ALLOCATOR: consort_large_pages::LargePages = consort_large_pages::LargePages;

fn main() -> ExitCode {
    let arguments = arguments::read();
    let outcome = match arguments.command {
        Command::Train(options) => commands::train::run(&options),
        Command::Resume(options) => commands::train::resume(&options),
        Command::Runs(options) => commands::runs::run(&options),
        Command::New(options) => commands::new::run(&options),
        Command::Init(options) => commands::init::run(&options),
        Command::Agent(options) => commands::agent::run(&options),
        Command::Launch(options) => commands::launch::run(&options),
        Command::Compare(options) => commands::compare::run(&options),
        Command::Reproduce(options) => commands::reproduce::run(&options),
        Command::Eval(options) => commands::eval::run(&options),
        Command::Predict(options) => commands::predict::run(&options),
        Command::Export(options) => commands::export::run(&options),
        Command::Model(options) => commands::model::run(&options),
        Command::Data(options) => commands::data::run(&options),
        Command::Consensus(options) => commands::consensus::run(&options),
        Command::Analyze(options) => commands::analyze::run(&options),
        Command::Theory(options) => commands::theory::run(&options),
        Command::Graph(options) => commands::graph::run(&options),
        Command::Methods(options) => commands::methods::run(&options),
        Command::Key(options) => commands::key::run(&options),
        Command::Doctor(options) => commands::doctor::run(&options),
        Command::Bench(options) => commands::bench::run(&options),
        Command::Completions(options) => commands::completions::run(&options),
        Command::Man(options) => commands::man::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure::tell(&failure.to_string());
            failure.exit_code()
        }
    }
}
