//! What algorithms ask of a mixing matrix, checked with the culprit named.
//!
//! Sums are compared within the matrix's tolerance: 1e-9 for weights computed
//! here, 1e-6 for those read from a file, where people write 0.333333.

use serde::Serialize;

use crate::graph::Graph;
use crate::mixing::{MixingMatrix, check_weight};
use crate::mixing_error::MixingError;

/// What of a mixing matrix sums to 1, and so what a method may do with it.
///
/// ```
/// use consort_graph::{Graph, MixingMatrix, Stochastic};
/// let irregular = Graph::from_arcs(3, [(0, 1), (0, 2), (1, 2), (2, 0)])?;
/// assert_eq!(MixingMatrix::push_sum(&irregular).stochastic(), Stochastic::Columns);
/// assert_eq!(MixingMatrix::uniform(&irregular)?.stochastic(), Stochastic::Rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stochastic {
    /// Rows and columns: averages, and keeps the mean over the agents.
    Doubly,
    /// Rows alone: agents agree, but on a mean that weighs some agents more than others.
    Rows,
    /// Columns alone: keeps the sum over the agents, and push-sum makes a mean of it.
    Columns,
    /// Neither.
    Neither,
}

impl MixingMatrix {
    /// Weights are finite and non-negative and every row sums to 1: each agent
    /// takes a weighted mean.
    pub fn require_row_stochastic(&self) -> Result<(), MixingError> {
        let tolerance = self.tolerance;
        for row in 0..self.agents() {
            let mut sum = 0.0;
            for (column, value) in self.row(row) {
                check_weight(row, column, value)?;
                sum += value;
            }
            if (sum - 1.0).abs() > tolerance {
                return Err(MixingError::RowSum { row, sum, tolerance });
            }
        }
        Ok(())
    }

    /// Weights are finite and non-negative and every column sums to 1: the
    /// total over agents is preserved.
    pub fn require_column_stochastic(&self) -> Result<(), MixingError> {
        let tolerance = self.tolerance;
        let mut sums = vec![0.0; self.agents()];
        for row in 0..self.agents() {
            for (column, value) in self.row(row) {
                check_weight(row, column, value)?;
                sums[column] += value;
            }
        }
        match sums.iter().position(|sum| (sum - 1.0).abs() > tolerance) {
            Some(column) => Err(MixingError::ColumnSum { column, sum: sums[column], tolerance }),
            None => Ok(()),
        }
    }

    /// Rows and columns both sum to 1: averaging preserves the mean.
    pub fn require_doubly_stochastic(&self) -> Result<(), MixingError> {
        match (self.require_row_stochastic(), self.require_column_stochastic()) {
            (Err(MixingError::RowSum { row, sum, .. }), Ok(())) => {
                Err(MixingError::ColumnsOnly { row, sum })
            }
            (rows, columns) => rows.and(columns),
        }
    }

    /// What of the matrix sums to 1.
    pub fn stochastic(&self) -> Stochastic {
        match (self.require_row_stochastic().is_ok(), self.require_column_stochastic().is_ok()) {
            (true, true) => Stochastic::Doubly,
            (true, false) => Stochastic::Rows,
            (false, true) => Stochastic::Columns,
            (false, false) => Stochastic::Neither,
        }
    }

    /// `w_ij = w_ji` everywhere.
    pub fn require_symmetric(&self) -> Result<(), MixingError> {
        let tolerance = self.tolerance;
        if self.mirrors_at_a_glance() {
            return Ok(());
        }
        for row in 0..self.agents() {
            for (column, value) in self.row(row) {
                let mirrored = self.weight(column, row);
                if (value - mirrored).abs() > tolerance {
                    return Err(MixingError::NotSymmetric {
                        row,
                        column,
                        value,
                        mirrored,
                        tolerance,
                    });
                }
            }
        }
        Ok(())
    }

    /// Is `w_ij = w_ji` everywhere (within the tolerance)?
    pub fn is_symmetric(&self) -> bool {
        self.require_symmetric().is_ok()
    }

