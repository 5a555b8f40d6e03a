//! The flags of `reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataOptions;

#[derive(Debug, Args)]
#[command(
    after_help = "A trial that stands in the ledger (results/) is not run again: bits do not depend on the
machine. Ctrl-C saves; the same command goes on.

Examples:
  consort reproduce --list                              everything, how long it takes, what is done
  consort reproduce table-1 --rows vgg11-16/alpha-0.1   the paper's numbers beside ours
  consort reproduce table-4 --seeds 1 --scale 0.25      a quarter of the epochs, and says so
  consort reproduce figure-2                            the consensus figure
  consort reproduce --queue                             everything, in the order of experiments/queue.toml
  consort reproduce --verify 3                          runs three of the ledger again, compares the bits
  consort reproduce --report                            RESULTS.md, tables and plots from the ledger"
)]
pub(crate) struct ReproduceOptions {
    /// Tables and figures, as in table-1 (`--list` shows all)
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// Only these rows: any block, column or row by its name, or the beginning of a path, as in
    /// vgg11-16/alpha-0.1; separate by commas
    #[arg(long, value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// Seeds 1 to this
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Part of the paper's epochs, above 0 up to 1; milestones move along
    #[arg(long, default_value_t = 1.0, value_name = "PART")]
    pub(crate) scale: f64,
    /// Show everything there is, what is done and how long the rest takes here
    #[arg(long, conflicts_with_all = ["queue", "verify", "report"])]
    pub(crate) list: bool,
    /// Run everything, in the order of experiments/queue.toml
    #[arg(long, conflicts_with_all = ["verify", "report", "experiments"])]
    pub(crate) queue: bool,
    /// Run this many trials of the ledger again, chosen by chance, and compare the models' bits
    #[arg(long, value_name = "N", conflicts_with = "report")]
    pub(crate) verify: Option<usize>,
    /// Which trials --verify chooses [default: others at every call]
    #[arg(long, value_name = "SEED", requires = "verify")]
    pub(crate) verify_seed: Option<u64>,
    /// Write RESULTS.md, tables and plots from the ledger
    #[arg(long)]
    pub(crate) report: bool,
    /// With --report: write nothing, fail if a file is out of date
    #[arg(long, requires = "report")]
    pub(crate) check: bool,
    /// Print what the ledger holds of the experiments, and run nothing
    #[arg(long, requires = "experiments")]
    pub(crate) show: bool,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Text)]
    pub(crate) format: ComparisonFormat,
    /// Also draw the table with error bars, or the figure: NAME.svg and NAME.png in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// The ledger
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Where trials under way keep their state
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    pub(crate) work_dir: PathBuf,
    /// Worker threads [default: all cores]; any number gives the same bits
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

/// How a comparison is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// For a terminal
    Text,
    /// For Markdown
    Markdown,
    /// For LaTeX, with booktabs
    Latex,
}
