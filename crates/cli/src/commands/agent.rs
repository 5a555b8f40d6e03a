//! `consort agent`: one agent of a plan, on its own machine, with its own data.

use std::fs::{self, File};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use consort_node::{
    AgentEnding, AgentFolder, AgentWork, DriveSettings, NetworkPlan, NodeError, read_key, run_agent,
};
use consort_transport::Discovery;

use super::print_text;
use super::train::data_dir;
use crate::agents::{AgentReporter, Report, Whereabouts, limits, start_transport, stop_signal};
use crate::arguments::AgentOptions;
use crate::failure::{Blame, Failure, tell};
use crate::provenance::Provenance;
use crate::training::threads;

/// How long the process of an earlier launch may take to save and end.
const PREDECESSOR: Duration = Duration::from_secs(30);

pub(crate) fn run(options: &AgentOptions) -> Result<(), Failure> {
    let mut plan = read_plan(&options.plan)?;
    let id = options.id;
    let agents = plan.agents.len();
    if id >= agents {
        return Err(NodeError::NoSuchAgent { id, agents }).or_input();
    }
    if let Some(data) = &options.data {
        if !plan.has_own_data() {
            return Err(Failure::input(format!(
                "--data is for plans in which each agent has its own data; {} distributes {}",
                options.plan.display(),
                plan.run.data
            )));
        }
        plan.agents[id].data = Some(data.clone());
    }
    let secret = read_key(&options.key).or_input()?;
    if secret.public().or_work()? != plan.agents[id].key {
        return Err(Failure::input(format!(
            "{} is not the key of agent {id}: the plan has a different public key for it",
            options.key.display()
        )));
    }
    let mut work =
        AgentWork::new(&plan, id, &data_dir(&options.data_options)?, threads(&options.work))
            .or_input()?;
    let path = options.out.clone().unwrap_or_else(|| default_folder(&options.plan, id));
    let agent = work.agent().or_input()?;
    let message = agent.message_len();
    let mut settings = DriveSettings::usual(plan.policy, message, &plan.run.checkpoint);
    settings.keep_evaluated = options.keep_evaluated;
    let kept = settings.checkpoints(&plan.network.topology);
    let folder = AgentFolder::open(&path, work.run_id(), id, kept).or_input()?;
    let _lock = lock(&folder, options.with_parent)?;
    let discovery = Discovery { mdns: options.mdns, n0: options.n0, relay: options.relay.clone() };
    let limits = limits(&work, agent.exchanges(), agents)?;
    settings.accepted = Some((limits, plan.largest_update));
    let bind = options.bind.unwrap_or_else(|| usual_bind(&plan, id));
    let mut transport = start_transport(&plan, &work, secret, bind, limits, discovery)?;
    let stop = stop_signal(options.with_parent);
    let whereabouts = Whereabouts::new(&plan, bind);
    if !options.work.json {
        let neighbours = whereabouts.agents(&work.neighbours());
        tell(&format!(
            "agent {id} of {agents} listens on {bind} ({}) for {neighbours}; its files are in {} \
             (Ctrl-C saves and stops)",
            plan.transport,
            path.display()
        ));
    }
    let mut reporter = AgentReporter::new(options.work.json, work.rounds(), whereabouts, stop);
    if let (true, Some(found)) = (plan.has_own_data(), work.found()) {
        reporter.report(&Report::Note { text: found.to_owned(), routine: false });
    }
    let ending = run_agent(&mut work, &folder, transport.as_mut(), &settings, &mut reporter);
    reporter.close();
    let ending = match ending {
        Err(error) if error.is_divergence() => {
            return Err(Failure::Diverged(format!("{error}; lower eta or mu, or set clip-norm")));
        }
        ending => ending.or_work()?,
    };
    match ending {
        AgentEnding::Done(summary) => {
            let own = summary.own_quality();
            if options.work.json {
                let own_test_loss = summary.agents_loss.map_or(f64::NAN, |own| own.mean);
                let (own, seconds) = (own.map(Into::into).unwrap_or_default(), summary.seconds);
                reporter.report(&Report::Done { own, own_test_loss, seconds });
                return Ok(());
            }
            let own = own.map_or("not measured".to_owned(), |own| own.to_string());
            let collapsed = summary.collapsed.as_ref();
            let collapsed = collapsed.map_or(String::new(), |how| format!("COLLAPSED, {how}\n"));
            print_text(&format!(
                "agent {id} has finished: {} rounds in {:.1} s, own model {own} on the test set: {}\n\
                 {collapsed}",
                work.rounds(),
                summary.seconds,
                folder.model().display()
            ))
        }
        AgentEnding::Stopped { round } => Err(Failure::Stopped(format!(
            "stopped; the state of round {round} is saved. Run the same \
             command again to continue:\n  {}",
            Provenance::current().command
        ))),
    }
}

/// Locks the agent's folder. An agent that was started by a program may have to wait a little for
/// one that an earlier program had started, and that saves its state now.
fn lock(folder: &AgentFolder, with_parent: bool) -> Result<File, Failure> {
    const NAP: Duration = Duration::from_millis(100);
    let mut waited = Duration::ZERO;
    loop {
        match folder.lock() {
            Err(NodeError::Locked { .. }) if with_parent && waited < PREDECESSOR => {
                std::thread::sleep(NAP);
                waited += NAP;
            }
            lock => return lock.or_input(),
        }
    }
}

/// Reads the plan of all agents.
pub(crate) fn read_plan(path: &Path) -> Result<NetworkPlan, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("cannot read the plan {}: {error}", path.display()))
    })?;
    NetworkPlan::from_toml(&text)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The default folder of an agent: beside the plan.
pub(crate) fn default_folder(plan: &Path, id: usize) -> PathBuf {
    plan.parent().unwrap_or(Path::new("")).join(format!("agent-{id}"))
}

/// The default address to listen on: the port of the plan, on the loopback interface if the plan
/// says so, otherwise on all interfaces.
fn usual_bind(plan: &NetworkPlan, id: usize) -> SocketAddr {
    let address = &plan.agents[id].addresses[0];
    let (host, port) = (address.host(), address.port());
    let loopback = |ip: std::net::IpAddr| ip.is_loopback();
    match host.parse::<std::net::IpAddr>() {
        Ok(ip) if loopback(ip) => SocketAddr::new(ip, port),
        Ok(ip) if ip.is_ipv6() => SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
        _ => SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
    }
}
