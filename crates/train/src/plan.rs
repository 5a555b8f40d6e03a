//! What a configuration means: everything named in it found, built and checked.

use std::sync::Arc;

use consort_algo::Method;
use consort_data::{DataDir, Dataset, Partition, Scheme};
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology};
use consort_model::{ModelSpec, Parameters, zoo};
use consort_theory::{Analysis, Question, admit, resolve};

use crate::config::{Config, MethodEntry};
use crate::error::TrainError;

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
    /// Who talks to whom.
    pub topology: Topology,
    /// The spectrum of the mixing matrix, before any averaging rate.
    pub spectrum: Spectrum,
    /// The methods, in the order of the configuration.
    pub methods: Vec<PlannedMethod>,
    /// Messages of a round, all agents together, per phase of the graph.
    messages: Vec<u64>,
}

/// A method with mu and gamma as numbers.
pub struct PlannedMethod {
    /// As the user wrote it: the key of its colour.
    pub key: String,
    /// Its name in tables and legends.
    pub label: String,
    /// What it runs as.
    pub method: Method,
    /// The mixing matrices, averaging rate included.
    pub weights: Vec<MixingMatrix>,
    /// What is known before the run.
    pub analysis: Analysis,
    /// The step size at the start.
    pub eta: f64,
    /// How much of the model is added to its gradient.
    pub weight_decay: f64,
}

impl PlannedMethod {
    /// True if the method keeps the mixed model of its neighbours up to date from updates.
    pub fn rebuilds_neighbours(&self) -> bool {
        let method = &self.method;
        method.name.tracks() && method.gradient_at == consort_algo::GradientAt::Mixed
    }

    /// Floats that an agent keeps for every parameter of the model, the two messages in flight
    /// included.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn floats_per_parameter(&self, senders: usize) -> Result<f64, TrainError> {
        const PROBE: usize = 64;
        let mut algorithm = self.method.build(&[0.0; PROBE], senders)?;
        let sent = 2 * algorithm.message_len();
        let kept: usize = algorithm.tensors().iter().map(|tensor| tensor.values.len()).sum();
        Ok((kept + sent) as f64 / PROBE as f64)
    }
}

impl Plan {
    /// Finds, builds and checks everything; loads the data.
    ///
    /// # Errors
    /// Says which part of the configuration cannot be used, and why.
    pub fn of(config: &Config, data_dir: &DataDir) -> Result<Self, TrainError> {
        let spec: GraphSpec = config.graph.parse()?;
        let topology = spec.build(config.graph_seed)?;
        let weights = config.weights.parse::<MixingSpec>()?.build_all(&topology)?;
        let spectrum = Spectrum::of(&weights[0])?;
        let planned =
            |entry: &MethodEntry| plan_method(entry, config, &topology, &weights, &spectrum);
        let methods = config.methods.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        for (k, planned) in methods.iter().enumerate() {
            if methods[..k].iter().any(|other| other.label == planned.label) {
                return Err(TrainError::SameLabel { label: planned.label.clone() });
            }
        }
        let scheme: Scheme = config.partition.parse()?;
        let dataset = Arc::new(consort_data::load(&config.data, data_dir)?);
        let model = find_model(&config.model, &dataset)?;
        let parameters = Parameters::of(&model)?;
        let messages = weights.iter().map(messages_of).collect();
        let config = config.clone();
        Ok(Plan {
            config,
            dataset,
            scheme,
            model,
            parameters,
            topology,
            spectrum,
            methods,
            messages,
        })
    }

    /// Rounds in which the agents pass over their data once, on average.
    pub fn rounds_per_epoch(&self, partition: &Partition) -> f64 {
        let batches =
            partition.shares().iter().map(|share| share.len().div_ceil(self.config.batch));
        let count = partition.agents().max(1);
        batches.sum::<usize>().max(1) as f64 / count as f64
    }

    /// Rounds of a trial.
    pub fn rounds(&self, rounds_per_epoch: f64) -> u64 {
        match (self.config.rounds, self.config.epochs) {
            (Some(rounds), _) => rounds,
            (None, epochs) => (epochs.unwrap_or(1.0) * rounds_per_epoch).round().max(1.0) as u64,
        }
    }

