//! The part of a run that needs no data: who talks to whom, with which weights, by which methods.

use consort_algo::Method;
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology};
use consort_model::{ModelSpec, zoo};
use consort_theory::{Analysis, Question, RunStability, admit, resolve_on};

use crate::config::{Config, MethodEntry};
use crate::error::TrainError;
use crate::gradient_rule::GradientRule;
use crate::message_count::MessageCount;

/// Graph, weights and methods of a run, built and checked.
#[derive(Clone)]
pub struct PlannedNetwork {
    /// Who talks to whom.
    pub topology: Topology,
    /// The spectrum of the mixing matrix, before any averaging rate; of a graph that changes,
    /// what stands for it ([`Spectrum::of_period`]).
    pub spectrum: Spectrum,
    /// The methods, in the order of the configuration.
    pub methods: Vec<PlannedMethod>,
    /// Messages of all agents together.
    pub messages: MessageCount,
}

impl PlannedNetwork {
    /// Builds and checks what `config` says of graph, weights and methods.
    ///
    /// # Errors
    /// Says which part of the configuration cannot be used, and why.
    pub fn new(config: &Config) -> Result<Self, TrainError> {
        let spec: GraphSpec = config.graph.parse()?;
        let topology = spec.build(config.graph_seed)?;
        let weights = config.weights.parse::<MixingSpec>()?.build_all(&topology)?;
        let spectrum = Spectrum::of_period(&weights)?;
        let stability = RunStability::new(&weights, &spectrum);
        let longer = longer_steps(&config.model);
        let planned = |entry: &MethodEntry| {
            plan_method(entry, config, &topology, &weights, &stability, longer)
        };
        let methods = config.methods.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        for (k, planned) in methods.iter().enumerate() {
            if methods[..k].iter().any(|other| other.label == planned.label) {
                return Err(TrainError::SameLabel { label: planned.label.clone() });
            }
        }
        let messages = MessageCount::of_all(&weights);
        Ok(PlannedNetwork { topology, spectrum, methods, messages })
    }

    /// Most neighbours that an agent hears, itself included.
    pub fn most_senders(&self) -> usize {
        let agents = 0..self.topology.agents();
        let heard = |agent| self.methods[0].weights.iter().map(move |w| w.row(agent).count());
        agents.flat_map(heard).max().unwrap_or(1)
    }
}

/// A method with mu and gamma as numbers.
#[derive(Clone)]
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
    /// What is done to its gradients.
    pub rule: GradientRule,
}

impl PlannedMethod {
    /// True if the method keeps the mixed model of its neighbours up to date from updates.
    pub fn rebuilds_neighbours(&self) -> bool {
        let method = &self.method;
        let mixed = method.gradient_at == consort_algo::GradientAt::Mixed;
        // What coded messages leave out keeps it behind on purpose.
        let exact = method.codec == consort_algo::Compression::None;
        exact && mixed && method.name.tracks() && !method.name.is_push_sum()
    }

    /// Bytes that an agent keeps for a model of that many parameters, the two messages in flight
    /// included.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn bytes_of_agent(&self, parameters: usize, senders: usize) -> Result<u64, TrainError> {
        let mut algorithm = self.method.build(&vec![0.0; parameters], senders)?;
        let sent = 2 * algorithm.message_len();
        let kept: usize = algorithm.tensors().iter().map(|tensor| tensor.values.len()).sum();
        Ok(4 * (kept + sent) as u64)
    }

    /// Bytes of a message about a model of that many parameters.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn bytes_of_message(&self, parameters: usize) -> Result<u64, TrainError> {
        Ok(4 * self.method.message_len(parameters)? as u64)
    }
}

/// How many times as long `mu = auto` may make the steps of momentum: a model that does not
/// normalise bears a tenth more.
fn longer_steps(model: &str) -> f64 {
    const WITHOUT_NORMALISATION: f64 = 1.1;
    let spec = if model.ends_with(".toml") {
        std::fs::read_to_string(model).ok().and_then(|text| ModelSpec::from_toml(&text).ok())
    } else {
        // How many classes there are does not matter here.
        zoo::by_name(model, 10).ok()
    };
    // A model that is not there is told when the data are.
    if spec.is_some_and(|spec| spec.normalises()) { f64::INFINITY } else { WITHOUT_NORMALISATION }
}

fn plan_method(
    entry: &MethodEntry,
    config: &Config,
    topology: &Topology,
    weights: &[MixingMatrix],
    stability: &RunStability,
    longer: f64,
) -> Result<PlannedMethod, TrainError> {
    let method: Method = entry.method.parse()?;
    let stability = stability.of(&method)?;
    let resolved = resolve_on(&method, stability, longer);
    let analysis = Analysis::on(&Question::new(resolved.method), stability);
    admit(&resolved.method, topology, weights, analysis.lambda_min)?;
    let slowed = weights.iter().map(|w| w.clone().with_averaging_rate(resolved.gamma));
    Ok(PlannedMethod {
        key: entry.method.clone(),
        label: entry.label.clone().unwrap_or_else(|| entry.method.clone()),
        method: resolved.method,
        weights: slowed.collect::<Result<_, _>>()?,
        analysis,
        eta: entry.eta.unwrap_or(config.eta),
        rule: GradientRule {
            weight_decay: entry.weight_decay.unwrap_or(config.weight_decay),
            clip_norm: entry.clip_norm.or(config.clip_norm),
        },
    })
}
