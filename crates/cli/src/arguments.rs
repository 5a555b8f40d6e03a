//! The flags, as the user writes them. What they mean is settled in `commands`.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use consort_model::ConvAlgorithm;

mod nodes;
mod reproduce;
mod theory;
mod training;

pub(crate) use nodes::{AgentOptions, InitOptions, LaunchOptions};
pub(crate) use reproduce::{ComparisonFormat, ReproduceOptions};
pub(crate) use theory::TheoryOptions;
pub(crate) use training::{
    CompareOptions, DataAction, DataOptions, DatasetOptions, EvalOptions, JobTransport,
    ResumeOptions, SettingOptions, TableFormat, TrainOptions, WorkOptions,
};

/// Decentralized learning: many agents, each with its own data, train one model
/// together with no server.
#[derive(Debug, Parser)]
#[command(name = "consort", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  consort train                                  four methods on digits, a few seconds
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
    /// Go on with an interrupted run
    Resume(ResumeOptions),
    /// Make a plan and keys for agents that are processes of their own
    Init(InitOptions),
    /// Run one agent of a plan, on its own machine, with its own data
    Agent(AgentOptions),
    /// Run all agents of a plan on this machine, for a first try
    Launch(LaunchOptions),
    /// One table and one set of plots from many runs
    Compare(CompareOptions),
    /// Run the paper's tables and figures, and show ours beside the paper's
    Reproduce(ReproduceOptions),
    /// Evaluate a saved model
    Eval(EvalOptions),
    /// List, download, check or look at datasets
    Data(DatasetOptions),
    /// Let agents agree on the average of their vectors, and plot how fast
    Consensus(ConsensusOptions),
    /// Tell before a run whether it is stable, how fast, and which mu to use
    Analyze(AnalyzeOptions),
    /// Check what the paper proves, where every constant is known
    Theory(TheoryOptions),
    /// Show a graph: its facts, its spectrum, its picture
    Graph(GraphOptions),
    /// List every method: source, parameters, traffic, memory, accepted graphs
    Methods(MethodsOptions),
    /// Measure the speed of the algorithms on this machine
    Bench(BenchOptions),
}

/// How the graph gets its weights.
#[derive(Clone, Debug, Args)]
pub(crate) struct WeightOptions {
    /// Mixing weights: auto (uniform on regular graphs, metropolis elsewhere), uniform,
    /// metropolis, max-degree, lazy, or file:PATH
    #[arg(long, default_value = "auto", value_name = "WEIGHTS")]
    pub(crate) weights: String,
    /// Seed of random graphs
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub(crate) graph_seed: u64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Methods are gossip, gut, qg-gossip, qg-gut (the paper's figure), or any method of
`consort methods` with parameters, as in gut:reading=released,mu=0.9.

Examples:
  consort consensus                          the paper's three panels: 64, 128, 256 agents
  consort consensus --graph ring:64 --dim 20000 --rounds 1000 --out my-figure
  consort consensus --graph ring:64 --dim 20000 --rounds 1000 --out my-figure --resume
  consort consensus --graph torus:4x8 --methods gossip,gut:reading=released,mu=0.3 --dim 2000"
)]
pub(crate) struct ConsensusOptions {
    /// Graph of a panel; repeat for several panels [default: ring:64 ring:128 ring:256]
    #[arg(long = "graph", value_name = "GRAPH")]
    pub(crate) graphs: Vec<String>,
    /// Coordinates that every agent holds
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) dim: u64,
    /// Rounds
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
    /// Which equations gossip, gut, qg-gossip and qg-gut mean
    #[arg(long, value_enum, default_value_t = Equations::Released)]
    pub(crate) equations: Equations,
    /// First seed of the starting vectors
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many seeds to run, counting up from --seed
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Worker threads [default: all cores]; any number gives the same bits
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Folder for consensus.svg, .png, .csv and .json [default: a fresh one in runs/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into --out even if it holds files
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Go on with an interrupted run in --out; it ends in the same bits
    #[arg(long, requires = "out", conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) weights: WeightOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Equations {
    /// What made the paper's figure: GUT as printed, the original quasi-global momentum
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
    /// Graph, as in ring:16 (`consort graph --list` shows all kinds)
    #[arg(long)]
    pub(crate) graph: String,
    /// Method, as in gut or qg-gutm:mu=0.05
    #[arg(long, alias = "algorithm", default_value = "gut")]
    pub(crate) method: String,
    /// Tracking scale from 0 to 1, or auto
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) mu: Option<String>,
    /// Momentum coefficient
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) beta: Option<String>,
    /// Reading of GUT: released, printed or printed-pytorch
    #[arg(long)]
    pub(crate) reading: Option<String>,
    /// Averaging rate above 0 up to 1, or auto: W <- (1-gamma) I + gamma W
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) gamma: Option<String>,
    /// Smoothness constant L of the losses, for the limits of Theorem 1
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
  consort graph file:my-graph.dot
  consort graph --list")]
