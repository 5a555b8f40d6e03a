//! The flags of every command, as the user types them. `commands` gives them a meaning.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use consort_model::ConvAlgorithm;

mod compare;
mod figures;
mod housekeeping;
mod models;
mod nodes;
mod reproduce;
mod theory;
mod training;
mod values;

pub(crate) use compare::{Along, ColumnName, CompareOptions, Metric};
pub(crate) use figures::{ChartOptions, FigureOptions, PanelChoice, PictureFiles, TextForm};
pub(crate) use housekeeping::{
    CompletionsOptions, DoctorOptions, KeyAction, KeyOptions, ManOptions, NewOptions, PruneOptions,
    RunFilter, RunState, RunsAction, RunsOptions,
};
pub(crate) use models::{
    EvalOptions, ExportOptions, ModelAction, ModelOptions, PredictFormat, PredictOptions,
    SavedModelOptions,
};
pub(crate) use nodes::{AgentOptions, InitOptions, LaunchOptions};
pub(crate) use reproduce::{ComparisonFormat, ReproduceOptions};
pub(crate) use theory::TheoryOptions;
pub(crate) use training::{
    DataAction, DataOptions, DatasetOptions, JobTransport, ProgressOptions, ResumeOptions,
    SettingOptions, TableFormat, TrainOptions, WorkOptions,
};
pub(crate) use values::read;

/// Decentralized learning: many agents, each with its own data, train one model
/// together with no server.
#[derive(Debug, Parser)]
#[command(name = "consort", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  consort train                                  compare four methods on digits, a few seconds
  consort new my-study                           a configuration with a comment for every key
  consort train --data fashion-mnist --model lenet5 --dry-run
  consort analyze --graph ring:16 --method gut --mu 0.9
  consort consensus --graph ring:64 --dim 20000  the paper's consensus task
  consort graph dyck --svg dyck.svg

`consort COMMAND --help` explains a command and gives examples.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a model over many agents, each with its own data, and compare methods
    Train(TrainOptions),
    /// Continue an interrupted run, or make one longer
    Resume(ResumeOptions),
    /// List runs and where they stand, and remove some
    Runs(RunsOptions),
    /// Start a study: a commented configuration, and what to do next
    New(NewOptions),
    /// Create a plan and keys for agents that run as separate processes
    Init(InitOptions),
    /// Run one agent of a plan on its own machine, with its own data
    Agent(AgentOptions),
    /// Run all agents of a plan on this machine, as a first test
    Launch(LaunchOptions),
    /// Compare runs in one table and one set of plots
    Compare(CompareOptions),
    /// Reproduce the paper's tables and figures, and show our numbers beside the paper's
    Reproduce(ReproduceOptions),
    /// Evaluate a saved model
    Eval(EvalOptions),
    /// Use a saved model: classes and probabilities of images or of the rows of a table
    Predict(PredictOptions),
    /// Export a saved model for other programs: ONNX, PyTorch
    Export(ExportOptions),
    /// List the built-in models, show one or your own, write a template
    Model(ModelOptions),
    /// List, download, check and show datasets
    Data(DatasetOptions),
    /// Let agents agree on the average of their vectors, and plot how fast they do
    Consensus(ConsensusOptions),
    /// Predict whether a run is stable, how fast consensus is, and which mu to use
    Analyze(AnalyzeOptions),
    /// Check the paper's theorems on problems whose constants are known
    Theory(TheoryOptions),
    /// Show a graph: its properties, its spectrum, a picture
    Graph(GraphOptions),
    /// List all methods: source, parameters, traffic, memory, accepted graphs
    Methods(MethodsOptions),
    /// Make a key for an agent, or print its public half
    Key(KeyOptions),
    /// Check what works on this machine, and what to do about the rest
    Doctor(DoctorOptions),
    /// Measure speed on this machine
    Bench(BenchOptions),
    /// Print a script that completes commands in a shell
    Completions(CompletionsOptions),
    /// Write manual pages
    Man(ManOptions),
}

