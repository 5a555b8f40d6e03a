//! How long to wait for a late neighbour: learned, not configured.
//!
//! As TCP does for its retransmissions (RFC 6298): the smoothed lateness plus four times its
//! smoothed deviation, or plus half a second if that is more; doubled after every miss. A
//! neighbour that computes slowly is late by about the same time every round, and we wait for it;
//! we do not wait for one that stops answering.

use std::time::Duration;

/// What is known about one neighbour's lateness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdaptiveTimeout {
    /// Smoothed lateness and deviation, in seconds, after the first round.
    learned: Option<(f64, f64)>,
    misses: u32,
}

/// Seconds before the first round, when only the neighbour's plan is known.
const INITIAL: f64 = 5.0;
/// At least so many seconds beyond the usual lateness, so that a system hiccup sets nobody aside.
const LEAST_MARGIN: f64 = 0.5;
/// The longest timeout, in seconds.
const LONGEST: f64 = 120.0;
/// The longest timeout without a link, over which nothing can be on its way.
const LONGEST_UNLINKED: f64 = 2.0;

impl AdaptiveTimeout {
    pub(crate) fn new() -> Self {
        AdaptiveTimeout { learned: None, misses: 0 }
    }

    /// The neighbour's message arrived so long after our own was ready.
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

    /// The neighbour's message did not arrive in time.
    pub(crate) fn missed(&mut self) {
        self.misses = (self.misses + 1).min(8);
    }

    /// How long to wait for a neighbour whose round takes about as long as `own_work`.
    pub(crate) fn duration(&self, own_work: Duration) -> Duration {
        let work = own_work.as_secs_f64();
        let usual = match self.learned {
            None => INITIAL + 8.0 * work,
            // An agent that was interrupted repeats its round: allow at least twice its work.
            Some((mean, deviation)) => (mean + (4.0 * deviation).max(LEAST_MARGIN)).max(2.0 * work),
        };
        Duration::from_secs_f64((usual * f64::from(1u32 << self.misses)).min(LONGEST))
    }

    /// The same for a neighbour whose link is down.
    pub(crate) fn duration_unlinked(&self, own_work: Duration) -> Duration {
        self.duration(own_work).min(Duration::from_secs_f64(LONGEST_UNLINKED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_timeout_of_a_steady_neighbour_is_a_little_longer_than_its_lateness() {
        let mut neighbour = AdaptiveTimeout::new();
        for _ in 0..50 {
            neighbour.arrived(MS(2000));
        }
        let timeout = neighbour.duration(MS(10));
        // However steady it was, a hiccup of a few tenths of a second is allowed.
        assert!(timeout >= MS(2500) && timeout < MS(2600), "{timeout:?}");
    }

    #[test]
    fn misses_double_the_timeout_and_an_arrival_resets_it() {
        let mut neighbour = AdaptiveTimeout::new();
        neighbour.arrived(MS(0));
        let before = neighbour.duration(MS(0));
        neighbour.missed();
        neighbour.missed();
        assert_eq!(neighbour.duration(MS(0)), 4 * before);
        neighbour.arrived(MS(0));
        assert_eq!(neighbour.duration(MS(0)), before);
    }

    #[test]
    fn before_the_first_round_the_timeout_is_long_but_limited() {
        assert!(AdaptiveTimeout::new().duration(MS(2000)) >= Duration::from_secs(20));
        assert!(
            AdaptiveTimeout::new().duration(Duration::from_secs(3600)) <= Duration::from_secs(120)
        );
    }
}
