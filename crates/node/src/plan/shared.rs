//! What must be equal on all agents, as text: one `key = value` a line.
//!
//! Neighbours show each other this text before the first round. Its hash is the run's number,
//! which every frame carries; if two texts differ, [`differences`] says in which lines. Paths,
//! addresses and the names of files are each agent's own business and not in it.

use std::collections::BTreeMap;
use std::fmt::Write;

use consort_data::{Dataset, Partition};
use consort_graph::MixingMatrix;
use consort_model::Parameters;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::NetworkPlan;

/// Keys of `[run]` that each agent may choose for itself.
const OWN: [&str; 3] = ["name", "tensorboard", "checkpoint"];
/// Keys of `[run]` that say nothing where agents have data of their own.
const OF_SHARED_DATA: [&str; 3] = ["data", "partition", "partition-seed"];
/// Longer lists of classes are told by their hash.
const LONGEST_CLASSES: usize = 4096;
/// Sentences about differences, and characters of a value in them; what a neighbour sends may
/// be anything.
const MOST_SENTENCES: usize = 12;
const LONGEST_VALUE: usize = 100;

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
        if classes.len() > LONGEST_CLASSES {
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
        let mut text = String::new();
        let mut line = |key: &str, value: &dyn std::fmt::Display| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        };
        line("version", &env!("CARGO_PKG_VERSION"));
        line("transport", &self.transport);
        line("policy", &self.policy);
        line("largest-update", &self.largest_update);
        for (key, value) in self.run_lines() {
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
        for (number, agent) in self.agents.iter().enumerate() {
            line(&format!("agents.{number}.key"), &agent.key);
        }
        text
    }

    /// What `[run]` says that all must share, key by key.
    fn run_lines(&self) -> Vec<(String, Value)> {
        let own_data = self.has_own_data();
        let left_out =
            |key: &str| OWN.contains(&key) || (own_data && OF_SHARED_DATA.contains(&key));
        let mut lines = Vec::new();
        // A configuration that was read can be written.
        let table = Table::try_from(&self.run).unwrap_or_default();
        for (key, value) in table.into_iter().filter(|(key, _)| !left_out(key)) {
            flatten(format!("run.{key}"), value, &mut lines);
        }
        lines
    }
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

/// In what two shared texts differ, in sentences; `theirs` may be any text.
///
/// ```
/// let [ours, theirs] = ["run.eta = 0.1\n", "run.eta = 0.2\n"];
/// assert_eq!(consort_node::differences(ours, theirs), ["run.eta: here 0.1, there 0.2"]);
/// ```
pub fn differences(ours: &str, theirs: &str) -> Vec<String> {
    fn lines(text: &str) -> BTreeMap<&str, &str> {
        text.lines().map(|line| line.split_once(" = ").unwrap_or((line, ""))).collect()
    }
    let (here, there) = (lines(ours), lines(theirs));
    let both = here.keys().chain(there.keys().filter(|key| !here.contains_key(*key)));
    let value = |side: &BTreeMap<&str, &str>, key: &str| match side.get(key) {
        Some(value) => printable(value),
        None => "nothing".into(),
    };
    let differing: Vec<&str> =
        both.copied().filter(|key| here.get(key) != there.get(key)).collect();
    let sentence = |key: &&str| {
        format!("{}: here {}, there {}", printable(key), value(&here, key), value(&there, key))
    };
    let mut sentences: Vec<String> = differing.iter().take(MOST_SENTENCES).map(sentence).collect();
    if differing.len() > MOST_SENTENCES {
        sentences.push(format!("and {} more", differing.len() - MOST_SENTENCES));
    }
    sentences
}

/// A value for a terminal: short, and without anything that a terminal obeys.
fn printable(value: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = value.chars().take(LONGEST_VALUE).map(plain).collect();
    if value.chars().nth(LONGEST_VALUE).is_some() {
        shown.push('…');
    }
    shown
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
