//! Progress on a terminal as a bar with the remaining time; elsewhere as a line now and then.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::tell;
use crate::training::duration;

/// A bar for `total` units of work; hidden if stderr is not a terminal.
pub(crate) fn bar(total: u64) -> ProgressBar {
    ProgressBar::new(total).with_style(style())
}

/// How such a bar looks.
pub(crate) fn style() -> ProgressStyle {
    let template = "{msg:36!} [{bar:20}] {percent:>3}%  {elapsed_precise} done, {eta_precise} left";
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Lines on standard error at intervals, where no terminal shows a bar.
pub(crate) struct PlainLines {
    every: Option<Duration>,
    spoke: Instant,
    begun: Instant,
    /// The share of the work that was done before this process began.
    before: Option<f64>,
}

impl PlainLines {
    /// A line every so many `seconds` if the `bar` is hidden; 0: none.
    pub(crate) fn beside(bar: &ProgressBar, seconds: f64) -> Self {
        let wanted = bar.is_hidden() && seconds > 0.0;
        let every = wanted.then(|| Duration::from_secs_f64(seconds.min(1e9)));
        let now = now();
        PlainLines { every, spoke: now, begun: now, before: None }
    }

    /// Prints `line` if it is time for one, with the `share` of all the work that is done and the
    /// time that is left.
    pub(crate) fn progress(&mut self, share: f64, line: impl FnOnce() -> String) {
        let before = *self.before.get_or_insert(share);
        if self.every.is_none_or(|every| self.spoke.elapsed() < every) {
            return;
        }
        self.spoke = now();
        let seconds = self.begun.elapsed().as_secs_f64();
        let left = match share - before {
            done if done > 0.0 => duration(seconds * (1.0 - share) / done),
            _ => String::from("unknown time"),
        };
        tell(&format!(
            "{}; all: {:.0} %, {} so far, {left} left",
            line(),
            (100.0 * share).floor(),
            duration(seconds),
        ));
    }
}

#[allow(clippy::disallowed_methods, reason = "the command line tells how long things take")]
fn now() -> Instant {
    Instant::now()
}
