//! The laws of the protocol, one test a claim, among two or three agents on virtual time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bounds;
mod leaving;
mod meeting;
mod patience;
mod returning;
mod small_world;
