//! `consort completions`: a script that completes commands and flags in a shell.

use clap::CommandFactory;

use super::print_text;
use crate::arguments::{Arguments, CompletionsOptions};
use crate::failure::{Blame, Failure};

pub(crate) fn run(options: &CompletionsOptions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "consort", &mut script);
    print_text(&String::from_utf8(script).or_work()?)
}
