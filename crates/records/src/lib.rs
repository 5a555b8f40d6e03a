//! The results of a run as files: output folders, records of training, curves and tables.
//!
//! ```text
//!   Record ──► RecordFile   (JSONL, line by line; complete after a kill, resumes at a checkpoint)
//!     │   └──► tensorboard  (event files)
//!     ▼
//!   TrialRecords (method, seed) ──► TrialSummary ──► MethodTable (text, Markdown, LaTeX, CSV)
//!     │
//!     ▼
//!   CurveSet ──► csv   (long form, for a spreadsheet or pandas)
//!            ──► json  (can be read again, to draw the charts)
//!                  └──► OutputFolder::write (atomic, never into another run's folder)
//! ```
//!
//! Only data and files: no clock, no randomness, and nothing about how the numbers are computed.

pub mod csv;
mod curves;
mod error;
mod float_text;
pub mod folder;
pub mod json;
mod quality;
pub mod record;
pub mod significance;
mod summary;
pub mod sweep_table;
pub mod sweep_text;
pub mod table_columns;
pub mod table_text;
mod target;
pub mod tensorboard;
mod trial_records;

pub use curves::{Curve, CurveSet, Panel};
pub use error::RecordsError;
pub use folder::OutputFolder;
pub use quality::Quality;
pub use record::{Measured, Record, RecordFile, Spread};
pub use summary::{MeanStd, MethodCost, MethodRow, MethodTable, TrialSummary};
pub use sweep_table::{Edge, SweepRow, SweepTable};
pub use target::{TimeToTarget, times_to_target};
pub use trial_records::{
    Quantity, TrialRecords, XAxis, curves, curves_over_agents, traffic_differs,
};