pub(crate) struct GraphOptions {
    /// Graph, as in ring:16
    #[arg(required_unless_present = "list")]
    pub(crate) graph: Option<String>,
    /// List all kinds of graphs
    #[arg(long)]
    pub(crate) list: bool,
    /// Draw it into an SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw it into a PNG file
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// Averaging rate above 0 up to 1: W <- (1-gamma) I + gamma W
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) gamma: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) weights: WeightOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort methods
  consort methods qg-gutm
  consort methods --json")]
pub(crate) struct MethodsOptions {
    /// Show only this method, with its parameters
    pub(crate) method: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Images per second of a whole run, beside the steps alone, and where the time goes
    Train(BenchTrainOptions),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort bench step                               the paper's four models
  consort bench step --model resnet20 --profile    where the time goes
  consort bench step --model lenet5 --threads 1 --json")]
pub(crate) struct StepOptions {
    /// Built-in model: lenet5, vgg11, resnet20 (any depth 6k+2), mobilenet-v2, ...
    /// [default: these four, one after the other]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Agents at work, each on its own thread [default: all cores]
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
    after_help = "Slices of a run and of `bench step` take turns, so that noise hits both. All agents of
the run are in this process, as in `consort train`; data that are not there are made up.

Examples:
  consort bench train                              the paper's four models, about two minutes
  consort bench train --model vgg11 --method dsgd --seconds 10
  consort bench train --model lenet5 --threads 1 --json"
)]
pub(crate) struct BenchTrainOptions {
    /// Built-in model: lenet5, vgg11, resnet20 (any depth 6k+2), mobilenet-v2, ...
    /// [default: these four, one after the other]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Method of the agents
    #[arg(long, default_value = "qg-gutm")]
    pub(crate) method: String,
    /// Graph, as in ring:16, which has 16 agents
    #[arg(long, default_value = "ring:16")]
    pub(crate) graph: String,
    /// Samples in an agent's mini-batch
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=65536))]
    pub(crate) batch: u64,
    /// Epochs between two evaluations of the averaged model on the whole test set
    /// [default: as in the paper's tables here, 1 for lenet5 and 2 for others]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) evaluate_every: Option<f64>,
    /// Worker threads [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Seconds to measure of the run, and again of the steps
    #[arg(long, default_value_t = 8.0, allow_negative_numbers = true)]
    pub(crate) seconds: f64,
    /// Print JSON, one line per model
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

/// How convolutions with a 3x3 window of stride 1 are computed; others are always direct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Convolution {
    /// The fastest of the others for each layer
    #[default]
    Auto,
    /// The sum as it is written
    Direct,
    /// Winograd's method on tiles of 2x2: as accurate as the direct sum
    Winograd2,
    /// Winograd's method on tiles of 4x4: about ten times the rounding error
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
    /// Messages that are mixed, the agent's own included (a ring has 3)
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
