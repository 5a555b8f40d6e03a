//! The terminal during `consort reproduce`: trials of very different lengths.

use std::time::{Duration, Instant};

use consort_records::Record;
use consort_reproduce::LedgerEntry;
use consort_sim::RoundReport;
use consort_train::{Control, Observer, TrialObserver};
use indicatif::ProgressBar;

use super::training::SAVE_EVERY;
use crate::failure::tell;
use crate::progress::{self, PlainLines};
use crate::training::{listen_to_ctrl_c, stop_is_wanted};

/// The terminal, as an observer of trials whose costs differ.
pub(super) struct ReproduceConsole {
    bar: ProgressBar,
    lines: PlainLines,
    /// The expected start of each trial, and the end of the last, in milliseconds.
    starts: Vec<u64>,
    current: usize,
    trial: String,
    latest: String,
    begun: Instant,
    saved: Instant,
}

impl ReproduceConsole {
    /// For trials with these expected times in seconds. Without a terminal there is a line every
    /// `line_every` seconds.
    pub(super) fn new(costs: &[f64], line_every: f64) -> Self {
        listen_to_ctrl_c();
        let mut starts = vec![0];
        for cost in costs {
            let before = starts.last().copied().unwrap_or(0);
            starts.push(before + (1e3 * cost).max(1.0) as u64);
        }
        let bar = progress::bar(starts.last().copied().unwrap_or(0));
        let now = now();
        ReproduceConsole {
            lines: PlainLines::beside(&bar, line_every),
            bar,
            starts,
            current: 0,
            trial: String::new(),
            latest: String::new(),
            begun: now,
            saved: now,
        }
    }

    pub(super) fn begin(&mut self, k: usize, trial: String) {
        (self.current, self.trial) = (k, trial);
        self.latest.clear();
        (self.begun, self.saved) = (now(), now());
        self.bar.set_position(self.starts[k]);
        self.bar.set_message(self.trial.clone());
    }

    pub(super) fn end(&self, entry: &LedgerEntry) {
        self.bar.set_position(self.starts[self.current + 1]);
        let outcome = &entry.outcome;
        let words = match (&outcome.diverged, outcome.final_accuracy) {
            (Some(reason), _) => format!("diverged: {reason}"),
            (None, Some(accuracy)) => match &outcome.collapsed {
                Some(how) => format!("COLLAPSED, {how}"),
                None => format!("averaged model {accuracy:.2} %"),
            },
            (None, None) => "done".into(),
        };
        let (done, all) = (self.current + 1, self.starts.len() - 1);
        self.say(&format!("{done} of {all}: {}: {words}, {:.0} s", self.trial, entry.seconds));
    }

    pub(super) fn say(&self, line: &str) {
        if self.bar.is_hidden() { tell(line) } else { self.bar.println(line) }
    }

    pub(super) fn close(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for ReproduceConsole {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn recorded(&mut self, record: &Record) {
        let Some(accuracy) = record.test_accuracy.map(|share| 100.0 * share) else { return };
        self.latest = format!(", epoch {:.0}: averaged model {accuracy:.2} %", record.epoch);
        self.bar.set_message(format!("averaged {accuracy:.1} % {}", self.trial));
    }

    fn resumed(&mut self, round: u64, rounds: u64, _records: &[Record]) {
        self.say(&format!("{}: continues after round {round} of {rounds}", self.trial));
    }

    fn tell(&mut self, message: &str) {
        self.say(&format!("warning: {message}"));
    }
}

impl TrialObserver for ReproduceConsole {
    fn round_done(&mut self, round: u64, rounds: u64, _report: &RoundReport) -> Control {
        let (from, to) = (self.starts[self.current], self.starts[self.current + 1]);
        let done = round as f64 / rounds.max(1) as f64;
        let position = from + ((to - from) as f64 * done) as u64;
        self.bar.set_position(position);
        let all = self.starts.last().copied().unwrap_or(0).max(1);
        let (trial, latest) = (&self.trial, &self.latest);
        self.lines.progress(position as f64 / all as f64, || {
            format!("{trial}: round {round} of {rounds}{latest}")
        });
        if stop_is_wanted() {
            return Control::Stop;
        }
        if self.saved.elapsed().as_secs_f64() < SAVE_EVERY {
            return Control::Continue;
        }
        self.saved = now();
        Control::Save
    }
}

#[allow(clippy::disallowed_methods, reason = "the command line tells how long things take")]
fn now() -> Instant {
    Instant::now()
}
