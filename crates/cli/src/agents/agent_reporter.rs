//! Reports the progress of one agent: to a terminal, or as JSON to a program.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use consort_node::{AgentObserver, Progress, Waiting};
use consort_protocol::Note;
use consort_records::{Quality, Record};
use consort_train::Observer;
use indicatif::{ProgressBar, ProgressStyle};

use super::report::Report;
use super::words::Whereabouts;
use crate::failure::tell;
use crate::progress;

/// The shortest time between two reports of the same kind.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// Time between two lines about the run if there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// How long an agent must have waited before it says so: for one that is not connected, and for one
/// that may just be slower.
const ABSENT: Duration = Duration::from_secs(1);
const SLOW: Duration = Duration::from_secs(10);

/// Reports the progress of one agent.
pub(crate) struct AgentReporter {
    started: Instant,
    stop: Arc<AtomicBool>,
    output: Output,
    whereabouts: Whereabouts,
    last_round: Option<Duration>,
    last_wait: Option<Duration>,
    /// How good the agent's own model is.
    own: Option<Quality>,
}

enum Output {
    /// A progress bar, and lines above it.
    Terminal {
        bar: ProgressBar,
        /// The bar is not shown now: nobody knows when the run ends.
        waits: bool,
    },
    /// A line every so often.
    Lines(Lines),
    /// One line of JSON per report.
    Json,
    #[cfg(feature = "mpi")]
    Silent,
}

/// What has been written where there is no terminal.
#[derive(Default)]
struct Lines {
    last: Option<Duration>,
    /// Since when the agent waits without a round in between.
    waits_since: Option<Duration>,
    /// For whom it waited when it last said so.
    told: Option<(Vec<usize>, Vec<usize>)>,
}

impl Lines {
    fn is_due(&self, now: Duration) -> bool {
        self.last.is_none_or(|last| now >= last + LINE_INTERVAL)
    }

    fn write(&mut self, now: Duration, line: &str) {
        self.last = Some(now);
        tell(line);
    }

    fn waiting(&mut self, now: Duration, waiting: &Waiting, words: impl FnOnce() -> String) {
        let since = *self.waits_since.get_or_insert(now);
        let pause = if waiting.absent.is_empty() { SLOW } else { ABSENT };
        let whom = (waiting.awaited.clone(), waiting.absent.clone());
        let is_news = self.told.as_ref() != Some(&whom);
        if now >= since + pause && (is_news || self.is_due(now)) {
            self.told = Some(whom);
            self.write(now, &words());
        }
    }

    fn round_done(&mut self, now: Duration, words: impl FnOnce() -> String) {
        let waited = self.waits_since.take().is_some() && self.told.take().is_some();
        if waited || self.is_due(now) {
            self.write(now, &words());
        }
    }
}

impl AgentReporter {
    /// Reports as JSON or to the terminal. `stop` is set when the agent is to stop.
    pub(crate) fn new(
        json: bool,
        rounds: u64,
        whereabouts: Whereabouts,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let bar = progress::bar(rounds);
        let output = match (json, bar.is_hidden()) {
            (true, _) => Output::Json,
            (false, true) => Output::Lines(Lines::default()),
            (false, false) => Output::Terminal { bar, waits: false },
        };
        AgentReporter::with_output(output, whereabouts, stop)
    }

    /// Reports nothing: for the ranks of a job other than the first.
    #[cfg(feature = "mpi")]
    pub(crate) fn silent(stop: Arc<AtomicBool>) -> Self {
        AgentReporter::with_output(Output::Silent, Whereabouts::default(), stop)
    }

    fn with_output(output: Output, whereabouts: Whereabouts, stop: Arc<AtomicBool>) -> Self {
        let (last_round, last_wait, own) = (None, None, None);
        let started = start();
        AgentReporter { started, stop, output, whereabouts, last_round, last_wait, own }
    }

    /// Removes the progress bar.
    pub(crate) fn close(&self) {
        if let Output::Terminal { bar, .. } = &self.output {
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
            Output::Terminal { bar, .. } => {
                if let Report::Note { text, routine: false } = report {
                    bar.println(text);
                }
            }
            Output::Lines(_) => {
                if let Report::Note { text, routine: false } = report {
                    tell(text);
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
        if let Output::Terminal { bar, .. } = &self.output {
            bar.set_position(round);
            bar.reset_eta(); // it counts the rounds of this process alone
        }
        self.tell(&format!("resuming after round {round} of {rounds}"));
    }

    fn tell(&mut self, message: &str) {
        self.report(&Report::Note { text: message.to_string(), routine: false });
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
        let now = self.now();
        self.last_wait = Some(now);
        let own = self.own.map(|own| format!(", own model {}", own.short()));
        let loss = format!("loss {loss:.3}{}", own.unwrap_or_default());
        match &mut self.output {
            Output::Terminal { bar, waits } => {
                if std::mem::take(waits) {
                    bar.set_style(progress::style());
                    bar.reset_eta();
                }
                bar.set_message(loss);
                bar.set_position(round);
            }
            Output::Lines(lines) => {
                lines.round_done(now, || format!("round {round} of {rounds}, {loss}"));
            }
            _ => {}
        }
        self.report(&Report::Round {
            round,
            rounds,
            loss: progress.loss,
            used: used.len(),
            neighbours,
        });
    }

    fn noted(&mut self, note: &Note) {
        if let Note::Met(peer) = note {
            self.report(&Report::Met { peer: *peer });
        }
        // The first is part of every run; of the other two `waiting` and `finished` tell more.
        let routine = matches!(note, Note::Met(_) | Note::Late(..) | Note::Finished(_));
        let is_launched = matches!(self.output, Output::Json);
        let routine = routine && (is_launched || matches!(note, Note::Late(..)));
        self.report(&Report::Note { text: note.to_string(), routine });
    }

    fn waiting(&mut self, waiting: &Waiting) {
        let now = self.now();
        if !Self::is_due(now, &mut self.last_wait) {
            return;
        }
        match &mut self.output {
            Output::Terminal { bar, waits } => {
                if !std::mem::replace(waits, true) {
                    bar.set_style(waiting_style());
                }
                bar.set_message(self.whereabouts.waiting(waiting));
            }
            Output::Lines(lines) => {
                lines.waiting(now, waiting, || self.whereabouts.waiting(waiting));
            }
            _ => {}
        }
        let Waiting { round, awaited, absent, .. } = waiting.clone();
        self.report(&Report::Waiting { round, awaited, absent });
    }
}

/// Words in place of the bar: an agent that waits cannot know when it is done.
fn waiting_style() -> ProgressStyle {
    ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[allow(clippy::disallowed_methods, reason = "the clock of the run")]
fn start() -> Instant {
    Instant::now()
}
