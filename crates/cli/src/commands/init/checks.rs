//! What `init` checks before it writes anything: data, addresses, keys.
//!
//! What every agent would find wrong after it was started is an error here. What only looks wrong
//! from this machine, such as a name that it cannot look up, is a warning.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use consort_data::{DataDir, Inspection};
use consort_node::NetworkPlan;
use consort_train::{Plan, partition_for};
use consort_transport::SecretKey;

use crate::agents::agents_in_words;
use crate::failure::{Blame, Failure};
use crate::progress;

/// How long names may take to be looked up, all together.
const LOOK_UP: Duration = Duration::from_secs(3);
/// So many damaged files are listed.
const MOST_DAMAGED: usize = 5;

/// What was found out about the data of a plan.
pub(super) struct CheckedData {
    /// A line for the user.
    pub(super) text: String,
    pub(super) warning: Option<String>,
}

/// Checks that the data are here, whole, and enough for all agents, and that the model fits them.
pub(super) fn data(plan: &NetworkPlan, data_dir: &DataDir) -> Result<CheckedData, Failure> {
    let name = &plan.run.data;
    let elsewhere = |failure: Failure| match failure {
        Failure::Input(error) => Failure::input(format!(
            "{error}\nIf the data are on the agents' machines only, add --no-check"
        )),
        other => other,
    };
    let bar = progress::bar(0);
    bar.set_message(format!("checking {name}"));
    let mut tick = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let found = consort_data::check(name, data_dir, &mut tick).or_input().map_err(elsewhere)?;
    bar.finish_and_clear();
    whole(name, &found)?;
    let loaded = Plan::with_network(plan.network.clone(), &plan.run, data_dir).or_input()?;
    let partition = partition_for(&loaded, plan.seed()).or_input()?;
    let shares: Vec<usize> = partition.shares().iter().map(Vec::len).collect();
    let (least, most) = (shares.iter().min().unwrap_or(&0), shares.iter().max().unwrap_or(&0));
    let shares = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let text = format!(
        "{name}: {} training samples, {shares} for each agent; {} has {} parameters",
        loaded.dataset.train.len(),
        plan.run.model,
        loaded.parameters.len()
    );
    Ok(CheckedData { text, warning: incomplete(name, &found) })
}

/// Fails if files or records are damaged.
fn whole(name: &str, found: &Inspection) -> Result<(), Failure> {
    if found.damaged.is_empty() {
        return Ok(());
    }
    let count = found.damaged.len();
    let mut lines: Vec<String> =
        found.damaged.iter().take(MOST_DAMAGED).map(ToString::to_string).collect();
    if count > MOST_DAMAGED {
        lines.push(format!("and {} more", count - MOST_DAMAGED));
    }
    let remedy = match found.official {
        Some(_) => format!("remove them, and fetch them again with: consort data get {name}"),
        None => format!("replace or remove them; consort data check {name} lists all"),
    };
    Err(Failure::input(format!(
        "{name}: {count} damaged files or records; {remedy}\n  {}",
        lines.join("\n  ")
    )))
}

/// A dataset of the catalogue of which only a part is here can be used, but its results are not
/// those of the whole.
fn incomplete(name: &str, found: &Inspection) -> Option<String> {
    let here = [&found.train, &found.test].map(|counts| counts.iter().sum::<usize>());
    let [train, test] = found.official.filter(|official| *official != here)?;
    Some(format!(
        "{name} has {} training and {} test samples here, and {train} and {test} officially; every \
         agent needs the same samples. consort data get {name} fetches the whole dataset",
        here[0], here[1]
    ))
}

