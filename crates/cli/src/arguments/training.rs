//! The flags of `train`, `resume` and `data`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::figures::{FigureOptions, PictureFiles};
use super::values::seconds;

/// The folder of the datasets.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataOptions {
    /// Folder of the datasets [default: $CONSORT_DATA, else the data folder of the platform]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// How a command runs; the results do not depend on it.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkOptions {
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is printed while a command runs.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgressOptions {
    /// Without a terminal: seconds between two lines about the progress; 0: none
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub(crate) progress_every: f64,
}

/// The keys of a configuration that have their own flags.
#[derive(Clone, Debug, Args)]
pub(crate) struct SettingOptions {
    /// Override any key, for example schedule.factor=0.2; repeat it for several keys
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Dataset: a name from `consort data list`, folder:PATH or csv:PATH
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// Partition of the samples: dirichlet:ALPHA, plain-dirichlet:ALPHA, iid, shards:N, labels:K
    #[arg(long)]
    pub(crate) partition: Option<String>,
    /// Graph, for example ring:16 (`consort graph --list` shows all kinds)
    #[arg(long)]
    pub(crate) graph: Option<String>,
    /// Mixing weights: auto, uniform, metropolis, max-degree, lazy, construction, or file:PATH
    #[arg(long)]
    pub(crate) weights: Option<String>,
    /// Model: lenet5, vgg11, resnet20, mobilenet-v2, mlp, mlp:128x64, ... or a TOML file
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Number of passes of each agent over its own data
    #[arg(long, conflicts_with = "rounds", allow_negative_numbers = true)]
    pub(crate) epochs: Option<f64>,
    /// Number of rounds, instead of epochs
    #[arg(long)]
    pub(crate) rounds: Option<u64>,
    /// Samples in the mini-batch of an agent
    #[arg(long)]
    pub(crate) batch: Option<usize>,
    /// Initial step size
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) eta: Option<f64>,
    /// Weight decay
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) weight_decay: Option<f64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without a file, this trains on digits with 16 agents on a ring, Dirichlet alpha 0.1, with
DSGD, GUT, QG-DSGDm and QG-GUTm, three seeds each. Flags override the file; --set overrides both.

Examples:
  consort train                                      the default, a few seconds
  consort train --dry-run                            plan, time and stability, without running
  consort train --show-config > my.toml              a configuration with a comment for every key
  consort train --set eta=0.05 --set schedule.shape=cosine
  consort train --set sam=0.05 --set schedule.mix.exact-every=48
  consort train --data fashion-mnist --model lenet5 --methods qg-gutm --epochs 100 --seeds 1
  consort train --methods gut:mu=0.5,gut:mu=0.9,exact-gut --graph torus:4x8

Sweeps name the best combination of each method, never look at the test set, and can be resumed:
  consort train --sweep eta=0.03,0.1,0.3
  consort train --sweep eta=0.3x,1x,3x --sweep mu=0.5,0.9,auto   3x: three times the method's own
  consort train --sweep schedule.factor=0.1,0.3 --sweep qg-gutm.mu=0.01,0.05"
)]
pub(crate) struct TrainOptions {
    /// Configuration in TOML
    #[arg(value_name = "CONFIG.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingOptions,
    /// Methods, separated by commas, for example dsgd,gut:mu=0.9
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Seeds, separated by commas; every method runs once per seed
    #[arg(long, value_delimiter = ',')]
    pub(crate) seeds: Vec<u64>,
    /// Try every value of a key, or of a parameter of methods, in every combination, on samples
    /// set apart from the training data; repeat it for several keys
    #[arg(long = "sweep", value_name = "KEY=VALUE,...")]
    pub(crate) sweep: Vec<String>,
    /// Share of the training samples that is set apart for validation [default with --sweep: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) validation: Option<f64>,
    /// Also write event files for TensorBoard
    #[arg(long)]
    pub(crate) tensorboard: bool,
    /// Folder of the run [default: a new one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the plan, memory, traffic, time and stability, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the complete configuration as TOML, with a comment for every key, and stop
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) show_config: bool,
    /// Print the JSON schema of configurations, for editors, and stop
    #[arg(long, conflicts_with_all = ["dry_run", "show_config"])]
    pub(crate) schema: bool,
    /// Print the tables of docs/configuration.md, and stop
    #[arg(long, hide = true, conflicts_with_all = ["dry_run", "show_config", "schema"])]
    pub(crate) config_reference: bool,
    /// One process per agent, in an MPI job: mpirun -n 16 consort train ... (docs/cluster.md)
    #[arg(long, value_enum)]
    pub(crate) transport: Option<JobTransport>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) progress: ProgressOptions,
}

