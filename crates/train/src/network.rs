//! The part of a run that needs no data: who talks to whom, with which weights, by which methods.

use consort_algo::{
    Exchange, GradientsPerRound, Method, Recipients, RoundTraffic, Row, Site, Tunable,
};
use consort_graph::{GraphSpec, MixingMatrix, MixingSpec, Spectrum, Topology};
use consort_model::{ModelSpec, zoo};
use consort_sim::rows_of;
use consort_theory::{Analysis, Question, Resolved, RunStability, admit, graph_of, resolve_on};

use crate::config::{Config, GraphChange, MethodEntry};
use crate::error::TrainError;
use crate::gradient_rule::GradientRule;
use crate::message_count::MessageCount;
use crate::planned_mix::{LaterGraph, PlannedMix, mix_for};

/// Graph, weights and methods of a run, built and checked.
#[derive(Clone)]
pub struct PlannedNetwork {
    /// Who talks to whom.
    pub topology: Topology,
    /// The spectrum of the mixing matrix, before any averaging rate; of a graph that changes,
    /// what stands for it ([`Spectrum::from_period`]).
    pub spectrum: Spectrum,
    /// The methods, in the order of the configuration.
    pub methods: Vec<PlannedMethod>,
}

impl PlannedNetwork {
    /// Builds and checks what `config` says of graph, weights and methods.
    ///
    /// # Errors
    /// Says which part of the configuration cannot be used, and why.
    pub fn new(config: &Config) -> Result<Self, TrainError> {
        let (run, spectrum) = MethodGraph::of_run(&config.graph, config)?;
        Self::on_graph(config, run, spectrum, normalises(&config.model))
    }

    /// [`new`](Self::new), where the graph and its weights are at hand, and whether the model
    /// normalises.
    ///
    /// # Errors
    /// If a method cannot be used on this graph.
    pub fn from_parts(
        config: &Config,
        (topology, weights): (Topology, Vec<MixingMatrix>),
        normalises: bool,
    ) -> Result<Self, TrainError> {
        let spectrum = Spectrum::from_period(&weights)?;
        let stability = RunStability::new(&weights, &spectrum);
        let run = MethodGraph { topology, weights, stability };
        Self::on_graph(config, run, spectrum, normalises)
    }

    fn on_graph(
        config: &Config,
        run: MethodGraph,
        spectrum: Spectrum,
        normalises: bool,
    ) -> Result<Self, TrainError> {
        let topology = run.topology.clone();
        let later = later_graphs(&config.schedule.mix.graphs, config, &topology)?;
        let longer = if normalises { f64::INFINITY } else { WITHOUT_NORMALISATION };
        let planned = |entry: &MethodEntry| plan_method(entry, config, &run, &later, longer);
        let methods = config.methods.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        for (k, planned) in methods.iter().enumerate() {
            if methods[..k].iter().any(|other| other.label == planned.label) {
                return Err(TrainError::SameLabel { label: planned.label.clone() });
            }
        }
        Ok(PlannedNetwork { topology, spectrum, methods })
    }
}

/// The graphs that replace the run's, and when they do.
fn later_graphs(
    changes: &[GraphChange],
    config: &Config,
    first: &Topology,
) -> Result<Vec<(f64, MethodGraph)>, TrainError> {
    let build = |GraphChange { from, graph }: &GraphChange| {
        let (built, _) = MethodGraph::of_run(graph, config)?;
        let (expected, got) = (first.agents(), built.topology.agents());
        if expected != got {
            return Err(TrainError::MixAgents { graph: graph.clone(), expected, got });
        }
        Ok((*from, built))
    };
    changes.iter().map(build).collect()
}

/// A graph with its weights, one matrix per phase, and what is known of them.
struct MethodGraph {
    topology: Topology,
    weights: Vec<MixingMatrix>,
    stability: RunStability,
}

