//! The order in which everything is run that the paper shows.

use serde::Deserialize;

use crate::error::ReproduceError;

/// Some rows of an experiment, with so many seeds, at such a length.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueStep {
    /// The experiment.
    pub experiment: String,
    /// Which rows; none: all.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Seeds 1 to this.
    pub seeds: u64,
    /// What is left of the paper's length.
    #[serde(default = "whole")]
    pub scale: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Queue {
    steps: Vec<QueueStep>,
}

fn whole() -> f64 {
    1.0
}

/// The steps, first to last.
///
/// # Errors
/// If the file of the queue cannot be read, which a test rules out.
pub fn queue() -> Result<Vec<QueueStep>, ReproduceError> {
    let text = include_str!("../../../experiments/queue.toml");
    let queue: Queue = toml::from_str(text).map_err(|error| ReproduceError::Preset {
        experiment: "queue".into(),
        reason: error.to_string(),
    })?;
    Ok(queue.steps)
}
