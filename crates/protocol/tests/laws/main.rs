//! The laws of the protocol, one test per claim, with two to four agents on virtual time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod adaptive_timeout;
mod bounds;
mod leaving;
mod meeting;
mod returning;
mod small_world;
