//! The mixing matrix: how loudly each agent hears itself and its neighbours.
//!
//! Row `i` holds the weights with which agent `i` averages what it hears:
//! `x_i <- sum_j w_ij x_j`. Sparse rows, ascending columns, and the own weight
//! is always stored (even when 0), so that a row can be read without asking.

use crate::error::GraphError;
use crate::graph::Graph;
use crate::mixing_error::MixingError;

/// How far sums may stray from 1 in matrices that are computed here.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// A sparse square matrix of averaging weights.
///
/// ```
/// use consort_graph::{Graph, MixingMatrix};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// let w = MixingMatrix::metropolis(&path)?;
/// assert_eq!(w.row(0).map(|(j, _)| j).collect::<Vec<_>>(), [0, 1]);
/// assert!((w.weight(0, 0) - 2.0 / 3.0).abs() < 1e-15);
/// w.require_doubly_stochastic()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MixingMatrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
    pub(crate) tolerance: f64,
}

impl MixingMatrix {
    /// `1 / (in-degree + 1)` for everyone heard and for oneself. On an irregular
    /// graph the columns do not sum to 1; algorithms that need it will say so.
    pub fn uniform(graph: &Graph) -> Result<Self, MixingError> {
        let share = |i: usize| 1.0 / (graph.in_neighbours(i).len() as f64 + 1.0);
        Self::over(graph, |i, _| share(i), |i, _| share(i)).checked()
    }

    /// `1 / (1 + max(d_i, d_j))` between neighbours, the rest on oneself:
    /// symmetric and doubly stochastic on every undirected graph.
    pub fn metropolis(graph: &Graph) -> Result<Self, MixingError> {
        require_undirected(graph, "metropolis")?;
        let degree = |i: usize| graph.in_neighbours(i).len();
        let weight = |i, j| 1.0 / (1.0 + degree(i).max(degree(j)) as f64);
        Self::over(graph, weight, |_, others| 1.0 - others).checked()
    }

    /// `1 / (1 + d_max)` between neighbours, the rest on oneself: symmetric and
    /// doubly stochastic on every undirected graph, and the same for all edges.
    pub fn max_degree(graph: &Graph) -> Result<Self, MixingError> {
        require_undirected(graph, "max-degree")?;
        let share = 1.0 / (1.0 + graph.degree_range().1 as f64);
        Self::over(graph, |_, _| share, |_, others| 1.0 - others).checked()
    }

    /// `p_ij = 1 / (out-degree of j + 1)`: every sender splits itself evenly over those
    /// it sends to and itself. Columns sum to 1 instead of rows, which is what push-sum
    /// methods use on directed graphs; rows do not in general
    /// ([`Stochastic::Columns`](crate::Stochastic)).
    pub fn push_sum(graph: &Graph) -> Self {
        let share = |j: usize| 1.0 / (graph.out_neighbours(j).len() as f64 + 1.0);
        Self::over(graph, |_, j| share(j), |i, _| share(i))
    }

    /// A matrix from its rows: `(column, weight)` pairs in any order, absent
    /// entries are 0. Weights must be finite and non-negative; sums are not
    /// checked here but by whoever requires them.
    pub fn from_rows(rows: Vec<Vec<(usize, f64)>>) -> Result<Self, MixingError> {
        let agents = rows.len();
        let mut matrix = Self::empty();
        for (row, mut entries) in rows.into_iter().enumerate() {
            if !entries.iter().any(|&(column, _)| column == row) {
                entries.push((row, 0.0));
            }
            entries.sort_by_key(|&(column, _)| column);
            for (position, &(column, value)) in entries.iter().enumerate() {
                let repeated = position > 0 && entries[position - 1].0 == column;
                if repeated || column >= agents {
                    return Err(MixingError::BadColumn { row, column, agents });
                }
                check_weight(row, column, value)?;
            }
            matrix.push_row(entries);
        }
        Ok(matrix)
    }

