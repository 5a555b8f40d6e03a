//! Frames between the ranks of an MPI job: the fastest transport on a cluster.
//!
//! Rank and agent are the same number. `mpirun` starts all ranks and ends all of them if one
//! dies, so a link never goes down by itself: after a failure the job is started again from
//! its checkpoints.
//!
//! One thread, the MPI thread, makes all MPI calls; the driver talks to it through channels.
//!
//! ```text
//!   driver ─ send ─► orders ─► MPI thread ═══ header, body ═══► MPI thread ─► events ─► wait ─ driver
//!                                  ▲ ◄══════════ credit ═══════════ ▲ ◄─── orders ◄── taken ────┘
//! ```
//!
//! A frame is two messages, header and body. The body is sent from and received into its own
//! memory. A frame is sent only against a credit: the receiver grants
//! [`INCOMING`](crate::INCOMING) credits, and one more whenever its driver has taken a frame. So a
//! slow reader stops its neighbours, MPI never has to store frames that nobody reads, and every
//! frame given to MPI arrives soon, however slow other ranks are. Credits are also receipts: a
//! rank that has all of them back knows that its frames have arrived, and may leave.

mod link;
mod mpi_thread;
mod pace;
mod receive;
mod requests;
mod send;
mod session;
mod transport;

use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use consort_protocol::Limits;

use self::mpi_thread::Task;
pub use self::transport::MpiTransport;

/// The settings of the links of one run.
#[derive(Clone, Debug)]
pub struct MpiSettings {
    /// The ranks to exchange frames with. Neighbours must list each other.
    pub neighbours: Vec<usize>,
    /// The limits of frames of this run.
    pub limits: Limits,
    /// The largest magnitude of a number that is accepted.
    pub largest: f32,
}

/// This process's part in an MPI job, from `MPI_Init` to `MPI_Finalize`.
///
/// A process joins once. To drop the job without [`leave`](Self::leave) is a failure: when the
/// process exits, `mpirun` ends the other ranks too.
#[derive(Debug)]
pub struct MpiJob {
    rank: usize,
    agents: usize,
    tasks: Sender<Task>,
    thread: JoinHandle<()>,
}

impl MpiJob {
    /// Joins the job for which `mpirun` or `srun` has started this process. Without one, the
    /// process is a job of its own with one rank.
    ///
    /// # Errors
    /// If this process has joined before, or the MPI library does not support threads.
    pub fn join() -> Result<Self, MpiError> {
        let (tasks, todo) = mpsc::channel();
        let (answer, joined) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("mpi".into())
            .spawn(move || mpi_thread::run(&todo, &answer))
            .map_err(|error| MpiError::Thread { error: error.to_string() })?;
        let (rank, agents) = joined.recv().map_err(|_| MpiError::Stopped)??;
        Ok(MpiJob { rank, agents, tasks, thread })
    }

    /// This process's rank, which is its agent's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks, and so agents, there are.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Links this rank to its neighbours as soon as all ranks of the job call this. There is one
    /// run at a time: the next begins after [`close`](crate::Transport::close).
    ///
    /// # Errors
    /// If there are more or fewer ranks than agents, or a neighbour does not exist or does not
    /// list this rank as its neighbour. Then the call fails on every rank, and all may try again.
    pub fn connect(&self, settings: MpiSettings) -> Result<MpiTransport, MpiError> {
        let (driver_end, thread_end) = transport::ends(&settings);
        let (answer, connected) = mpsc::channel();
        let task = Task::Connect { settings, end: thread_end, answer };
        self.tasks.send(task).map_err(|_| MpiError::Stopped)?;
        connected.recv().map_err(|_| MpiError::Stopped)??;
        Ok(driver_end)
    }

    /// Waits until all ranks leave, and finalises MPI.
    ///
    /// # Errors
    /// If the thread that calls MPI has already ended.
    pub fn leave(self) -> Result<(), MpiError> {
        self.tasks.send(Task::Leave).map_err(|_| MpiError::Stopped)?;
        self.thread.join().map_err(|_| MpiError::Stopped)
    }
}

/// Why MPI ranks cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// MPI can be initialised only once per process.
    #[error("this process has already joined its MPI job; join once and keep the job")]
    Joined,
    /// The library was built without support for threads.
    #[error("the MPI library does not support threads (MPI_THREAD_FUNNELED); use one that does")]
    Threads,
    /// The system provided no thread.
    #[error("cannot start a thread for MPI: {error}")]
    Thread {
        /// What the system said.
        error: String,
    },
    /// One rank is one agent.
    #[error("expected one MPI rank per agent, got {ranks} for {agents}; start {agents} ranks")]
    Ranks {
        /// Agents of the run.
        agents: u32,
        /// Ranks of the job.
        ranks: usize,
    },
    /// No other rank has this number.
    #[error(
        "agent {agent} lists agent {neighbour} as a neighbour; expected another agent from 0 to {}",
        agents.saturating_sub(1)
    )]
    Neighbour {
        /// This rank.
        agent: usize,
        /// The neighbour.
        neighbour: usize,
        /// How many agents there are.
        agents: usize,
    },
    /// A link has two ends.
    #[error(
        "agent {one} lists agent {other} as a neighbour, but agent {other} does not list {one}; \
         run the same configuration everywhere"
    )]
    OneSided {
        /// The agent that lists the other.
        one: usize,
        /// The agent that does not.
        other: usize,
    },
    /// All ranks are linked, or none.
    #[error("another rank could not be linked; its own error says why")]
    Elsewhere,
    /// The thread that calls MPI has ended.
    #[error("the thread that calls MPI has ended")]
    Stopped,
}
