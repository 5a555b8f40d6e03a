//! The flags of `eval`, `predict`, `export` and `model`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};

use super::{DataOptions, WorkOptions};

/// A model file, and what it does not say itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct SavedModelOptions {
    /// Model in safetensors, with PyTorch's names
    #[arg(value_name = "MODEL")]
    pub(crate) file: PathBuf,
    /// Model: a name or a TOML file [default: what the file says, else its run]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Dataset it was trained on [default: what the file says, else its run]
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The file itself says which model it is, on what data it was trained, and how they were scaled.
Files of older versions and of other programs do not: their run says it, or --model and --data.

Examples:
  consort eval runs/digits-ring-16/trials/1-dsgd-seed-1/model.safetensors
  consort eval lab/model.safetensors
  consort eval model.safetensors --data fashion-mnist --model lenet5"
)]
pub(crate) struct EvalOptions {
    /// Model in safetensors, with PyTorch's names
    #[arg(value_name = "MODEL")]
    pub(crate) file: PathBuf,
    /// Dataset whose test set is used [default: that on which the model was trained]
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// Model: a name or a TOML file [default: what the file says, else its run]
    #[arg(long)]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Images are JPEG or PNG; of another size they are scaled as the training images were. A model of
one channel sees the brightness of a coloured image. Columns of a table are found by their names.
The exit code is 1 if a file or a row could not be used; all others are predicted.

Examples:
  consort predict model.safetensors cat.jpg dog.png
  consort predict model.safetensors photos --top 3 --format csv
  consort predict model.safetensors new.csv --format json
  consort predict old.safetensors photos --model lenet5 --data fashion-mnist"
)]
pub(crate) struct PredictOptions {
    #[command(flatten)]
    pub(crate) model: SavedModelOptions,
    /// Images, folders of images, or tables in CSV
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// How many classes to show, the most probable first
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) top: u64,
    /// Format of the result; CSV has the probability of every class
    #[arg(long, value_enum, default_value_t = PredictFormat::Table)]
    pub(crate) format: PredictFormat,
    /// Also print the numbers before the softmax, in CSV and JSON
    #[arg(long)]
    pub(crate) logits: bool,
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
}

/// The format of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictFormat {
    /// Plain text, for a terminal
    Table,
    /// CSV, for a spreadsheet
    Csv,
    /// JSON, for a program
    Json,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The exported model takes raw input and scales it itself: images as [batch, channels, height,
width] with pixels from 0 to 1, tables as [batch, columns] in the units of the file, categories
as columns of 0 and 1. With --scaled it takes what the model saw in training.

ONNX: operator set 17; the input is `image` or `columns`, the outputs are `logits` and
`probabilities` (of a regression `value`). PyTorch: a readable nn.Module, with `load(MODEL)`.

Examples:
  consort export model.safetensors --onnx model.onnx
  consort export model.safetensors --onnx model.onnx --batch 1
  consort export model.safetensors --torch model.py"
)]
pub(crate) struct ExportOptions {
    #[command(flatten)]
    pub(crate) model: SavedModelOptions,
    /// Write an ONNX file
    #[arg(long, value_name = "FILE", required_unless_present = "torch")]
    pub(crate) onnx: Option<PathBuf>,
    /// Write PyTorch source that loads the model file
    #[arg(long, value_name = "FILE.py")]
    pub(crate) torch: Option<PathBuf>,
    /// Samples that the ONNX file takes at a time: dynamic, or a number
    #[arg(long, default_value = "dynamic", value_name = "BATCH", requires = "onnx")]
    pub(crate) batch: BatchSize,
    /// Take input that is scaled already, as the model saw it in training
    #[arg(long)]
    pub(crate) scaled: bool,
}

/// `dynamic`, or a number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchSize(pub(crate) Option<usize>);

impl FromStr for BatchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "dynamic" => Ok(BatchSize(None)),
            text => match text.parse() {
                Ok(size) if size > 0 => Ok(BatchSize(Some(size))),
                _ => Err("expected `dynamic` or a number from 1".into()),
            },
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort model list
  consort model show lenet5
  consort model template                  to start from: add > own.toml")]
pub(crate) struct ModelOptions {
    #[command(subcommand)]
    pub(crate) action: ModelAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelAction {
    /// List the built-in models
    #[command(after_help = "Example:\n  consort model list --json")]
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the layers, shapes, parameters, operations and memory of a model
    #[command(after_help = "Examples:
  consort model show lenet5
  consort model show resnet20 --input 64x64x3 --classes 5
  consort model show vgg11 --data cifar10
  consort model show lenet5 --toml        to change it: add > own.toml
  consort model show own.toml
  consort model show model.safetensors")]
    Show {
        /// Model: a built-in name, a TOML file, or a saved model
        #[arg(value_name = "MODEL")]
        model: String,
        /// Print it as TOML, to change it
        #[arg(long, conflicts_with = "json")]
        toml: bool,
        /// Show it for the images and classes of this dataset
        #[arg(long, conflicts_with_all = ["input", "classes"])]
        data: Option<String>,
        /// Show it for inputs of this height, width and channels, as in 28x28x1
        #[arg(long, value_name = "HxWxC")]
        input: Option<InputSize>,
        /// Show it for this many classes [default: 10]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        classes: Option<u64>,
        #[command(flatten)]
        data_options: DataOptions,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a model with every kind of layer, commented: something to start from
    #[command(after_help = "Example:
  consort model template                  to start from: add > own.toml")]
    Template,
}

/// Height, width and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputSize(pub(crate) [usize; 3]);

impl FromStr for InputSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LARGEST: usize = 1 << 20;
        let sides = text.split('x').map(|side| side.trim().parse().ok());
        let sides: Option<Vec<usize>> = sides.collect();
        let sides = sides.filter(|sides| sides.iter().all(|side| (1..=LARGEST).contains(side)));
        match sides.as_deref() {
            Some(&[height, width, channels]) => Ok(InputSize([height, width, channels])),
            Some(&[height, width]) => Ok(InputSize([height, width, 1])),
            _ => Err("expected height, width and channels, as in 28x28x1".into()),
        }
    }
}
