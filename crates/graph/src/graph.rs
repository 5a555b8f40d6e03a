//! A directed graph over agents `0..n`, stored as compressed sparse rows.
//!
//! ```text
//! offsets:    0     2        5 ...      agent i's neighbours are
//! neighbours: [1 7] [0 2 9]  ...        neighbours[offsets[i]..offsets[i+1]]
//! ```
//!
//! Neighbours stand in ascending order, so every sum over neighbours has one
//! order and the same seed gives the same bits. Self-loops are dropped: an
//! agent always hears itself, and how loudly is the mixing matrix's business.
//! An undirected graph is one in which every arc has its reverse; it keeps one
//! table for both directions.

use crate::error::GraphError;
use crate::size::{check_agents, check_size};

/// Who can talk to whom.
///
/// ```
/// use consort_graph::Graph;
/// let path = Graph::from_edges(3, [(0, 1), (2, 1)])?;
/// assert_eq!(path.out_neighbours(1), &[0, 2]);
/// assert!(path.is_undirected() && path.is_connected());
/// # Ok::<(), consort_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    out: Rows,
    /// `None` when the graph is undirected: then it would equal `out`.
    incoming: Option<Rows>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rows {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// The undirected graph with these edges; each becomes an arc both ways.
    /// Repeated edges count once, self-loops are dropped.
    pub fn from_edges(
        agents: usize,
        edges: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Graph, GraphError> {
        let both_ways = edges.into_iter().flat_map(|(i, j)| [(i, j), (j, i)]);
        let out = Rows::sorted(agents, collect_arcs(agents, both_ways)?);
        Ok(Graph { out, incoming: None })
    }

    /// The directed graph with these arcs: `(i, j)` means that `i` sends to `j`.
    /// Repeated arcs count once, self-loops are dropped.
    pub fn from_arcs(
        agents: usize,
        arcs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Graph, GraphError> {
        let arcs = collect_arcs(agents, arcs)?;
        let reversed = arcs.iter().map(|&(i, j)| (j, i)).collect();
        let out = Rows::sorted(agents, arcs);
        let incoming = Rows::sorted(agents, reversed);
        let incoming = (incoming != out).then_some(incoming);
        Ok(Graph { out, incoming })
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.out.offsets.len() - 1
    }

    /// The number of arcs; an undirected edge counts twice.
    pub fn arc_count(&self) -> usize {
        self.out.neighbours.len()
    }

    /// Whom `i` sends to, in ascending order.
    pub fn out_neighbours(&self, i: usize) -> &[u32] {
        self.out.of(i)
    }

    /// Whom `i` hears, in ascending order (itself not listed).
    pub fn in_neighbours(&self, i: usize) -> &[u32] {
        self.incoming.as_ref().unwrap_or(&self.out).of(i)
    }

    /// Does `i` send to `j`?
    pub fn has_arc(&self, i: usize, j: usize) -> bool {
        u32::try_from(j).is_ok_and(|j| self.out.of(i).binary_search(&j).is_ok())
    }

    /// Has every arc its reverse?
    pub fn is_undirected(&self) -> bool {
        self.incoming.is_none()
    }

    /// All arcs, by sender and then by receiver.
    pub fn arcs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.agents())
            .flat_map(|i| self.out_neighbours(i).iter().map(move |&j| (i, j as usize)))
    }

    /// Every connected pair once, as `(i, j)` with `i < j`. On a directed graph
    /// a pair counts when at least one of its two arcs is there.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.arcs()
            .filter(|&(i, j)| i < j || !self.has_arc(j, i))
            .map(|(i, j)| (i.min(j), i.max(j)))
    }

    /// The smallest and the largest out-degree.
    pub fn degree_range(&self) -> (usize, usize) {
        self.out.length_range()
    }

    /// The smallest and the largest in-degree.
    pub fn in_degree_range(&self) -> (usize, usize) {
        self.incoming.as_ref().unwrap_or(&self.out).length_range()
    }

    /// Has every agent the same number of neighbours, in and out?
    pub fn is_regular(&self) -> bool {
        let (least, most) = self.degree_range();
        least == most && self.in_degree_range() == (least, most)
    }

    /// Can every agent's words reach every other? On a directed graph this asks
    /// for a path in both directions (strong connection).
    pub fn is_connected(&self) -> bool {
        self.out.reaches_all()
            && self.incoming.as_ref().is_none_or(|incoming| incoming.reaches_all())
    }

    /// True if there is exactly one way between any two agents, and all edges go both ways.
    pub fn is_tree(&self) -> bool {
        let edges = self.arc_count() / 2;
        self.is_undirected() && self.is_connected() && edges + 1 == self.agents()
    }

    /// The same pairs with every direction forgotten.
    pub fn without_directions(&self) -> Graph {
        match &self.incoming {
            None => self.clone(),
            Some(incoming) => {
                let reversed = Graph { out: incoming.clone(), incoming: Some(self.out.clone()) };
                Graph::union_of(&[self.clone(), reversed])
            }
        }
    }

    /// All arcs of several graphs over the same agents; at least one graph.
    pub(crate) fn union_of(graphs: &[Graph]) -> Graph {
        if let [only] = graphs {
            return only.clone();
        }
        let arcs = || graphs.iter().flat_map(Graph::arcs).map(|(i, j)| (i as u32, j as u32));
        let agents = graphs[0].agents();
        let out = Rows::sorted(agents, arcs().collect());
        let incoming = Rows::sorted(agents, arcs().map(|(i, j)| (j, i)).collect());
        let incoming = (incoming != out).then_some(incoming);
        Graph { out, incoming }
    }
}

