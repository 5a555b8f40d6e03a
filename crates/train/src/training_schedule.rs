//! How many rounds a trial has, with which step sizes, evaluated when.

use consort_records::Record;

use crate::config::{Config, Schedule};
use crate::evaluations::Evaluations;
use crate::since_evaluation::SinceEvaluation;

/// What every agent of a trial must know of its rounds.
#[derive(Clone, Debug)]
pub struct TrainingSchedule {
    rounds: u64,
    rounds_per_epoch: f64,
    eta: f64,
    schedule: Schedule,
    evaluations: Evaluations,
}

impl TrainingSchedule {
    /// The schedule of a trial with step size `eta` at the start, whose data are passed over once
    /// in `rounds_per_epoch`.
    pub fn new(config: &Config, eta: f64, rounds_per_epoch: f64) -> Self {
        let rounds = config.rounds_of(rounds_per_epoch);
        let evaluations = Evaluations::new(config.evaluation.every, rounds_per_epoch, rounds);
        TrainingSchedule {
            rounds,
            rounds_per_epoch,
            eta,
            schedule: config.schedule.clone(),
            evaluations,
        }
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

    /// The first round before `done` whose step size is another one in `other`: a trial that is so
    /// far cannot go on as if it had been planned like that.
    pub fn first_difference(&self, other: &Self, done: u64) -> Option<u64> {
        (0..done).find(|&round| self.eta_at(round).to_bits() != other.eta_at(round).to_bits())
    }

    /// True if there is an evaluation once so many rounds are over.
    pub fn evaluation_is_due(&self, rounds_done: u64) -> bool {
        self.evaluations.due_after(rounds_done)
    }

    /// How often the data have been passed over once so many rounds are over.
    pub fn epoch_after(&self, rounds_done: u64) -> f64 {
        self.evaluations.epoch_after(rounds_done)
    }

    /// Where a run stands once `rounds_done` rounds are over; nothing is measured yet. What was
    /// summed up since the last evaluation begins anew.
    pub fn unmeasured(
        &self,
        rounds_done: u64,
        since: &mut SinceEvaluation,
        bytes_sent: u64,
        seconds: f64,
    ) -> Record {
        let since = std::mem::take(since);
        Record {
            round: rounds_done,
            epoch: self.epoch_after(rounds_done),
            eta: self.eta_at(rounds_done),
            train_loss: since.train_loss(),
            test_loss: None,
            test_accuracy: None,
            validation: None,
            test_r2: None,
            test_rmse: None,
            agents: None,
            agents_r2: None,
            agents_loss: None,
            averaging_gain: None,
            consensus_distance: f64::NAN,
            gradient_norm: since.gradient_norm(),
            drift: f64::NAN,
            bytes_sent,
            seconds,
        }
    }
}