    /// A matrix from what each agent takes of its neighbours, each named once: the rest
    /// stays with itself.
    pub(crate) fn from_neighbours(heard: Vec<Vec<(usize, f64)>>) -> Self {
        let mut matrix = Self::empty();
        for (row, mut entries) in heard.into_iter().enumerate() {
            entries.sort_unstable_by_key(|&(column, _)| column);
            let taken: f64 = entries.iter().map(|&(_, weight)| weight).sum();
            let before = entries.partition_point(|&(column, _)| column < row);
            entries.insert(before, (row, 1.0 - taken));
            matrix.push_row(entries);
        }
        matrix
    }

    /// Who hears whom with these weights: an arc `(j, i)` where `w_ij` is not 0.
    pub(crate) fn graph(&self) -> Result<Graph, GraphError> {
        let heard = |i: usize| {
            self.row(i)
                .filter(move |&(j, weight)| j != i && weight != 0.0)
                .map(move |(j, _)| (j, i))
        };
        Graph::from_arcs(self.agents(), (0..self.agents()).flat_map(heard))
    }

    /// `(I + W) / 2`: slower, but without negative eigenvalues.
    pub fn lazy(self) -> Self {
        self.blended(0.5)
    }

    /// `(1 - gamma) I + gamma W`: every agent keeps more of its own.
    pub fn with_averaging_rate(self, gamma: f64) -> Result<Self, MixingError> {
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(MixingError::AveragingRate { got: gamma });
        }
        Ok(self.blended(gamma))
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of stored weights, own weights included.
    pub fn entries(&self) -> usize {
        self.weights.len()
    }

    /// Row `i`: `(column, weight)` by ascending column, the own weight included.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, weights) = self.row_slices(i);
        columns.iter().zip(weights).map(|(&j, &weight)| (j as usize, weight))
    }

    /// The weight `w_ij` with which `i` hears `j`; 0 where nothing is stored.
    pub fn weight(&self, i: usize, j: usize) -> f64 {
        let (columns, weights) = self.row_slices(i);
        let found = u32::try_from(j).ok().and_then(|j| columns.binary_search(&j).ok());
        found.map_or(0.0, |position| weights[position])
    }

    /// `out = W x`.
    ///
    /// # Panics
    /// If `x` or `out` does not have one entry per agent.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.agents(), self.agents()), "one entry per agent");
        for (i, sum) in out.iter_mut().enumerate() {
            let (columns, weights) = self.row_slices(i);
            *sum = columns.iter().zip(weights).map(|(&j, &weight)| weight * x[j as usize]).sum();
        }
    }

    pub(crate) fn row_slices(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.weights[range])
    }

    /// The matrix with rows and columns exchanged: row `i` of it says who hears `i`.
    pub fn transposed(&self) -> Self {
        let mut rows = vec![Vec::new(); self.agents()];
        for i in 0..self.agents() {
            for (j, weight) in self.row(i) {
                rows[j].push((i, weight));
            }
        }
        let mut matrix = Self { tolerance: self.tolerance, ..Self::empty() };
        rows.into_iter().for_each(|row| matrix.push_row(row));
        matrix
    }

    fn empty() -> Self {
        MixingMatrix { offsets: vec![0], columns: vec![], weights: vec![], tolerance: TOLERANCE }
    }

    fn push_row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, weight) in entries {
            self.columns.push(column as u32);
            self.weights.push(weight);
        }
        self.offsets.push(self.columns.len());
    }

    /// One row per agent: `weight(i, j)` for all heard, and `own(i, their sum)`.
    fn over(
        graph: &Graph,
        weight: impl Fn(usize, usize) -> f64,
        own: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let mut matrix = Self::empty();
        for i in 0..graph.agents() {
            let heard = graph.in_neighbours(i);
            let others: f64 = heard.iter().map(|&j| weight(i, j as usize)).sum();
            let before = heard.partition_point(|&j| (j as usize) < i);
            let entry = |&j: &u32| (j as usize, weight(i, j as usize));
            let itself = std::iter::once((i, own(i, others)));
            let row = heard[..before].iter().map(entry).chain(itself);
            matrix.push_row(row.chain(heard[before..].iter().map(entry)));
        }
        matrix
    }

    fn blended(mut self, gamma: f64) -> Self {
        for i in 0..self.agents() {
            for position in self.offsets[i]..self.offsets[i + 1] {
                self.weights[position] *= gamma;
                if self.columns[position] as usize == i {
                    self.weights[position] += 1.0 - gamma;
                }
            }
        }
        self
    }

    fn checked(self) -> Result<Self, MixingError> {
        self.require_row_stochastic()?;
        Ok(self)
    }
}

