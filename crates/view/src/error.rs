//! The one error type of this crate.

use consort_records::RecordsError;

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// There is nothing that could be shown.
    #[error("{title:?} has nothing to draw: {reason}")]
    NothingToDraw {
        /// The picture's title.
        title: String,
        /// What is missing.
        reason: &'static str,
    },

    /// The curves contradict themselves.
    #[error(transparent)]
    Curves(#[from] RecordsError),

    /// A size, range or factor that no picture can have.
    #[error("{what} is {got}; expected {expected}")]
    BadMeasure {
        /// Which measure.
        what: &'static str,
        /// What was given.
        got: String,
        /// What would do.
        expected: &'static str,
    },

    /// An edge that does not join two nodes of the picture.
    #[error("edge {edge} joins nodes {from} and {to}; expected two different nodes below {nodes}")]
    BadEdge {
        /// The edge's place in the list.
        edge: usize,
        /// Its first node.
        from: usize,
        /// Its second node.
        to: usize,
        /// How many nodes there are.
        nodes: usize,
    },

    /// A node without a place.
    #[error("node {node} stands at ({x}, {y}); expected finite coordinates below 1e12")]
    BadNode {
        /// The node's place in the list.
        node: usize,
        /// Its x.
        x: f64,
        /// Its y.
        y: f64,
    },

    /// The drawing made here is not an SVG the renderer accepts: a fault of this crate.
    #[error("the drawing of {title:?} was refused by the renderer ({reason}); please report this")]
    Renderer {
        /// The picture's title.
        title: String,
        /// What the renderer said.
        reason: String,
    },
}
