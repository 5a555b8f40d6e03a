//! The flags of `train`, `resume`, `compare`, `eval` and `data`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Where datasets are.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataOptions {
    /// Folder of the datasets [default: $CONSORT_DATA, else the platform's data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// How the work is done; nothing of it shows in the bits.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkOptions {
    /// Worker threads [default: all cores]; any number gives the same bits
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a run is: the keys of a configuration that have a flag.
#[derive(Clone, Debug, Args)]
pub(crate) struct SettingOptions {
    /// Override any key, as in schedule.factor=0.2; repeat for several
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Dataset: a name of `consort data list`, folder:PATH or csv:PATH
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// How samples are shared out: dirichlet:ALPHA, plain-dirichlet:ALPHA, iid, shards:N, labels:K
    #[arg(long)]
    pub(crate) partition: Option<String>,
    /// Graph, as in ring:16 (`consort graph --list` shows all kinds)
    #[arg(long)]
    pub(crate) graph: Option<String>,
    /// Mixing weights: auto, uniform, metropolis, max-degree, lazy, construction, or file:PATH
    #[arg(long)]
    pub(crate) weights: Option<String>,
    /// Model: lenet5, vgg11, resnet20, mobilenet-v2, mlp, mlp:128x64, ... or a TOML file
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Passes of every agent over its own data
    #[arg(long, conflicts_with = "rounds", allow_negative_numbers = true)]
    pub(crate) epochs: Option<f64>,
    /// Rounds of communication, instead of epochs
    #[arg(long)]
    pub(crate) rounds: Option<u64>,
    /// Samples in an agent's mini-batch
    #[arg(long)]
    pub(crate) batch: Option<usize>,
    /// Step size at the start
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) eta: Option<f64>,
    /// Weight decay
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) weight_decay: Option<f64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without a file it trains the default: digits on a ring of 16, Dirichlet alpha 0.1,
DSGD, GUT, QG-DSGDm and QG-GUTm, three seeds. Flags win over the file, --set wins over both.

Examples:
  consort train                                      the default, a few seconds
  consort train --dry-run                            what it would do, how long, is it stable
  consort train --show-config                        a configuration to start from
  consort train --set eta=0.05 --set schedule.shape=cosine
  consort train --data fashion-mnist --model lenet5 --methods qg-gutm --epochs 100 --seeds 1
  consort train --methods gut:mu=0.5,gut:mu=0.9,exact-gut --graph torus:4x8"
)]
pub(crate) struct TrainOptions {
    /// Configuration in TOML
    #[arg(value_name = "CONFIG.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingOptions,
    /// Methods, separated by commas, as in dsgd,gut:mu=0.9
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Seeds, separated by commas; every method runs once per seed
    #[arg(long, value_delimiter = ',')]
    pub(crate) seeds: Vec<u64>,
    /// Also write event files for TensorBoard
    #[arg(long)]
    pub(crate) tensorboard: bool,
    /// Folder of the run [default: a fresh one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the resolved plan, memory, traffic, time and stability, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the resolved configuration as TOML, and do nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) show_config: bool,
    /// One process per agent, in an MPI job: mpirun -n 16 consort train ... (docs/cluster.md)
    #[arg(long, value_enum)]
    pub(crate) transport: Option<JobTransport>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// What carries messages between the agents of a training run, if not one process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobTransport {
    /// The ranks of an MPI job, one agent each
    Mpi,
}

#[derive(Debug, Args)]
#[command(after_help = "The run ends in the same bits as one that was never interrupted.

Example:
  consort resume runs/digits-ring-16")]
pub(crate) struct ResumeOptions {
    /// Folder of a run
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// One process per agent, in an MPI job: mpirun -n 16 consort train ... (docs/cluster.md)
    #[arg(long, value_enum)]
    pub(crate) transport: Option<JobTransport>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort compare runs/digits-ring-16 runs/digits-ring-16-2
  consort compare runs/digits-ring-16 --format latex
  consort compare runs/a runs/b --out figures")]
pub(crate) struct CompareOptions {
    /// Folders of runs
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// How the table is written
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// Folder for plots and tables [default: none are written]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it holds files
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For a terminal
    Text,
    /// For a README
    Markdown,
    /// For a paper
    Latex,
    /// For a spreadsheet
    Csv,
    /// For a program
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort eval runs/digits-ring-16/trials/1-dsgd-seed-1/model.safetensors --data digits --model mlp
  consort eval model.safetensors --data fashion-mnist --model lenet5")]
pub(crate) struct EvalOptions {
    /// Model in safetensors, with PyTorch's names
    #[arg(value_name = "MODEL")]
    pub(crate) file: PathBuf,
    /// Dataset whose test part is used [default: that of the run the model lies in]
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// What the model is: a name or a TOML file [default: that of the run the model lies in]
    #[arg(long)]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort data list
  consort data get fashion-mnist
  consort data check fashion-mnist
  consort data show fashion-mnist --partition dirichlet:0.1 --agents 16 --svg heat.svg")]
pub(crate) struct DatasetOptions {
    #[command(subcommand)]
    pub(crate) action: DataAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataAction {
    /// The datasets that have a name, and whether they are here
    #[command(after_help = "Example:\n  consort data list --data-dir /srv/data")]
    List {
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Download a dataset's official files, or go on with a download
    #[command(after_help = "Example:\n  consort data get cifar10")]
    Get {
        /// A name of `consort data list`
        name: String,
        /// Take the files from this address instead of the official one
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
        /// How often a broken connection is tried again
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=100))]
        retries: u32,
        #[command(flatten)]
        data_options: DataOptions,
    },
    /// Decode all of a dataset once, and name every file that is damaged
    #[command(after_help = "Exit code 1 if anything is damaged.

CIFAR-100's reader is tested on made records only; the readers of all other datasets are tested on
real ones too.

Examples:
  consort data check cifar10
  consort data check folder:photos")]
    Check {
        /// A name of `consort data list`, folder:PATH or csv:PATH
        name: String,
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// What a dataset holds, and how it would be shared out
    #[command(after_help = "Example:\n  consort data show digits --partition dirichlet:0.1")]
    Show {
        /// A name of `consort data list`, folder:PATH or csv:PATH
        name: String,
        /// Share it out: dirichlet:ALPHA, plain-dirichlet:ALPHA, iid, shards:N, labels:K
        #[arg(long)]
        partition: Option<String>,
        /// Among how many agents
        #[arg(long, default_value_t = 16, requires = "partition", value_parser = clap::value_parser!(u64).range(1..=100_000))]
        agents: u64,
        /// Seed of the partition
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Draw who holds what as SVG
        #[arg(long, value_name = "FILE", requires = "partition")]
        svg: Option<PathBuf>,
        /// Draw who holds what as PNG
        #[arg(long, value_name = "FILE", requires = "partition")]
        png: Option<PathBuf>,
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}