    /// One pass that says yes to nearly all symmetric matrices: going down the
    /// rows, the entries left of the diagonal meet each upper row's entries in
    /// order. A no may only mean that a zero is stored on one side.
    fn mirrors_at_a_glance(&self) -> bool {
        let after_diagonal = |i| self.row_slices(i).0.partition_point(|&j| j as usize <= i);
        let mut next: Vec<usize> = (0..self.agents()).map(after_diagonal).collect();
        let lower_meets_upper = (0..self.agents()).all(|i| {
            self.row(i).take_while(|&(j, _)| j < i).all(|(j, weight)| {
                let (columns, weights) = self.row_slices(j);
                let at = next[j];
                next[j] += 1;
                columns.get(at) == Some(&(i as u32))
                    && (weights[at] - weight).abs() <= self.tolerance
            })
        });
        lower_meets_upper && (0..self.agents()).all(|i| next[i] == self.row_slices(i).0.len())
    }

    /// Weights stand only where the graph lets agents hear each other.
    pub fn require_support(&self, graph: &Graph) -> Result<(), MixingError> {
        if self.agents() != graph.agents() {
            return Err(MixingError::WrongAgents { expected: graph.agents(), got: self.agents() });
        }
        for row in 0..self.agents() {
            for (column, value) in self.row(row) {
                if column != row && value != 0.0 && !graph.has_arc(column, row) {
                    return Err(MixingError::OutsideGraph { row, column, value });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_culprit_is_named() {
        let star = Graph::from_edges(3, [(0, 1), (0, 2)]).unwrap();
        let w = MixingMatrix::uniform(&star).unwrap();
        w.require_row_stochastic().unwrap();
        let error = w.require_doubly_stochastic().unwrap_err();
        assert!(matches!(error, MixingError::ColumnSum { column: 0, .. }));
        assert!(error.to_string().contains("metropolis"), "{error}");
        let error = w.require_symmetric().unwrap_err();
        assert!(matches!(error, MixingError::NotSymmetric { row: 0, column: 1, .. }));
        assert!(!w.is_symmetric());
    }

    #[test]
    fn columns_alone_are_refused_by_name() {
        let digraph = Graph::from_arcs(3, [(0, 1), (0, 2), (1, 2), (2, 0)]).unwrap();
        let push = MixingMatrix::push_sum(&digraph);
        assert_eq!(push.stochastic(), Stochastic::Columns);
        assert!(matches!(push.require_row_stochastic(), Err(MixingError::RowSum { .. })));
        let error = push.require_doubly_stochastic().unwrap_err();
        assert!(matches!(error, MixingError::ColumnsOnly { row: 0, .. }), "{error}");
        assert!(error.to_string().contains("push-sum"), "{error}");
        let ring = Graph::from_arcs(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
        assert_eq!(MixingMatrix::push_sum(&ring).stochastic(), Stochastic::Doubly);
        let leaking = MixingMatrix::from_rows(vec![vec![(0, 0.5)], vec![(1, 1.0)]]).unwrap();
        assert_eq!(leaking.stochastic(), Stochastic::Neither);
    }

    #[test]
    fn a_stored_zero_does_not_break_symmetry() {
        let rows = vec![vec![(0, 1.0), (1, 0.0)], vec![(1, 1.0)]];
        assert!(MixingMatrix::from_rows(rows).unwrap().is_symmetric());
        let rows = vec![vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)]];
        assert!(!MixingMatrix::from_rows(rows).unwrap().is_symmetric());
    }

    #[test]
    fn a_short_row_is_named_with_its_sum() {
        let w = MixingMatrix::from_rows(vec![vec![(0, 1.0)], vec![(1, 0.99)]]).unwrap();
        let message = w.require_row_stochastic().unwrap_err().to_string();
        assert!(message.contains("row 1 sums to 0.99"), "{message}");
        assert!(message.contains("0.000000001"), "{message}");
    }

    #[test]
    fn weights_need_edges() {
        let pair = Graph::from_edges(3, [(0, 1)]).unwrap();
        let all = Graph::from_edges(3, [(0, 1), (0, 2), (1, 2)]).unwrap();
        let w = MixingMatrix::uniform(&all).unwrap();
        let error = w.require_support(&pair).unwrap_err();
        assert!(matches!(error, MixingError::OutsideGraph { row: 0, column: 2, .. }));
        let two = Graph::from_edges(2, [(0, 1)]).unwrap();
        assert!(matches!(w.require_support(&two), Err(MixingError::WrongAgents { .. })));
    }
}
