//! From the words of the user to graph, weights and spectrum.

use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology, product_gap};
use consort_theory::RunStability;

use crate::arguments::WeightOptions;
use crate::failure::{Blame, Failure};

/// A graph with its weights, before any averaging rate.
pub(crate) struct Network {
    pub(crate) spec: GraphSpec,
    pub(crate) topology: Topology,
    /// One matrix per phase of the graph.
    pub(crate) weights: Vec<MixingMatrix>,
    /// Which weights these are, `auto` resolved.
    pub(crate) weights_name: String,
    /// The seed, if the graph is a random one.
    pub(crate) seed: Option<u64>,
}

impl Network {
    /// Parses and builds; every error is the input's.
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

    /// The same, and refuses a graph on which agents cannot agree.
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

    /// The factor by which a period shrinks disagreement, per round, if the graph changes.
    pub(crate) fn rate_of_a_period(&self) -> Option<f64> {
        let period = self.topology.period();
        let gap = product_gap(&self.weights).filter(|_| period > 1)?;
        Some((1.0 - gap).max(0.0).powf(1.0 / period as f64))
    }

    /// What every method is to be analysed with; `first` is the spectrum of the first phase.
    pub(crate) fn stability(&self, first: &Spectrum) -> RunStability {
        RunStability::new(&self.weights, first)
    }

    /// The spectrum of the first phase's matrix.
    pub(crate) fn spectrum(&self) -> Result<Spectrum, Failure> {
        Spectrum::of(&self.weights[0]).or_work()
    }
}
