//! What a topology is like: size, degrees, distances, cycles.
//!
//! A time-varying topology is described by the union of its phases. For a
//! directed one, degrees are out-degrees unless they are called in-degrees, connected
//! means strongly connected, and the diameter runs along arcs, but
//! girth and bipartiteness are those of the underlying undirected graph, where
//! the words keep their usual meaning.
//!
//! Distances are exact whenever searching from everyone is affordable, or one
//! search is enough because all agents are alike; otherwise the facts say so.

use serde::Serialize;

use crate::distances::{
    AFFORDABLE, diameter_at_least, is_bipartite, longest_path_from, shortest_cycle_near,
};
use crate::graph::Graph;
use crate::symmetry::looks_the_same_from_everyone;
use crate::topology::Topology;

/// The facts about one topology.
///
/// ```
/// use consort_graph::{GraphFacts, GraphSpec};
/// let facts = GraphFacts::new(&"petersen".parse::<GraphSpec>()?.build(0)?);
/// assert_eq!((facts.diameter, facts.girth), (Some(2), Some(5)));
/// # Ok::<(), consort_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphFacts {
    /// The topology's name.
    pub name: String,
    /// The number of agents.
    pub agents: usize,
    /// The number of edges; of arcs if directed.
    pub edges: usize,
    /// Is some arc without its reverse?
    pub directed: bool,
    /// After how many rounds the graphs repeat; 1 is fixed.
    pub period: usize,
    /// The smallest (out-)degree.
    pub degree_min: usize,
    /// The largest (out-)degree.
    pub degree_max: usize,
    /// The mean (out-)degree.
    pub degree_mean: f64,
    /// The smallest in-degree; the same as `degree_min` unless directed.
    pub in_degree_min: usize,
    /// The largest in-degree.
    pub in_degree_max: usize,
    /// The most that an agent sends to in any one round; less than `degree_max` if rounds differ.
    pub round_degree_max: usize,
    /// Is everyone's degree the same, in and out?
    pub regular: bool,
    /// Can everyone reach everyone (along arcs, if directed)?
    pub connected: bool,
    /// Can the agents be split so that no two on one side are joined?
    pub bipartite: bool,
    /// The longest shortest path; `None` if not connected.
    pub diameter: Option<usize>,
    /// Is `diameter` exact? Otherwise the graph was too large to search from
    /// everyone, and it is a lower bound.
    pub diameter_exact: bool,
    /// The shortest cycle; `None` if there is none, or if it was not searched.
    pub girth: Option<usize>,
    /// Was the shortest cycle searched for? (Not on graphs that are too large.)
    pub girth_exact: bool,
}

impl GraphFacts {
    /// Looks at the topology; exact where that is affordable.
    pub fn new(topology: &Topology) -> GraphFacts {
        let graph = topology.union();
        let undirected = graph.is_undirected();
        let underlying = graph.without_directions();
        let connected = graph.is_connected();
        // Where all agents are alike, one search does for all.
        let starts = if looks_the_same_from_everyone(&graph) { 1 } else { graph.agents() };
        let affordable = starts as u128 * graph.arc_count() as u128 <= AFFORDABLE;
        let diameter = connected.then(|| {
            if affordable {
                longest_path_from(&graph, 0..starts)
            } else {
                diameter_at_least(&graph)
            }
        });
        let (degree_min, degree_max) = graph.degree_range();
        let (in_degree_min, in_degree_max) = graph.in_degree_range();
        let most_in_round = |graph: &Graph| graph.degree_range().1;
        GraphFacts {
            name: topology.name().into(),
            agents: graph.agents(),
            edges: if undirected { graph.arc_count() / 2 } else { graph.arc_count() },
            directed: !undirected,
            period: topology.period(),
            degree_min,
            degree_max,
            degree_mean: graph.arc_count() as f64 / graph.agents() as f64,
            in_degree_min,
            in_degree_max,
            round_degree_max: topology.phases().iter().map(most_in_round).max().unwrap_or(0),
            regular: graph.is_regular(),
            connected,
            bipartite: is_bipartite(&underlying),
            diameter,
            diameter_exact: affordable || !connected,
            girth: if affordable { shortest_cycle_near(&underlying, 0..starts) } else { None },
            girth_exact: affordable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(spec: &str) -> GraphFacts {
        GraphFacts::new(&spec.parse::<crate::GraphSpec>().unwrap().build(1).unwrap())
    }

    #[test]
    fn the_dyck_graph_is_the_dyck_graph() {
        let dyck = facts("dyck");
        assert_eq!((dyck.agents, dyck.edges, dyck.degree_max), (32, 48, 3));
        assert_eq!((dyck.diameter, dyck.girth), (Some(5), Some(6)));
        assert!(dyck.bipartite && dyck.regular && dyck.diameter_exact);
    }

    #[test]
    fn the_graph_run_as_dyck_is_another() {
        let run = facts("dyck-as-run");
        assert_eq!((run.degree_min, run.degree_max, run.diameter), (3, 3, Some(6)));
    }

    #[test]
    fn directed_and_time_varying_ones() {
        let one_peer = facts("one-peer-exponential:8");
        assert_eq!((one_peer.period, one_peer.edges, one_peer.degree_min), (3, 24, 3));
        assert!(one_peer.directed && one_peer.connected);
        assert_eq!(one_peer.diameter, Some(3));
    }

    #[test]
    fn those_who_send_alike_need_not_hear_alike() {
        let digraph = facts("random-digraph:16:3");
        assert_eq!((digraph.degree_min, digraph.degree_max), (3, 3));
        assert!(digraph.in_degree_min < 3 && digraph.in_degree_max > 3);
        assert!(digraph.directed && digraph.connected && !digraph.regular);
        let ring = facts("directed-ring:5");
        assert_eq!((ring.in_degree_min, ring.in_degree_max, ring.diameter), (1, 1, Some(4)));
        let star = facts("star:5");
        assert_eq!((star.in_degree_min, star.in_degree_max), (1, 4));
    }

    #[test]
    fn rounds_of_a_period_are_sparser_than_their_union() {
        let base = facts("base:25:1");
        assert_eq!((base.round_degree_max, base.connected), (1, true));
        assert!(base.degree_max > 1 && base.period > 1);
        let trees = facts("double-binary-tree:14");
        assert_eq!((trees.round_degree_max, trees.period), (3, 2));
        assert_eq!(facts("ring:16").round_degree_max, 2);
    }

    #[test]
    fn small_ones() {
        assert_eq!(facts("ring:16").diameter, Some(8));
        assert_eq!(facts("ring:5").girth, Some(5));
        assert!(!facts("ring:5").bipartite);
        assert_eq!(facts("chain:5").girth, None);
        assert_eq!(facts("torus:4x8").diameter, Some(6));
        assert_eq!(facts("bipartite:3x4").girth, Some(4));
        let apart = facts("circulant:8:2");
        assert!(!apart.connected && apart.diameter.is_none());
        assert_eq!(facts("complete:1").diameter, Some(0));
    }

    #[test]
    fn huge_symmetric_graphs_are_exact() {
        let ring = facts("ring:100000");
        assert_eq!((ring.diameter, ring.diameter_exact), (Some(50_000), true));
        assert_eq!((ring.girth, ring.bipartite), (Some(100_000), true));
        assert_eq!(facts("hypercube:15").diameter, Some(15));
    }

    #[test]
    fn other_huge_graphs_are_bounded_rather_than_searched() {
        let chain = facts("chain:100000");
        assert_eq!((chain.diameter, chain.diameter_exact), (Some(99_999), false));
        assert!(chain.girth.is_none() && !chain.girth_exact);
    }
}
