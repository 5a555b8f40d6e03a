//! Events on their way from the network's thread to the driver's.
//!
//! The queue itself has no limit; each kind of event has one, kept by whoever pushes it: frames
//! by permits, a link's beginnings and ends by [`MOST_UNREAD_LIVES`](crate::desk), strangers here.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::Event;

/// Strangers told of at once at most; after that one a second.
const STRANGERS: u32 = 8;
const STRANGER_PAUSE: Duration = Duration::from_secs(1);

/// The events that the driver has not yet taken.
#[derive(Default)]
pub(crate) struct Inbox {
    queue: Mutex<VecDeque<Event>>,
    arrived: Condvar,
    strangers: Mutex<Strangers>,
}

/// A bucket of permissions to tell of a stranger, one flowing in each second.
struct Strangers {
    left: u32,
    filled: Option<Instant>,
    unread: u32,
    untold: u64,
}

impl Default for Strangers {
    fn default() -> Self {
        Strangers { left: STRANGERS, filled: None, unread: 0, untold: 0 }
    }
}

impl Inbox {
    pub(crate) fn push(&self, event: Event) {
        lock(&self.queue).push_back(event);
        self.arrived.notify_one();
    }

    /// The oldest event, waiting for at most `patience` without using the processor.
    pub(crate) fn pop(&self, patience: Duration) -> Option<Event> {
        let queue = lock(&self.queue);
        let waited = self.arrived.wait_timeout_while(queue, patience, |queue| queue.is_empty());
        let event = waited.unwrap_or_else(PoisonError::into_inner).0.pop_front();
        if let Some(Event::Stranger { .. }) = event {
            lock(&self.strangers).unread -= 1;
        }
        event
    }

    /// Tells of a stranger, unless there are so many that they are only counted.
    pub(crate) fn stranger(&self, now: Instant, who: String, reason: String) {
        let mut strangers = lock(&self.strangers);
        let since = now.duration_since(strangers.filled.unwrap_or(now));
        let flowed = since.div_duration_f64(STRANGER_PAUSE) as u32;
        strangers.left = strangers.left.saturating_add(flowed).min(STRANGERS);
        if flowed > 0 || strangers.filled.is_none() {
            strangers.filled = Some(now);
        }
        if strangers.left == 0 || strangers.unread >= STRANGERS {
            strangers.untold += 1;
            return;
        }
        strangers.left -= 1;
        strangers.unread += 1;
        let reason = match std::mem::take(&mut strangers.untold) {
            0 => reason,
            untold => format!("{reason} (and {untold} more since the last was reported)"),
        };
        drop(strangers);
        self.push(Event::Stranger { who, reason });
    }
}

/// A lock whose holder panicked protects data that are still whole: each change is one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_strangers_is_counted_not_told() {
        let (inbox, begun) = (Inbox::default(), crate::framing::now());
        for _ in 0..1000 {
            inbox.stranger(begun, "somebody".into(), "no key".into());
        }
        let told = std::iter::from_fn(|| inbox.pop(Duration::ZERO)).count();
        assert_eq!(told, STRANGERS as usize);
        inbox.stranger(begun + 3 * STRANGER_PAUSE, "somebody".into(), "no key".into());
        let Some(Event::Stranger { reason, .. }) = inbox.pop(Duration::ZERO) else { panic!() };
        assert_eq!(reason, "no key (and 992 more since the last was reported)");
    }
}
