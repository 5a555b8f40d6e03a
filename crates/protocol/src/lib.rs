//! Rounds between processes, without I/O.

mod frame;

pub use frame::{Body, Frame, FrameError, HEADER, Header, Kind, Limits, Room, VERSION};