impl MethodGraph {
    /// The graph of this name with the run's seed and weights, and its spectrum.
    fn of_run(graph: &str, config: &Config) -> Result<(Self, Spectrum), TrainError> {
        let topology = graph.parse::<GraphSpec>()?.build(config.graph_seed)?;
        let weights = config.weights.parse::<MixingSpec>()?.build_all(&topology)?;
        let spectrum = Spectrum::from_period(&weights)?;
        let stability = RunStability::new(&weights, &spectrum);
        Ok((MethodGraph { topology, weights, stability }, spectrum))
    }

    fn new(topology: Topology) -> Result<Self, TrainError> {
        let weights = MixingSpec::Auto.build_all(&topology)?;
        let stability = RunStability::new(&weights, &Spectrum::from_period(&weights)?);
        Ok(MethodGraph { topology, weights, stability })
    }

    /// What is known of `method` here, whose mu and gamma are numbers, if it can run here.
    fn admit(&self, method: &Method) -> Result<Analysis, TrainError> {
        let analysis = Analysis::on(&Question::new(*method), self.stability.of(method)?);
        let analysis = analysis.on_graph(method, &self.topology);
        admit(method, &self.topology, &self.weights, analysis.lambda_min)?;
        Ok(analysis)
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
    /// The graph that it runs on: the run's, but a spanning tree of it for a method that relays,
    /// and all-to-all for a centralised one.
    pub topology: Topology,
    /// Messages of all agents together.
    pub messages: MessageCount,
    /// The mixing matrices, averaging rate included.
    pub weights: Vec<MixingMatrix>,
    /// How mixing changes over the run.
    pub mix: PlannedMix,
    /// What is known before the run; if the graph changes, of the first graph on which the method
    /// is unstable, if there is any. An averaging rate that falls makes no method unstable.
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

    /// Bytes that an agent keeps for a model of that many parameters, the messages in flight
    /// included; of the agents, the one with the most neighbours.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn bytes_of_agent(&self, parameters: usize) -> Result<u64, TrainError> {
        let heard = |agent| self.weights.iter().map(move |w| w.row(agent).count()).max();
        let most = (0..self.topology.agents()).max_by_key(|&agent| heard(agent)).unwrap_or(0);
        let by_phase = self.weights.iter().map(rows_of);
        let rows: Vec<Row> = by_phase.map(|rows| rows[most].clone()).collect();
        let zeros = vec![0.0; parameters];
        let site = Site::new(self.topology.agents(), &rows).with_first_gradient(&zeros);
        let mut algorithm = self.method.build_staged(&zeros, &site)?;
        let buffers = |exchange: &Exchange| match exchange.to {
            Recipients::All => 2 * exchange.words,
            Recipients::Each => 2 * exchange.words * site.senders(),
        };
        let sent: usize = algorithm.exchanges().iter().map(buffers).sum();
        let kept: usize = algorithm.tensors().iter().map(|tensor| tensor.values.len()).sum();
        Ok(4 * (kept + sent) as u64)
    }

    /// How many gradients of the loss an agent takes in a round (with SAM twice what the method
    /// takes); of the agents, the one with the most neighbours.
    pub fn gradients_per_round(&self) -> usize {
        let heard = |w: &MixingMatrix| (0..w.agents()).map(|agent| w.row(agent).count()).max();
        let of_method = match self.method.info().gradients {
            GradientsPerRound::Neighbourhood => {
                self.weights.iter().filter_map(heard).max().unwrap_or(1)
            }
            GradientsPerRound::One | GradientsPerRound::Steps => self.method.steps as usize,
        };
        of_method * self.rule.gradients()
    }

    /// What an agent sends to a neighbour in a round, about a model of that many parameters.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn traffic(&self, parameters: usize) -> Result<RoundTraffic, TrainError> {
        Ok(self.method.traffic(parameters, self.weights.len())?)
    }

    /// Rounds in which the data are passed over once, given how many mini-batches that is: with
    /// local steps a round takes several.
    pub fn rounds_per_epoch(&self, batches_per_epoch: f64) -> f64 {
        batches_per_epoch / f64::from(self.method.batches_per_round())
    }
}

/// How many times as long `mu = auto` may make the steps of momentum for a model that does not
/// normalise.
const WITHOUT_NORMALISATION: f64 = 1.1;