/// The transport between the agents of a training run, if they are not in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobTransport {
    /// MPI, one agent per rank
    Mpi,
}

#[derive(Debug, Args)]
#[command(after_help = "The result has the same bits as that of a run without interruption.

With --epochs or --rounds, a finished or stopped run becomes longer, with the bits of a run that was
longer from the start. So it is possible only where the step sizes of the rounds that are done do not
depend on the length: always with schedule.shape = \"constant\" and no warm-up; with milestones, for a
run that was stopped before the first of them. A sweep cannot become longer.

Examples:
  consort resume runs/digits-ring-16
  consort resume runs/digits-ring-16-sweep
  consort resume runs/digits-ring-16 --epochs 60")]
pub(crate) struct ResumeOptions {
    /// Folder of a run
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Make the run longer: so many epochs in all
    #[arg(long, conflicts_with_all = ["rounds", "transport"], allow_negative_numbers = true)]
    pub(crate) epochs: Option<f64>,
    /// Make the run longer: so many rounds in all
    #[arg(long, conflicts_with = "transport")]
    pub(crate) rounds: Option<u64>,
    /// One process per agent, in an MPI job: mpirun -n 16 consort train ... (docs/cluster.md)
    #[arg(long, value_enum)]
    pub(crate) transport: Option<JobTransport>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) progress: ProgressOptions,
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Plain text, for a terminal
    Text,
    /// Markdown, for a README
    Markdown,
    /// LaTeX, for a paper
    Latex,
    /// CSV, for a spreadsheet
    Csv,
    /// JSON, for a program
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort data list
  consort data get fashion-mnist
  consort data check fashion-mnist
  consort data show fashion-mnist --partition dirichlet:0.1 --agents 16 --svg heat.svg
  consort data show digits --partition dirichlet:0.1 --pdf heat.pdf --width 3.3in --no-title")]
pub(crate) struct DatasetOptions {
    #[command(subcommand)]
    pub(crate) action: DataAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataAction {
    /// List all named datasets, where they are and how much of them is there
    #[command(
        after_help = "Looks at heads, sizes and numbers of files; `consort data check` decodes everything.

Example:
  consort data list --data-dir /srv/data"
    )]
    List {
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Download the official files of a dataset, or continue a download
    #[command(
        after_help = "What is there already is not fetched again. Without a network, --dry-run says which files to get
elsewhere and where to put them.

Examples:
  consort data get cifar10
  consort data get cifar10 --dry-run"
    )]
    Get {
        /// A name from `consort data list`
        name: String,
        /// Download from this address instead of the official one
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
        /// Only say where the dataset is, or what would be fetched from where, and what to do offline
        #[arg(long)]
        dry_run: bool,
        /// Number of retries after a broken connection
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=100))]
        retries: u32,
        #[command(flatten)]
        data_options: DataOptions,
    },
    /// Decode a whole dataset once, and list all damaged files
    #[command(after_help = "The exit code is 1 if anything is damaged.

The reader of CIFAR-100 is tested only on made-up records; all other readers are also tested on real
data.

Examples:
  consort data check cifar10
  consort data check folder:photos")]
    Check {
        /// A name from `consort data list`, folder:PATH or csv:PATH, with options as in :size=64
        name: String,
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is in a dataset, and a partition of it
    #[command(
        after_help = "Options stand behind the path of own data, each as :key=value (docs/own-data.md):
  folder:PATH  size=64 or size=32x48 (height x width), augment=none|shift|crop
  csv:PATH     label=COLUMN, target=COLUMN (a regression), task=regression|classification,
               target-scale=MEAN+STD, categorical=a+b, drop=a+b, missing=error|drop|fill,
               header=yes|no, separator=comma|semicolon|tab|pipe|space

Examples:
  consort data show digits --partition dirichlet:0.1
  consort data show folder:photos:size=64
  consort data show csv:flats.csv:target=price:drop=id --partition shards:2"
    )]
    Show {
        /// A name from `consort data list`, folder:PATH or csv:PATH, with options
        name: String,
        /// Partition to show: dirichlet:ALPHA, plain-dirichlet:ALPHA, iid, shards:N, labels:K
        #[arg(long)]
        partition: Option<String>,
        /// Number of agents of the partition
        #[arg(long, default_value_t = 16, requires = "partition", value_parser = clap::value_parser!(u64).range(1..=100_000))]
        agents: u64,
        /// Seed of the partition
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        files: PictureFiles,
        #[command(flatten)]
        figure: FigureOptions,
    },
}
