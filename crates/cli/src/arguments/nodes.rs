//! The flags of the commands for agents as separate processes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use consort_node::TransportKind;
use consort_protocol::Policy;
use consort_transport::NetworkProfile;

use super::{DataOptions, SettingOptions, WorkOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "DIR/plan.toml is for all agents; DIR/keys/agent-3.key is for agent 3 only. Better, every site makes
its own key (`consort key new`) and sends only the public half: no secret key is made here for an
agent whose public key is given.

Examples:
  consort init lab --agents 8 --graph ring           all on this machine, ports from 7400
  consort init lab --graph torus:2x4 --method gut --rounds 500
  consort init lab --agents 3 --graph complete --addresses lab1:7400,lab2:7400,lab3:7400
  consort init lab --agents 8 --policy continue --transport tls --config run.toml --method gut
  consort init lab --agents 2 --public-key hospital-a=a.pub --public-key hospital-b=b.pub
  consort init lab --public-keys sites.txt"
)]
pub(crate) struct InitOptions {
    /// Folder for plan.toml and the keys
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Number of agents; --graph ring then means ring:N [default: that of the graph, or 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=2048))]
    pub(crate) agents: Option<u64>,
    /// Training configuration in TOML; flags override it
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Method [default: that of the configuration, or qg-gutm]
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// Seed [default: that of the configuration, or 1]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Transport of the messages
    #[arg(long, value_enum, default_value_t = TransportWord::Iroh)]
    pub(crate) transport: TransportWord,
    /// Network that the transport is tuned for
    #[arg(long, value_enum, default_value_t = ProfileWord::Lan)]
    pub(crate) profile: ProfileWord,
    /// What the others do while an agent is unreachable
    #[arg(long, value_enum, default_value_t = PolicyWord::Wait)]
    pub(crate) policy: PolicyWord,
    /// Host of all agents, unless --addresses is given
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// Port of agent 0; the other ports count up from it
    #[arg(long, default_value_t = 7400, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) base_port: u16,
    /// host:port of every agent, in order, separated by commas
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["host", "base_port"])]
    pub(crate) addresses: Vec<String>,
    /// Do not check the data: they are on other machines only
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Public key that a site made (`consort key new`): 64 digits, or a file with them. NAME is the
    /// number of an agent, or any name: then the sites are the agents in the order given
    #[arg(long = "public-key", value_name = "NAME=KEY", conflicts_with = "public_keys")]
    pub(crate) public_key: Vec<String>,
    /// File with the public keys of all agents in order, one a line; after a key may follow the
    /// agent's host:port
    #[arg(long, value_name = "FILE")]
    pub(crate) public_keys: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingOptions,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The agents of a plan may start in any order, minutes apart. To continue an agent that was
stopped or killed from its last checkpoint, run the same command again.

Examples:
  consort agent --plan plan.toml --id 3 --key agent-3.key
  consort agent --plan plan.toml --id 3 --key agent-3.key --data csv:/srv/own.csv"
)]
pub(crate) struct AgentOptions {
    /// Plan, the same for all agents
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) plan: PathBuf,
    /// Number of the agent in the plan, from 0
    #[arg(long, value_name = "N")]
    pub(crate) id: usize,
    /// Secret key of the agent
    #[arg(long, value_name = "FILE.key")]
    pub(crate) key: PathBuf,
    /// Folder for records, checkpoints and the model [default: agent-N beside the plan]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The agent's own data, if the plan has data for every agent
    #[arg(long, value_name = "folder:DIR|csv:FILE")]
    pub(crate) data: Option<String>,
    /// Address to listen on [default: the port of the plan]
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) bind: Option<std::net::SocketAddr>,
    /// Find neighbours on the local network by their keys (iroh)
    #[arg(long)]
    pub(crate) mdns: bool,
    /// Reach neighbours behind routers through iroh's public relays
    #[arg(long)]
    pub(crate) n0: bool,
    /// Reach neighbours behind routers through this relay (iroh)
    #[arg(long, value_name = "URL")]
    pub(crate) relay: Option<String>,
    /// Stop when standard input ends: for a program that starts agents
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
    /// Keep the model of every evaluation: for a program that averages the models of all agents
    #[arg(long, hide = true)]
    pub(crate) keep_evaluated: bool,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "An agent that dies is started again from its last checkpoint. If it dies too often, its command is
printed; meanwhile the others wait or continue, as the plan's policy says. To continue after Ctrl-C,
run the same command again. Report, plots, tables and the averaged model are written beside the plan.

Examples:
  consort launch --plan lab/plan.toml --local
  consort launch --plan lab/plan.toml --local --restarts 0     start no agent again"
)]
pub(crate) struct LaunchOptions {
    /// Plan, the same for all agents
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) plan: PathBuf,
    /// Run all agents on this machine, whatever their addresses in the plan
    #[arg(long)]
    pub(crate) local: bool,
    /// Folder with agent-0.key, agent-1.key, ... [default: keys, beside the plan]
    #[arg(long, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,
    /// How often an agent that dies is started again
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) restarts: u32,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportWord {
    /// QUIC between keys, through NATs and relays if necessary
    Iroh,
    /// TLS over TCP, with pinned keys
    Tls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileWord {
    /// A local network
    Lan,
    /// The internet
    Wan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyWord {
    /// The others wait for it: the same bits as if it had never been away
    Wait,
    /// The others continue without it
    Continue,
}

impl From<TransportWord> for TransportKind {
    fn from(word: TransportWord) -> Self {
        match word {
            TransportWord::Iroh => TransportKind::Iroh,
            TransportWord::Tls => TransportKind::Tls,
        }
    }
}

impl From<ProfileWord> for NetworkProfile {
    fn from(word: ProfileWord) -> Self {
        match word {
            ProfileWord::Lan => NetworkProfile::Lan,
            ProfileWord::Wan => NetworkProfile::Wan,
        }
    }
}

impl From<PolicyWord> for Policy {
    fn from(word: PolicyWord) -> Self {
        match word {
            PolicyWord::Wait => Policy::Wait,
            PolicyWord::Continue => Policy::Continue,
        }
    }
}
