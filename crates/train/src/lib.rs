//! A training run: its configuration, its rounds, its records, its checkpoints.
//!
//! ```text
//!   Config (TOML) ─► Plan (data, model, graph, methods: found and checked)
//!                      │
//!                      ▼  for every method and seed
//!                    Trial ─► round ─► ... ─► evaluate ─► Record ─► records.jsonl
//!                      │                         │
//!                      └── checkpoint ◄──────────┘   restore: the same bits as never stopped
//! ```
//!
//! A [`Trial`] holds all agents. One agent that has a process of its own is put together from the
//! same parts: a [`Desk`] (its gradients and tests), a [`Course`] (its rounds and step sizes) and
//! [`CheckpointFiles`].
//!
//! There is no clock in here: a [`Watcher`] has it, and decides when to save and when to stop.

mod checkpoint;
mod checkpoint_files;
mod collapse;
mod config;
mod course;
mod desk;
mod drive;
mod error;
mod evaluations;
mod gradient_rule;
mod network;
mod plan;
mod since_evaluation;
mod stations;
mod trial;
mod trial_folder;

pub use checkpoint::{Agents, Restored};
pub use checkpoint_files::CheckpointFiles;
pub use collapse::Collapse;
pub use config::{
    Checkpoint, Config, ConfigError, Evaluation, MethodEntry, Schedule, Shape, check_keys,
};
pub use consort_sim::Answer;
pub use course::Course;
pub use desk::Desk;
pub use drive::{Ending, Watcher, Wish, run_trial};
pub use error::TrainError;
pub use gradient_rule::GradientRule;
pub use network::{PlannedMethod, PlannedNetwork};
pub use plan::{Plan, find_model};
pub use since_evaluation::SinceEvaluation;
pub use stations::Score;
pub use trial::{Evaluated, Trial, evaluate, partition_for};
pub use trial_folder::TrialFolder;
