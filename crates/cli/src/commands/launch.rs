//! `consort launch`: all agents of a plan on this machine, as a first test.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc;

use consort_data::DataDir;
use consort_node::NetworkPlan;
use consort_protocol::Policy;
use consort_records::folder::write_file;
use consort_records::{OutputFolder, TrialSummary};
use consort_train::{Config, Plan, partition_for};
use consort_transport::free_addresses;

use super::agent::{default_folder, read_plan};
use super::train::data_dir;
use super::{print_json, print_text};
use crate::agents::{
    AgentCommands, AveragedCurve, Children, Outcome, Supervision, agents_in_words, capital,
    put_together, stop_signal_of_launch,
};
use crate::arguments::LaunchOptions;
use crate::failure::{Blame, Failure, tell};
use crate::provenance::Provenance;
use crate::table;
use crate::training::{self, Summary, Trials, read_summary, threads};

/// A plan whose agents run in a folder of this machine.
struct Launch<'a> {
    options: &'a LaunchOptions,
    plan: NetworkPlan,
    /// The data, the model and the network, as a simulation would have them.
    loaded: Plan,
    folder: PathBuf,
}

/// How all agents ended.
struct Ended {
    outcomes: Vec<Outcome>,
    /// Those that have done all rounds, here or, after they died here, elsewhere.
    finished: Vec<usize>,
    /// The user stopped them.
    stopped: bool,
}

pub(crate) fn run(options: &LaunchOptions) -> Result<(), Failure> {
    if !options.local {
        return Err(Failure::input(
            "agents on other machines must be started there, each with `consort agent`; \
             to start all of them here, add --local",
        ));
    }
    let plan = read_plan(&options.plan)?;
    let folder = match options.plan.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let commands = commands(options, &plan, &folder)?;
    let loaded = load(&plan, &data_dir(&options.data_options)?)?;
    let launch = Launch { options, plan, loaded, folder };
    let _lock = training::lock(&launch.folder)?;
    write_file(&commands.plan, with_free_ports(&launch.plan)?.to_toml()).or_work()?;
    let ended = launch.follow(commands)?;
    launch.check(&ended)?;
    let (summary, averaged) = launch.results(&ended.finished)?;
    if options.work.json {
        print_json(&summary)?;
    } else {
        let each = launch.results_of_each(&ended.finished)?;
        print_text(&format!("{each}\n{averaged}\n{}", summary.text()))?;
    }
    launch.check_all(&ended)
}

/// How the agents are started. All their keys must be there.
fn commands(
    options: &LaunchOptions,
    plan: &NetworkPlan,
    folder: &Path,
) -> Result<AgentCommands, Failure> {
    let agents = plan.agents.len();
    let commands = AgentCommands {
        program: std::env::current_exe().or_work()?,
        plan: folder.join("plan-local.toml"),
        keys: options.keys.clone().unwrap_or_else(|| folder.join("keys")),
        threads: threads(&options.work).div_ceil(agents),
        data_dir: options.data_options.data_dir.clone(),
    };
    match (0..agents).map(|agent| commands.key(agent)).find(|path| !path.is_file()) {
        Some(missing) => Err(Failure::input(format!(
            "the key {} is missing; give the folder of the keys with --keys",
            missing.display()
        ))),
        None => Ok(commands),
    }
}

