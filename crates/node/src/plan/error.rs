//! What can be wrong with a network plan.

use consort_train::{ConfigError, TrainError};
use thiserror::Error;

use super::Address;
use consort_transport::IdentityError;

/// Why a plan cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A key of the plan itself: unknown, of the wrong type, or out of range.
    #[error(transparent)]
    Key(ConfigError),
    /// A key of `[run]`.
    #[error("[run] {0}")]
    Run(ConfigError),
    /// The graph, the weights or the method.
    #[error(transparent)]
    Network(#[from] TrainError),
    /// A missing part.
    #[error("the plan has no {part}; `consort init` makes a complete one")]
    Missing {
        /// What is missing.
        part: &'static str,
    },
    /// No method or seed, or several.
    #[error("`{key}`: expected exactly one {what}, got {got}; agents run one trial together")]
    NotOne {
        /// The key.
        key: &'static str,
        /// What there must be exactly one of.
        what: &'static str,
        /// How many there are.
        got: usize,
    },
    /// A sweep, which is many trials.
    #[error("[run.sweep]: agents run one trial together; sweep with `consort train` first")]
    Sweep,
    /// A graph that is too large.
    #[error("graph {graph} has {agents} agents; a plan can list at most {most}")]
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
        /// The missing key.
        key: &'static str,
    },
    /// A value that is not a text.
    #[error("agent {agent}: `{key}`: expected {expected}, got {got}")]
    AgentValue {
        /// Who.
        agent: usize,
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        got: String,
    },
    /// An invalid public key.
    #[error("agent {agent}: `key`: {reason}")]
    AgentKey {
        /// Whose.
        agent: usize,
        /// What is wrong.
        reason: IdentityError,
    },
    /// An invalid address.
    #[error(
        "agent {agent}: `address`: expected host:port, such as 192.0.2.7:7400, got \"{got}\": \
         {reason}"
    )]
    AgentAddress {
        /// Whose.
        agent: usize,
        /// What was found.
        got: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Two agents with the same key.
    #[error("agents {first} and {second} have the same key; every agent needs its own")]
    SameKey {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
    },
    /// Two agents with the same address.
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
        "agent {agent} has no `data`, but others have: either give every agent its own data, or \
         remove `data` everywhere to share out `run.data`"
    )]
    NoData {
        /// The agent without data.
        agent: usize,
    },
    /// Epochs that differ from agent to agent.
    #[error(
        "an epoch has a different number of rounds at every agent with data of its own: give \
         `run.rounds` instead of `run.epochs`"
    )]
    NoRounds,
    /// A method that averages over all agents, on a graph that does not link them.
    #[error(
        "{method} averages over all agents, but {graph} has no link from agent {from} to {to}: \
         set run.graph = \"complete:{agents}\", or take dsgd"
    )]
    NoLink {
        /// The method.
        method: String,
        /// The graph of the plan.
        graph: String,
        /// Who would have to send.
        from: usize,
        /// To whom.
        to: usize,
        /// How many agents there are.
        agents: usize,
    },
    /// Mixing over the run that agents alone cannot do.
    #[error(
        "agents in processes of their own cannot have `schedule.mix.{what}`: {reason}. Leave it \
         out, or simulate the run with `consort train`"
    )]
    Mix {
        /// The key.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A run that cannot continue without a neighbour.
    #[error("policy = \"continue\" does not work with {what}: {reason}; use policy = \"wait\"")]
    CannotContinue {
        /// The method or graph.
        what: String,
        /// Why not.
        reason: &'static str,
    },
}
