//! The course of a trial: how many rounds, with which step sizes, evaluated when.

use crate::config::{Config, Schedule};
use crate::evaluations::Evaluations;

/// What every agent of a trial must know of its rounds.
#[derive(Clone, Debug)]
pub struct Course {
    rounds: u64,
    rounds_per_epoch: f64,
    eta: f64,
    schedule: Schedule,
    evaluations: Evaluations,
}

impl Course {
    /// The course of a trial with step size `eta` at the start, whose data are passed over once
    /// in `rounds_per_epoch`.
    pub fn new(config: &Config, eta: f64, rounds_per_epoch: f64) -> Self {
        let rounds = config.rounds_of(rounds_per_epoch);
        let evaluations = Evaluations::new(config.evaluation.every, rounds_per_epoch, rounds);
        Course { rounds, rounds_per_epoch, eta, schedule: config.schedule.clone(), evaluations }
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Rounds in which the data are passed over once, on average.
    pub fn rounds_per_epoch(&self) -> f64 {
        self.rounds_per_epoch
    }

    /// The step size of `round`, counted from 0; after the last round, that of the last.
    pub fn eta_at(&self, round: u64) -> f64 {
        let round = round.min(self.rounds.saturating_sub(1));
        self.eta * self.schedule.factor_at(round, self.rounds)
    }

    /// True if there is an evaluation once so many rounds are over.
    pub fn evaluation_is_due(&self, rounds_done: u64) -> bool {
        self.evaluations.due_after(rounds_done)
    }

    /// How often the data have been passed over once so many rounds are over.
    pub fn epoch_after(&self, rounds_done: u64) -> f64 {
        self.evaluations.epoch_after(rounds_done)
    }
}
