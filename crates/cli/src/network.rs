//! From the user's arguments to a graph, its weights and its spectrum.

use consort_algo::Method;
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, PeriodFacts, Spectrum, Topology};
use consort_theory::{RunStability, graph_of};

use crate::arguments::WeightOptions;
use crate::failure::{Blame, Failure};

/// A graph with its weights; no averaging rate is applied.
pub(crate) struct Network {
    pub(crate) spec: GraphSpec,
    pub(crate) topology: Topology,
    /// One matrix per phase of the graph.
    pub(crate) weights: Vec<MixingMatrix>,
    /// The name of the weights, with `auto` resolved.
    pub(crate) weights_name: String,
    /// The seed, if the graph is random.
    pub(crate) seed: Option<u64>,
}

impl Network {
    /// Parses and builds the graph. Every error is wrong input.
    pub(crate) fn build(graph: &str, options: &WeightOptions) -> Result<Self, Failure> {
        let spec: GraphSpec = graph.parse().or_input()?;
        let topology = spec.build(options.graph_seed).or_input()?;
        let mixing: MixingSpec = options.weights.parse().or_input()?;
        let weights = mixing.build_all(&topology).or_input()?;
        let weights_name = mixing.resolved(&topology).to_string();
        let seed = spec.needs_seed().then_some(options.graph_seed);
        Ok(Network { spec, topology, weights, weights_name, seed })
    }

    /// The same, but a graph that is not connected is an error.
    pub(crate) fn build_connected(graph: &str, options: &WeightOptions) -> Result<Self, Failure> {
        let network = Network::build(graph, options)?;
        network.require_connected()?;
        Ok(network)
    }

    /// The network on which `method` runs, if it is not this one ([`graph_of`]).
    pub(crate) fn of_method(&self, method: &Method) -> Result<Option<Self>, Failure> {
        let Some(topology) = graph_of(method, &self.topology).or_input()? else { return Ok(None) };
        let spec: GraphSpec = topology.name().parse().or_input()?;
        let weights = MixingSpec::Auto.build_all(&topology).or_input()?;
        let weights_name = MixingSpec::Auto.resolved(&topology).to_string();
        Ok(Some(Network { spec, topology, weights, weights_name, seed: self.seed }))
    }

    pub(crate) fn require_connected(&self) -> Result<(), Failure> {
        if self.topology.union().is_connected() {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{} is not connected, so its agents cannot agree on one model; add edges",
            self.topology.name()
        )))
    }

    /// What a period does to disagreement, if the graph changes.
    pub(crate) fn period(&self) -> Option<PeriodFacts> {
        if self.topology.is_fixed() { None } else { PeriodFacts::new(&self.weights) }
    }

    /// What every method is to be analysed with; `spectrum` stands for all phases.
    pub(crate) fn stability(&self, spectrum: &Spectrum) -> RunStability {
        RunStability::new(&self.weights, spectrum)
    }

    /// The spectrum of the matrix, or what stands for it if the graph changes.
    pub(crate) fn spectrum(&self) -> Result<Spectrum, Failure> {
        Spectrum::from_period(&self.weights).or_work()
    }
}
