//! Plans for tests.
#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "the observer has the clock")]

use std::path::Path;
use std::time::{Duration, Instant};

use consort_algo::{CATALOGUE, GraphNeeds, MethodName};
use consort_data::DataDir;
use consort_node::{AgentObserver, AgentWork, NetworkPlan, Progress, Waiting};
use consort_protocol::Note;
use consort_records::Record;
use consort_train::{Observer, Plan, Trial, partition_for};
use consort_transport::SecretKey;

/// The public key of agent `id`: the same in every test.
pub(crate) fn key(id: usize) -> String {
    SecretKey::from_bytes([id as u8 + 1; 32]).public().unwrap().to_string()
}

/// The entry of agent `id`.
pub(crate) fn agent(id: usize) -> String {
    format!("[[agents]]\nkey = '{}'\naddress = '127.0.0.1:{}'\n", key(id), 7400 + id)
}

/// A plan with these lines at the top, in `[run]`, and so many agents.
pub(crate) fn text(top: &str, run: &str, agents: usize) -> String {
    let agents: String = (0..agents).map(agent).collect();
    format!("{top}\n[run]\n{run}\n{agents}")
}

/// The usual small run of `method` on digits.
pub(crate) fn small_run(method: &str) -> String {
    format!(
        "graph = 'ring:8'\nmodel = 'mlp:16'\nmethods = ['{method}']\nseeds = [5]\nbatch = 16\n\
         rounds = 20\nweight-decay = 1e-4\nschedule.milestones = [0.4]\nevaluation.every = 0.5"
    )
}

pub(crate) fn plan(text: &str) -> NetworkPlan {
    NetworkPlan::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn data_dir() -> DataDir {
    DataDir::find(Some(Path::new("."))).unwrap()
}

/// The agents' models at the end of a simulation of the plan's run.
pub(crate) fn simulate(plan: &NetworkPlan) -> Vec<Vec<f32>> {
    let simulated = Plan::new(&plan.run, &data_dir()).unwrap();
    let partition = partition_for(&simulated, plan.seed()).unwrap();
    let first = &simulated.network.methods[0];
    let mut trial = Trial::start(&simulated, first, plan.seed(), &partition, 2).unwrap();
    while trial.rounds_done() < trial.rounds() {
        trial.round().unwrap();
    }
    (0..plan.agents.len()).map(|id| trial.params(id).to_vec()).collect()
}

/// A graph of eight agents that this method accepts.
pub(crate) fn graph_for(method: &str) -> &'static str {
    let name: MethodName = method.split(':').next().unwrap().parse().unwrap();
    match name.info().needs {
        GraphNeeds::AllToAll => "complete:8",
        _ => "ring:8",
    }
}

/// Every method on a graph that it accepts.
pub(crate) fn every_method() -> Vec<(&'static str, &'static str)> {
    let with_graph = |name: &'static str| (name, graph_for(name));
    let mut all: Vec<_> = CATALOGUE.iter().map(|info| with_graph(info.name)).collect();
    all.retain(|&(name, _)| name != "d2"); // diverges on a ring, unless gamma is smaller
    all.push(("d2:gamma=0.5", "ring:8"));
    all.push(("relaysgd", "double-binary-tree:8"));
    all.push(("gut:steps=3,optimizer=adamw", "ring:8"));
    all
}

/// The final models of the simulator as files, agent by agent.
pub(crate) fn simulated_files(text: &str, agents: usize) -> Vec<Vec<u8>> {
    let plan = plan(text);
    let mut works: Vec<AgentWork> =
        (0..agents).map(|id| AgentWork::new(&plan, id, &data_dir(), 1).unwrap()).collect();
    let models = simulate(&plan);
    works
        .iter_mut()
        .zip(models)
        .map(|(work, x)| work.results(&x, None).unwrap().model.unwrap())
        .collect()
}

/// An observer that has the clock, and tells nobody.
pub(crate) struct Quiet {
    started: Instant,
    stop_after: u64,
    round: u64,
    pub(crate) notes: Vec<String>,
}

impl Quiet {
    pub(crate) fn new(stop_after: u64) -> Self {
        Quiet { started: Instant::now(), stop_after, round: 0, notes: Vec::new() }
    }
}

impl Observer for Quiet {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }
    fn recorded(&mut self, _record: &Record) {}
    fn resumed(&mut self, _round: u64, _rounds: u64, _records: &[Record]) {}
    fn tell(&mut self, message: &str) {
        self.notes.push(message.into());
    }
}

impl AgentObserver for Quiet {
    fn wants_to_stop(&self) -> bool {
        self.round >= self.stop_after
    }
    fn round_done(&mut self, progress: &Progress<'_>) {
        self.round = progress.round;
    }
    fn noted(&mut self, note: &Note) {
        self.notes.push(note.to_string());
    }
    fn waiting(&mut self, _waiting: &Waiting) {}
}
