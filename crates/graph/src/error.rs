//! What can go wrong between a topology's name and its graph.
//!
//! Every message says who asked, what was expected, what came, and what to
//! change, because most of them are read by someone who mistyped a flag.

use std::path::{Path, PathBuf};

use crate::catalogue::listing;

/// A topology that cannot be built, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The kind needs more agents than were asked for.
    #[error("{kind} needs at least {least} agents, got {got}; ask for more agents")]
    TooFewAgents {
        /// The kind of topology.
        kind: String,
        /// The smallest number that makes sense.
        least: usize,
        /// What was asked for.
        got: usize,
    },
    /// The graph would not fit any machine this is meant for; nothing was allocated.
    #[error("{got} {what} are too many, the limit is {limit}; ask for a smaller or sparser graph")]
    TooLarge {
        /// `agents` or `arcs`.
        what: &'static str,
        /// The largest number that is accepted.
        limit: u64,
        /// What was asked for (saturated if it overflows).
        got: u64,
    },
    /// An edge names an agent that does not exist.
    #[error(
        "edge ({from}, {to}) leaves the graph: agents are numbered 0 to {last}; \
         renumber the agents from 0 or raise their count"
    )]
    AgentOutOfRange {
        /// Where the edge starts.
        from: usize,
        /// Where the edge ends.
        to: usize,
        /// The largest valid number.
        last: usize,
    },
    /// A graph without agents, or a sequence without graphs.
    #[error("{what} is empty; give at least one {unit}")]
    Empty {
        /// What is empty.
        what: String,
        /// What it should hold.
        unit: &'static str,
    },
    /// The phases of a time-varying topology disagree about the number of agents.
    #[error("phase {phase} has {got} agents where phase 0 has {expected}; all phases must agree")]
    PhaseSize {
        /// The first phase that differs.
        phase: usize,
        /// Agents of phase 0.
        expected: usize,
        /// Agents of this phase.
        got: usize,
    },
    /// No topology has this name.
    #[error(
        "unknown topology \"{got}\"{}\nknown topologies:\n{}",
        did_you_mean(suggestion),
        listing()
    )]
    UnknownKind {
        /// What was typed.
        got: String,
        /// The nearest known name, if one is near.
        suggestion: Option<&'static str>,
    },
    /// The name is known, what follows it is not understood.
    #[error("topology \"{spec}\": expected {expected}, got \"{got}\"; write it as {pattern}")]
    BadArgument {
        /// The whole text.
        spec: String,
        /// How this kind is written.
        pattern: &'static str,
        /// What should have stood there.
        expected: &'static str,
        /// What stood there.
        got: String,
    },
    /// The arguments are well-formed, but no such graph exists.
    #[error("{kind}: no such graph with {got}; {remedy}")]
    Impossible {
        /// The kind of topology.
        kind: &'static str,
        /// The arguments in words.
        got: String,
        /// What to change.
        remedy: &'static str,
    },
    /// A random kind was drawn again and again and never came out connected.
    #[error("{kind} with {got} was not connected in {attempts} draws; {remedy}")]
    NeverConnected {
        /// The kind of topology.
        kind: &'static str,
        /// The arguments in words.
        got: String,
        /// How many graphs were drawn.
        attempts: usize,
        /// What to change.
        remedy: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot read file {}: {reason}; check that it exists and is text", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The kind of failure, for callers that react to it.
        kind: std::io::ErrorKind,
        /// The operating system's words.
        reason: String,
    },
    /// The file is larger than the reader accepts.
    #[error("file {} has {bytes} bytes, the limit is {limit}; cut it down", path.display())]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size accepted.
        limit: u64,
    },
    /// The file's name does not say how to read it.
    #[error(
        "cannot tell the format of {}; name it .txt or .edges (edge list), .dot or .gv, or .graphml",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file is not what its name promises.
    #[error("{}, line {line}: expected {expected}, found {found}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What should have stood there.
        expected: String,
        /// What stood there.
        found: String,
    },
}

impl GraphError {
    /// The error of a file that the operating system would not give us.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), kind: error.kind(), reason: error.to_string() }
    }
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or(String::new(), |name| format!("; did you mean \"{name}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_lists_the_known_ones_and_the_nearest() {
        let message =
            GraphError::UnknownKind { got: "rign:16".into(), suggestion: Some("ring") }.to_string();
        assert!(message.contains("did you mean \"ring\"?"), "{message}");
        assert!(message.contains("torus:RxC"), "{message}");
    }
}
