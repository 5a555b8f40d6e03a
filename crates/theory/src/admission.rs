//! Can this method run on this graph with these weights? What a method needs is in the catalogue
//! of `consort-algo`.

use consort_algo::{CATALOGUE, GraphNeeds, Method, MethodInfo};
use consort_graph::{Graph, GraphError, GraphSpec, MixingError, MixingMatrix, Topology};
use thiserror::Error;

/// Why a method cannot run on a graph.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The agents cannot all reach each other.
    #[error("{graph} is not connected, so its agents cannot agree on one model; add edges")]
    Disconnected {
        /// The graph.
        graph: String,
    },
    /// A directed graph where an undirected one is needed.
    #[error("{method} needs {needs}; {graph} is directed. Methods that accept it: {alternatives}")]
    Directed {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// The graph.
        graph: String,
        /// Methods that accept it.
        alternatives: String,
    },
    /// A time-varying graph where a fixed one is needed.
    #[error(
        "{method} needs {needs}; {graph} changes every round. Methods that accept it: {alternatives}"
    )]
    TimeVarying {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// The graph.
        graph: String,
        /// Methods that accept it.
        alternatives: String,
    },
    /// Weights that the method cannot use.
    #[error("{method} needs {needs}: {violation}")]
    Weights {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// What is wrong with the weights.
        violation: MixingError,
    },
    /// Weights whose columns do not sum to 1, for a push-sum method.
    #[error(
        "{method} needs {needs}: column {column} sums to {sum}; use --weights out-degree, which \
         splits what every agent sends"
    )]
    Columns {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// The first column that does not sum to 1.
        column: usize,
        /// Its sum.
        sum: f64,
    },
    /// An agent that keeps nothing of its own, for a push-sum method.
    #[error(
        "{method} divides by the weight that an agent holds, but agent {agent} keeps nothing for \
         itself and might hold none; give it an own weight above 0"
    )]
    NoOwnWeight {
        /// The method.
        method: &'static str,
        /// The agent.
        agent: usize,
    },
    /// A graph that is no tree, for a method that relays along trees.
    #[error(
        "{method} needs {needs}; {graph} has a cycle or a direction. Use \
         --graph spanning-tree:{graph}, chain:N, binary-tree:N or double-binary-tree:N"
    )]
    NoTree {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// The graph.
        graph: String,
    },
    /// Agents that do not all hear each other with equal weights, for centralised methods.
    #[error("{method} needs {needs}; use --graph complete:{agents}, or dsgd on {graph}")]
    NotAllToAll {
        /// The method.
        method: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// The graph.
        graph: String,
        /// How many agents there are.
        agents: usize,
    },
    /// A method on a graph whose smallest eigenvalue makes it diverge.
    #[error(
        "{method} diverges unless lambda_min > -1/3; {graph} has {lambda_min:.5}. \
         Use lazy weights, or an averaging rate gamma below {largest_gamma:.3}"
    )]
    LambdaMin {
        /// The method.
        method: &'static str,
        /// The graph.
        graph: String,
        /// The smallest eigenvalue of W.
        lambda_min: f64,
        /// The averaging rate that raises it to -1/3.
        largest_gamma: f64,
    },
}

/// The graph on which `method` runs if it is not the run's own: a method that relays takes a
/// spanning tree of it, and a centralised one averages over all agents.
///
/// # Errors
/// If the graph has no spanning tree.
pub fn graph_of(method: &Method, run: &Topology) -> Result<Option<Topology>, GraphError> {
    match method.info().needs {
        GraphNeeds::Trees => run.spanning_tree().map(Some),
        GraphNeeds::AllToAll => GraphSpec::Complete { agents: run.agents() }.build(0).map(Some),
        _ => Ok(None),
    }
}

