//! Ways to move frames between neighbours.
//!
//! A transport knows keys, addresses and bytes. It knows nothing of rounds: the driver owns
//! those, and drives any [`Transport`] alike.

#[cfg(feature = "mpi")]
mod mpi;

use std::time::Duration;

use consort_protocol::{Frame, FrameError};

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
    /// Something came that is no frame of this run; the link is closed.
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
