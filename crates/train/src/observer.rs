//! Whoever looks on while a run goes on, and has the clock.

use std::time::Duration;

use consort_records::Record;
use consort_sim::RoundReport;

/// Looks on while a trial or an agent runs. It alone has a clock.
pub trait Observer {
    /// Time since the run was started or resumed in this process.
    fn now(&self) -> Duration;
    /// An evaluation is in the records.
    fn recorded(&mut self, record: &Record);
    /// The run goes on from a checkpoint; `records` are those of the rounds before it.
    fn resumed(&mut self, round: u64, rounds: u64, records: &[Record]);
    /// Something the user should know.
    fn tell(&mut self, message: &str);
}

/// Looks on while a trial of all agents runs, and decides whether it goes on.
pub trait TrialObserver: Observer {
    /// A round is over.
    fn round_done(&mut self, round: u64, rounds: u64, report: &RoundReport) -> Control;
}

/// What an observer wants after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The next round.
    Continue,
    /// A checkpoint, then the next round.
    Save,
    /// A checkpoint, then an end.
    Stop,
}
