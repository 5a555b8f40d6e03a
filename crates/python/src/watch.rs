//! What a session does while it waits: it looks for Ctrl-C, and tells the user for whom.

use std::time::{Duration, Instant};

use consort_node::{SessionError, SessionWatcher};
use consort_protocol::Note;
use pyo3::prelude::*;

use crate::errors::{ConsortError, NotFinite};

/// After so long a wait the user is told for whom, and then every so often.
const TELL_AFTER: Duration = Duration::from_secs(10);
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Looks for Ctrl-C while a session waits, and tells the user for whom.
pub(crate) struct Watch<'a> {
    tell: &'a Py<PyAny>,
    started: Instant,
    /// What Python raised while we waited.
    raised: Option<PyErr>,
    waiting_since: Option<Duration>,
    told: Option<Duration>,
}

impl<'a> Watch<'a> {
    /// The session began at `started`; `tell` is Python's function for the user.
    pub(crate) fn new(tell: &'a Py<PyAny>, started: Instant) -> Self {
        Watch { tell, started, raised: None, waiting_since: None, told: None }
    }

    fn tell(&mut self, text: &str) {
        let told = Python::attach(|py| self.tell.call1(py, (text,)).map(drop));
        if let Err(error) = told {
            self.raised.get_or_insert(error);
        }
    }

    /// What Python raised is the reason for the interruption.
    pub(crate) fn end(self, py: Python<'_>, done: Result<(), SessionError>) -> PyResult<()> {
        match (self.raised, done) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => py.check_signals(),
            (None, Err(SessionError::Gradient(error))) => {
                Err(NotFinite::new_err(error.to_string()))
            }
            (None, Err(error)) => Err(ConsortError::new_err(error.to_string())),
        }
    }
}

impl SessionWatcher for Watch<'_> {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn interrupted(&mut self) -> bool {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.raised.get_or_insert(error);
        }
        self.raised.is_some()
    }

    fn noted(&mut self, note: &Note) {
        // A neighbour that is late is told by `waiting`, less often.
        if !matches!(note, Note::Late(..)) {
            self.tell(&note.to_string());
        }
    }

    fn waiting(&mut self, round: u64, awaited: &[usize]) {
        let now = self.now();
        let since = *self.waiting_since.get_or_insert(now);
        let due = self.told.map_or(since + TELL_AFTER, |told| told + TELL_EVERY);
        if now < due {
            return;
        }
        self.told = Some(now);
        let seconds = (now - since).as_secs();
        let whom = match awaited {
            [] => "its neighbours".to_owned(),
            [one] => format!("agent {one}"),
            many => format!("agents {many:?}"),
        };
        self.tell(&format!(
            "round {round}: waiting for {whom} for {seconds} s. Is its process running, and can its \
             address be reached? Ctrl-C ends the wait"
        ));
    }
}
