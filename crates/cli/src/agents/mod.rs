//! Agents as processes: one of them, or all on this machine.

mod children;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod report;
mod together;
mod voice;

use std::io::Read;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use consort_node::{Address, AgentWork, NetworkPlan, Policy, Profile, TransportKind};
use consort_protocol::Limits;
use consort_transport::{Discovery, Neighbour, SecretKey, Settings, Transport};

use crate::failure::{Blame, Failure, tell};

pub(crate) use children::{Children, Outcome};
pub(crate) use report::Report;
pub(crate) use together::{agent_folders, put_together, trial_of_agent, trial_of_all};
pub(crate) use voice::Voice;

/// Set by Ctrl-C, or when the process that started this one has gone.
pub(crate) fn stop_signal(with_parent: bool) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    let handler = move || {
        if set.swap(true, Ordering::Relaxed) && !with_parent {
            std::process::exit(130);
        }
        if !with_parent {
            tell("\nfinishing the round and saving; Ctrl-C again to end at once");
        }
    };
    // Without a handler Ctrl-C ends the process, and the last checkpoint stays.
    let _ = ctrlc::set_handler(handler);
    if with_parent {
        let set = stop.clone();
        std::thread::spawn(move || {
            // The parent keeps our standard input open for as long as it lives and wants us.
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            set.store(true, Ordering::Relaxed);
        });
    }
    stop
}

/// What the agent of `work` may receive.
pub(crate) fn limits(work: &AgentWork, message: usize, agents: usize) -> Result<Limits, Failure> {
    let most = Limits::MOST_FLOATS as usize;
    if message > most {
        return Err(Failure::input(format!(
            "a message of this method has {message} numbers; over a network at most {most} can go"
        )));
    }
    let (run, model) = (work.run_id(), work.parameters() as u32);
    Ok(Limits { run, agents: agents as u32, message: message as u32, model })
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
    let settings = Settings {
        own: work.id(),
        secret,
        bind,
        neighbours: work.neighbours().into_iter().map(neighbour).collect(),
        limits,
        largest: plan.largest_update,
        profile: match plan.profile {
            Profile::Lan => consort_transport::Profile::Lan,
            Profile::Wan => consort_transport::Profile::Wan,
        },
        discovery,
    };
    match plan.transport {
        TransportKind::Tls => over_tls(settings),
        TransportKind::Iroh => over_iroh(settings),
    }
}

#[cfg(feature = "tls")]
fn over_tls(settings: Settings) -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(consort_transport::TlsTransport::start(settings).or_work()?))
}

#[cfg(feature = "iroh")]
fn over_iroh(settings: Settings) -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(consort_transport::IrohTransport::start(settings).or_work()?))
}

#[cfg(not(feature = "tls"))]
fn over_tls(_settings: Settings) -> Result<Box<dyn Transport>, Failure> {
    Err(built_without("tls")).or_input()
}

#[cfg(not(feature = "iroh"))]
fn over_iroh(_settings: Settings) -> Result<Box<dyn Transport>, Failure> {
    Err(built_without("iroh")).or_input()
}

#[cfg(not(all(feature = "tls", feature = "iroh")))]
fn built_without(transport: &str) -> anyhow::Error {
    anyhow::anyhow!("this consort was built without {transport}: --features {transport}")
}

/// Where a neighbour is; a name that nobody knows is told, and the neighbour may still dial us.
fn resolve(peer: usize, address: &Address) -> Vec<SocketAddr> {
    match (address.host(), address.port()).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            tell(&format!("warning: agent {peer} at {address} cannot be looked up: {error}"));
            Vec::new()
        }
    }
}

/// The word of a plan as the protocol's.
pub(crate) fn policy(plan: &NetworkPlan) -> consort_protocol::Policy {
    match plan.policy {
        Policy::Wait => consort_protocol::Policy::Wait,
        Policy::Continue => consort_protocol::Policy::Continue,
    }
}
