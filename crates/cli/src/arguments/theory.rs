//! The flags of `theory`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Lemma 1, Theorem 1 and the Corollary on heterogeneous quadratics whose every constant is
known, with the algorithms that train models; and what happens beyond the theorem's mu.

Examples:
  consort theory
  consort theory --seeds 8 --out my-theory --json"
)]
pub(crate) struct TheoryOptions {
    /// Runs of every measurement, whose mean is taken where gradients are noisy
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Folder for tables and plots [default: a fresh one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it holds files
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Worker threads [default: all cores]; any number gives the same bits
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
}
