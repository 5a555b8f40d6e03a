//! `consort init`: a network plan, and keys for the agents that have none of their own.

mod checks;
mod given_keys;

use std::fs;
use std::path::Path;

use consort_graph::GraphSpec;
use consort_node::{Address, AgentEntry, LARGEST_UPDATE, NetworkPlan, write_key};
use consort_records::folder::write_file;
use consort_train::Config;
use consort_transport::{IdentityError, SecretKey};

use self::given_keys::{GivenKey, GivenKeys};
use super::print_text;
use super::train::data_dir;
use crate::arguments::InitOptions;
use crate::failure::{Blame, Failure, tell};
use crate::provenance::quoted;
use crate::settings;

/// The number of agents if neither the flags nor the graph say it.
const DEFAULT_AGENTS: u64 = 8;

pub(crate) fn run(options: &InitOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let plan_file = folder.join("plan.toml");
    if plan_file.exists() {
        return Err(Failure::input(format!(
            "{} already exists; choose another folder, or remove the plan and the keys",
            plan_file.display()
        )));
    }
    let given = GivenKeys::read(options)?;
    let config = config_of(options, &given)?;
    let addresses = addresses(options, &given, &config)?;
    let given = given.of_agents(addresses.len())?;
    let key = |given: &Option<GivenKey>| match given {
        Some(_) => Ok(None),
        None => SecretKey::generate().map(Some),
    };
    let keys = given.iter().map(key).collect::<Result<Vec<_>, _>>().or_work()?;
    let entry = |((given, key), address): ((&Option<GivenKey>, &Option<SecretKey>), Address)| {
        let key = match (given, key) {
            (Some(given), _) => given.key,
            (None, Some(key)) => key.public()?,
            (None, None) => return Err(IdentityError::Seed),
        };
        Ok(AgentEntry { key, addresses: vec![address], data: None })
    };
    let entries = given.iter().zip(&keys).zip(addresses).map(entry);
    let entries = entries.collect::<Result<_, IdentityError>>();
    let plan = NetworkPlan::new(
        options.transport.into(),
        options.profile.into(),
        options.policy.into(),
        LARGEST_UPDATE,
        config,
        entries.or_work()?,
    )
    .or_input()?;
    let data = check(options, &plan, &keys)?;
    fs::create_dir_all(folder)
        .map_err(|error| anyhow::anyhow!("cannot create {}: {error}", folder.display()))
        .or_work()?;
    write_keys(&folder.join("keys"), &keys)?;
    write_file(&plan_file, plan.to_toml()).or_work()?;
    print_text(&next_steps(options, &plan, &given, &data))
}

/// Checks what agents would stumble over later, and warns. Returns a line about the data.
fn check(
    options: &InitOptions,
    plan: &NetworkPlan,
    keys: &[Option<SecretKey>],
) -> Result<String, Failure> {
    checks::no_keys(&options.folder.join("keys"), keys)?;
    let mut warnings = checks::addresses(plan)?;
    let mut text = format!("{}: not checked", plan.run.data);
    if !options.no_check {
        let data = checks::data(plan, &data_dir(&options.data_options)?)?;
        warnings.extend(data.warning);
        text = data.text;
    }
    warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
    Ok(text)
}

/// The file, then the flags, then `--set`. Without a file, one method and one seed by default.
fn config_of(options: &InitOptions, given: &GivenKeys) -> Result<Config, Failure> {
    let mut overrides = Vec::new();
    if options.config.is_none() {
        overrides.extend(["methods=qg-gutm".into(), "seeds=1".into(), "graph=ring".into()]);
    }
    overrides.extend(settings::overrides(&options.settings));
    if let Some(method) = &options.method {
        overrides.push(format!("methods=[{method:?}]"));
    }
    if let Some(seed) = options.seed {
        overrides.push(format!("seeds=[{seed}]"));
    }
    overrides.extend(options.settings.set.iter().cloned());
    let config = settings::read(options.config.as_deref(), &overrides)?;
    let mut config = settings::with_absolute_paths(config);
    // A graph without a size, such as `ring`, gets the number of agents as its size.
    if !config.graph.contains(':') && config.graph.parse::<GraphSpec>().is_err() {
        let named = options.addresses.len().max(given.agents().unwrap_or(0)) as u64;
        let usual = if named > 0 { named } else { DEFAULT_AGENTS };
        config.graph = format!("{}:{}", config.graph, options.agents.unwrap_or(usual));
    }
    Ok(config)
}