/// Checks everything that `method` needs of the graph and of its weights, one matrix per phase.
/// `lambda_min` is the smallest eigenvalue, averaging rate included.
///
/// # Errors
/// Says what the method needs, what the graph is, and what to do.
pub fn admit(
    method: &Method,
    topology: &Topology,
    weights: &[MixingMatrix],
    lambda_min: f64,
) -> Result<(), AdmissionError> {
    let (name, graph) = (method.name.as_str(), || topology.name().to_string());
    let needs = method.info().needs;
    let described = needs.describe();
    if !topology.union().is_connected() {
        return Err(AdmissionError::Disconnected { graph: graph() });
    }
    if needs == GraphNeeds::Trees {
        let trees = topology.phases().iter().all(Graph::is_tree);
        return if trees {
            Ok(())
        } else {
            Err(AdmissionError::NoTree { method: name, needs: described, graph: graph() })
        };
    }
    if needs == GraphNeeds::AllToAll {
        return if weights.iter().all(averages_exactly) {
            Ok(())
        } else {
            let (graph, agents) = (graph(), topology.agents());
            Err(AdmissionError::NotAllToAll { method: name, needs: described, graph, agents })
        };
    }
    if needs == GraphNeeds::ColumnStochastic {
        return weights.iter().try_for_each(|w| admit_push_sum(method, w));
    }
    if needs != GraphNeeds::DoublyStochastic {
        let alternatives = || accepting(topology, weights);
        if !topology.is_fixed() {
            let (graph, alternatives) = (graph(), alternatives());
            return Err(AdmissionError::TimeVarying {
                method: name,
                needs: described,
                graph,
                alternatives,
            });
        }
        if !topology.is_undirected() {
            let (graph, alternatives) = (graph(), alternatives());
            return Err(AdmissionError::Directed {
                method: name,
                needs: described,
                graph,
                alternatives,
            });
        }
    }
    for w in weights {
        let mut checked = w.require_doubly_stochastic();
        if needs != GraphNeeds::DoublyStochastic {
            checked = checked.and_then(|()| w.require_symmetric());
        }
        checked.map_err(|violation| AdmissionError::Weights {
            method: name,
            needs: described,
            violation,
        })?;
    }
    if needs == GraphNeeds::FixedSymmetricAboveMinusThird && lambda_min <= -1.0 / 3.0 + 1e-12 {
        let largest_gamma = (4.0 / 3.0) / (1.0 - lambda_min);
        return Err(AdmissionError::LambdaMin {
            method: name,
            graph: graph(),
            lambda_min,
            largest_gamma,
        });
    }
    Ok(())
}

/// True if everybody hears everybody with the same weight.
fn averages_exactly(w: &MixingMatrix) -> bool {
    let agents = w.agents();
    let equal = 1.0 / agents as f64;
    let is_equal = |row: usize| w.row(row).all(|(_, weight)| (weight - equal).abs() < 1e-12);
    w.entries() == agents * agents && (0..agents).all(is_equal)
}

/// Column-stochastic weights, of which everybody keeps a share.
fn admit_push_sum(method: &Method, w: &MixingMatrix) -> Result<(), AdmissionError> {
    let (name, needs) = (method.name.as_str(), method.info().needs.describe());
    match w.require_column_stochastic() {
        Err(MixingError::ColumnSum { column, sum, .. }) => {
            Err(AdmissionError::Columns { method: name, needs, column, sum })
        }
        Err(violation) => Err(AdmissionError::Weights { method: name, needs, violation }),
        Ok(()) => match (0..w.agents()).find(|&agent| w.weight(agent, agent) <= 0.0) {
            Some(agent) => Err(AdmissionError::NoOwnWeight { method: name, agent }),
            None => Ok(()),
        },
    }
}

/// The methods that run on a directed or changing graph with these weights; if there are none, those
/// that would with others.
fn accepting(topology: &Topology, weights: &[MixingMatrix]) -> String {
    use GraphNeeds::{ColumnStochastic, DoublyStochastic};
    let names = |fits: &dyn Fn(&MethodInfo) -> bool| -> Vec<&str> {
        CATALOGUE.iter().filter(|info| fits(info)).map(|info| info.name).collect()
    };
    let here = names(&|info| {
        matches!(info.needs, DoublyStochastic | ColumnStochastic)
            && admit(&Method::new(info.id), topology, weights, 0.0).is_ok()
    });
    if !here.is_empty() {
        return here.join(", ");
    }
    names(&|info| info.needs == ColumnStochastic).join(", ") + ", with --weights out-degree"
}
