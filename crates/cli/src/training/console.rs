//! The terminal during a run: progress, messages, Ctrl-C, and when to save.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use consort_records::tensorboard::{self, EventWriter};
use consort_records::{Measured, Quality, Record, TrialSummary};
use consort_sim::RoundReport;
use consort_train::{Config, Control, Observer, TrialFolder, TrialObserver};
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::tell;
use crate::progress::PlainLines;

/// True after the first Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Units of the progress bar per trial.
const PARTS: u64 = 1000;

/// The terminal, as an observer of trials.
pub(super) struct Console {
    bar: ProgressBar,
    lines: PlainLines,
    trial: String,
    /// The newest evaluation of the trial, in words.
    latest: String,
    trials: u64,
    trials_done: u64,
    begun: Instant,
    saved: Instant,
    save_every: Option<Duration>,
    save_rounds: Option<u64>,
    tensorboard: bool,
    events: Option<Events>,
}

/// The event file of the current trial, and its start time.
struct Events {
    writer: EventWriter<File>,
    started: f64,
}

impl Console {
    /// For so many trials. Without a terminal there is a line every `line_every` seconds.
    pub(super) fn new(config: &Config, trials: usize, line_every: f64) -> Self {
        listen_to_ctrl_c();
        let template = "{msg:50!} [{bar:18}] {percent:>3}%  {elapsed} done, {eta} left";
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = ProgressBar::new(PARTS * trials as u64).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(500));
        let seconds = config.checkpoint.every_seconds;
        let now = now();
        Console {
            lines: PlainLines::beside(&bar, line_every),
            bar,
            trial: String::new(),
            latest: String::new(),
            trials: trials as u64,
            trials_done: 0,
            begun: now,
            saved: now,
            save_every: (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(1e9))),
            save_rounds: config.checkpoint.every_rounds,
            tensorboard: config.tensorboard,
            events: None,
        }
    }

    pub(super) fn begin(&mut self, label: &str, seed: u64, folder: &TrialFolder) {
        self.trial = format!("{label}, seed {seed}");
        let open = self.tensorboard && !folder.is_finished();
        let events = open.then(|| start_events(folder.path())).transpose();
        self.events = events.unwrap_or_else(|error| {
            self.say(&format!("warning: cannot write an event file for TensorBoard: {error}"));
            None
        });
        self.latest.clear();
        self.bar.set_message(self.trial.clone());
        (self.begun, self.saved) = (now(), now());
    }

    pub(super) fn end(&mut self, summary: &TrialSummary) {
        self.trials_done += 1;
        self.bar.set_position(PARTS * self.trials_done);
        let outcome = match &summary.diverged {
            Some(reason) => format!("diverged: {reason}"),
            None => format!(
                "averaged model {}, consensus distance {:.2e}, {:.1} s",
                qualities(summary.quality(), summary.validation),
                summary.final_consensus_distance,
                summary.seconds
            ),
        };
        let outcome = match &summary.collapsed {
            Some(how) => format!("COLLAPSED, {how}; {outcome}"),
            None => outcome,
        };
        self.say(&format!("{}: {outcome}", self.trial));
    }

    pub(super) fn close(&self) {
        self.bar.finish_and_clear();
    }

    /// Adds a record to the event file; after an error the file ends.
    fn event(&mut self, record: &Record) {
        let Some(Events { writer, started }) = &mut self.events else { return };
        if let Err(error) = writer.record(*started, record) {
            self.events = None;
            self.say(&format!("warning: cannot continue the event file for TensorBoard: {error}"));
        }
    }

    /// Prints a line above the bar, or on standard error if there is no bar.
    fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            tell(line);
        } else {
            self.bar.println(line);
        }
    }
}

impl Observer for Console {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn recorded(&mut self, record: &Record) {
        self.event(record);
        let validated = record.validation.map(|measured| Quality::Accuracy(measured.accuracy));
        let Some(quality) = record.quality().or(validated) else { return };
        let (trial, epoch) = (&self.trial, record.epoch);
        self.latest = format!(", epoch {epoch:.0}: averaged model {}", quality.short());
        self.bar.set_message(format!("{trial}{}", self.latest));
    }

    fn resumed(&mut self, round: u64, rounds: u64, records: &[Record]) {
        records.iter().for_each(|record| self.event(record));
        self.say(&format!("{}: continues after round {round} of {rounds}", self.trial));
    }

    fn tell(&mut self, message: &str) {
        self.say(&format!("warning: {message}"));
    }
}

impl TrialObserver for Console {
    fn round_done(&mut self, round: u64, rounds: u64, _report: &RoundReport) -> Control {
        self.bar.set_position(PARTS * self.trials_done + PARTS * round / rounds);
        let done = self.trials_done as f64 + round as f64 / rounds as f64;
        let (trial, latest) = (&self.trial, &self.latest);
        self.lines.progress(done / self.trials as f64, || {
            format!("{trial}: round {round} of {rounds}{latest}")
        });
        if stop_is_wanted() {
            return Control::Stop;
        }
        let due = match self.save_rounds {
            Some(every) => round.is_multiple_of(every),
            None => self.save_every.is_some_and(|every| self.saved.elapsed() >= every),
        };
        if !due {
            return Control::Continue;
        }
        self.saved = now();
        Control::Save
    }
}

/// How good the averaged model is, wherever it was measured.
fn qualities(test: Option<Quality>, validation: Option<Measured>) -> String {
    let validation = validation.map(|measured| Quality::Accuracy(measured.accuracy).to_string());
    match (test.map(|quality| quality.to_string()), validation) {
        (Some(test), Some(validation)) => format!("{test} ({validation} in validation)"),
        (Some(test), None) => test,
        (None, Some(validation)) => format!("{validation} in validation"),
        (None, None) => "not measured".into(),
    }
}

/// A new event file in place of older ones, which would show rounds twice.
#[allow(clippy::disallowed_methods, reason = "TensorBoard shows the time of day")]
fn start_events(folder: &Path) -> io::Result<Events> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("events.out.")) {
            fs::remove_file(path)?;
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let file = File::create(folder.join(tensorboard::file_name(now.as_secs())))?;
    let started = now.as_secs_f64();
    Ok(Events { writer: EventWriter::new(file, started)?, started })
}

/// After the first Ctrl-C the round is finished and saved; a second one ends the program at once.
pub(crate) fn listen_to_ctrl_c() {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell("\nfinishing the round and saving; press Ctrl-C again to stop at once");
    };
    // A second run in the same process keeps the handler of the first.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub(crate) fn stop_is_wanted() -> bool {
    STOP.load(Ordering::Relaxed)
}

#[allow(clippy::disallowed_methods, reason = "the command line reports how long things take")]
fn now() -> Instant {
    Instant::now()
}
