//! What must be equal on all agents, as text: one `key = value` a line.
//!
//! Neighbours show each other this text before the first round. Its hash is the run's number,
//! which every frame carries; if two texts differ, the protocol says in which lines. Paths,
//! addresses and the names of files are each agent's own business and not in it.

use std::fmt::Write;

use consort_data::{Dataset, Partition};
use consort_graph::MixingMatrix;
use consort_model::Parameters;
use consort_train::Config;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::NetworkPlan;

/// Keys of `[run]` that each agent may choose for itself.
const OWN: [&str; 3] = ["name", "tensorboard", "checkpoint"];
/// Keys of `[run]` that say nothing where agents have data of their own.
const OF_SHARED_DATA: [&str; 3] = ["data", "partition", "partition-seed"];
/// Longer lists of classes are told by their hash.
const LONGEST_CLASSES: usize = 4096;

/// What is known only once data, model and graph have been loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    input: [usize; 3],
    classes: String,
    parameters: usize,
    shapes: String,
    weights: String,
    partition: Option<u64>,
}

impl Found {
    /// Looks at what was loaded. `partition` is who holds what of the shared data.
    pub fn of(
        dataset: &Dataset,
        parameters: &Parameters,
        weights: &[MixingMatrix],
        partition: Option<&Partition>,
    ) -> Self {
        let mut classes = format!("{:?}", dataset.classes);
        // Of an agent's own data not even the names of the classes leave its machine.
        if classes.len() > LONGEST_CLASSES || partition.is_none() {
            classes = format!("{}, {}", dataset.classes.len(), hash(classes.as_bytes()));
        }
        let each = parameters.iter().map(|part| format!("{} {:?}\n", part.name, part.shape));
        Found {
            input: dataset.input,
            classes,
            parameters: parameters.len(),
            shapes: hash(each.collect::<String>().as_bytes()),
            weights: hash_of_weights(weights),
            partition: partition.map(Partition::hash),
        }
    }
}

impl NetworkPlan {
    /// The text that must be equal on all agents.
    pub fn shared_text(&self, found: &Found) -> String {
        let mut text = format!(
            "transport = {}\npolicy = {}\nlargest-update = {}\n",
            self.transport, self.policy, self.largest_update
        );
        text += &run_text(&self.run, self.has_own_data(), found);
        for (number, agent) in self.agents.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "agents.{number}.key = {}", agent.key);
        }
        text
    }
}

/// What all agents of `run` must share, whatever carries their messages.
pub(crate) fn run_text(run: &Config, own_data: bool, found: &Found) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key} = {value}");
    };
    line("version", &env!("CARGO_PKG_VERSION"));
    for (key, value) in run_lines(run, own_data) {
        line(&key, &value);
    }
    let [height, width, channels] = found.input;
    line("data.input", &format!("{height}x{width}x{channels}"));
    line("data.classes", &found.classes);
    if let Some(partition) = found.partition {
        line("data.partition", &format!("{partition:016x}"));
    }
    line("model.parameters", &found.parameters);
    line("model.shapes", &found.shapes);
    line("graph.weights", &found.weights);
    text
}

/// What `[run]` says that all must share, key by key.
fn run_lines(run: &Config, own_data: bool) -> Vec<(String, Value)> {
    let left_out = |key: &str| OWN.contains(&key) || (own_data && OF_SHARED_DATA.contains(&key));
    let mut lines = Vec::new();
    // A configuration that was read can be written.
    let table = Table::try_from(run).unwrap_or_default();
    for (key, value) in table.into_iter().filter(|(key, _)| !left_out(key)) {
        flatten(format!("run.{key}"), value, &mut lines);
    }
    lines
}

fn flatten(key: String, value: Value, lines: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(inner) => {
            for (name, value) in inner {
                flatten(format!("{key}.{name}"), value, lines);
            }
        }
        value => lines.push((key, value)),
    }
}

/// The number of the run whose agents share this text.
pub fn run_id(shared_text: &str) -> u64 {
    let hash = Sha256::digest(shared_text.as_bytes());
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    u64::from_be_bytes(first)
}

fn hash_of_weights(weights: &[MixingMatrix]) -> String {
    let mut hasher = Sha256::new();
    for phase in weights {
        hasher.update((phase.agents() as u64).to_le_bytes());
        for agent in 0..phase.agents() {
            for (from, weight) in phase.row(agent) {
                hasher.update((from as u64).to_le_bytes());
                // What the sum is computed with.
                hasher.update((weight as f32).to_le_bytes());
            }
            hasher.update(u64::MAX.to_le_bytes());
        }
    }
    hex(&hasher.finalize())
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The first 16 digits: enough to tell two apart that differ by accident.
fn hex(hash: &[u8]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
