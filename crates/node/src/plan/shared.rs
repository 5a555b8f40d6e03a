//! What must be equal on all agents, as text: one `key = value` per line.
//!
//! Neighbours exchange this text before the first round. Its hash is the run id, which every frame
//! carries. If two texts differ, the protocol reports the lines that do. The text has no paths,
//! addresses or file names, which may differ from agent to agent.

use std::fmt::Write;

use consort_data::{Dataset, Partition, Target};
use consort_graph::MixingMatrix;
use consort_model::Parameters;
use consort_train::Config;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::NetworkPlan;

/// The keys of `[run]` that may differ from agent to agent.
const OWN: [&str; 3] = ["name", "tensorboard", "checkpoint"];
/// The keys of `[run]` that have no meaning if agents have data of their own.
const OF_SHARED_DATA: [&str; 3] = ["data", "partition", "partition-seed"];
/// Longer lists of classes are replaced by their hash.
const LONGEST_CLASSES: usize = 4096;

/// Facts about the loaded data, model and graph that must be equal on all agents.
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
    /// Collects the facts. `partition` says who holds which samples of the shared data; without
    /// it, the data are the agent's own.
    pub fn new(
        dataset: &Dataset,
        parameters: &Parameters,
        weights: &[MixingMatrix],
        partition: Option<&Partition>,
    ) -> Self {
        let mut classes = format!("{:?}", dataset.classes);
        // Not even the class names of an agent's own data leave its machine.
        if classes.len() > LONGEST_CLASSES || partition.is_none() {
            classes = format!("{}, {}", dataset.classes.len(), hash(classes.as_bytes()));
        }
        if let Some(target) = dataset.task.target() {
            classes = scaled_target(target);
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

/// What must be equal on all agents of `run`, whatever the transport.
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

/// The keys of `[run]` that must be equal, with their values.
fn run_lines(run: &Config, own_data: bool) -> Vec<(String, Value)> {
    let left_out = |key: &str| OWN.contains(&key) || (own_data && OF_SHARED_DATA.contains(&key));
    let mut lines = Vec::new();
    // A configuration that could be read can be written.
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

/// A regression has a scaled target in place of classes. Neither its name nor its scale leave the
/// machine, but models can only be averaged where they are the same.
fn scaled_target(target: &Target) -> String {
    let Target { name, mean, std } = target;
    let scale = hash(format!("{name} {mean:e} {std:e}").as_bytes());
    format!("a number, {scale} (own data: give all agents the same `:target-scale=MEAN+STD`)")
}

/// The id of the run whose agents share this text.
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
                // As in the computation.
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

/// The first 16 digits, which is enough to detect accidental differences.
fn hex(hash: &[u8]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
