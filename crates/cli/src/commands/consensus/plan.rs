//! The plan of `consort consensus`: graphs, methods and seeds, checked before the work begins.

use consort_algo::Method;
use consort_theory::{Analysis, Question, admit, resolve_on};

use crate::arguments::{ConsensusOptions, Equations};
use crate::failure::{Blame, Failure};
use crate::methods_list;
use crate::network::Network;

/// The plan of the command.
pub(super) struct ConsensusPlan {
    pub(super) panels: Vec<PlannedPanel>,
    pub(super) dim: usize,
    pub(super) rounds: usize,
    pub(super) seeds: Vec<u64>,
    pub(super) threads: usize,
}

/// One graph with its methods.
pub(super) struct PlannedPanel {
    pub(super) network: Network,
    pub(super) gap: f64,
    pub(super) methods: Vec<PlannedCurve>,
}

/// One method on one graph, with mu and gamma as numbers.
pub(super) struct PlannedCurve {
    /// The name as the user typed it, which decides the colour.
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) analysis: Analysis,
    /// The factor by which disagreement shrinks per round.
    pub(super) predicted_rate: f64,
}

/// The panels of the paper's figure.
const PAPER_GRAPHS: [&str; 3] = ["ring:64", "ring:128", "ring:256"];

impl ConsensusPlan {
    pub(super) fn new(options: &ConsensusOptions) -> Result<Self, Failure> {
        let names = methods_list::split(&options.methods);
        if names.is_empty() {
            return Err(Failure::input("--methods contains no method; try gossip,gut"));
        }
        if let Some(twice) = names.iter().enumerate().find(|(k, name)| names[..*k].contains(name)) {
            return Err(Failure::input(format!("--methods contains {} twice", twice.1)));
        }
        let methods = names
            .iter()
            .map(|name| Ok((name.clone(), method_of(name, options)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        let graphs: Vec<&str> = if options.graphs.is_empty() {
            PAPER_GRAPHS.to_vec()
        } else {
            options.graphs.iter().map(String::as_str).collect()
        };
        let panels = graphs
            .iter()
            .map(|graph| plan_panel(graph, &methods, options))
            .collect::<Result<Vec<_>, Failure>>()?;
        Ok(ConsensusPlan {
            panels,
            dim: options.dim as usize,
            rounds: options.rounds as usize,
            seeds: (0..options.seeds).map(|k| options.seed.wrapping_add(k)).collect(),
            threads: options.threads.map_or_else(super::all_cores, |threads| threads as usize),
        })
    }

    /// Units of work, for the progress bar.
    pub(super) fn work(&self) -> u64 {
        let per_panel =
            |panel: &PlannedPanel| panel.network.topology.agents() * panel.methods.len();
        let agents: usize = self.panels.iter().map(per_panel).sum();
        (agents * self.dim * self.seeds.len()) as u64
    }

    /// Warnings about methods that will not converge.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = |panel: &PlannedPanel| {
            let unstable = panel.methods.iter().filter(|planned| !planned.analysis.stable);
            let graph = panel.network.topology.name().to_string();
            unstable
                .map(move |planned| {
                    format!("{graph}, {}: {}", planned.name, planned.analysis.verdict)
                })
                .collect::<Vec<_>>()
        };
        self.panels.iter().flat_map(warnings).collect()
    }
}

impl PlannedPanel {
    pub(super) fn title(&self) -> String {
        let topology = &self.network.topology;
        format!("{} agents ({})", topology.agents(), topology.name())
    }
}

impl PlannedCurve {
    /// The name in the legend: the paper's names for its four curves, otherwise the name of the
    /// method.
    pub(super) fn label(&self) -> String {
        let mu = crate::table::significant(self.analysis.mu, 4);
        match self.name.as_str() {
            "gossip" => "simple gossip".into(),
            "gut" => format!("gossip with GUT, μ = {mu}"),
            "qg-gossip" => "gossip with QGM".into(),
            "qg-gut" => format!("gossip with QG-GUTm, μ = {mu}"),
            other => other.to_string(),
        }
    }
}

fn plan_panel(
    graph: &str,
    methods: &[(String, Method)],
    options: &ConsensusOptions,
) -> Result<PlannedPanel, Failure> {
    let network = Network::build_connected(graph, &options.weights)?;
    let (spectrum, period) = (network.spectrum()?, network.period());
    let known = network.stability(&spectrum);
    let mut planned = Vec::new();
    for (name, method) in methods {
        let stability = known.of(method).or_input()?;
        let resolved = resolve_on(method, stability, f64::INFINITY);
        let analysis = Analysis::on(&Question::new(resolved.method), stability);
        let lambda_min = analysis.lambda_min;
        admit(&resolved.method, &network.topology, &network.weights, lambda_min).or_input()?;
        let period = period.filter(|_| !method.name.tracks());
        let predicted_rate = period.map_or(analysis.consensus_rate, |period| period.rate());
        let (name, method) = (name.clone(), resolved.method);
        planned.push(PlannedCurve { name, method, analysis, predicted_rate });
    }
    Ok(PlannedPanel { network, gap: spectrum.gap, methods: planned })
}

/// A method by its name in the paper's figure, or any method of the catalogue. The flags --mu,
/// --mu-momentum and --beta apply unless the name has these parameters.
fn method_of(name: &str, options: &ConsensusOptions) -> Result<Method, Failure> {
    let printed = options.equations == Equations::Printed;
    let (base, own_parameters) = name.split_once(':').unwrap_or((name, ""));
    let base = match (base, printed) {
        ("gossip", _) => "dsgd",
        ("gut", _) => "gut:reading=printed",
        ("qg-gossip", false) => "qg-dsgdm:form=quasi-global",
        ("qg-gossip", true) => "qg-dsgdm:form=own-moves",
        ("qg-gut", false) => "qg-gutm:form=quasi-global,reading=printed",
        ("qg-gut", true) => "qg-gutm:form=own-moves,reading=printed",
        (other, _) => other,
    };
    let mut method: Method = base.parse().map_err(|error| {
        Failure::input(format!("{error}; this command also has gossip, gut, qg-gossip and qg-gut"))
    })?;
    let accepts = |key: &str| method.info().parameters().any(|parameter| parameter.name == key);
    let (takes_mu, takes_beta) = (accepts("mu"), accepts("beta"));
    if takes_mu {
        let with_momentum = method.name.has_global_momentum();
        let mu = if with_momentum { &options.mu_momentum } else { &options.mu };
        method.set("mu", mu).or_input()?;
    }
    if takes_beta {
        method.set("beta", &options.beta).or_input()?;
    }
    for pair in own_parameters.split(',').filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Failure::input(format!(
                "{name}: '{pair}' has no value; write {pair}=VALUE"
            )));
        };
        method.set(key.trim(), value.trim()).or_input()?;
    }
    Ok(method)
}
