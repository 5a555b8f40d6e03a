//! What can go wrong in a run.

use std::path::{Path, PathBuf};

use consort_algo::MethodError;
use consort_data::{BatchSamplerError, DataError, PartitionError};
use consort_graph::{GraphError, MixingError, SpectrumError};
use consort_model::ModelError;
use consort_records::RecordsError;
use consort_sim::SimError;
use consort_theory::{AdmissionError, StabilityError};
use thiserror::Error;

use crate::config::ConfigError;

/// Why a run cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The configuration itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Its weights.
    #[error(transparent)]
    Mixing(#[from] MixingError),
    /// The spectrum of its weights.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// One of its methods.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A method that does not go with the graph.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A method on a graph of which nothing can be said.
    #[error(transparent)]
    Stability(#[from] StabilityError),
    /// Its data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// How the data are shared out.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// Mini-batches of it.
    #[error(transparent)]
    Batches(#[from] BatchSamplerError),
    /// Its model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A round that failed.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A loss that grows beyond all use, long before it is no number any more.
    #[error(
        "round {round}: the {what} loss is {loss:.2e}; lower the step size or mu, or set \
         clip-norm (`consort analyze` tells the stable range of mu)"
    )]
    RunawayLoss {
        /// How many rounds were over.
        round: u64,
        /// Training, test or validation.
        what: &'static str,
        /// How large it is.
        loss: f64,
    },
    /// A file of the run.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A model that is not known, or not for such data.
    #[error("model {model} for images of {input} and {classes} classes: {reason}")]
    NoModel {
        /// The model.
        model: String,
        /// Height, width and channels of the data.
        input: String,
        /// How many classes they have.
        classes: usize,
        /// What is wrong.
        reason: Box<ModelError>,
    },
    /// A model file that cannot be used.
    #[error("model {path}: {reason}")]
    ModelFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What a model file says about its model cannot be used.
    #[error("the metadata of the model file, '{key}': {problem}")]
    Card {
        /// The key.
        key: &'static str,
        /// What is wrong with its text.
        problem: String,
    },
    /// A model for other data.
    #[error("model {model} is for images of {expected}, but {data} has {got}")]
    ModelAndData {
        /// The model.
        model: String,
        /// What it takes.
        expected: String,
        /// The data.
        data: String,
        /// What they have.
        got: String,
    },
    /// Mixing over the run that a method cannot do.
    #[error("{method} cannot have `{what}`: {reason}. {instead}")]
    Mix {
        /// The method.
        method: String,
        /// The key of `schedule.mix`.
        what: &'static str,
        /// Why not.
        reason: &'static str,
        /// What works.
        instead: &'static str,
    },
    /// A later graph with another number of agents.
    #[error(
        "`mix.graphs`: {graph} has {got} agents, but the run has {expected}; agents cannot come or go"
    )]
    MixAgents {
        /// The later graph.
        graph: String,
        /// How many agents the run has.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// Two methods that could not be told apart in a table.
    #[error("two methods are called {label}; give one of them a label of its own")]
    SameLabel {
        /// The name of both.
        label: String,
    },
    /// A checkpoint that cannot be used.
    #[error("checkpoint {}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder that is no run, or another one.
    #[error("{}: {reason}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl TrainError {
    /// True if numbers grew beyond all bounds: the method's fault, not the machine's.
    pub fn is_divergence(&self) -> bool {
        match self {
            TrainError::Sim(error) => error.is_divergence(),
            TrainError::RunawayLoss { .. } => true,
            _ => false,
        }
    }
}

/// What the file system or a parser says of a file of the run.
pub(crate) fn folder_error(path: &Path, error: impl std::fmt::Display) -> TrainError {
    TrainError::Folder { path: path.to_owned(), reason: error.to_string() }
}
