//! What a run writes down: folders that never collide, records of training, curves, tables.
//!
//! ```text
//!   Record ──► RecordFile   (JSONL, line by line; survives a kill, resumes at a checkpoint)
//!     │   └──► tensorboard  (event files)
//!     ▼
//!   TrialRecords (method, seed) ──► TrialSummary ──► MethodTable (text, Markdown, LaTeX, CSV)
//!     │
//!     ▼
//!   CurveSet ──► csv   (long form, for a spreadsheet or pandas)
//!            ──► json  (round trip: what the charts are drawn from)
//!                  └──► OutputFolder::write (atomic, never over another run)
//! ```
//!
//! Pure data and files: no clock, no randomness, no knowledge of how the numbers came about.

pub mod csv;
mod curves;
mod error;
mod float_text;
pub mod folder;
pub mod json;
pub mod record;
mod summary;
pub mod table_text;
pub mod tensorboard;
mod trial_records;

pub use curves::{Curve, CurveSet, Panel};
pub use error::RecordsError;
pub use folder::OutputFolder;
pub use record::{Record, RecordFile, Spread};
pub use summary::{MeanStd, MethodRow, MethodTable, TrialSummary};
pub use trial_records::{Quantity, TrialRecords, XAxis, curves};
