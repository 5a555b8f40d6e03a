//! What the protocol wants its driver to do next.

use std::time::Duration;

/// In the text of [`Want::Fail`] if the reason is that a neighbour failed: `agent 2 left for good: ...`.
pub const LEFT_FOR_GOOD: &str = "left for good";

/// What the protocol wants its driver to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Compute the gradient of the current round, then call
    /// [`Peer::gradient`](crate::Peer::gradient).
    Gradient,
    /// Save the state to disk, then call [`Peer::saved`](crate::Peer::saved).
    Save,
    /// Restore the newest saved state of this round or an earlier one (or the initial model),
    /// then call [`Peer::rolled_back`](crate::Peer::rolled_back).
    RollBack {
        /// The latest round that is acceptable.
        at_most: u64,
    },
    /// Wait for frames, but only until the given time.
    Wait {
        /// When to call [`Peer::tick`](crate::Peer::tick), on the driver's clock.
        until: Duration,
    },
    /// Stop: all rounds are over, here and at the neighbours.
    Done,
    /// Stop: the run cannot continue, for the reason in the text. The state can be saved.
    Fail(String),
}
