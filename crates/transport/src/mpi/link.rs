//! What driver and engine both know of a link: its counters.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use consort_protocol::HEADER;

use crate::LinkStatistics;

/// Counters of one link. They order nothing else in memory: frames go through channels.
#[derive(Debug, Default)]
pub(super) struct LinkCounters {
    /// Frames handed over and not yet sent.
    pub(super) outgoing: AtomicUsize,
    /// A [`Room`](crate::Event::Room) event waits to be read: a second would say nothing new.
    pub(super) room_told: AtomicBool,
    /// Nothing more is sent to or taken from this neighbour.
    pub(super) ended: AtomicBool,
    sent: Traffic,
    received: Traffic,
}

#[derive(Debug, Default)]
struct Traffic {
    bytes: AtomicU64,
    frames: AtomicU64,
}

impl LinkCounters {
    /// A frame with a body of so many bytes has left.
    pub(super) fn sent(&self, body: usize) {
        self.sent.add(body);
    }

    /// A frame with a body of so many bytes has come.
    pub(super) fn received(&self, body: usize) {
        self.received.add(body);
    }

    pub(super) fn statistics(&self) -> LinkStatistics {
        LinkStatistics {
            bytes_sent: self.sent.bytes.load(Relaxed),
            bytes_received: self.received.bytes.load(Relaxed),
            frames_sent: self.sent.frames.load(Relaxed),
            frames_received: self.received.frames.load(Relaxed),
            retransmissions: 0,
            connections: 1,
        }
    }
}

impl Traffic {
    fn add(&self, body: usize) {
        self.bytes.fetch_add((HEADER + body) as u64, Relaxed);
        self.frames.fetch_add(1, Relaxed);
    }
}
