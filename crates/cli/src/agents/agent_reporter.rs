//! What the user of one agent sees and hears.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use consort_node::{Companion, Progress};
use consort_protocol::Note;
use consort_records::Record;
use indicatif::ProgressBar;

use super::report::Report;
use crate::failure::tell;
use crate::progress;

/// Lines of a kind come no faster: a terminal shows no more, and a pipe need not.
const OFTEN: Duration = Duration::from_millis(100);

/// The voice of one agent: a bar and lines for a person, or JSON for a program.
pub(crate) struct Voice {
    started: Instant,
    stop: Arc<AtomicBool>,
    form: Form,
    last_round: Option<Duration>,
    last_wait: Option<Duration>,
    /// Of the agent's own model.
    own_accuracy: Option<f64>,
}

enum Form {
    Person(ProgressBar),
    Program,
    #[cfg(feature = "mpi")]
    Nobody,
}

impl Voice {
    /// `json` for a program; `stop` is set once the agent is to leave.
    pub(crate) fn new(json: bool, rounds: u64, stop: Arc<AtomicBool>) -> Self {
        let form = if json { Form::Program } else { Form::Person(progress::bar(rounds)) };
        Voice::of(form, stop)
    }

    /// For one of many, of whom only the first speaks.
    #[cfg(feature = "mpi")]
    pub(crate) fn silent(stop: Arc<AtomicBool>) -> Self {
        Voice::of(Form::Nobody, stop)
    }

    fn of(form: Form, stop: Arc<AtomicBool>) -> Self {
        let (last_round, last_wait, own_accuracy) = (None, None, None);
        Voice { started: start(), stop, form, last_round, last_wait, own_accuracy }
    }

    /// The end of the bar.
    pub(crate) fn close(&self) {
        if let Form::Person(bar) = &self.form {
            bar.finish_and_clear();
        }
    }

    /// A line for whoever listens.
    pub(crate) fn say(&self, report: &Report) {
        match &self.form {
            Form::Program => {
                let line = serde_json::to_string(report).unwrap_or_default();
                // Nobody listens any more: the agent goes on.
                let _ = writeln!(std::io::stdout().lock(), "{line}");
            }
            Form::Person(bar) => {
                if let Report::Note { text } = report {
                    if bar.is_hidden() { tell(text) } else { bar.println(text) }
                }
            }
            #[cfg(feature = "mpi")]
            Form::Nobody => {}
        }
    }

    fn is_due(now: Duration, last: &mut Option<Duration>) -> bool {
        let due = last.is_none_or(|last| now >= last + OFTEN);
        if due {
            *last = Some(now);
        }
        due
    }
}

impl Companion for Voice {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn wants_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn resumed(&mut self, round: u64, rounds: u64) {
        self.tell(&format!("goes on after round {round} of {rounds}"));
    }

    fn round_done(&mut self, progress: &Progress<'_>) {
        let Progress { round, rounds, loss, used, neighbours, .. } = *progress;
        if !Self::is_due(self.now(), &mut self.last_round) && round < rounds {
            return;
        }
        self.last_wait = Some(self.now());
        if let Form::Person(bar) = &self.form {
            let own = self.own_accuracy.map(|a| format!(", own model {:.1} %", 100.0 * a));
            bar.set_message(format!("loss {loss:.3}{}", own.unwrap_or_default()));
            bar.set_position(round);
        }
        self.say(&Report::Round { round, rounds, loss, used: used.len(), neighbours });
    }

    fn recorded(&mut self, record: &Record) {
        let (Some(accuracy), Some(loss)) = (record.agents, record.agents_loss) else { return };
        let (round, own_accuracy, own_test_loss) = (record.round, accuracy.mean, loss.mean);
        self.own_accuracy = Some(own_accuracy);
        self.say(&Report::Evaluated { round, own_accuracy, own_test_loss });
    }

    fn noted(&mut self, note: &Note) {
        self.tell(&note.to_string());
    }

    fn tell(&mut self, message: &str) {
        self.say(&Report::Note { text: message.to_string() });
    }

    fn waiting(&mut self, round: u64, awaited: &[usize]) {
        if !Self::is_due(self.now(), &mut self.last_wait) {
            return;
        }
        if let Form::Person(bar) = &self.form {
            bar.set_message(match awaited {
                [] => "waiting for the others".into(),
                _ => format!("waiting for {awaited:?}"),
            });
        }
        self.say(&Report::Waiting { round, awaited: awaited.to_vec() });
    }
}

#[allow(clippy::disallowed_methods, reason = "the clock of the run")]
fn start() -> Instant {
    Instant::now()
}