/// Loads what all agents need, so that what is missing is told once and before they start.
fn load(plan: &NetworkPlan, data_dir: &DataDir) -> Result<Plan, Failure> {
    let config = match &plan.agents[0].data {
        Some(own) => Config { data: own.clone(), ..plan.run.clone() },
        None => plan.run.clone(),
    };
    Plan::with_network(plan.network.clone(), &config, data_dir).or_input()
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

impl Launch<'_> {
    /// Starts all agents and follows them until all have ended. Meanwhile the averaged model is
    /// measured.
    fn follow(&self, commands: AgentCommands) -> Result<Ended, Failure> {
        let agents = self.plan.agents.len();
        let curve = AveragedCurve::new(
            &self.loaded,
            &self.folder,
            (0..agents).map(|agent| self.agent_folder(agent)).collect(),
            self.test_threads(),
        )?;
        let children = Children::new(commands, agents);
        let running = children.running();
        let stop = stop_signal_of_launch(move || running.kill());
        let is_stopped = || stop.load(Ordering::Relaxed);
        tell(&format!(
            "{agents} agents on {}, {} (Ctrl-C saves and stops)",
            self.plan.run.graph,
            self.folder.display()
        ));
        let (evaluated, news) = mpsc::channel();
        let (outcomes, measured) = std::thread::scope(|scope| {
            let measuring = scope.spawn(|| {
                let news: mpsc::Receiver<()> = news;
                while news.recv().is_ok() {
                    while news.try_recv().is_ok() {} // all at once
                    curve.measure()?;
                }
                curve.measure()
            });
            // A failure is told at the end; the agents go on without it.
            let tell_news = || {
                let _ = evaluated.send(());
            };
            let (policy, restarts) = (self.plan.policy, self.options.restarts);
            let supervision = Supervision::new(children, policy, restarts, &is_stopped, &tell_news);
            let outcomes = supervision.run();
            drop(evaluated);
            (outcomes, measuring.join())
        });
        if let Ok(Err(error)) = measured {
            tell(&format!("warning: the averaged model is measured at the end alone: {error}"));
        }
        let is_finished = |agent: &usize| -> bool {
            outcomes[*agent] == Outcome::Done
                || self.agent_folder(*agent).join("summary.json").exists()
        };
        let finished: Vec<usize> = (0..agents).filter(is_finished).collect();
        if finished.len() == agents {
            curve.forget_the_rest();
        }
        Ok(Ended { outcomes, finished, stopped: is_stopped() })
    }

    /// Fails if there are no results: agents have stopped, or those that failed are needed.
    fn check(&self, ended: &Ended) -> Result<(), Failure> {
        let others_suffice = self.plan.policy == Policy::Continue
            && !ended.stopped
            && !ended.finished.is_empty()
            && ended.unfinished().all(|agent| matches!(ended.outcomes[agent], Outcome::Dead(_)));
        match others_suffice {
            true => Ok(()),
            false => self.check_all(ended),
        }
    }

    /// Fails if an agent has not finished.
    fn check_all(&self, ended: &Ended) -> Result<(), Failure> {
        let command = Provenance::current().command;
        let diverged = ended.unfinished().find_map(|agent| match &ended.outcomes[agent] {
            Outcome::Diverged(why) => Some((agent, why)),
            _ => None,
        });
        // The others end because of it.
        if let Some((agent, why)) = diverged {
            return Err(Failure::Diverged(format!("agent {agent} diverged: {why}")));
        }
        let dead = ended.unfinished().find_map(|agent| match &ended.outcomes[agent] {
            Outcome::Dead(how) => Some((agent, how)),
            _ => None,
        });
        let rest = format!("run the same command again to continue:\n  {command}");
        match dead {
            Some((agent, how)) if ended.stopped => Err(Failure::Stopped(format!(
                "stopped, and the state is saved; agent {agent} {how}. {}",
                capital(&rest)
            ))),
            Some((agent, how)) if ended.finished.is_empty() => {
                Err(anyhow::anyhow!("agent {agent} {how}\nThe state is saved; {rest}")).or_work()
            }
            Some((agent, how)) => Err(anyhow::anyhow!(
                "agent {agent} {how}; {} finished",
                agents_in_words(&ended.finished)
            ))
            .or_work(),
            None if ended.unfinished().next().is_some() => {
                Err(Failure::Stopped(format!("stopped, and the state is saved; {rest}")))
            }
            None => Ok(()),
        }
    }

    /// Writes the results of the agents that have `finished`, as `consort train` writes them.
    /// Returns them, and a line about the averaged model.
    fn results(&self, finished: &[usize]) -> Result<(Summary, String), Failure> {
        let (plan, folder) = (&self.plan, &self.folder);
        let folders: Vec<PathBuf> = finished.iter().map(|&k| self.agent_folder(k)).collect();
        let (method, seed) = (plan.method(), plan.seed());
        let threads = self.test_threads();
        let together = put_together(&self.loaded, method, seed, folder, &folders, threads)?;
        let none = || anyhow::anyhow!("no agent in {} has records", folder.display());
        let (trial, summary) = together.ok_or_else(none).or_work()?;
        let output = OutputFolder::claim(folder, true).or_work()?;
        let shared = !plan.has_own_data();
        let partition = shared.then(|| partition_for(&self.loaded, seed)).transpose().or_work()?;
        let averaged = self.averaged(&summary, finished);
        let trials = Trials::of_one(trial, summary.data);
        let (threads, partition) = (self.threads(), partition.as_ref());
        let summary = training::write_into(&self.loaded, &output, trials, partition, threads)?;
        Ok((summary, averaged))
    }

    /// A line about the averaged model.
    fn averaged(&self, summary: &TrialSummary, finished: &[usize]) -> String {
        let collapsed = summary.collapsed.as_ref();
        let collapsed = collapsed.map_or(String::new(), |how| format!("COLLAPSED, {how}\n"));
        let figures = match (summary.quality(), summary.final_loss) {
            (Some(quality), Some(loss)) => format!("{quality}, test loss {loss:.4}: "),
            _ => String::new(),
        };
        let of = match finished.len() == self.plan.agents.len() {
            true => String::new(),
            false => format!(" of {}", agents_in_words(finished)),
        };
        let written = self.folder.join("model.safetensors");
        format!("the averaged model{of}: {figures}{}\n{collapsed}", written.display())
    }

    /// A table of how every agent that has `finished` did.
    fn results_of_each(&self, finished: &[usize]) -> Result<String, Failure> {
        let mut rows = Vec::new();
        for &agent in finished {
            let folder = self.agent_folder(agent);
            let unfinished = || anyhow::anyhow!("{} has no summary.json", folder.display());
            let summary = read_summary(&folder)?.ok_or_else(unfinished).or_work()?;
            let loss = summary.agents_loss.map_or(f64::NAN, |own| own.mean);
            rows.push(vec![
                agent.to_string(),
                summary.own_quality().map_or("–".to_owned(), |own| own.to_string()),
                format!("{loss:.4}"),
                format!("{:.1}", summary.seconds),
                summary.bytes_sent.to_string(),
            ]);
        }
        let header = ["agent", "own model", "its test loss", "seconds", "bytes sent"];
        Ok(table::render(&header, &rows))
    }

    fn agent_folder(&self, agent: usize) -> PathBuf {
        default_folder(&self.folder.join("plan.toml"), agent)
    }

    fn threads(&self) -> usize {
        threads(&self.options.work)
    }

    /// The threads that test the averaged model; agents with data of their own share no test set.
    fn test_threads(&self) -> Option<usize> {
        (!self.plan.has_own_data()).then_some(self.threads())
    }
}

impl Ended {
    fn unfinished(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outcomes.len()).filter(|agent| !self.finished.contains(agent))
    }
}
