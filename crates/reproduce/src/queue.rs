//! The queue: the order in which all experiments are run.

use serde::Deserialize;

use crate::error::ReproduceError;

/// Some rows of an experiment, with a number of seeds and a length.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueStep {
    /// The experiment.
    pub experiment: String,
    /// The rows; if empty, all rows.
    #[serde(default)]
    pub rows: Vec<String>,
    /// The number of seeds; the first is 1.
    pub seeds: u64,
    /// The length as a share of the paper's length.
    #[serde(default = "full_length")]
    pub scale: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Queue {
    steps: Vec<QueueStep>,
}

fn full_length() -> f64 {
    1.0
}

/// The steps in order.
///
/// # Errors
/// If the file of the queue is not valid, which a test excludes.
pub fn queue() -> Result<Vec<QueueStep>, ReproduceError> {
    let text = include_str!("../../../experiments/queue.toml");
    let queue: Queue = toml::from_str(text).map_err(|error| ReproduceError::Preset {
        experiment: "queue".into(),
        reason: error.to_string(),
    })?;
    Ok(queue.steps)
}
