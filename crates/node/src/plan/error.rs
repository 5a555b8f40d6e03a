//! What can be wrong with a network plan.

use consort_train::{ConfigError, TrainError};
use thiserror::Error;

use super::Address;
use consort_transport::IdentityError;

/// Why a plan cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A key of the plan itself: unknown, of another kind, out of range.
    #[error(transparent)]
    Key(ConfigError),
    /// A key of its `[run]`.
    #[error("[run] {0}")]
    Run(ConfigError),
    /// Its graph, its weights or its method.
    #[error(transparent)]
    Network(#[from] TrainError),
    /// A part that is not there.
    #[error("the plan has no {part}; `consort init` makes a whole one")]
    Missing {
        /// What is not there.
        part: &'static str,
    },
    /// Several methods or seeds, or none.
    #[error("`{key}`: expected exactly one {what}, got {got}; agents run one trial together")]
    NotOne {
        /// The key.
        key: &'static str,
        /// What there must be one of.
        what: &'static str,
        /// How many there are.
        got: usize,
    },
    /// A graph that is too large.
    #[error("graph {graph} has {agents} agents; a plan can list {most} at most")]
    TooMany {
        /// The graph.
        graph: String,
        /// How many agents it has.
        agents: usize,
        /// The most.
        most: usize,
    },
    /// More or fewer agents than the graph has.
    #[error("graph {graph} has {expected} agents, the plan lists {got}")]
    Count {
        /// The graph.
        graph: String,
        /// How many agents it has.
        expected: usize,
        /// How many are listed.
        got: usize,
    },
    /// An agent without a key or an address.
    #[error("agent {agent} has no `{key}`")]
    AgentWithout {
        /// Who.
        agent: usize,
        /// What it lacks.
        key: &'static str,
    },
    /// Something else where a text is wanted.
    #[error("agent {agent}: `{key}`: expected {expected}, got {got}")]
    AgentValue {
        /// Who.
        agent: usize,
        /// The key.
        key: &'static str,
        /// What would do.
        expected: &'static str,
        /// What came.
        got: String,
    },
    /// A key that is none.
    #[error("agent {agent}: `key`: {reason}")]
    AgentKey {
        /// Whose.
        agent: usize,
        /// What is wrong.
        reason: IdentityError,
    },
    /// An address that is none.
    #[error(
        "agent {agent}: `address`: expected host:port, such as 192.0.2.7:7400, got \"{got}\": \
         {reason}"
    )]
    AgentAddress {
        /// Whose.
        agent: usize,
        /// What came.
        got: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// One key for two.
    #[error("agents {first} and {second} have the same key; every agent needs its own")]
    SameKey {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
    },
    /// One address for two.
    #[error("agents {first} and {second} have the same address {address}")]
    SameAddress {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
        /// The address.
        address: Address,
    },
    /// Some agents with data of their own, some without.
    #[error(
        "agent {agent} has no `data`, but others have; either every agent has data of its own, \
         or `run.data` is shared out among all"
    )]
    NoData {
        /// Who has none.
        agent: usize,
    },
    /// Epochs that differ from agent to agent.
    #[error(
        "agents with data of their own pass over them in different numbers of rounds: give \
         `run.rounds` instead of `run.epochs`"
    )]
    NoRounds,
    /// A run that cannot do without a neighbour.
    #[error("policy = \"continue\" with {what}: {reason}; use policy = \"wait\"")]
    CannotContinue {
        /// The method or graph.
        what: String,
        /// Why not.
        reason: &'static str,
    },
}
