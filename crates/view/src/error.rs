//! The error type of this crate.

use consort_records::RecordsError;

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// There are no data to draw.
    #[error("{title:?} has nothing to draw: {reason}")]
    NothingToDraw {
        /// The title of the picture.
        title: String,
        /// What is missing.
        reason: &'static str,
    },

    /// The counts of a curve do not match.
    #[error(transparent)]
    Curves(#[from] RecordsError),

    /// A size, range or factor that is out of range.
    #[error("{what} is {got}; expected {expected}")]
    BadMeasure {
        /// Which number.
        what: &'static str,
        /// Its value.
        got: String,
        /// The accepted values.
        expected: &'static str,
    },

    /// An edge that does not join two nodes of the picture.
    #[error("edge {edge} joins nodes {from} and {to}; expected two different nodes below {nodes}")]
    BadEdge {
        /// The index of the edge in the list.
        edge: usize,
        /// The first node.
        from: usize,
        /// The second node.
        to: usize,
        /// The number of nodes.
        nodes: usize,
    },

    /// A node without a valid position.
    #[error("node {node} is at ({x}, {y}); expected finite coordinates below 1e12")]
    BadNode {
        /// The index of the node in the list.
        node: usize,
        /// The x coordinate.
        x: f64,
        /// The y coordinate.
        y: f64,
    },

    /// The renderer does not accept the drawing: a bug in this crate.
    #[error("the renderer does not accept the drawing of {title:?} ({reason}); please report this")]
    Renderer {
        /// The title of the picture.
        title: String,
        /// The error of the renderer.
        reason: String,
    },
}
