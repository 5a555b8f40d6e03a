//! Reports the progress of one agent: to a terminal, or as JSON to a program.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use consort_node::{AgentObserver, Progress};
use consort_protocol::Note;
use consort_records::{Quality, Record};
use consort_train::Observer;
use indicatif::ProgressBar;

use super::report::Report;
use crate::failure::tell;
use crate::progress;

/// The shortest time between two reports of the same kind.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Reports the progress of one agent.
pub(crate) struct AgentReporter {
    started: Instant,
    stop: Arc<AtomicBool>,
    output: Output,
    last_round: Option<Duration>,
    last_wait: Option<Duration>,
    /// How good the agent's own model is.
    own: Option<Quality>,
}

enum Output {
    /// A progress bar, and lines above it.
    Terminal(ProgressBar),
    /// One line of JSON per report.
    Json,
    #[cfg(feature = "mpi")]
    Silent,
}

impl AgentReporter {
    /// Reports as JSON or to the terminal. `stop` is set when the agent is to stop.
    pub(crate) fn new(json: bool, rounds: u64, stop: Arc<AtomicBool>) -> Self {
        let output = if json { Output::Json } else { Output::Terminal(progress::bar(rounds)) };
        AgentReporter::with_output(output, stop)
    }

    /// Reports nothing: for the ranks of a job other than the first.
    #[cfg(feature = "mpi")]
    pub(crate) fn silent(stop: Arc<AtomicBool>) -> Self {
        AgentReporter::with_output(Output::Silent, stop)
    }

    fn with_output(output: Output, stop: Arc<AtomicBool>) -> Self {
        let (last_round, last_wait, own) = (None, None, None);
        AgentReporter { started: start(), stop, output, last_round, last_wait, own }
    }

    /// Removes the progress bar.
    pub(crate) fn close(&self) {
        if let Output::Terminal(bar) = &self.output {
            bar.finish_and_clear();
        }
    }

    /// Writes a report; the terminal shows only notes.
    pub(crate) fn report(&self, report: &Report) {
        match &self.output {
            Output::Json => {
                let line = serde_json::to_string(report).unwrap_or_default();
                // If nobody reads the output any more, the agent continues.
                let _ = writeln!(std::io::stdout().lock(), "{line}");
            }
            Output::Terminal(bar) => {
                if let Report::Note { text } = report {
                    if bar.is_hidden() { tell(text) } else { bar.println(text) }
                }
            }
            #[cfg(feature = "mpi")]
            Output::Silent => {}
        }
    }

    fn is_due(now: Duration, last: &mut Option<Duration>) -> bool {
        let due = last.is_none_or(|last| now >= last + REPORT_INTERVAL);
        if due {
            *last = Some(now);
        }
        due
    }
}

impl Observer for AgentReporter {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn recorded(&mut self, record: &Record) {
        let (Some(own), Some(loss)) = (record.own_quality(), record.agents_loss) else { return };
        let (round, own_test_loss) = (record.round, loss.mean);
        self.own = Some(own);
        self.report(&Report::Evaluated { round, own: own.into(), own_test_loss });
    }

    fn resumed(&mut self, round: u64, rounds: u64, _records: &[Record]) {
        self.tell(&format!("resuming after round {round} of {rounds}"));
    }

    fn tell(&mut self, message: &str) {
        self.report(&Report::Note { text: message.to_string() });
    }
}

impl AgentObserver for AgentReporter {
    fn wants_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn round_done(&mut self, progress: &Progress<'_>) {
        let Progress { round, rounds, loss, used, neighbours, .. } = *progress;
        if !Self::is_due(self.now(), &mut self.last_round) && round < rounds {
            return;
        }
        self.last_wait = Some(self.now());
        if let Output::Terminal(bar) = &self.output {
            let own = self.own.map(|own| format!(", own model {}", own.short()));
            bar.set_message(format!("loss {loss:.3}{}", own.unwrap_or_default()));
            bar.set_position(round);
        }
        self.report(&Report::Round { round, rounds, loss, used: used.len(), neighbours });
    }

    fn noted(&mut self, note: &Note) {
        self.tell(&note.to_string());
    }

    fn waiting(&mut self, round: u64, awaited: &[usize]) {
        if !Self::is_due(self.now(), &mut self.last_wait) {
            return;
        }
        if let Output::Terminal(bar) = &self.output {
            bar.set_message(match awaited {
                [] => "waiting for the other agents".into(),
                _ => format!("waiting for agents {awaited:?}"),
            });
        }
        self.report(&Report::Waiting { round, awaited: awaited.to_vec() });
    }
}

#[allow(clippy::disallowed_methods, reason = "the clock of the run")]
fn start() -> Instant {
    Instant::now()
}
