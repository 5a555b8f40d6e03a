//! Many agents in one process.
//!
//! Two drivers of the same algorithm core:
//!
//! - [`World`]: agents with oracles, spread over threads, in numbered rounds through
//!   the same protocol that a network uses;
//! - [`consensus_errors`]: the paper's average-consensus task, where coordinates are
//!   independent and a block of them runs through all rounds inside the cache.
//!
//! Both give the same bits for any number of threads: agents and blocks never share
//! a sum, and what they produce is added up in a fixed order.

mod consensus;
mod crowd;
mod error;
mod quadratic;
mod quadratics;
mod worker;
mod world;

pub use consensus::{ConsensusTask, consensus_errors};
pub use error::SimError;
pub use quadratic::Quadratic;
pub use quadratics::{Measured, Quadratics};
pub use worker::{Answer, Part, Watch, Worker, ask};
pub use world::{RoundReport, World, rows_of};
