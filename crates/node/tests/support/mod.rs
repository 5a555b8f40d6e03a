//! Plans for tests.
#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use consort_data::DataDir;
use consort_node::NetworkPlan;
use consort_train::{Plan, Trial, partition_for};
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
