//! The network plan: one TOML file that all agents share.
//!
//! ```toml
//! transport = "iroh"        # or "tls"
//! profile = "lan"           # or "wan"
//! policy = "wait"           # or "continue"
//! largest-update = 1e6      # larger numbers are refused
//!
//! [run]                     # the keys of a training configuration; one method, one seed
//! graph = "ring:8"
//! methods = ["gut"]
//! seeds = [1]
//!
//! [[agents]]                # in the order of their numbers
//! key = "64 hexadecimal digits"
//! address = "192.0.2.7:7400"
//! data = "csv:/srv/own.csv" # optional: this agent's own data, which never leave its machine
//! ```
//!
//! If one agent has data of its own, all agents must. Then `run.data` and `run.partition` are not
//! used, and the length of the run is given in rounds, since epochs differ.

mod address;
mod can_continue;
mod choices;
mod error;
mod read;
mod shared;
mod write;

pub use address::Address;
pub use can_continue::check_can_continue;
pub use choices::TransportKind;
pub use error::PlanError;
pub(crate) use shared::run_text;
pub use shared::{Found, run_id};

use consort_algo::MethodError;
use consort_data::Scheme;
use consort_protocol::Policy;
use consort_train::{Config, PlannedMethod, PlannedNetwork, TrainError};
use consort_transport::{NetworkProfile, PublicKey};

/// The most agents of a plan, so that what all must agree on fits into one frame.
pub const MOST_AGENTS: usize = 2048;

/// Larger numbers are refused, unless the plan says otherwise.
pub const LARGEST_UPDATE: f32 = 1e6;

/// What all agents of a run know about it and about each other.
#[derive(Clone)]
pub struct NetworkPlan {
    /// How frames travel.
    pub transport: TransportKind,
    /// The network that the transport is tuned for.
    pub profile: NetworkProfile,
    /// What happens while a neighbour is away.
    pub policy: Policy,
    /// Larger numbers from a neighbour are refused.
    pub largest_update: f32,
    /// The run: one method, one seed.
    pub run: Config,
    /// Its graph and its method, built and checked.
    pub network: PlannedNetwork,
    /// The agents, in the order of their numbers.
    pub agents: Vec<AgentEntry>,
}

/// What all agents know about one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEntry {
    /// Its public key.
    pub key: PublicKey,
    /// Its addresses: at least one.
    pub addresses: Vec<Address>,
    /// Its own data, by name or path on its own machine.
    pub data: Option<String>,
}

impl NetworkPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// Names the key or the agent, what was expected and what was found.
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        read::read(text)
    }

    /// Makes a plan from its parts, and checks it.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn new(
        transport: TransportKind,
        profile: NetworkProfile,
        policy: Policy,
        largest_update: f32,
        run: Config,
        agents: Vec<AgentEntry>,
    ) -> Result<Self, PlanError> {
        one(run.methods.len(), "run.methods", "method")?;
        one(run.seeds.len(), "run.seeds", "seed")?;
        if !run.sweep.is_empty() {
            return Err(PlanError::Sweep);
        }
        run.partition.parse::<Scheme>().map_err(TrainError::from)?;
        let network = PlannedNetwork::new(&run)?;
        let plan = NetworkPlan { transport, profile, policy, largest_update, run, network, agents };
        plan.check()?;
        Ok(plan)
    }

    /// The plan as TOML, with comments.
    pub fn to_toml(&self) -> String {
        write::write(self)
    }

    /// The method.
    pub fn method(&self) -> &PlannedMethod {
        // There is exactly one: `new` has checked that.
        &self.network.methods[0]
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.run.seeds[0]
    }

    /// True if every agent has data of its own.
    pub fn has_own_data(&self) -> bool {
        self.agents.iter().any(|agent| agent.data.is_some())
    }

    fn check(&self) -> Result<(), PlanError> {
        let (expected, got) = (self.network.topology.agents(), self.agents.len());
        if expected > MOST_AGENTS {
            let graph = self.run.graph.clone();
            return Err(PlanError::TooMany { graph, agents: expected, most: MOST_AGENTS });
        }
        if expected != got {
            return Err(PlanError::Count { graph: self.run.graph.clone(), expected, got });
        }
        let agents = || self.agents.iter().enumerate();
        for (second, agent) in agents() {
            let before = || agents().take(second);
            if let Some((first, _)) = before().find(|(_, other)| other.key == agent.key) {
                return Err(PlanError::SameKey { first, second });
            }
            for address in &agent.addresses {
                let same = |entry: &(usize, &AgentEntry)| entry.1.addresses.contains(address);
                if let Some((first, _)) = before().find(same) {
                    let address = address.clone();
                    return Err(PlanError::SameAddress { first, second, address });
                }
            }
        }
        let (links, needed) = (self.network.topology.union(), self.method().topology.union());
        if let Some((from, to)) = needed.arcs().find(|&(from, to)| !links.has_arc(from, to)) {
            let method = self.method().key.clone();
            let graph = self.run.graph.clone();
            return Err(PlanError::NoLink { method, graph, from, to, agents: expected });
        }
        if self.has_own_data() {
            if let Some((agent, _)) = agents().find(|(_, entry)| entry.data.is_none()) {
                return Err(PlanError::NoData { agent });
            }
            if self.run.rounds.is_none() {
                return Err(PlanError::NoRounds);
            }
        }
        let method = &self.method().method;
        if method.starts_from_first_gradients() {
            let method = method.name.as_str();
            return Err(TrainError::from(MethodError::FirstGradients { method }).into());
        }
        if let Some((what, reason)) = self.method().mix.needs_one_process() {
            return Err(PlanError::Mix { what, reason });
        }
        if self.policy == Policy::Continue {
            check_can_continue(self.method())?;
        }
        Ok(())
    }
}

fn one(got: usize, key: &'static str, what: &'static str) -> Result<(), PlanError> {
    if got == 1 { Ok(()) } else { Err(PlanError::NotOne { key, what, got }) }
}
