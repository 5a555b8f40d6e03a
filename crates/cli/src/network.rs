//! From the user's arguments to a graph, its weights and its spectrum.

use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology, product_gap};

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
        let weights_name = match mixing {
            MixingSpec::Auto if topology.is_undirected() && !topology.at(0).is_regular() => {
                "metropolis".into()
            }
            MixingSpec::Auto => "uniform".into(),
            named => named.to_string(),
        };
        let seed = spec.needs_seed().then_some(options.graph_seed);
        Ok(Network { spec, topology, weights, weights_name, seed })
    }

    /// The same, but a graph that is not connected is an error.
    pub(crate) fn build_connected(graph: &str, options: &WeightOptions) -> Result<Self, Failure> {
        let network = Network::build(graph, options)?;
        network.require_connected()?;
        Ok(network)
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

    /// For a graph that changes: the factor by which disagreement shrinks per round, averaged over
    /// a period.
    pub(crate) fn rate_of_a_period(&self) -> Option<f64> {
        let period = self.topology.period();
        let gap = product_gap(&self.weights).filter(|_| period > 1)?;
        Some((1.0 - gap).max(0.0).powf(1.0 / period as f64))
    }

    /// The spectrum of the first phase's matrix.
    pub(crate) fn spectrum(&self) -> Result<Spectrum, Failure> {
        Spectrum::of(&self.weights[0]).or_work()
    }
}
