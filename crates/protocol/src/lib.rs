//! Rounds between processes, without I/O.
//!
//! A [`Peer`] is one agent among its neighbours. Frames, links and time go in; frames, wants
//! and notes come out. No clock, socket or thread is in here, so ten thousand faults can be
//! tried in a second, and any transport drives the same code.
//!
//! ```text
//!               link_up/link_down, hear(frame), tick(now)
//!   transport ──────────────────────────────────────────────►  Peer ──► want():  Gradient, Save,
//!             ◄──────────────────────────────────────────────           RollBack, Wait, Done
//!                           frame_for(neighbour)                ▲
//!                                                               └── gradient(g, eta), saved()
//! ```
//!
//! The two policies: [`Policy::Wait`] (every message is used: the simulator's bits, through
//! crashes) and [`Policy::Continue`] (the silent are set aside).

mod differences;
mod frame;
mod patience;
mod peer;
mod policy;
mod settings;

pub use differences::{differences, sentence};
pub use frame::{Body, Frame, FrameError, HEADER, Header, Kind, Limits, Room, VERSION};
pub use peer::Peer;
pub use settings::{Note, Policy, Settings, Want};
