//! `consort launch`: all agents of a plan on this machine, as a first test.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use consort_data::DataDir;
use consort_node::NetworkPlan;
use consort_records::folder::write_file;
use consort_train::Plan;
use consort_transport::free_addresses;

use super::agent::{default_folder, read_plan};
use super::print_text;
use super::train::data_dir;
use crate::agents::{Children, Outcome, agent_folders, put_together, stop_signal};
use crate::arguments::LaunchOptions;
use crate::failure::{Blame, Failure, tell};
use crate::table;
use crate::training::{read_summary, threads};

pub(crate) fn run(options: &LaunchOptions) -> Result<(), Failure> {
    if !options.local {
        return Err(Failure::input(
            "agents on other machines must be started there, each with `consort agent`; \
             to start all of them here, add --local",
        ));
    }
    let plan = read_plan(&options.plan)?;
    let data_dir = data_dir(&options.data_options)?;
    let folder = options.plan.parent().unwrap_or(Path::new("")).to_owned();
    let keys = options.keys.clone().unwrap_or_else(|| folder.join("keys"));
    let agents = plan.agents.len();
    let key = |agent: usize| keys.join(format!("agent-{agent}.key"));
    if let Some(missing) = (0..agents).map(key).find(|path| !path.is_file()) {
        return Err(Failure::input(format!(
            "the key {} is missing; give the folder of the keys with --keys",
            missing.display()
        )));
    }
    let local = folder.join("plan-local.toml");
    write_file(&local, with_free_ports(&plan)?.to_toml()).or_work()?;
    let program = std::env::current_exe().or_work()?;
    let stop = stop_signal(false);
    let each = threads(&options.work).div_ceil(agents).to_string();
    tell(&format!("{agents} agents in {} (Ctrl-C saves and stops)", folder.display()));
    let arguments = |agent: usize| -> Vec<PathBuf> {
        let words = ["agent", "--json", "--with-parent", "--threads", &each, "--plan"];
        let mut all: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
        all.extend([local.clone(), "--id".into(), agent.to_string().into()]);
        all.extend(["--key".into(), key(agent), "--out".into(), default_folder(&local, agent)]);
        if let Some(folder) = &options.data_options.data_dir {
            all.extend(["--data-dir".into(), folder.clone()]);
        }
        all
    };
    let outcomes =
        Children::start(&program, arguments, agents)?.follow(|| stop.load(Ordering::Relaxed));
    check(&outcomes)?;
    let averaged = average(&plan, &folder, &data_dir, threads(&options.work))?;
    print_text(&(results(&folder)? + &averaged))
}

/// The same plan with free ports of this machine.
fn with_free_ports(plan: &NetworkPlan) -> Result<NetworkPlan, Failure> {
    let mut local = plan.clone();
    let free = free_addresses(plan.agents.len()).or_work()?;
    for (entry, address) in local.agents.iter_mut().zip(free) {
        let address = address.to_string();
        let address = address.parse().map_err(|why: &str| anyhow::anyhow!(why)).or_work()?;
        entry.addresses = vec![address];
    }
    Ok(local)
}

/// Fails if an agent failed or was stopped.
fn check(outcomes: &[Outcome]) -> Result<(), Failure> {
    let failed = outcomes.iter().enumerate().find_map(|(agent, outcome)| match outcome {
        Outcome::Failed(message) => Some((agent, message)),
        _ => None,
    });
    if let Some((agent, message)) = failed {
        let message = message.trim_start_matches("error: ");
        return Err(anyhow::anyhow!("agent {agent}: {message}")).or_work();
    }
    if outcomes.contains(&Outcome::Stopped) {
        return Err(Failure::Stopped("stopped; run the same command again to continue".into()));
    }
    Ok(())
}

/// A table of how every agent ended.
fn results(folder: &Path) -> Result<String, Failure> {
    let mut rows = Vec::new();
    for (agent, folder) in agent_folders(folder).iter().enumerate() {
        let unfinished = || anyhow::anyhow!("{} has no summary.json", folder.display());
        let summary = read_summary(folder)?.ok_or_else(unfinished).or_work()?;
        let loss = summary.agents_loss.map_or(f64::NAN, |own| own.mean);
        rows.push(vec![
            agent.to_string(),
            summary.own_quality().map_or("–".to_owned(), |own| own.to_string()),
            format!("{loss:.4}"),
            format!("{:.1}", summary.seconds),
            summary.bytes_sent.to_string(),
        ]);
    }
    Ok(table::render(&["agent", "own model", "its test loss", "seconds", "bytes sent"], &rows))
}

/// Writes the averaged model and tests it; agents with data of their own share no test set.
fn average(
    plan: &NetworkPlan,
    folder: &Path,
    data_dir: &DataDir,
    threads: usize,
) -> Result<String, Failure> {
    let config = match &plan.agents[0].data {
        Some(own) => consort_train::Config { data: own.clone(), ..plan.run.clone() },
        None => plan.run.clone(),
    };
    let loaded = Plan::with_network(plan.network.clone(), &config, data_dir).or_work()?;
    let test_threads = (!plan.has_own_data()).then_some(threads);
    let summary = put_together(&loaded, plan.method(), plan.seed(), folder, test_threads)?;
    let collapsed = summary.as_ref().and_then(|all| all.collapsed.as_ref());
    let collapsed = collapsed.map_or(String::new(), |how| format!("COLLAPSED, {how}\n"));
    let figures = summary.and_then(|all| Some((all.quality()?, all.final_loss?)));
    let figures = figures.map(|(quality, loss)| format!("{quality}, test loss {loss:.4}: "));
    let written = folder.join("model.safetensors");
    let figures = figures.unwrap_or_default();
    Ok(format!("\nthe averaged model: {figures}{}\n{collapsed}", written.display()))
}
