//! Ways to move frames between neighbours.
//!
//! A transport knows keys, addresses and bytes. It knows nothing of rounds: the driver owns
//! those, and drives any [`Transport`] alike.
//!
//! ```text
//!   driver's thread        │   network's thread
//!                          │
//!   send ──► desk ─────────┼──► link ──► TLS or QUIC ──► neighbour
//!   wait ◄── inbox ◄───────┼─── link ◄── TLS or QUIC ◄── neighbour
//! ```
//!
//! [`TlsTransport`] and [`IrohTransport`] share everything but the way bytes travel: who is
//! known (`identity`), which of two crossing connections is the link (`agreement`), frames over
//! a stream (`framing`), a link's life (`link`) and its bounds (`desk`), the thread (`engine`).
//!
//! # Memory
//!
//! A link holds at most [`INCOMING`] frames that the driver has not taken (the one being read
//! among them) and [`OUTGOING`] that have not left; each of them is at most
//! [`Limits::largest_body`](consort_protocol::Limits::largest_body) and a header. Two bodies that
//! the driver has done with are kept to be filled again. What is sent to several neighbours is
//! one body in memory, however many links it waits on. So a model of 1 MB costs at most 6 MB per
//! neighbour and 4 MB for all that is sent. Beneath that, TLS encrypts at most 64 kB ahead and
//! reads 64 kB at a time, besides the system's socket buffers; iroh holds at most 150 kB sent and
//! not acknowledged (8 MB with [`Profile::Wan`]) and 1.25 MB received and not read. A neighbour
//! that sends more is not read from; one that reads nothing is not sent to. Of strangers at most
//! 16 are heard at a time, for at most 10 seconds, and at most 8 reports of them wait.

#[cfg(any(feature = "tls", feature = "iroh"))]
mod agreement;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod connection;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod desk;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod engine;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod exchange;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod framing;
mod identity;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod inbox;
#[cfg(feature = "iroh")]
mod iroh;
#[cfg(any(feature = "tls", feature = "iroh"))]
mod link;
mod loopback;
#[cfg(feature = "mpi")]
mod mpi;
mod settings;
#[cfg(feature = "tls")]
mod tls;

use std::time::Duration;

use consort_protocol::{Frame, FrameError};

pub use identity::{IdentityError, KEY, PublicKey, SecretKey};
#[cfg(feature = "iroh")]
pub use iroh::IrohTransport;
pub use loopback::free_addresses;
pub use settings::{Discovery, Neighbour, Profile, Settings, TransportError};
#[cfg(feature = "tls")]
pub use tls::TlsTransport;

#[cfg(feature = "mpi")]
pub use self::mpi::{MpiError, MpiJob, MpiSettings, MpiTransport};

/// Moves frames between this agent and its neighbours.
///
/// It connects by itself, again and again, to every neighbour it was told of, from its own
/// threads; all methods return at once but [`wait`](Transport::wait).
pub trait Transport: Send {
    /// True if a frame for `peer` would be taken now: the link is up, and fewer than
    /// [`OUTGOING`] frames wait on it.
    fn has_room(&self, peer: usize) -> bool;

    /// Hands a frame over, to be sent in order. Without room it is dropped, and false returned.
    fn send(&mut self, peer: usize, frame: Frame) -> bool;

    /// The next event, waiting for at most `patience`; `None` if nothing happened.
    fn wait(&mut self, patience: Duration) -> Option<Event>;

    /// Ends the link to `peer`; it may be made anew by either side.
    fn disconnect(&mut self, peer: usize, reason: &str);

    /// What went over the link to `peer` so far.
    fn statistics(&self, peer: usize) -> LinkStatistics;

    /// Sends what is waiting, for at most `patience`, then ends all links.
    fn close(&mut self, patience: Duration);
}

/// Frames that wait on a link at most: a slow neighbour costs this much and no more.
pub const OUTGOING: usize = 4;
/// Frames of one neighbour that wait to be read at most; then nothing is read from its link.
pub const INCOMING: usize = 4;

/// What happened on a link.
#[derive(Debug)]
pub enum Event {
    /// The neighbour proved its key: frames can be sent and will come.
    Up {
        /// The neighbour.
        peer: usize,
    },
    /// The link is gone; the transport tries to make it anew.
    Down {
        /// The neighbour.
        peer: usize,
        /// What happened.
        reason: String,
    },
    /// A frame came.
    Frame {
        /// From whom.
        peer: usize,
        /// The frame.
        frame: Frame,
        /// Seconds from its first byte to its last.
        transfer: Duration,
    },
    /// Something came that is no frame of this run; the link is closed, and `Down` follows.
    Garbage {
        /// From whom.
        peer: usize,
        /// What was wrong.
        error: FrameError,
    },
    /// A link that had no room has room again.
    Room {
        /// The neighbour.
        peer: usize,
    },
    /// Somebody without a known key knocked, and was refused.
    Stranger {
        /// Its address or key.
        who: String,
        /// Why it was refused.
        reason: String,
    },
}

/// What went over a link.
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
    /// Packets or segments that the system had to send again, where it tells.
    pub retransmissions: u64,
    /// Times that the link was made.
    pub connections: u64,
}
