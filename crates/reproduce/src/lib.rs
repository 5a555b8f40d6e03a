//! The paper's tables and figures as presets, and the ledger of finished trials.
//!
//! ```text
//!   experiments/*.toml ─► Experiment ─► Cell (one number of the paper) ─► TrialKey (a seed of it)
//!                                          │                                  │
//!                                          ▼                                  ▼
//!                                     Comparison ◄──────── Ledger ◄──── LedgerEntry (results/*.json)
//! ```
//!
//! A [`TrialKey`] is everything that decides the bits of a trial. Bits do not depend on the
//! machine, so a trial in the [`Ledger`] need not be run again. Anybody can run it again and
//! compare the checksums of the models.
//!
//! This crate does not run trials; the command line does.

mod catalogue;
mod comparison;
mod comparison_text;
mod entry;
mod error;
mod experiment;
mod ledger;
mod queue;
mod trial_key;

pub use catalogue::{experiment, experiments, preset_of};
pub use comparison::{Comparison, ComparisonRow, Ours};
pub use comparison_text::{to_latex, to_markdown, to_text};
pub use entry::{CurvePoints, LedgerEntry, Machine, TrialOutcome, checksum};
pub use error::ReproduceError;
pub use experiment::{Block, Cell, Column, Consensus, Experiment, Figure, TableRow};
pub use ledger::Ledger;
pub use queue::{QueueStep, queue};
pub use trial_key::TrialKey;
