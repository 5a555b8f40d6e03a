//! Events with their times, and the faults of a history.

use std::time::Duration;

use consort_protocol::Frame;
use rand::RngExt;

use super::{MS, World};

pub(super) enum Happening {
    Arrives { from: usize, to: usize, link: u64, frame: Frame },
    GradientReady { agent: usize, life: u64 },
    Dies(usize),
    Starts(usize),
    Breaks(usize, usize),
    Heals(usize, usize),
    Leaves(usize),
    Tick { agent: usize, life: u64 },
}

pub(super) struct Event {
    pub(super) at: Duration,
    pub(super) number: u64,
    pub(super) what: Happening,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl World {
    /// Draws the faults of this history.
    pub(super) fn plan_faults(&mut self) {
        let count = self.rng.random_range(1..=6);
        for _ in 0..count {
            let at = MS(self.rng.random_range(100..2_000));
            let mut end = at;
            if self.faults.crashes && self.rng.random_bool(0.5) {
                let agent = self.rng.random_range(0..self.n);
                end = at + MS(self.rng.random_range(1..3_000));
                self.push(at, Happening::Dies(agent));
                self.push(end, Happening::Starts(agent));
            }
            if self.faults.crashes && self.rng.random_bool(0.1) {
                for agent in 0..self.n {
                    let jitter = MS(self.rng.random_range(0..300));
                    self.push(at + jitter, Happening::Dies(agent));
                    self.push(at + MS(1_000) + jitter, Happening::Starts(agent));
                }
                end = end.max(at + MS(1_300));
            }
            if self.faults.partitions {
                let half = self.rng.random_range(0..self.n);
                let healed = at + MS(self.rng.random_range(1..3_000));
                let pairs: Vec<(usize, usize)> = self.links.keys().copied().collect();
                for (a, b) in pairs {
                    if (a <= half) != (b <= half) || self.rng.random_bool(0.2) {
                        let jitter = MS(self.rng.random_range(0..20));
                        self.push(at + jitter, Happening::Breaks(a, b));
                        self.push(healed + jitter, Happening::Heals(a, b));
                    }
                }
                end = end.max(healed + MS(20));
            }
            self.last_fault = self.last_fault.max(end);
        }
        self.last_fault = self.last_fault.max(MS(2_000));
    }
}
