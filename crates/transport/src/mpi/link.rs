//! The counters of a link, shared by the driver and the MPI thread.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use consort_protocol::HEADER;

use crate::LinkStatistics;

/// Counters of one link. Relaxed ordering is enough: frames go through channels.
#[derive(Debug, Default)]
pub(super) struct LinkCounters {
    /// Frames that the driver has queued and that are not sent yet.
    pub(super) outgoing: AtomicUsize,
    /// The driver has a [`Room`](crate::Event::Room) event to read and needs no second one.
    pub(super) room_unread: AtomicBool,
    /// Nothing more is sent to this neighbour or accepted from it.
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
    /// A frame with a body of so many bytes has been sent.
    pub(super) fn sent(&self, body: usize) {
        self.sent.add(body);
    }

    /// A frame with a body of so many bytes has arrived.
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
