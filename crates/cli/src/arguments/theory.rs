//! The flags of `theory`.

use std::path::PathBuf;

use clap::Args;

use super::figures::{ChartOptions, FigureOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Checks Lemma 1, Theorem 1 and the Corollary on heterogeneous quadratics whose constants are
known, with the same algorithms that train models. Also shows what happens for a larger mu than the
theorem allows.

Examples:
  consort theory
  consort theory --seeds 8 --out my-theory --json"
)]
pub(crate) struct TheoryOptions {
    /// Number of runs per measurement; with noisy gradients, results are means over them
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Folder for tables and plots [default: a new one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it is not empty
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    #[command(flatten)]
    pub(crate) figure: FigureOptions,
    #[command(flatten)]
    pub(crate) chart: ChartOptions,
}
