//! Rounds between processes, without I/O.
//!
//! A [`Peer`] is one agent among its neighbours. Frames, link events and the time go in; frames,
//! wants and notes come out. It has no clock, socket or thread, so a test can try ten thousand
//! faults in seconds, and every transport drives the same code.
//!
//! ```text
//!               link_up/link_down, hear(frame), tick(now)
//!   transport ──────────────────────────────────────────────►  Peer ──► want():  Gradient, Save,
//!             ◄──────────────────────────────────────────────           RollBack, Wait, Done
//!                           frame_for(neighbour)                ▲
//!                                                               └── gradient(g, eta), saved()
//! ```
//!
//! The [`Policy`] decides what happens when a neighbour is silent: [`Policy::Wait`] uses every
//! message (the bits of the simulator, even through crashes), [`Policy::Continue`] sets silent
//! neighbours aside.

mod adaptive_timeout;
mod differences;
mod frame;
mod note;
mod peer;
mod policy;
mod settings;
mod want;

pub use differences::{differences, sentence};
pub use frame::{
    Body, BodyBuffer, Frame, FrameError, HEADER, Header, Kind, Limits, UpdateShape, VERSION,
};
pub use note::Note;
pub use peer::Peer;
pub use policy::Policy;
pub use settings::PeerSettings;
pub use want::{LEFT_FOR_GOOD, Want};