/// True if the model normalises what its layers pass on.
fn normalises(model: &str) -> bool {
    let spec = if zoo::is_file(model) {
        std::fs::read_to_string(model).ok().and_then(|text| ModelSpec::from_toml(&text).ok())
    } else {
        // How many classes there are does not matter here.
        zoo::by_name(model, 10).ok()
    };
    // A model that is not there is told when the data are.
    spec.is_some_and(|spec| spec.normalises())
}

fn plan_method(
    entry: &MethodEntry,
    config: &Config,
    run: &MethodGraph,
    run_later: &[(f64, MethodGraph)],
    longer: f64,
) -> Result<PlannedMethod, TrainError> {
    let method: Method = entry.method.parse()?;
    let own = graph_of(&method, &run.topology)?.map(MethodGraph::new).transpose()?;
    let first = own.as_ref().unwrap_or(run);
    let wanted = entry.mix.as_ref().unwrap_or(&config.schedule.mix);
    let mix = mix_for(&method, &entry.method, wanted, entry.mix.is_some())?;
    let own_later = match &entry.mix {
        Some(own) => later_graphs(&own.graphs, config, &run.topology)?,
        None => Vec::new(),
    };
    let later = if entry.mix.is_some() { &own_later[..] } else { run_later };
    let later = if mix.graphs.is_empty() { &[] } else { later };
    let resolved = resolve_on_all(&method, first, later, longer)?;
    let mut analysis = first.admit(&resolved.method)?;
    for (_, graph) in later {
        let there = graph.admit(&resolved.method)?;
        if analysis.stable && !there.stable {
            let verdict = format!("on {}: {}", graph.topology.name(), there.verdict);
            analysis = Analysis { verdict, ..there };
        }
    }
    let slowed = |graph: &MethodGraph| {
        let weights = graph.weights.iter().map(|w| w.clone().with_averaging_rate(resolved.gamma));
        weights.collect::<Result<Vec<_>, _>>()
    };
    let later = later.iter().map(|(from, graph)| {
        let messages = MessageCount::from_weights(&graph.weights);
        Ok(LaterGraph { from: *from, weights: slowed(graph)?, messages })
    });
    let graphs = later.collect::<Result<Vec<_>, TrainError>>()?;
    let row = rows_of(&first.weights[0]).swap_remove(0);
    let site = Site::new(first.topology.agents(), std::slice::from_ref(&row));
    let resyncs = !graphs.is_empty() && resolved.method.build_staged(&[0.0], &site)?.sends_moves();
    let (topology, weights) = (&first.topology, &first.weights);
    Ok(PlannedMethod {
        key: entry.method.clone(),
        label: entry.label.clone().unwrap_or_else(|| entry.method.clone()),
        method: resolved.method,
        topology: topology.clone(),
        messages: MessageCount::from_weights(weights),
        weights: slowed(first)?,
        mix: PlannedMix { mix, graphs, resyncs },
        analysis,
        eta: entry.eta.unwrap_or(config.eta),
        rule: GradientRule {
            weight_decay: entry.weight_decay.unwrap_or(config.weight_decay),
            clip_norm: entry.clip_norm.or(config.clip_norm),
            sam: entry.sam.or(config.sam).unwrap_or(0.0),
        },
    })
}

/// `auto` as numbers that are stable on every graph of the run: the smallest of all.
fn resolve_on_all(
    method: &Method,
    first: &MethodGraph,
    later: &[(f64, MethodGraph)],
    longer: f64,
) -> Result<Resolved, TrainError> {
    let mut all = resolve_on(method, first.stability.of(method)?, longer);
    for (_, graph) in later {
        let there = resolve_on(method, graph.stability.of(method)?, longer);
        let smaller = |a: Tunable, b: Tunable| match (a, b) {
            (Tunable::Value(a), Tunable::Value(b)) => Tunable::Value(a.min(b)),
            (either, _) => either,
        };
        all.mu = all.mu.min(there.mu);
        all.gamma = all.gamma.min(there.gamma);
        all.method.mu = smaller(all.method.mu, there.method.mu);
        all.method.gamma = smaller(all.method.gamma, there.method.gamma);
    }
    Ok(all)
}
