//! What can be wrong with a mixing matrix, by row, column and number.

use std::path::PathBuf;

use crate::error::GraphError;

/// A mixing matrix that cannot be built or does not do what was asked of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixingError {
    /// The rule is defined on undirected graphs only.
    #[error("{rule} weights need an undirected graph, this one is directed; use uniform weights")]
    NeedsUndirected {
        /// The rule that was asked for.
        rule: &'static str,
    },
    /// The graph prescribes no weights.
    #[error(
        "{graph} has no weights of its own construction; use auto, uniform, metropolis or \
         max-degree weights"
    )]
    NoConstruction {
        /// The graph.
        graph: String,
    },
    /// The averaging rate is outside (0, 1].
    #[error("averaging rate {got}: expected a number above 0 and up to 1")]
    AveragingRate {
        /// What was given.
        got: f64,
    },
    /// The matrix and the graph have different sizes.
    #[error("the mixing matrix has {got} agents, expected {expected}; both must be of one graph")]
    WrongAgents {
        /// Agents of the graph.
        expected: usize,
        /// Agents of the matrix.
        got: usize,
    },
    /// A row has too few or too many entries.
    #[error("row {row} has {got} entries, expected {expected}; the matrix must be square")]
    NotSquare {
        /// The row, counted from 0.
        row: usize,
        /// How many entries it should have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// A row names the same column twice, or one that does not exist.
    #[error("row {row}: column {column} is repeated or not below {agents}; name each once")]
    BadColumn {
        /// The row, counted from 0.
        row: usize,
        /// The column.
        column: usize,
        /// The number of agents.
        agents: usize,
    },
    /// A word of the file is not a number.
    #[error("row {row}, column {column}: \"{found}\" is not a number; write weights such as 0.25")]
    NotANumber {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// What stood there.
        found: String,
    },
    /// A weight is infinite or not a number.
    #[error("row {row}, column {column}: weight {value} is not finite; weights lie in 0 to 1")]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The weight.
        value: f64,
    },
    /// A weight is negative.
    #[error("row {row}, column {column}: weight {value} is negative; weights lie in 0 to 1")]
    Negative {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The weight.
        value: f64,
    },
    /// A row does not sum to one.
    #[error("row {row} sums to {sum}, expected 1 within {tolerance}; adjust its own weight")]
    RowSum {
        /// The row, counted from 0.
        row: usize,
        /// Its sum.
        sum: f64,
        /// How far from 1 is accepted.
        tolerance: f64,
    },
    /// A column does not sum to one: averaging would not preserve the mean.
    #[error(
        "column {column} sums to {sum}, expected 1 within {tolerance} (doubly stochastic); \
         use metropolis or max-degree weights, or a method made for directed graphs"
    )]
    ColumnSum {
        /// The column, counted from 0.
        column: usize,
        /// Its sum.
        sum: f64,
        /// How far from 1 is accepted.
        tolerance: f64,
    },
    /// Only the columns sum to one, where rows have to as well.
    #[error(
        "row {row} sums to {sum}: of these weights (out-degree) only columns sum to 1, which is \
         what push-sum methods use; other methods need uniform, metropolis or max-degree weights"
    )]
    ColumnsOnly {
        /// The first row that does not sum to 1, counted from 0.
        row: usize,
        /// Its sum.
        sum: f64,
    },
    /// Two mirrored weights differ.
    #[error(
        "weight ({row}, {column}) is {value} but ({column}, {row}) is {mirrored}, expected equal \
         within {tolerance}; use metropolis or max-degree weights"
    )]
    NotSymmetric {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The weight there.
        value: f64,
        /// The weight at the mirrored place.
        mirrored: f64,
        /// The difference that is accepted.
        tolerance: f64,
    },
    /// A weight stands where the graph has no edge.
    #[error(
        "row {row}, column {column}: weight {value}, but agent {row} does not hear agent {column}; \
         set it to 0 or add the edge"
    )]
    OutsideGraph {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The weight.
        value: f64,
    },
    /// No rule has this name.
    #[error(
        "unknown mixing rule \"{got}\"{}; known: auto, uniform, metropolis, max-degree, lazy, \
         construction, out-degree, file:PATH", suggestion.map_or(String::new(), |name| format!(", did you mean \"{name}\"?"))
    )]
    UnknownRule {
        /// What was typed.
        got: String,
        /// The nearest known name, if one is near.
        suggestion: Option<&'static str>,
    },
    /// A problem in a file, and where.
    #[error("{}, {}{problem}", path.display(), line.map_or(String::new(), |line| format!("line {line}: ")))]
    InFile {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, if one line is to blame.
        line: Option<usize>,
        /// What is wrong there.
        problem: Box<MixingError>,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] GraphError),
}