pub(crate) fn check_weight(row: usize, column: usize, value: f64) -> Result<(), MixingError> {
    if !value.is_finite() {
        return Err(MixingError::NotFinite { row, column, value });
    }
    if value < 0.0 {
        return Err(MixingError::Negative { row, column, value });
    }
    Ok(())
}

fn require_undirected(graph: &Graph, rule: &'static str) -> Result<(), MixingError> {
    if graph.is_undirected() { Ok(()) } else { Err(MixingError::NeedsUndirected { rule }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap()
    }

    #[test]
    fn the_three_rules_on_a_path() {
        let third = 1.0 / 3.0;
        let uniform = MixingMatrix::uniform(&path()).unwrap();
        assert_eq!((uniform.weight(0, 1), uniform.weight(1, 0)), (0.5, third));
        let metropolis = MixingMatrix::metropolis(&path()).unwrap();
        assert_eq!((metropolis.weight(0, 1), metropolis.weight(1, 0)), (third, third));
        let max_degree = MixingMatrix::max_degree(&path()).unwrap();
        assert_eq!((max_degree.weight(2, 1), max_degree.weight(0, 2)), (third, 0.0));
    }

    #[test]
    fn rows_ascend_and_hold_the_own_weight() {
        let w = MixingMatrix::uniform(&path()).unwrap();
        assert_eq!(w.row(1).map(|(j, _)| j).collect::<Vec<_>>(), [0, 1, 2]);
        let swap = MixingMatrix::from_rows(vec![vec![(1, 1.0)], vec![(0, 1.0)]]).unwrap();
        assert_eq!(swap.row(1).collect::<Vec<_>>(), [(0, 1.0), (1, 0.0)]);
        assert_eq!(swap.clone().lazy().weight(1, 1), 0.5);
        let slow = swap.with_averaging_rate(0.25).unwrap();
        assert_eq!((slow.weight(0, 0), slow.weight(0, 1)), (0.75, 0.25));
    }

    #[test]
    fn multiplying_averages() {
        let w = MixingMatrix::uniform(&path()).unwrap();
        let mut out = [0.0; 3];
        w.multiply(&[2.0, 4.0, 0.0], &mut out);
        assert_eq!(out, [3.0, 2.0, 2.0]);
    }

    #[test]
    fn directed_graphs_get_uniform_or_push_sum_only() {
        let graph = Graph::from_arcs(3, [(0, 1), (0, 2), (1, 0), (2, 0)]).unwrap();
        assert!(MixingMatrix::metropolis(&graph).is_ok(), "every arc has its reverse");
        let graph = Graph::from_arcs(3, [(0, 1), (0, 2), (1, 2), (2, 0)]).unwrap();
        assert!(
            MixingMatrix::metropolis(&graph).is_err() && MixingMatrix::max_degree(&graph).is_err()
        );
        let w = MixingMatrix::uniform(&graph).unwrap();
        assert_eq!((w.weight(2, 0), w.weight(0, 1)), (1.0 / 3.0, 0.0));
        let push = MixingMatrix::push_sum(&graph);
        push.require_column_stochastic().unwrap();
        assert_eq!(push.transposed().transposed(), push);
    }

    #[test]
    fn bad_rates_and_rows_are_refused() {
        let w = MixingMatrix::uniform(&path()).unwrap();
        assert!(w.clone().with_averaging_rate(0.0).is_err());
        assert!(w.with_averaging_rate(f64::NAN).is_err());
        assert!(MixingMatrix::from_rows(vec![vec![(0, f64::NAN)]]).is_err());
        assert!(MixingMatrix::from_rows(vec![vec![(1, 1.0)]]).is_err());
        assert!(MixingMatrix::from_rows(vec![vec![(0, 0.5), (0, 0.5)]]).is_err());
    }
}