    /// Messages sent in the first `rounds` rounds, all agents together.
    pub fn messages_until(&self, rounds: u64) -> u64 {
        let period = self.messages.len() as u64;
        let a_period: u64 = self.messages.iter().sum();
        let rest = &self.messages[..(rounds % period) as usize];
        rounds / period * a_period + rest.iter().sum::<u64>()
    }

    /// Test samples for each agent's own model.
    pub(crate) fn agent_samples(&self) -> usize {
        const ALL_AGENTS: usize = 16_000;
        const AT_LEAST: usize = 100;
        let test = self.dataset.test.labels.len();
        let usual = (ALL_AGENTS / self.topology.agents().max(1)).max(AT_LEAST);
        self.config.evaluation.agent_samples.unwrap_or(usual).min(test)
    }

    /// What a saved model is, for the header of its file.
    pub(crate) fn about(&self, method: &PlannedMethod, seed: u64) -> String {
        let (model, data, graph) = (&self.model.name, &self.dataset.name, self.topology.name());
        let method = &method.analysis.method;
        format!("{model} trained on {data} over {graph} by {method}, seed {seed}")
    }

    /// Most neighbours that an agent hears, itself included.
    pub fn most_senders(&self) -> usize {
        let agents = 0..self.topology.agents();
        let heard = |agent| self.methods[0].weights.iter().map(move |w| w.row(agent).count());
        agents.flat_map(heard).max().unwrap_or(1)
    }
}

/// Messages of one round with these weights.
fn messages_of(weights: &MixingMatrix) -> u64 {
    let heard = |agent: usize| weights.row(agent).filter(|&(from, _)| from != agent).count();
    (0..weights.agents()).map(heard).sum::<usize>() as u64
}

fn plan_method(
    entry: &MethodEntry,
    config: &Config,
    topology: &Topology,
    weights: &[MixingMatrix],
    spectrum: &Spectrum,
) -> Result<PlannedMethod, TrainError> {
    let method: Method = entry.method.parse()?;
    let resolved = resolve(&method, spectrum);
    let analysis = Analysis::of(&Question::new(resolved.method), spectrum);
    admit(&resolved.method, topology, weights, analysis.lambda_min)?;
    let slowed = weights.iter().map(|w| w.clone().with_averaging_rate(resolved.gamma));
    Ok(PlannedMethod {
        key: entry.method.clone(),
        label: entry.label.clone().unwrap_or_else(|| entry.method.clone()),
        method: resolved.method,
        weights: slowed.collect::<Result<_, _>>()?,
        analysis,
        eta: entry.eta.unwrap_or(config.eta),
        weight_decay: entry.weight_decay.unwrap_or(config.weight_decay),
    })
}

/// A model by name, for the shape of the data; or from a file, which must fit them.
///
/// # Errors
/// If there is no such model, the file cannot be used, or it does not fit the data.
pub fn find_model(name: &str, dataset: &Dataset) -> Result<ModelSpec, TrainError> {
    let (input, classes) = (dataset.input, dataset.classes.len());
    if !name.ends_with(".toml") {
        return zoo::for_input(name, input, classes).map_err(|reason| {
            let [height, width, channels] = input;
            let input = format!("{height}x{width}x{channels}");
            TrainError::NoModel { model: name.into(), input, classes, reason: reason.into() }
        });
    }
    let text = std::fs::read_to_string(name).map_err(|source| TrainError::ModelFile {
        path: name.into(),
        reason: source.to_string(),
    })?;
    let spec = ModelSpec::from_toml(&text)
        .map_err(|error| TrainError::ModelFile { path: name.into(), reason: error.to_string() })?;
    if (spec.input, spec.classes) != (input, classes) {
        return Err(TrainError::ModelAndData {
            model: name.into(),
            expected: format!("{:?} and {} classes", spec.input, spec.classes),
            data: dataset.name.clone(),
            got: format!("{input:?} and {classes}"),
        });
    }
    Ok(spec)
}
