//! Who holds which training sample.
//!
//! ```text
//!   «dirichlet:0.1» ─► Scheme ─► Partition ─► counts, Heterogeneity (how unlike the agents are)
//!                    labels, agents, seed └─► BatchSampler (one per agent)
//! ```
//!
//! One scheme per file, each with its source. A partition is made once, before a run; it is a
//! pure function of labels, agents and seed, with the same bits on every machine.

mod dealing;
mod dirichlet;
mod error;
mod gamma;
mod heterogeneity;
mod iid;
mod labels;
mod parse;
mod plain_dirichlet;
mod scheme;
mod shards;
mod shares;
mod stored;

pub use error::PartitionError;
pub use heterogeneity::Heterogeneity;
pub use parse::{SCHEMES, SchemeHelp};
pub use scheme::Scheme;
pub use shares::Partition;
