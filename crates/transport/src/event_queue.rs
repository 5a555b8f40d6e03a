//! Events on their way from the network thread to the driver's thread.
//!
//! The queue itself has no limit; each kind of event has one, kept by whoever pushes it: frames
//! by permits, link starts and ends by [`MOST_UNREAD_LINKS`](crate::link_slot), strangers here.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::Event;

/// The most strangers reported at once; after that, one per second.
const STRANGERS: u32 = 8;
const STRANGER_PAUSE: Duration = Duration::from_secs(1);

/// The events that the driver has not taken yet.
#[derive(Default)]
pub(crate) struct EventQueue {
    queue: Mutex<VecDeque<Event>>,
    arrived: Condvar,
    strangers: Mutex<Strangers>,
}

/// A token bucket: a report of a stranger costs one token, and one token is added each second.
struct Strangers {
    tokens: u32,
    filled: Option<Instant>,
    /// Reports that the driver has not taken yet.
    unread: u32,
    /// Strangers that were counted but not reported.
    unreported: u64,
}

impl Default for Strangers {
    fn default() -> Self {
        Strangers { tokens: STRANGERS, filled: None, unread: 0, unreported: 0 }
    }
}

impl EventQueue {
    pub(crate) fn push(&self, event: Event) {
        lock(&self.queue).push_back(event);
        self.arrived.notify_one();
    }

    /// The oldest event; waits for at most `timeout` without using the processor.
    pub(crate) fn pop(&self, timeout: Duration) -> Option<Event> {
        let queue = lock(&self.queue);
        let waited = self.arrived.wait_timeout_while(queue, timeout, |queue| queue.is_empty());
        let event = waited.unwrap_or_else(PoisonError::into_inner).0.pop_front();
        if let Some(Event::Stranger { .. }) = event {
            lock(&self.strangers).unread -= 1;
        }
        event
    }

    /// Reports a stranger; if there are too many, only counts it.
    pub(crate) fn push_stranger(&self, now: Instant, who: String, reason: String) {
        let mut strangers = lock(&self.strangers);
        let since = now.duration_since(strangers.filled.unwrap_or(now));
        let added = since.div_duration_f64(STRANGER_PAUSE) as u32;
        strangers.tokens = strangers.tokens.saturating_add(added).min(STRANGERS);
        if added > 0 || strangers.filled.is_none() {
            strangers.filled = Some(now);
        }
        if strangers.tokens == 0 || strangers.unread >= STRANGERS {
            strangers.unreported += 1;
            return;
        }
        strangers.tokens -= 1;
        strangers.unread += 1;
        let reason = match std::mem::take(&mut strangers.unreported) {
            0 => reason,
            count => format!("{reason} (and {count} more since the last report)"),
        };
        drop(strangers);
        self.push(Event::Stranger { who, reason });
    }
}

/// Locks a mutex. If a holder panicked, the data are still consistent: each change is one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_strangers_is_counted_not_reported() {
        let (events, begun) = (EventQueue::default(), crate::framing::now());
        for _ in 0..1000 {
            events.push_stranger(begun, "somebody".into(), "no key".into());
        }
        let reported = std::iter::from_fn(|| events.pop(Duration::ZERO)).count();
        assert_eq!(reported, STRANGERS as usize);
        events.push_stranger(begun + 3 * STRANGER_PAUSE, "somebody".into(), "no key".into());
        let Some(Event::Stranger { reason, .. }) = events.pop(Duration::ZERO) else { panic!() };
        assert_eq!(reason, "no key (and 992 more since the last report)");
    }
}