/// The mixing weights of the graph.
#[derive(Clone, Debug, Args)]
pub(crate) struct WeightOptions {
    /// Mixing weights: auto (the construction's own where it has some, uniform on regular
    /// graphs, metropolis elsewhere), uniform, metropolis, max-degree, lazy, construction,
    /// out-degree (for push-sum), or file:PATH
    #[arg(long, default_value = "auto", value_name = "WEIGHTS")]
    pub(crate) weights: String,
    /// Seed of random graphs
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub(crate) graph_seed: u64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Methods are gossip, gut, qg-gossip, qg-gut (the paper's figure), or any method of
`consort methods`, with or without parameters, as in gut:reading=released,mu=0.9.

Examples:
  consort consensus                          the three panels of the paper: 64, 128, 256 agents
  consort consensus --graph ring:64 --dim 20000 --rounds 1000 --out my-figure
  consort consensus --graph ring:64 --dim 20000 --rounds 1000 --out my-figure --resume
  consort consensus --graph torus:4x8 --methods gossip,gut:reading=released,mu=0.3 --dim 2000"
)]
pub(crate) struct ConsensusOptions {
    /// Graph of a panel; repeat it for several panels [default: ring:64 ring:128 ring:256]
    #[arg(long = "graph", value_name = "GRAPH")]
    pub(crate) graphs: Vec<String>,
    /// Length of the vector of each agent
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) dim: u64,
    /// Number of rounds
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) rounds: u64,
    /// Methods, separated by commas
    #[arg(long, default_value = "gossip,gut,qg-gossip,qg-gut")]
    pub(crate) methods: String,
    /// Tracking scale of methods without momentum, or auto
    #[arg(long, default_value = "0.1", allow_negative_numbers = true)]
    pub(crate) mu: String,
    /// Tracking scale of methods with momentum, or auto
    #[arg(long, default_value = "0.01", allow_negative_numbers = true)]
    pub(crate) mu_momentum: String,
    /// Momentum coefficient
    #[arg(long, default_value = "0.9", allow_negative_numbers = true)]
    pub(crate) beta: String,
    /// Which equations to use for gossip, gut, qg-gossip and qg-gut
    #[arg(long, value_enum, default_value_t = Equations::Released)]
    pub(crate) equations: Equations,
    /// First seed of the starting vectors
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of seeds, counting up from --seed
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Folder for consensus.svg, .pdf, .png, .csv and .json [default: a new one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it is not empty
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Continue an interrupted run in --out; the result has the same bits
    #[arg(long, requires = "out", conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) weights: WeightOptions,
    #[command(flatten)]
    pub(crate) figure: FigureOptions,
    #[command(flatten)]
    pub(crate) chart: ChartOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Equations {
    /// The equations of the paper's figure: GUT as printed, the original quasi-global momentum
    Released,
    /// Equations (ac_gut) and (ac_qggut) as printed
    Printed,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort analyze --graph ring:16 --method gut --mu 0.9
  consort analyze --graph ring:16 --method gut --mu 0.9 --reading printed
  consort analyze --graph torus:4x8 --method qg-gutm --mu auto --beta 0.9 --json
  consort analyze --graph dyck --method gut --smoothness 10")]
pub(crate) struct AnalyzeOptions {
    /// Graph, for example ring:16 (`consort graph --list` shows all kinds)
    #[arg(long)]
    pub(crate) graph: String,
    /// Method, for example gut or qg-gutm:mu=0.05
    #[arg(long, alias = "algorithm", default_value = "gut")]
    pub(crate) method: String,
    /// Tracking scale mu from 0 to 1, or auto
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) mu: Option<String>,
    /// Momentum coefficient beta
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) beta: Option<String>,
    /// Reading of GUT: released, printed or printed-pytorch
    #[arg(long)]
    pub(crate) reading: Option<String>,
    /// Averaging rate gamma, above 0 and up to 1, or auto: W <- (1-gamma) I + gamma W
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) gamma: Option<String>,
    /// Smoothness constant L of the losses, to show the limits of Theorem 1
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub(crate) smoothness: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) weights: WeightOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort graph dyck --json
  consort graph torus:4x8 --svg torus.svg --png torus.png
  consort graph random-regular:1000:4 --graph-seed 7
  consort graph base:25:1 --svg base.svg
  consort graph dyck --pdf dyck.pdf --width 3.3in --no-title
  consort graph random-digraph:16:3 --weights out-degree
  consort graph file:my-graph.dot
  consort graph --list")]
pub(crate) struct GraphOptions {
    /// Graph, for example ring:16
    #[arg(required_unless_present = "list")]
    pub(crate) graph: Option<String>,
    /// List all kinds of graphs
    #[arg(long)]
    pub(crate) list: bool,
    /// Averaging rate gamma, above 0 and up to 1: W <- (1-gamma) I + gamma W
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) gamma: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) weights: WeightOptions,
    // After all others: their heading stays for what follows.
    #[command(flatten)]
    pub(crate) files: PictureFiles,
    #[command(flatten)]
    pub(crate) figure: FigureOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort methods
  consort methods qg-gutm
  consort methods --json
  consort methods --markdown")]
