//! Moves frames between neighbours.
//!
//! A transport deals with keys, addresses and bytes. It does not know about rounds: these belong
//! to the driver, which can use any [`Transport`].
//!
//! ```text
//!   driver's thread        │   network thread
//!                          │
//!   send ──► link slot ────┼──► link ──► TLS or QUIC ──► neighbour
//!   wait ◄── event queue ◄─┼─── link ◄── TLS or QUIC ◄── neighbour
//! ```
//!
//! [`TlsTransport`] and [`IrohTransport`] differ only in how bytes travel. They share the
//! identities (`identity`), the choice between crossing connections (`agreement`), frames over a
//! stream (`framing`), the life of a link (`link`), its bounds (`link_slot`), and the thread
//! (`network_thread`).
//!
//! # Memory
//!
//! A link holds at most [`INCOMING`] frames that the driver has not taken (including the one
//! being read) and [`OUTGOING`] frames that have not been sent; each is at most
//! [`Limits::largest_body`](consort_protocol::Limits::largest_body) and a header. The memory of
//! two bodies that the driver has dropped is kept for reuse. A message to several neighbours is
//! one body in memory, however many links it waits on. So a model of 1 MB costs at most 6 MB per
//! neighbour and 4 MB for everything that is sent. In addition, TLS encrypts at most 64 kB ahead
//! and reads 64 kB at a time, besides the system's socket buffers; iroh holds at most 150 kB that
//! are sent but not acknowledged (8 MB with [`NetworkProfile::Wan`]) and 1.25 MB that are received
//! but not read. If a neighbour sends more, we stop reading from it; if it reads nothing, we stop
//! sending to it. At most 16 strangers can be connected at a time, for at most 10 seconds, and at
//! most 8 reports of them wait.

#[cfg(any(feature = "tls", feature = "iroh"))]
mod agreement;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod connection;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod event_queue;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod framing;
mod identity;
#[cfg(feature = "iroh")]
mod iroh;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod link;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod link_slot;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod link_table;
mod loopback;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod network_thread;
mod settings;
#[cfg(feature = "tls")]
mod tls;

use std::time::Duration;

use consort_protocol::{Frame, FrameError};

pub use identity::{IdentityError, KEY, PublicKey, SecretKey};
#[cfg(feature = "iroh")]
pub use iroh::IrohTransport;
pub use loopback::free_addresses;
pub use settings::{Discovery, Neighbour, NetworkProfile, TransportError, TransportSettings};
#[cfg(feature = "tls")]
pub use tls::TlsTransport;

#[cfg(feature = "mpi")]
pub use self::mpi::{MpiError, MpiJob, MpiSettings, MpiTransport};

/// Moves frames between this agent and its neighbours.
///
/// Threads of its own connect to every neighbour in the settings, again after every failure. All
/// methods except [`wait`](Transport::wait) and [`close`](Transport::close) return at once.
pub trait Transport: Send {
    /// True if a frame for `peer` would be accepted now: the link is up, and fewer than
    /// [`OUTGOING`] frames wait on it.
    fn has_room(&self, peer: usize) -> bool;

    /// Queues a frame; frames are sent in order. Without room, drops it and returns false.
    fn send(&mut self, peer: usize, frame: Frame) -> bool;

    /// The next event; waits for at most `timeout` and returns `None` if nothing happened.
    fn wait(&mut self, timeout: Duration) -> Option<Event>;

    /// Ends the link to `peer`. Either side may connect again.
    fn disconnect(&mut self, peer: usize, reason: &str);

    /// The traffic on the link to `peer` so far.
    fn statistics(&self, peer: usize) -> LinkStatistics;

    /// Sends waiting frames for at most `timeout`, then ends all links.
    fn close(&mut self, timeout: Duration);
}

/// The most frames that wait to be sent on a link: a slow neighbour costs no more than this.
pub const OUTGOING: usize = 4;
/// The most frames of one neighbour that the driver has not taken; beyond that, its link is not
/// read.
pub const INCOMING: usize = 4;

/// What happened on a link.
#[derive(Debug)]
pub enum Event {
    /// The link is up: the neighbour has proved its key, and frames can be exchanged.
    Up {
        /// The neighbour.
        peer: usize,
    },
    /// The link is gone; the transport tries to connect again.
    Down {
        /// The neighbour.
        peer: usize,
        /// What happened.
        reason: String,
    },
    /// A frame arrived.
    Frame {
        /// The neighbour that sent it.
        peer: usize,
        /// The frame.
        frame: Frame,
        /// The time from its first byte to its last.
        transfer: Duration,
    },
    /// The neighbour sent something that is not a valid frame of this run. The link is closed, and
    /// `Down` follows.
    Garbage {
        /// The neighbour.
        peer: usize,
        /// What was wrong.
        error: FrameError,
    },
    /// A link that had no room has room again.
    Room {
        /// The neighbour.
        peer: usize,
    },
    /// Somebody without a known key tried to connect and was refused.
    Stranger {
        /// Its address or key.
        who: String,
        /// Why it was refused.
        reason: String,
    },
}

/// The traffic on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Bytes of frames sent.
    pub bytes_sent: u64,
    /// Bytes of frames received.
    pub bytes_received: u64,
    /// Frames sent.
    pub frames_sent: u64,
    /// Frames received.
    pub frames_received: u64,
    /// Packets that were sent again, where that is known.
    pub retransmissions: u64,
    /// How often the link was established.
    pub connections: u64,
}
