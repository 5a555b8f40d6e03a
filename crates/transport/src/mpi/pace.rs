//! How often the MPI thread polls: without pause while frames are on their way, rarely when
//! nothing happens.
//!
//! MPI has no wake-up: a waiting thread must poll. A sleep costs more than the whole transfer of a
//! small model, and polling without sleep costs a core. So the naps grow with the idle time and
//! prolong a wait by at most 3 %.

use std::time::{Duration, Instant};

/// Idle time before the first nap; neighbours that send in the same round arrive within it.
const ALERT: Duration = Duration::from_micros(100);
/// The same while a message is on its way: MPI moves large ones in parts, whenever it is called.
const ALERT_IN_TRANSFER: Duration = Duration::from_millis(5);
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// A nap is this fraction of the idle time so far.
const NAPS: u32 = 32;

/// Decides how long to wait before the next poll.
#[derive(Debug)]
pub(super) struct Pace {
    idle_since: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Pace { idle_since: now() }
    }

    /// Something happened: more may follow at once.
    pub(super) fn wake(&mut self) {
        self.idle_since = now();
    }

    /// How long to nap after a poll without result; `None` to poll again at once.
    pub(super) fn nap(&self, in_transfer: bool) -> Option<Duration> {
        let idle = now().duration_since(self.idle_since);
        match in_transfer {
            true => (idle > ALERT_IN_TRANSFER).then_some(SHORTEST_NAP),
            false => (idle > ALERT).then(|| (idle / NAPS).clamp(SHORTEST_NAP, LONGEST_NAP)),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a transport measures its transfers and its naps")]
pub(super) fn now() -> Instant {
    Instant::now()
}
