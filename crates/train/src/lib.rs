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
//! There is no clock in here: a [`Watcher`] has it, and decides when to save and when to stop.

mod checkpoint;
mod config;
mod drive;
mod error;
mod evaluations;
mod plan;
mod stations;
mod trial;
mod trial_folder;

pub use checkpoint::Restored;
pub use config::{Checkpoint, Config, ConfigError, Evaluation, MethodEntry, Schedule, Shape};
pub use drive::{Ending, Watcher, Wish, run_trial};
pub use error::TrainError;
pub use plan::{Plan, PlannedMethod, find_model};
pub use trial::{Trial, evaluate, partition_for};
pub use trial_folder::TrialFolder;
