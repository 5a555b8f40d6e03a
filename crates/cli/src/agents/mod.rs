//! Agents as processes: one of them, or all on this machine.

mod agent_reporter;
mod averaged;
mod children;
mod commands;
mod display;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod report;
mod stop;
mod supervision;
mod together;
mod words;

use std::net::{SocketAddr, ToSocketAddrs};

use consort_algo::Exchange;
use consort_node::{Address, AgentWork, NetworkPlan, TransportKind};
use consort_protocol::Limits;
use consort_transport::{Discovery, Neighbour, SecretKey, Transport, TransportSettings};

use crate::failure::{Blame, Failure, tell};

pub(crate) use agent_reporter::AgentReporter;
pub(crate) use averaged::AveragedCurve;
pub(crate) use children::Children;
pub(crate) use commands::AgentCommands;
pub(crate) use report::Report;
pub(crate) use stop::{stop_signal, stop_signal_of_launch};
pub(crate) use supervision::{Outcome, Supervision};
pub(crate) use together::{agent_folders, put_together, trial_of_agent, trial_of_all};
pub(crate) use words::{Whereabouts, agents as agents_in_words, capital};

/// The limits of the frames that the agent of `work` may receive.
pub(crate) fn limits(
    work: &AgentWork,
    exchanges: &[Exchange],
    agents: usize,
) -> Result<Limits, Failure> {
    let (run, model) = (work.run_id(), work.parameters() as u32);
    Limits::new(run, agents as u32, exchanges, model).ok_or_else(|| {
        let (most, longest) = (Limits::MOST_FLOATS, exchanges.iter().map(|e| e.words).max());
        Failure::input(format!(
            "the longest message of this method has {} words; over a network it can have at most \
             {most}",
            longest.unwrap_or(0)
        ))
    })
}

/// Starts the transport of agent `own` that the plan names.
pub(crate) fn start_transport(
    plan: &NetworkPlan,
    work: &AgentWork,
    secret: SecretKey,
    bind: SocketAddr,
    limits: Limits,
    discovery: Discovery,
) -> Result<Box<dyn Transport>, Failure> {
    let neighbour = |peer: usize| Neighbour {
        peer,
        key: plan.agents[peer].key,
        addresses: plan.agents[peer].addresses.iter().flat_map(|a| resolve(peer, a)).collect(),
    };
    let settings = TransportSettings {
        own: work.id(),
        secret,
        bind,
        neighbours: work.neighbours().into_iter().map(neighbour).collect(),
        limits,
        largest: plan.largest_update,
        profile: plan.profile,
        discovery,
    };
    match plan.transport {
        TransportKind::Tls => over_tls(settings),
        TransportKind::Iroh => over_iroh(settings),
    }
}

#[cfg(feature = "tls")]
fn over_tls(settings: TransportSettings) -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(consort_transport::TlsTransport::start(settings).or_work()?))
}

#[cfg(feature = "iroh")]
fn over_iroh(settings: TransportSettings) -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(consort_transport::IrohTransport::start(settings).or_work()?))
}

#[cfg(not(feature = "tls"))]
fn over_tls(_settings: TransportSettings) -> Result<Box<dyn Transport>, Failure> {
    Err(built_without("tls")).or_input()
}

#[cfg(not(feature = "iroh"))]
fn over_iroh(_settings: TransportSettings) -> Result<Box<dyn Transport>, Failure> {
    Err(built_without("iroh")).or_input()
}

#[cfg(not(all(feature = "tls", feature = "iroh")))]
fn built_without(transport: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "this consort was built without {transport}; build it with --features {transport}"
    )
}

/// The addresses of a neighbour. If its name cannot be looked up, warns: it may still dial us.
fn resolve(peer: usize, address: &Address) -> Vec<SocketAddr> {
    match (address.host(), address.port()).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            tell(&format!("warning: cannot look up {address} of agent {peer}: {error}"));
            Vec::new()
        }
    }
}