pub(crate) struct MethodsOptions {
    /// Show only this method, with its parameters
    pub(crate) method: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the table of docs/methods.md
    #[arg(long, conflicts_with_all = ["json", "method"])]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  consort bench method --params 272474
  consort bench step --model resnet20
  consort bench train --model vgg11")]
pub(crate) struct BenchOptions {
    #[command(subcommand)]
    pub(crate) what: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Nanoseconds per parameter of each method: its local step and its mix, on one core
    #[command(alias = "beat")]
    Method(BenchMethodOptions),
    /// Images per second of training steps, one agent per thread
    Step(StepOptions),
    /// Images per second of a whole run compared with steps alone, and where the time goes
    Train(BenchTrainOptions),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort bench step                               the paper's four models
  consort bench step --model resnet20 --profile    where the time goes
  consort bench step --model lenet5 --threads 1 --json")]
pub(crate) struct StepOptions {
    /// Model: lenet5, vgg11, resnet20 (any depth 6k+2), mobilenet-v2, ..., or a TOML file
    /// [default: these four, one after the other]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Number of agents, each on its own thread [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Images per step
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=65536))]
    pub(crate) batch: u64,
    /// Images that run through all layers together [default: what keeps them in cache]
    #[arg(long, alias = "piece", value_parser = clap::value_parser!(u64).range(1..=65536))]
    pub(crate) micro_batch: Option<u64>,
    /// How 3x3 convolutions are computed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) convolution: Convolution,
    /// Instruction set: portable, avx2, avx512 or neon [default: the widest of this machine]
    #[arg(long, alias = "path")]
    pub(crate) isa: Option<String>,
    /// Print where the time of a step goes, on one thread
    #[arg(long, conflicts_with_all = ["json", "threads"])]
    pub(crate) profile: bool,
    /// Seconds to measure
    #[arg(long, default_value_t = 3.0, allow_negative_numbers = true)]
    pub(crate) seconds: f64,
    /// Print JSON, one line per model
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Parts of a run and of `bench step` alternate, so that noise affects both. All agents of the
run are in this process, as in `consort train`. A missing dataset is replaced by made-up images.

Examples:
  consort bench train                              the paper's four models, about two minutes
  consort bench train --model vgg11 --method dsgd --seconds 10
  consort bench train --model lenet5 --threads 1 --json"
)]
pub(crate) struct BenchTrainOptions {
    /// Model: lenet5, vgg11, resnet20 (any depth 6k+2), mobilenet-v2, ..., or a TOML file
    /// [default: these four, one after the other]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Method of the agents
    #[arg(long, default_value = "qg-gutm")]
    pub(crate) method: String,
    /// Graph, for example ring:16 with 16 agents
    #[arg(long, default_value = "ring:16")]
    pub(crate) graph: String,
    /// Samples in the mini-batch of an agent
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=65536))]
    pub(crate) batch: u64,
    /// Epochs between two evaluations of the averaged model on the whole test set
    /// [default: as in the presets of the paper's tables, 1 for lenet5 and 2 for others]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) evaluate_every: Option<f64>,
    /// Worker threads [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Seconds to measure the run; the steps take as long again
    #[arg(long, default_value_t = 8.0, allow_negative_numbers = true)]
    pub(crate) seconds: f64,
    /// Print JSON, one line per model
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

/// The algorithm of 3x3 convolutions with stride 1; all others are computed directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Convolution {
    /// The fastest algorithm for each layer
    #[default]
    Auto,
    /// The direct sum
    Direct,
    /// Winograd's algorithm on tiles of 2x2: as accurate as the direct sum
    Winograd2,
    /// Winograd's algorithm on tiles of 4x4: about ten times the rounding error
    Winograd4,
}

impl fmt::Display for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Convolution::Auto => "auto",
            Convolution::Direct => "direct",
            Convolution::Winograd2 => "winograd2",
            Convolution::Winograd4 => "winograd4",
        })
    }
}

impl From<Convolution> for ConvAlgorithm {
    fn from(convolution: Convolution) -> Self {
        match convolution {
            Convolution::Auto => ConvAlgorithm::Auto,
            Convolution::Direct => ConvAlgorithm::Direct,
            Convolution::Winograd2 => ConvAlgorithm::Winograd2,
            Convolution::Winograd4 => ConvAlgorithm::Winograd4,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort bench method
  consort bench method --params 9750000 --methods gut,qg-gutm --json")]
pub(crate) struct BenchMethodOptions {
    /// Parameters of the model; ResNet-20 has 272474
    #[arg(long, default_value_t = 272_474, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) params: u64,
    /// Number of messages to mix, the agent's own included (3 on a ring)
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) senders: u64,
    /// Methods, separated by commas [default: all]
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Seconds to measure each method
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub(crate) seconds: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
