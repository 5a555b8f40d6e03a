//! What a run writes down: folders that never collide, curves as CSV and JSON.
//!
//! ```text
//!   CurveSet ──► csv   (long form, for a spreadsheet or pandas)
//!            ──► json  (round trip: what the charts are drawn from)
//!                  └──► OutputFolder::write (atomic, never over another run)
//! ```
//!
//! Pure data and files: no clock, no randomness, no knowledge of how the numbers came about.

pub mod csv;
pub mod curves;
mod error;
mod float_text;
pub mod folder;
pub mod json;

pub use curves::{Curve, CurveSet, Panel};
pub use error::RecordsError;
pub use folder::OutputFolder;