/// What is strange about the addresses of a plan. Fails if nobody could connect to one of them.
pub(super) fn addresses(plan: &NetworkPlan) -> Result<Vec<String>, Failure> {
    let all: Vec<(usize, &str, u16)> = plan
        .agents
        .iter()
        .enumerate()
        .flat_map(|(agent, entry)| entry.addresses.iter().map(move |at| (agent, at)))
        .map(|(agent, at)| (agent, at.host(), at.port()))
        .collect();
    let mut warnings = Vec::new();
    let mut found = BTreeMap::new();
    for (host, answer) in looked_up(all.iter().map(|(_, host, _)| *host).collect()) {
        match answer {
            Ok(ips) => drop(found.insert(host, ips)),
            Err(why) => {
                let named: Vec<usize> =
                    all.iter().filter(|(_, name, _)| *name == host).map(|one| one.0).collect();
                warnings.push(format!(
                    "cannot look up {host} ({}) from here: {why}",
                    agents_in_words(&named)
                ));
            }
        }
    }
    let mut taken: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    let (mut loopback, mut others) = (Vec::new(), false);
    for (agent, host, port) in all {
        let ips: &[IpAddr] = found.get(host).map_or(&[], |ips| ips);
        if ips.iter().any(IpAddr::is_unspecified) {
            return Err(Failure::input(format!(
                "nobody can connect to {host}:{port} of agent {agent}: give the address of its \
                 machine; an agent listens on all interfaces anyway"
            )));
        }
        for &ip in ips {
            let at = SocketAddr::new(ip, port);
            if let Some(first) = taken.insert(at, agent).filter(|first| *first != agent) {
                let same = format!("agents {first} and {agent} seem to have the same address {at}");
                if !warnings.contains(&same) {
                    warnings.push(same);
                }
            }
        }
        match ips.iter().any(IpAddr::is_loopback) {
            true => loopback.push((agent, SocketAddr::new(ips[0], port))),
            false => others = true,
        }
    }
    if others && !loopback.is_empty() {
        let of: Vec<usize> = loopback.iter().map(|one| one.0).collect();
        warnings.push(format!(
            "only agents on the same machine can connect to {}, which have loopback addresses",
            agents_in_words(&of)
        ));
    }
    let in_use = |&(_, at): &(usize, SocketAddr)| {
        let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::AddrInUse;
        TcpListener::bind(at).is_err_and(refused) || UdpSocket::bind(at).is_err_and(refused)
    };
    let busy: Vec<String> =
        loopback.iter().filter(|one| in_use(one)).map(|(_, at)| at.to_string()).collect();
    if !busy.is_empty() {
        warnings.push(format!(
            "another program uses {} now; --base-port chooses other ports (`consort launch` finds \
             free ones itself)",
            busy.join(", ")
        ));
    }
    Ok(warnings)
}

/// The addresses of hosts, or why there are none.
fn looked_up(mut hosts: Vec<&str>) -> Vec<(String, Result<Vec<IpAddr>, String>)> {
    hosts.sort_unstable();
    hosts.dedup();
    let (sender, answers) = mpsc::channel();
    for host in &hosts {
        // A look-up can take longer than anybody wants to wait, and cannot be ended.
        let (host, sender) = ((*host).to_string(), sender.clone());
        std::thread::spawn(move || {
            let found = (host.as_str(), 0).to_socket_addrs();
            let ips = found.map(|all| all.map(|at| at.ip()).collect());
            let _ = sender.send((host, ips.map_err(|error| error.to_string())));
        });
    }
    drop(sender);
    let mut found = BTreeMap::new();
    while let Ok((host, answer)) = answers.recv_timeout(LOOK_UP) {
        found.insert(host, answer);
    }
    for host in hosts {
        let late = || Err(format!("no answer in {} s", LOOK_UP.as_secs()));
        found.entry(host.to_string()).or_insert_with(late);
    }
    found.into_iter().collect()
}

/// Fails if the folder already has one of the keys that are to be written.
pub(super) fn no_keys(folder: &Path, keys: &[Option<SecretKey>]) -> Result<(), Failure> {
    let path = |agent: usize| folder.join(format!("agent-{agent}.key"));
    let new = (0..keys.len()).filter(|&agent| keys[agent].is_some());
    match new.map(path).find(|path| path.exists()) {
        None => Ok(()),
        Some(path) => Err(Failure::input(format!(
            "{} already exists, and a key is never overwritten: choose another folder, or move the \
             keys away",
            path.display()
        ))),
    }
}
