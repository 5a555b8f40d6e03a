//! Many agents in one process.
//!
//! Two drivers of the same algorithm core:
//!
//! - [`World`]: agents over threads, in numbered rounds through the same protocol that a network
//!   uses; one [`Oracle`](consort_algo::Oracle) answers for all of them;
//! - [`consensus_errors`]: the paper's average-consensus task, where coordinates are
//!   independent and a block of them runs through all rounds inside the cache.
//!
//! Both give the same bits for any number of threads: agents and blocks never share
//! a sum, and what they produce is added up in a fixed order.

mod circulant_batch;
mod consensus;
mod error;
mod per_thread;
mod profile;
mod quadratics;
mod staged_agents;
mod world;

pub use consensus::{ConsensusTask, consensus_errors};
pub use error::SimError;
pub use per_thread::{PerThread, start_threads};
pub use profile::{Part, Profiler};
pub use quadratics::{Measured, QuadraticOracle, Quadratics};
pub use world::{RoundReport, World, rows_of};
