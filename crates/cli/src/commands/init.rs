//! `consort init`: a network plan and the keys of the agents.

use std::fs;
use std::path::Path;

use consort_graph::GraphSpec;
use consort_node::{Address, AgentEntry, LARGEST_UPDATE, NetworkPlan, write_key};
use consort_records::folder::write_file;
use consort_train::Config;
use consort_transport::{IdentityError, SecretKey};

use super::print_text;
use super::train::data_dir;
use crate::arguments::InitOptions;
use crate::failure::{Blame, Failure, tell};
use crate::provenance::quoted;
use crate::settings;

mod checks;

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
    let config = config_of(options)?;
    let addresses = addresses(options, &config)?;
    let keys = addresses.iter().map(|_| SecretKey::generate()).collect::<Result<Vec<_>, _>>();
    let keys = keys.or_work()?;
    let entry = |(key, address): (&SecretKey, Address)| {
        let key = key.public()?;
        Ok(AgentEntry { key, addresses: vec![address], data: None })
    };
    let entries = keys.iter().zip(addresses).map(entry).collect::<Result<_, IdentityError>>();
    let plan = NetworkPlan::new(
        options.transport.into(),
        options.profile.into(),
        options.policy.into(),
        LARGEST_UPDATE,
        config,
        entries.or_work()?,
    )
    .or_input()?;
    let data = check(options, &plan)?;
    write_keys(&folder.join("keys"), &keys)?;
    write_file(&plan_file, plan.to_toml()).or_work()?;
    print_text(&next_steps(options, &plan, &data))
}

/// Checks what agents would stumble over later, and warns. Returns a line about the data.
fn check(options: &InitOptions, plan: &NetworkPlan) -> Result<String, Failure> {
    checks::no_keys(&options.folder.join("keys"), plan.agents.len())?;
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
fn config_of(options: &InitOptions) -> Result<Config, Failure> {
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
    let mut config = settings::read(options.config.as_deref(), &overrides)?;
    // A graph without a size, such as `ring`, gets the number of agents as its size.
    if !config.graph.contains(':') && config.graph.parse::<GraphSpec>().is_err() {
        let named = options.addresses.len() as u64;
        let usual = if named > 0 { named } else { DEFAULT_AGENTS };
        config.graph = format!("{}:{}", config.graph, options.agents.unwrap_or(usual));
    }
    Ok(config)
}

/// The addresses of the agents: from the flags, or consecutive ports of one host.
fn addresses(options: &InitOptions, config: &Config) -> Result<Vec<Address>, Failure> {
    let parsed = |text: &str| {
        let address = text.parse::<Address>();
        address.map_err(|reason| Failure::input(format!("{text} is not host:port: {reason}")))
    };
    if !options.addresses.is_empty() {
        return options.addresses.iter().map(|text| parsed(text)).collect();
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

/// Writes one key file per agent, in a folder that only its owner can read.
fn write_keys(folder: &Path, keys: &[SecretKey]) -> Result<(), Failure> {
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
        write_key(&folder.join(format!("agent-{agent}.key")), agent, key).or_work()?;
    }
    Ok(())
}

fn next_steps(options: &InitOptions, plan: &NetworkPlan, data: &str) -> String {
    let dir = options.folder.display();
    let (agents, last) = (plan.agents.len(), plan.agents.len() - 1);
    let (graph, method, seed) = (&plan.run.graph, &plan.method().label, plan.seed());
    let one = last.min(3);
    let data_dir = options.data_options.data_dir.as_ref().map_or(String::new(), |folder| {
        format!(" --data-dir {}", quoted(folder.to_string_lossy().into_owned()))
    });
    let name = &plan.run.data;
    let fetch = match consort_data::catalogue::Entry::find(name) {
        Some(entry) if entry.name == "digits" => String::new(), // built in
        Some(_) => format!("  consort data get {name}\n"),
        None => format!("  (with the same data, {name})\n"),
    };
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