impl Rows {
    fn sorted(agents: usize, mut arcs: Vec<(u32, u32)>) -> Rows {
        arcs.sort_unstable();
        arcs.dedup();
        let mut offsets = vec![0; agents + 1];
        for &(i, _) in &arcs {
            offsets[i as usize + 1] += 1;
        }
        for i in 0..agents {
            offsets[i + 1] += offsets[i];
        }
        let neighbours = arcs.into_iter().map(|(_, j)| j).collect();
        Rows { offsets, neighbours }
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.neighbours[self.offsets[i]..self.offsets[i + 1]]
    }

    fn length_range(&self) -> (usize, usize) {
        let lengths = self.offsets.windows(2).map(|pair| pair[1] - pair[0]);
        lengths.fold((usize::MAX, 0), |(least, most), length| (least.min(length), most.max(length)))
    }

    fn reaches_all(&self) -> bool {
        let mut seen = vec![false; self.offsets.len() - 1];
        let mut stack = vec![0_u32];
        seen[0] = true;
        let mut reached = 1;
        while let Some(i) = stack.pop() {
            for &j in self.of(i as usize) {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    reached += 1;
                    stack.push(j);
                }
            }
        }
        reached == seen.len()
    }
}

/// Checks every arc and refuses to grow past the limit while collecting.
fn collect_arcs(
    agents: usize,
    arcs: impl IntoIterator<Item = (usize, usize)>,
) -> Result<Vec<(u32, u32)>, GraphError> {
    if agents == 0 {
        return Err(GraphError::Empty { what: "the graph".into(), unit: "agent" });
    }
    check_agents(agents as u64)?;
    let mut kept = Vec::new();
    for (from, to) in arcs {
        if from >= agents || to >= agents {
            let last = agents - 1;
            return Err(GraphError::AgentOutOfRange { from, to, last });
        }
        if from != to {
            kept.push((from as u32, to as u32));
            check_size(agents as u64, kept.len() as u64)?;
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_and_self_loops_leave_no_trace() {
        let graph = Graph::from_edges(3, [(0, 1), (1, 0), (2, 2), (1, 2)]).unwrap();
        assert_eq!(graph.arc_count(), 4);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(graph.degree_range(), (1, 2));
    }

    #[test]
    fn arcs_know_both_ends() {
        let cycle = Graph::from_arcs(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
        assert!(!cycle.is_undirected() && cycle.is_connected() && cycle.is_regular());
        assert_eq!(cycle.in_neighbours(0), &[2]);
        assert_eq!(cycle.edges().count(), 3);
        assert_eq!(cycle.without_directions().arc_count(), 6);
    }

    #[test]
    fn arcs_in_both_directions_are_an_undirected_graph() {
        let arcs = Graph::from_arcs(2, [(0, 1), (1, 0)]).unwrap();
        assert_eq!(arcs, Graph::from_edges(2, [(0, 1)]).unwrap());
    }

    #[test]
    fn a_one_way_path_is_not_strongly_connected() {
        assert!(!Graph::from_arcs(2, [(0, 1)]).unwrap().is_connected());
        assert!(!Graph::from_edges(3, [(0, 1)]).unwrap().is_connected());
    }

    #[test]
    fn an_edge_outside_is_named() {
        let error = Graph::from_edges(3, [(0, 3)]).unwrap_err();
        assert!(error.to_string().contains("(0, 3)"));
        assert!(Graph::from_edges(0, []).is_err());
    }
}
