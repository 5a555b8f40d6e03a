//! How long a late neighbour is waited for: learned, not configured.
//!
//! As TCP does for its retransmissions (RFC 6298): the smoothed lateness plus four times its
//! smoothed deviation, or half a second where that is less, doubled after every miss. A neighbour
//! that computes slowly is late by about as much every round, and is waited for; one that stops
//! answering is not.

use std::time::Duration;

/// What is known of one neighbour's lateness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Smoothed lateness and deviation, in seconds, once there was a round.
    learned: Option<(f64, f64)>,
    misses: u32,
}

/// Before the first round nothing is known but that the neighbour has its data and our plan.
const AT_FIRST: f64 = 5.0;
/// No less beyond the usual, so that a hiccup of the system sets nobody aside.
const LEAST: f64 = 0.5;
/// Nobody is waited for longer.
const MOST: f64 = 120.0;
/// One without a link is not waited for longer: there is nothing on its way.
const UNLINKED: f64 = 2.0;

impl Patience {
    pub(crate) fn new() -> Self {
        Patience { learned: None, misses: 0 }
    }

    /// The neighbour's message came so long after the own one was ready.
    pub(crate) fn arrived(&mut self, late: Duration) {
        let late = late.as_secs_f64();
        let (mean, deviation) = match self.learned {
            None => (late, late / 2.0),
            Some((mean, deviation)) => {
                (mean + (late - mean) / 8.0, deviation + ((late - mean).abs() - deviation) / 4.0)
            }
        };
        self.learned = Some((mean, deviation));
        self.misses = 0;
    }

    /// It did not come in time.
    pub(crate) fn missed(&mut self) {
        self.misses = (self.misses + 1).min(8);
    }

    /// The same for a neighbour whose link is down.
    pub(crate) fn limit_unlinked(&self, own_work: Duration) -> Duration {
        self.limit(own_work).min(Duration::from_secs_f64(UNLINKED))
    }

    /// How long to wait, for a neighbour whose round takes about as long as `own_work`.
    pub(crate) fn limit(&self, own_work: Duration) -> Duration {
        let work = own_work.as_secs_f64();
        let usual = match self.learned {
            None => AT_FIRST + 8.0 * work,
            // An agent that was interrupted starts its round anew: at least twice its work.
            Some((mean, deviation)) => (mean + (4.0 * deviation).max(LEAST)).max(2.0 * work),
        };
        Duration::from_secs_f64((usual * f64::from(1u32 << self.misses)).min(MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_steady_neighbour_is_waited_for_a_little_longer_than_usual() {
        let mut patience = Patience::new();
        for _ in 0..50 {
            patience.arrived(MS(2000));
        }
        let limit = patience.limit(MS(10));
        // However steady it was, a hiccup of a few tenths of a second is forgiven.
        assert!(limit >= MS(2500) && limit < MS(2600), "{limit:?}");
    }

    #[test]
    fn misses_double_and_an_arrival_forgives() {
        let mut patience = Patience::new();
        patience.arrived(MS(0));
        let before = patience.limit(MS(0));
        patience.missed();
        patience.missed();
        assert_eq!(patience.limit(MS(0)), 4 * before);
        patience.arrived(MS(0));
        assert_eq!(patience.limit(MS(0)), before);
    }

    #[test]
    fn before_the_first_round_there_is_time_and_a_limit() {
        assert!(Patience::new().limit(MS(2000)) >= Duration::from_secs(20));
        assert!(Patience::new().limit(Duration::from_secs(3600)) <= Duration::from_secs(120));
    }
}