/// The addresses of the agents: from the flags, or consecutive ports of one host.
fn addresses(
    options: &InitOptions,
    given: &GivenKeys,
    config: &Config,
) -> Result<Vec<Address>, Failure> {
    let parsed = |text: &str| {
        let address = text.parse::<Address>();
        address.map_err(|reason| Failure::input(format!("{text} is not host:port: {reason}")))
    };
    let named = match options.addresses.is_empty() {
        true => &given.addresses,
        false => &options.addresses,
    };
    if !named.is_empty() {
        return named.iter().map(|text| parsed(text)).collect();
    }
    let spec = config.graph.parse::<GraphSpec>().or_input()?;
    let of_graph = spec.build(config.graph_seed).or_input()?.agents() as u64;
    let (count, first) = (options.agents.unwrap_or(of_graph), u64::from(options.base_port));
    if first + count > 1 + u64::from(u16::MAX) {
        return Err(Failure::input(format!(
            "--base-port {first} leaves too few ports for {count} agents; the last port is 65535"
        )));
    }
    let host = match options.host.contains(':') {
        true => format!("[{}]", options.host),
        false => options.host.clone(),
    };
    (first..first + count).map(|port| parsed(&format!("{host}:{port}"))).collect()
}

/// Writes a key file for each agent that has no key of its own, in a folder that only its owner can
/// read.
fn write_keys(folder: &Path, keys: &[Option<SecretKey>]) -> Result<(), Failure> {
    if keys.iter().all(Option::is_none) {
        return Ok(());
    }
    let refused = |error: std::io::Error| {
        anyhow::anyhow!("cannot create the folder {}: {error}", folder.display())
    };
    fs::create_dir_all(folder).map_err(refused).or_work()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let owner = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder, owner).map_err(refused).or_work()?;
    }
    for (agent, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        write_key(&folder.join(format!("agent-{agent}.key")), agent, key).or_work()?;
    }
    Ok(())
}

fn next_steps(
    options: &InitOptions,
    plan: &NetworkPlan,
    given: &[Option<GivenKey>],
    data: &str,
) -> String {
    let name = &plan.run.data;
    let fetch = match consort_data::catalogue::Entry::find(name) {
        Some(entry) if entry.name == "digits" => String::new(), // built in
        Some(_) => format!("  consort data get {name}\n"),
        None => format!("  (with the same data, {name})\n"),
    };
    if given.iter().any(Option::is_some) {
        return steps_at_sites(&options.folder, plan, given, data, &fetch);
    }
    let dir = options.folder.display();
    let (agents, last) = (plan.agents.len(), plan.agents.len() - 1);
    let (graph, method, seed) = (&plan.run.graph, &plan.method().label, plan.seed());
    let one = last.min(3);
    let data_dir = options.data_options.data_dir.as_ref().map_or(String::new(), |folder| {
        format!(" --data-dir {}", quoted(folder.to_string_lossy().into_owned()))
    });
    format!(
        "{dir}/plan.toml          {agents} agents on {graph}, {method}, seed {seed}
{dir}/keys/agent-0.key   to agent-{last}.key: secret, one for each agent
{data}

Run all agents on this machine:
  consort launch --plan {dir}/plan.toml --local{data_dir}

Or give every agent a copy of plan.toml and its own key, and run it on its own machine:
{fetch}  consort agent --plan {dir}/plan.toml --id {one} --key {dir}/keys/agent-{one}.key
"
    )
}

/// What to do where sites have keys of their own.
fn steps_at_sites(
    folder: &Path,
    plan: &NetworkPlan,
    given: &[Option<GivenKey>],
    data: &str,
    fetch: &str,
) -> String {
    let dir = folder.display();
    let (graph, method, seed) = (&plan.run.graph, &plan.method().label, plan.seed());
    let agents = plan.agents.len();
    let mut text =
        format!("{dir}/plan.toml    {agents} agents on {graph}, {method}, seed {seed}\n{data}\n\n");
    for (agent, given) in given.iter().enumerate() {
        let key = match given {
            Some(given) if given.name.is_empty() => "has its own key".into(),
            Some(given) => format!("{}, has its own key", given.name),
            None => format!("secret key: {dir}/keys/agent-{agent}.key"),
        };
        let address = &plan.agents[agent].addresses[0];
        text += &format!("  agent {agent}  {address}  {key}\n");
    }
    text + &format!(
        "\nSend plan.toml to every site; it contains no secret. There, with the site's own key:\n\
         {fetch}  consort agent --plan plan.toml --id N --key SITE.key\n"
    )
}
