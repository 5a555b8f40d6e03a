//! The driver's end of the links: a [`Transport`] that passes everything to the MPI thread.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use consort_protocol::Frame;

use super::MpiSettings;
use super::link::LinkCounters;
use super::mpi_thread::ThreadEnd;
use super::pace::now;
use super::session::Order;
use crate::{Event, LinkStatistics, OUTGOING, Transport};

/// The links of one run between MPI ranks, from [`MpiJob::connect`](super::MpiJob::connect).
///
/// All links are up from the beginning and stay up: [`Event::Down`] comes only if this
/// process's own MPI thread fails. A link that was [disconnected](Transport::disconnect) or
/// brought garbage is not established again: what its neighbour sends is discarded.
///
/// [`close`](Transport::close) waits for the other ranks to close, since a rank that leaves
/// early would end the job. If the timeout passes, the MPI thread continues to wait.
#[derive(Debug)]
pub struct MpiTransport {
    links: Vec<(usize, Arc<LinkCounters>)>,
    orders: Sender<Order>,
    events: Receiver<Event>,
    thread_lost: bool,
}

/// Both ends of the channels between a driver and the MPI thread.
pub(super) fn ends(settings: &MpiSettings) -> (MpiTransport, ThreadEnd) {
    let mut neighbours = settings.neighbours.clone();
    neighbours.sort_unstable();
    neighbours.dedup();
    let links: Vec<_> = neighbours.into_iter().map(|peer| (peer, Arc::default())).collect();
    let (orders, to_do) = mpsc::channel();
    let (tell, events) = mpsc::channel();
    let thread_end = ThreadEnd { links: links.clone(), orders: to_do, events: tell };
    (MpiTransport { links, orders, events, thread_lost: false }, thread_end)
}

impl MpiTransport {
    fn find(&self, peer: usize) -> Option<usize> {
        self.links.binary_search_by_key(&peer, |&(peer, _)| peer).ok()
    }

    /// Updates the counters for an event that the driver takes.
    fn take(&self, event: Event) -> Event {
        match &event {
            Event::Frame { peer, .. } => {
                if let Some(link) = self.find(*peer) {
                    // If the MPI thread is lost, `wait` reports it.
                    let _ = self.orders.send(Order::Taken { link });
                }
            }
            Event::Room { peer } => {
                if let Some(link) = self.find(*peer) {
                    self.links[link].1.room_unread.store(false, Relaxed);
                }
            }
            _ => {}
        }
        event
    }

    /// After the MPI thread has failed: `Down` for the next link for which it was not reported.
    fn next_lost_link(&mut self) -> Option<Event> {
        let (peer, counters) = self.links.iter().find(|(_, link)| !link.ended.load(Relaxed))?;
        counters.ended.store(true, Relaxed);
        Some(Event::Down { peer: *peer, reason: "the thread that calls MPI has ended".into() })
    }
}

impl Transport for MpiTransport {
    fn has_room(&self, peer: usize) -> bool {
        self.find(peer).is_some_and(|link| {
            let counters = &self.links[link].1;
            !counters.ended.load(Relaxed) && counters.outgoing.load(Relaxed) < OUTGOING
        })
    }

    fn send(&mut self, peer: usize, frame: Frame) -> bool {
        let Some(link) = self.find(peer).filter(|_| self.has_room(peer)) else { return false };
        self.links[link].1.outgoing.fetch_add(1, Relaxed);
        self.orders.send(Order::Send { link, frame }).is_ok()
    }

    fn wait(&mut self, timeout: Duration) -> Option<Event> {
        if !self.thread_lost {
            match self.events.recv_timeout(timeout) {
                Ok(event) => return Some(self.take(event)),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => self.thread_lost = true,
            }
        }
        self.next_lost_link().or_else(|| {
            thread::sleep(timeout);
            None
        })
    }

    fn disconnect(&mut self, peer: usize, _reason: &str) {
        if let Some(link) = self.find(peer) {
            self.links[link].1.ended.store(true, Relaxed);
            let _ = self.orders.send(Order::End { link });
        }
    }

    fn statistics(&self, peer: usize) -> LinkStatistics {
        self.find(peer).map(|link| self.links[link].1.statistics()).unwrap_or_default()
    }

    fn close(&mut self, timeout: Duration) {
        let _ = self.orders.send(Order::Close);
        let begun = now();
        // The MPI thread hangs up when all ranks have closed.
        while let Some(left) = timeout.checked_sub(begun.elapsed()) {
            if self.events.recv_timeout(left).is_err() {
                break;
            }
        }
        for (_, counters) in &self.links {
            counters.ended.store(true, Relaxed);
        }
    }
}
