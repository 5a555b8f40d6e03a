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
//! same parts: [`MiniBatches`] (its gradients), a [`ModelPool`] (its tests), a [`TrainingSchedule`]
//! (its rounds and step sizes) and a [`TrialFolder`] (its files).
//!
//! There is no clock in here: an [`Observer`] has it, and decides when to save and when to stop.

mod checkpoint;
mod checkpoint_files;
mod collapse;
mod config;
mod drive;
mod error;
mod evaluations;
mod gradient_rule;
mod message_count;
mod mini_batches;
mod model_card;
mod model_pool;
mod network;
mod observer;
mod plan;
mod planned_mix;
mod score;
mod sharpness;
mod since_evaluation;
mod training_schedule;
mod trial;
mod trial_folder;

pub use checkpoint::{Agents, Restored};
pub use checkpoint_files::CheckpointFiles;
pub use collapse::{Collapse, Guess};
pub use config::{
    Checkpoint, Combination, Config, ConfigError, Evaluation, GraphChange, MethodEntry, Mix,
    MixShape, Schedule, Shape, Sweep, check_keys, config_markdown, config_schema, sweep_override,
};
pub use drive::{Ending, run_trial};
pub use error::TrainError;
pub use gradient_rule::GradientRule;
pub use message_count::MessageCount;
pub use mini_batches::MiniBatches;
pub use model_card::{CardInput, CardTraining, ModelCard};
pub use model_pool::ModelPool;
pub use network::{PlannedMethod, PlannedNetwork};
pub use observer::{Control, Observer, TrialObserver};
pub use plan::{Plan, find_model, load_data};
pub use planned_mix::{MixingSchedule, PlannedMix};
pub use score::Score;
pub use since_evaluation::SinceEvaluation;
pub use training_schedule::TrainingSchedule;
pub use trial::{Evaluated, Trial, evaluate, partition_for};
pub use trial_folder::{Results, TrialFolder};
