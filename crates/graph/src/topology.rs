//! A named graph, or a named sequence of graphs that repeats.
//!
//! Time-varying topologies are periodic: round `t` uses phase `t mod period`.
//! A fixed topology is the case of period 1, so nobody downstream needs to ask.
//! Families that papers draw anew in every round repeat as well, after a period that can
//! be chosen ([`DEFAULT_PHASES`] if it is not): then a name, a seed and the number of a
//! round say who talks to whom, so a checkpoint needs no state of a generator, agents on
//! different machines agree, and what a period does can be computed before a run.
//!
//! Some constructions prescribe the weights too. They are kept here, and `auto` takes them.

use std::sync::Arc;

use crate::error::GraphError;
use crate::graph::Graph;
use crate::mixing::MixingMatrix;
use crate::size::check_size;

/// Rounds after which a family that is drawn anew in every round repeats, if its name does
/// not say. Part of what a name means: it will not change.
pub const DEFAULT_PHASES: usize = 64;

/// Who talks to whom in every round.
///
/// ```
/// use consort_graph::GraphSpec;
/// let topology = "one-peer-exponential:8".parse::<GraphSpec>()?.build(0)?;
/// assert_eq!(topology.period(), 3);
/// assert_eq!(topology.at(4).out_neighbours(0), &[2]); // round 4 is phase 1: i -> i + 2
/// # Ok::<(), consort_graph::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    name: String,
    /// Shared, because every agent and every report holds the same topology.
    phases: Arc<[Graph]>,
    /// One matrix per phase, if the construction prescribes them.
    weights: Option<Arc<[MixingMatrix]>>,
}

impl Topology {
    /// The same graph in every round.
    pub fn fixed(name: impl Into<String>, graph: Graph) -> Self {
        Topology { name: name.into(), phases: Arc::from(vec![graph]), weights: None }
    }

    /// The graphs of one period, in order; all over the same agents.
    pub fn periodic(name: impl Into<String>, phases: Vec<Graph>) -> Result<Self, GraphError> {
        let name = name.into();
        let Some(first) = phases.first() else {
            return Err(GraphError::Empty { what: format!("topology \"{name}\""), unit: "graph" });
        };
        let expected = first.agents();
        for (phase, graph) in phases.iter().enumerate() {
            let got = graph.agents();
            if got != expected {
                return Err(GraphError::PhaseSize { phase, expected, got });
            }
        }
        // The union of a period must fit as well: facts and drawings use it.
        check_size(expected as u64, phases.iter().map(|graph| graph.arc_count() as u64).sum())?;
        let phases = Arc::from(phases);
        Ok(Topology { name, phases, weights: None })
    }

    /// The matrices of one period that a construction prescribes; the graphs are where they
    /// are not 0.
    pub(crate) fn constructed(
        name: impl Into<String>,
        weights: Vec<MixingMatrix>,
    ) -> Result<Self, GraphError> {
        let phases = weights.iter().map(MixingMatrix::graph).collect::<Result<Vec<_>, _>>()?;
        let topology = Self::periodic(name, phases)?;
        Ok(Topology { weights: Some(Arc::from(weights)), ..topology })
    }

    /// The name, as it would be typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.phases[0].agents()
    }

    /// After how many rounds the sequence repeats; 1 means fixed.
    pub fn period(&self) -> usize {
        self.phases.len()
    }

    /// The graph of this round.
    pub fn at(&self, round: u64) -> &Graph {
        &self.phases[(round % self.phases.len() as u64) as usize]
    }

    /// The graphs of one period, in order.
    pub fn phases(&self) -> &[Graph] {
        &self.phases
    }

    /// The weights that belong to the construction, one matrix per phase; `None` for graphs
    /// that leave the choice of weights open.
    pub fn construction_weights(&self) -> Option<&[MixingMatrix]> {
        self.weights.as_deref()
    }

    /// Is it the same graph in every round?
    pub fn is_fixed(&self) -> bool {
        self.phases.len() == 1
    }

    /// Is every phase undirected?
    pub fn is_undirected(&self) -> bool {
        self.phases.iter().all(Graph::is_undirected)
    }

    /// The graph, if it is the same in every round.
    pub fn as_fixed(&self) -> Option<&Graph> {
        self.is_fixed().then(|| &self.phases[0])
    }

    /// A breadth-first tree of this graph, from its centre; the graph itself if it is a tree, or
    /// trees that take turns.
    ///
    /// # Errors
    /// If the graph changes or has directions and is not made of trees, or is not connected.
    pub fn spanning_tree(&self) -> Result<Self, GraphError> {
        if self.phases.iter().all(Graph::is_tree) {
            return Ok(self.clone());
        }
        let name = format!("spanning-tree:{}", self.name);
        Ok(Topology::fixed(name, crate::families::tree::spanning(self)?))
    }

    /// All arcs that occur at some point of a period.
    pub fn union(&self) -> Graph {
        Graph::union_of(&self.phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_take_turns_and_unite() {
        let east = Graph::from_arcs(3, [(0, 1)]).unwrap();
        let west = Graph::from_arcs(3, [(1, 0), (1, 2)]).unwrap();
        let topology = Topology::periodic("shuttle", vec![east.clone(), west.clone()]).unwrap();
        assert_eq!((topology.at(2), topology.at(7)), (&east, &west));
        assert!(!topology.is_fixed() && !topology.is_undirected());
        assert_eq!(topology.union().arc_count(), 3);
    }

    #[test]
    fn phases_must_agree_and_exist() {
        let two = Graph::from_edges(2, [(0, 1)]).unwrap();
        let three = Graph::from_edges(3, [(0, 1)]).unwrap();
        let error = Topology::periodic("odd", vec![two, three]).unwrap_err();
        assert!(matches!(error, GraphError::PhaseSize { phase: 1, .. }));
        assert!(Topology::periodic("none", vec![]).is_err());
    }
}
