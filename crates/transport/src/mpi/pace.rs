//! How often the engine looks: without pause while frames are about, rarely when nothing
//! happens.
//!
//! MPI wakes nobody; whoever waits has to ask again and again. A sleep before the answer costs
//! more than the whole transfer of a small model, and asking without sleep costs a core. So
//! naps grow with the time that has passed in vain: they prolong a wait by 3 % at most.

use std::time::{Duration, Instant};

/// Quiet time before the first nap: neighbours that send in the same round come within this.
const ALERT: Duration = Duration::from_micros(100);
/// The same while a message is on its way: MPI moves large ones piece by piece, when called.
const ALERT_IN_TRANSFER: Duration = Duration::from_millis(5);
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// Naps in the quiet time so far.
const NAPS: u32 = 32;

/// Decides how long to wait before looking again.
#[derive(Debug)]
pub(super) struct Pace {
    quiet_since: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Pace { quiet_since: now() }
    }

    /// Something happened: more may follow at once.
    pub(super) fn wake(&mut self) {
        self.quiet_since = now();
    }

    /// How long to nap after a look in vain; `None`: look again at once.
    pub(super) fn nap(&self, in_transfer: bool) -> Option<Duration> {
        let quiet = now().duration_since(self.quiet_since);
        match in_transfer {
            true => (quiet > ALERT_IN_TRANSFER).then_some(SHORTEST_NAP),
            false => (quiet > ALERT).then(|| (quiet / NAPS).clamp(SHORTEST_NAP, LONGEST_NAP)),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a transport measures its transfers and its naps")]
pub(super) fn now() -> Instant {
    Instant::now()
}
