//! One agent as a separate process: its plan, its key, its work, its files, its driver.
//!
//! ```text
//!   plan.toml ─► NetworkPlan ─┬─► AgentWork ─► consort_algo::Agent, gradients, evaluations
//!   (one file, all agents)    │       │
//!   agent-3.key ─► SecretKey  │       └─► shared text ─► run id: equal at all neighbours?
//!                             └─► AgentFolder: records, checkpoints, the model
//! ```
//!
//! An agent computes exactly what it would compute in a simulation of all agents, bit by bit:
//! both are built from the parts of `consort-train`. The driver (`drive`) works over any
//! transport.

mod agent_folder;
mod drive;
mod drive_settings;
mod error;
mod key_file;
mod link_records;
mod lookahead;
mod neighbourhood;
mod observer;
mod plan;
mod session;
mod work;

pub use agent_folder::{AgentFolder, KEPT, evaluated_model, evaluated_rounds};
pub use drive::{AgentEnding, run_agent};
pub use drive_settings::DriveSettings;
pub use error::NodeError;
pub use key_file::{KeyFileError, read_key, write_key, write_own_key};
pub use link_records::{LinkRecord, OneLink, RoundTimes};
pub use lookahead::lookahead;
pub use observer::{AgentObserver, Progress, Waiting};
pub use plan::{
    Address, AgentEntry, Found, LARGEST_UPDATE, MOST_AGENTS, NetworkPlan, PlanError, TransportKind,
    check_can_continue, run_id,
};
pub use session::{Session, SessionError, SessionPlan, SessionWatcher};
pub use work::AgentWork;
