//! The sizes beyond which a request is refused before anything is allocated.
//!
//! A mistyped `complete:1000000` should be an error message, not a machine
//! that swaps until it is switched off.

use crate::error::GraphError;

/// The most agents a graph may have.
pub const MAX_AGENTS: u64 = 10_000_000;
/// The most arcs a graph may have (an undirected edge is two).
pub const MAX_ARCS: u64 = 100_000_000;
/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1_000_000_000;

pub(crate) fn check_agents(agents: u64) -> Result<(), GraphError> {
    if agents > MAX_AGENTS {
        return Err(GraphError::TooLarge { what: "agents", limit: MAX_AGENTS, got: agents });
    }
    Ok(())
}

pub(crate) fn check_size(agents: u64, arcs: u64) -> Result<(), GraphError> {
    check_agents(agents)?;
    if arcs > MAX_ARCS {
        return Err(GraphError::TooLarge { what: "arcs", limit: MAX_ARCS, got: arcs });
    }
    Ok(())
}

/// The common opening of every family: enough agents, and not too much of anything.
pub(crate) fn check_family(
    kind: &str,
    least: usize,
    agents: usize,
    arcs: u64,
) -> Result<(), GraphError> {
    if agents < least {
        return Err(GraphError::TooFewAgents { kind: kind.into(), least, got: agents });
    }
    check_size(agents as u64, arcs)
}
