//! Frames between the ranks of an MPI job: on a cluster, the fastest way there is.
//!
//! Rank and agent are the same number. `mpirun` starts all ranks and ends all of them if one
//! dies, so a link never goes down by itself: after a failure the job is started again from
//! its checkpoints.
//!
//! MPI belongs to one thread, the engine, which makes every call; the driver talks to it
//! through channels.
//!
//! ```text
//!   driver ─ send ──► orders ─► engine ─► header, body ═══ MPI ═══► engine ─► events ─► wait ─ driver
//!                                 ▲ ◄═══════════════ credit ═══════════ ▲ ◄── orders ◄── taken ──┘
//! ```
//!
//! A frame is two messages, header and body, which go from and into the memory of the body
//! itself. It is sent only against a credit: the receiver gives out [`INCOMING`](crate::INCOMING)
//! of them, and one more whenever its driver has taken a frame. So a slow reader stops its
//! neighbours, MPI never has to store what nobody reads, and whatever was handed to MPI gets
//! through soon, whoever else is slow. Credits are also receipts: a rank that has all of them
//! back knows that its frames have arrived, and may leave.

mod engine;
mod link;
mod pace;
mod receive;
mod requests;
mod send;
mod session;
mod transport;

use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use consort_protocol::Limits;

use self::engine::Task;
pub use self::transport::MpiTransport;

/// What the links of one run are.
#[derive(Clone, Debug)]
pub struct MpiSettings {
    /// The ranks to exchange frames with. Who names a neighbour must be named by it.
    pub neighbours: Vec<usize>,
    /// What frames of this run can be.
    pub limits: Limits,
    /// Largest magnitude of a number that is taken.
    pub largest: f32,
}

/// This process's part in an MPI job, from `MPI_Init` to `MPI_Finalize`.
///
/// A process joins once. Whoever drops its job without [`leave`](Self::leave) has failed: once
/// the process exits, `mpirun` ends the other ranks too.
#[derive(Debug)]
pub struct MpiJob {
    rank: usize,
    agents: usize,
    tasks: Sender<Task>,
    engine: JoinHandle<()>,
}

impl MpiJob {
    /// Joins the job that `mpirun` or `srun` has started this process for. Without one, the
    /// process is a job of its own, with one rank.
    ///
    /// # Errors
    /// If this process has joined before, or the MPI library cannot be called from a thread.
    pub fn join() -> Result<Self, MpiError> {
        let (tasks, todo) = mpsc::channel();
        let (answer, joined) = mpsc::channel();
        let engine = thread::Builder::new()
            .name("mpi".into())
            .spawn(move || engine::run(&todo, &answer))
            .map_err(|error| MpiError::Thread { error: error.to_string() })?;
        let (rank, agents) = joined.recv().map_err(|_| MpiError::Stopped)??;
        Ok(MpiJob { rank, agents, tasks, engine })
    }

    /// This process's rank, which is its agent's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks, and so agents, there are.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Links this rank to its neighbours, once all ranks of the job call this. One run at a
    /// time: the next begins after [`close`](crate::Transport::close).
    ///
    /// # Errors
    /// If there are more or fewer ranks than agents, or a neighbour does not exist or does not
    /// see this rank as its neighbour; then on every rank, so that all may try again.
    pub fn connect(&self, settings: MpiSettings) -> Result<MpiTransport, MpiError> {
        let (driver_end, engine_end) = transport::ends(&settings);
        let (answer, connected) = mpsc::channel();
        let task = Task::Connect { settings, end: engine_end, answer };
        self.tasks.send(task).map_err(|_| MpiError::Stopped)?;
        connected.recv().map_err(|_| MpiError::Stopped)??;
        Ok(driver_end)
    }

    /// Waits until all ranks leave, and finalises MPI.
    ///
    /// # Errors
    /// If the thread that calls MPI has ended before.
    pub fn leave(self) -> Result<(), MpiError> {
        self.tasks.send(Task::Leave).map_err(|_| MpiError::Stopped)?;
        self.engine.join().map_err(|_| MpiError::Stopped)
    }
}

/// Why ranks could not be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// MPI can be initialised once in a process.
    #[error("this process has joined its MPI job before; join once and keep the job")]
    Joined,
    /// The library was built for programs with one thread.
    #[error("the MPI library does not support threads (MPI_THREAD_FUNNELED); use one that does")]
    Threads,
    /// The system gave no thread.
    #[error("no thread for MPI: {error}")]
    Thread {
        /// What the system said.
        error: String,
    },
    /// One rank is one agent.
    #[error("expected one MPI rank per agent, got {ranks} for {agents}: start {agents} ranks")]
    Ranks {
        /// Agents of the run.
        agents: u32,
        /// Ranks of the job.
        ranks: usize,
    },
    /// No other rank has this number.
    #[error("agent {agent} names agent {neighbour} of {agents} as a neighbour")]
    Neighbour {
        /// This rank.
        agent: usize,
        /// The neighbour.
        neighbour: usize,
        /// How many there are.
        agents: usize,
    },
    /// A link has two ends.
    #[error(
        "agent {one} names agent {other} as a neighbour, agent {other} does not name {one}: run the same configuration everywhere"
    )]
    OneSided {
        /// Who names the other.
        one: usize,
        /// Who does not.
        other: usize,
    },
    /// All ranks are linked, or none.
    #[error("another rank could not be linked, and says why")]
    Elsewhere,
    /// The thread that calls MPI has ended.
    #[error("the thread that calls MPI has ended")]
    Stopped,
}
