//! Who looks on while an agent runs, and what it is told.

use consort_protocol::Note;
use consort_train::Observer;

use crate::link_records::RoundTimes;

/// Looks on while an agent runs, and may want it to stop. It alone has a clock.
pub trait AgentObserver: Observer {
    /// True once the agent is to save its state and leave.
    fn wants_to_stop(&self) -> bool;
    /// A round is over.
    fn round_done(&mut self, progress: &Progress<'_>);
    /// The protocol has something to say.
    fn noted(&mut self, note: &Note);
    /// Nothing happens but that others are waited for.
    fn waiting(&mut self, waiting: &Waiting);
}

/// For whom an agent waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Rounds that are over.
    pub round: u64,
    /// All rounds.
    pub rounds: u64,
    /// The neighbours whose messages the current round waits for, ascending.
    pub awaited: Vec<usize>,
    /// The neighbours that are not connected, ascending.
    pub absent: Vec<usize>,
}

/// Where an agent is.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Rounds that are over.
    pub round: u64,
    /// All rounds.
    pub rounds: u64,
    /// The loss on the last mini-batch.
    pub loss: f32,
    /// Neighbours whose messages were used in the last round.
    pub used: &'a [usize],
    /// How many neighbours there are.
    pub neighbours: usize,
    /// Where the time of the last round went.
    pub times: RoundTimes,
}
