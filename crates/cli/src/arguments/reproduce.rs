//! The flags of `reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataOptions, ProgressOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "A trial that is in the ledger (results/) is not run again, because bits do not depend on the
machine. Ctrl-C saves the state; the same command continues.

Examples:
  consort reproduce --list                              all experiments, their progress and time
  consort reproduce table-1 --rows vgg11-16/alpha-0.1   the paper's numbers beside ours
  consort reproduce table-4 --seeds 1 --scale 0.25      with a quarter of the epochs
  consort reproduce figure-2                            the consensus figure
  consort reproduce --queue                             everything, in the order of experiments/queue.toml
  consort reproduce --verify 3                          run three trials again and compare the bits
  consort reproduce --report                            write RESULTS.md, tables and plots"
)]
pub(crate) struct ReproduceOptions {
    /// Tables and figures, for example table-1 (`--list` shows all)
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// Only these rows, separated by commas: the name of a block, column or row, or the beginning
    /// of a path, for example vgg11-16/alpha-0.1
    #[arg(long, value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// Number of seeds; the first is 1
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Share of the paper's epochs, above 0 and up to 1; milestones scale too
    #[arg(long, default_value_t = 1.0, value_name = "PART")]
    pub(crate) scale: f64,
    /// List all experiments, their progress and the remaining time on this machine
    #[arg(long, conflicts_with_all = ["queue", "verify", "report"])]
    pub(crate) list: bool,
    /// Run everything, in the order of experiments/queue.toml
    #[arg(long, conflicts_with_all = ["verify", "report", "experiments"])]
    pub(crate) queue: bool,
    /// Run N random trials of the ledger again and compare the bits of the models
    #[arg(long, value_name = "N", conflicts_with = "report")]
    pub(crate) verify: Option<usize>,
    /// Seed for the choice of --verify [default: a new one for every call]
    #[arg(long, value_name = "SEED", requires = "verify")]
    pub(crate) verify_seed: Option<u64>,
    /// Write RESULTS.md, tables and plots from the ledger
    #[arg(long)]
    pub(crate) report: bool,
    /// With --report: write nothing, and fail if a file is out of date
    #[arg(long, requires = "report")]
    pub(crate) check: bool,
    /// Print the results in the ledger, and run nothing
    #[arg(long, requires = "experiments")]
    pub(crate) show: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Text)]
    pub(crate) format: ComparisonFormat,
    /// Also draw the table with error bars, or the figure, as NAME.svg, .pdf and .png in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Folder of the ledger
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Folder for the state of unfinished trials
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    pub(crate) work_dir: PathBuf,
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) progress: ProgressOptions,
}

/// The format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// Plain text for a terminal
    Text,
    /// Markdown
    Markdown,
    /// LaTeX with booktabs
    Latex,
}
