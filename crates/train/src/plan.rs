//! What a configuration means: everything named in it found, built and checked.

use std::path::Path;
use std::sync::Arc;

use consort_data::{DataDir, Dataset, Partition, Scheme};
use consort_model::{ModelError, ModelSpec, Parameters, zoo};

use crate::config::Config;
use crate::error::TrainError;
use crate::model_card::{CardTraining, ModelCard};
use crate::network::{PlannedMethod, PlannedNetwork};

/// A run, ready to start.
pub struct Plan {
    /// What the user wrote, defaults filled in.
    pub config: Config,
    /// The data.
    pub dataset: Arc<Dataset>,
    /// How they are shared out.
    pub scheme: Scheme,
    /// The model.
    pub model: ModelSpec,
    /// Its parameters.
    pub parameters: Parameters,
    /// Who talks to whom, by which methods.
    pub network: PlannedNetwork,
}

impl Plan {
    /// Finds, builds and checks everything; loads the data.
    ///
    /// # Errors
    /// Says which part of the configuration cannot be used, and why.
    pub fn new(config: &Config, data_dir: &DataDir) -> Result<Self, TrainError> {
        Self::with_network(PlannedNetwork::new(config)?, config, data_dir)
    }

    /// [`new`](Self::new), where the network of the same configuration is at hand.
    ///
    /// # Errors
    /// As there.
    pub fn with_network(
        network: PlannedNetwork,
        config: &Config,
        data_dir: &DataDir,
    ) -> Result<Self, TrainError> {
        let scheme: Scheme = config.partition.parse()?;
        Self::with_dataset(network, scheme, config, Arc::new(load_data(config, data_dir)?))
    }

    /// [`with_network`](Self::with_network), where the data are at hand too.
    ///
    /// # Errors
    /// If the model does not exist or does not fit the data.
    pub fn with_dataset(
        network: PlannedNetwork,
        scheme: Scheme,
        config: &Config,
        dataset: Arc<Dataset>,
    ) -> Result<Self, TrainError> {
        let model = find_model(&config.model, &dataset)?;
        let parameters = Parameters::new(&model)?;
        Ok(Plan { config: config.clone(), dataset, scheme, model, parameters, network })
    }

    /// Mini-batches in which an agent passes over its data once, on average.
    pub fn batches_per_epoch(&self, partition: &Partition) -> f64 {
        let batches =
            partition.shares().iter().map(|share| share.len().div_ceil(self.config.batch));
        let count = partition.agents().max(1);
        batches.sum::<usize>().max(1) as f64 / count as f64
    }

    /// Rounds of a trial.
    pub fn rounds(&self, rounds_per_epoch: f64) -> u64 {
        self.config.rounds_of(rounds_per_epoch)
    }

    /// Test samples for each agent's own model.
    pub(crate) fn agent_samples(&self) -> usize {
        const ALL_AGENTS: usize = 16_000;
        const AT_LEAST: usize = 100;
        let test = self.dataset.test.labels.len();
        let usual = (ALL_AGENTS / self.network.topology.agents().max(1)).max(AT_LEAST);
        self.config.evaluation.agent_samples.unwrap_or(usual).min(test)
    }

    /// What a saved model is, for the header of its file.
    pub fn about(&self, method: &PlannedMethod, seed: u64) -> String {
        let (model, data, graph) =
            (&self.model.name, &self.dataset.name, self.network.topology.name());
        let method = &method.analysis.method;
        format!("{model} trained on {data} over {graph} by {method}, seed {seed}")
    }

    /// What the file of a saved model says about it.
    pub fn card(&self, method: &PlannedMethod, seed: u64) -> ModelCard {
        let training = CardTraining {
            method: method.analysis.method.to_string(),
            graph: self.network.topology.name().to_string(),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let card = ModelCard::new(self.model.clone(), &self.dataset, &self.config.data);
        ModelCard { about: self.about(method, seed), training: Some(training), ..card }
    }
}

/// The data of a run, validation samples set apart if `config` wants some. A sweep has no test
/// samples.
///
/// # Errors
/// If the data cannot be found or read, or are too few to set some apart.
pub fn load_data(config: &Config, data_dir: &DataDir) -> Result<Dataset, TrainError> {
    let dataset = consort_data::load(&config.data, data_dir)?;
    let dataset = match config.validation {
        Some(share) => dataset.with_validation(share)?,
        None => dataset,
    };
    Ok(if config.sweep.is_empty() { dataset } else { dataset.without_test() })
}

/// A model by name, for the shape of the data; or from a file, which must fit them.
///
/// # Errors
/// If there is no such model, the file cannot be used, or it does not fit the data.
pub fn find_model(name: &str, dataset: &Dataset) -> Result<ModelSpec, TrainError> {
    let (input, classes) = (dataset.input, dataset.outputs());
    if !zoo::is_file(name) {
        return zoo::for_input(name, input, classes).map_err(|reason| {
            let [height, width, channels] = input;
            let input = format!("{height}x{width}x{channels}");
            TrainError::NoModel { model: name.into(), input, classes, reason: reason.into() }
        });
    }
    let spec = ModelSpec::read(Path::new(name)).map_err(|error| match error {
        // These name the file themselves.
        error @ (ModelError::NoFile { .. } | ModelError::File { .. }) => TrainError::Model(error),
        error => TrainError::ModelFile { path: name.into(), reason: error.to_string() },
    })?;
    if (spec.input, spec.classes) != (input, classes) {
        let got = match dataset.task.target() {
            None => format!("{input:?} and {classes}"),
            Some(target) => format!("{input:?} and 1, for the number `{}`", target.name),
        };
        return Err(TrainError::ModelAndData {
            model: name.into(),
            expected: format!("{:?} and {} classes", spec.input, spec.classes),
            data: dataset.name.clone(),
            got,
        });
    }
    Ok(spec)
}
