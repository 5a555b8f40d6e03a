//! The choices of a plan, and which runs can go on without a neighbour.

use std::fmt;

use consort_algo::{MethodName, Tunable};
use consort_graph::Topology;
use consort_train::PlannedMethod;

use super::PlanError;

/// How frames travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// QUIC between keys, through NATs and relays where need be.
    Iroh,
    /// TLS over TCP, with pinned keys.
    Tls,
}

/// Which network a transport is tuned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A local network: short ways, no loss.
    Lan,
    /// The internet: long ways, some loss.
    Wan,
}

/// What happens while a neighbour is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The others wait for it: the same bits as if it had never been away.
    Wait,
    /// The others go on without it.
    Continue,
}

/// A choice between words.
pub(super) trait Choice: Copy + PartialEq + 'static {
    /// All choices, with their words.
    const WORDS: &'static [(&'static str, Self)];

    /// The word for it.
    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, choice)| *choice == self);
        found.map_or("", |(word, _)| word)
    }
}

impl Choice for TransportKind {
    const WORDS: &'static [(&'static str, Self)] = &[("iroh", Self::Iroh), ("tls", Self::Tls)];
}

impl Choice for Profile {
    const WORDS: &'static [(&'static str, Self)] = &[("lan", Self::Lan), ("wan", Self::Wan)];
}

impl Choice for Policy {
    const WORDS: &'static [(&'static str, Self)] =
        &[("wait", Self::Wait), ("continue", Self::Continue)];
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Checks that a run can go on without a neighbour: what a lost message does must fade.
///
/// # Errors
/// Says what of the method or the graph forbids it.
pub fn check_can_continue(method: &PlannedMethod, topology: &Topology) -> Result<(), PlanError> {
    let refuse =
        |what: &str, reason| Err(PlanError::CannotContinue { what: what.to_string(), reason });
    let exact = matches!(method.method.name, MethodName::Gt | MethodName::D2)
        || (method.method.name.tracks() && method.method.mu == Tunable::Value(1.0));
    if exact {
        return refuse(&method.key, "its tracker never forgets a lost message");
    }
    if !topology.is_fixed() {
        return refuse(topology.name(), "its neighbours change from round to round");
    }
    if !topology.is_undirected() {
        return refuse(topology.name(), "its links go one way, so a sender cannot be told");
    }
    if method.weights.iter().any(|weights| weights.require_symmetric().is_err()) {
        let reason = "its weights are not symmetric, so leaving out a link would shift the average";
        return refuse(topology.name(), reason);
    }
    Ok(())
}
