//! The link to one neighbour, shared by the driver's thread and the network thread.
//!
//! All bounds of a link are enforced here: frames that wait to be sent, frames that wait to be
//! read, link starts and ends that the driver has not seen yet.

mod promise;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_protocol::{Frame, HEADER};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};

use crate::agreement::{Agreement, LinkName};
use crate::connection::ConnectionHandle;
use crate::event_queue::{EventQueue, lock};
use crate::{Event, INCOMING, LinkStatistics, OUTGOING};

/// The most links that have started and whose end the driver has not seen; until it sees one, no
/// further link may start.
const MOST_UNREAD_LINKS: usize = 16;

/// The place of at most one link to one neighbour.
pub(crate) struct LinkSlot {
    peer: usize,
    state: Mutex<State>,
    /// Permits to read a frame; returned when the driver takes the frame.
    pub(crate) read_permits: Semaphore,
    /// Notified when the link ends or a promise is broken.
    freed: Notify,
    counts: Counts,
}

#[derive(Default)]
struct State {
    link: Option<LiveLink>,
    /// The boot and the serial number of a link that waits for its acknowledgement.
    promised: Option<(u64, u64)>,
    /// The serial number of the last link that was promised.
    serial: u64,
    /// The last link whose end we saw.
    lost: LinkName,
    /// The driver has seen that there is no room, and needs an event when there is room again.
    room_wanted: bool,
    /// Such an event is in the queue.
    room_unread: bool,
    /// Links whose end the driver has not seen.
    unread_links: usize,
    /// Retransmissions of all earlier links.
    past_retransmissions: u64,
}

/// A link that is up.
struct LiveLink {
    agreement: Agreement,
    outgoing: mpsc::UnboundedSender<Frame>,
    /// How many frames wait to be sent.
    waiting: usize,
    end: oneshot::Sender<Duration>,
    handle: Arc<dyn ConnectionHandle>,
}

/// The network thread's ends of the channels of a new link.
pub(crate) struct LinkChannels {
    /// Frames to write; closed when the link is to end.
    pub(crate) outgoing: mpsc::UnboundedReceiver<Frame>,
    /// Resolves to the time that is left to send waiting frames; to an error if there is none.
    pub(crate) end: oneshot::Receiver<Duration>,
}

#[derive(Default)]
struct Counts {
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    frames_sent: AtomicU64,
    frames_received: AtomicU64,
    connections: AtomicU64,
}

impl LinkSlot {
    pub(crate) fn new(peer: usize) -> Self {
        LinkSlot {
            peer,
            state: Mutex::default(),
            read_permits: Semaphore::new(INCOMING),
            freed: Notify::new(),
            counts: Counts::default(),
        }
    }

    pub(crate) fn peer(&self) -> usize {
        self.peer
    }

    // Called by the driver.

    pub(crate) fn has_room(&self) -> bool {
        let mut state = lock(&self.state);
        let room = state.link.as_ref().is_some_and(|link| link.waiting < OUTGOING);
        state.room_wanted |= !room;
        room
    }

    pub(crate) fn send(&self, frame: Frame) -> bool {
        let mut state = lock(&self.state);
        let sent = state.link.as_mut().is_some_and(|link| {
            let sent = link.waiting < OUTGOING && link.outgoing.send(frame).is_ok();
            link.waiting += usize::from(sent);
            sent
        });
        state.room_wanted |= !sent;
        sent
    }

    /// Ends the link, if there is one, once its frames are sent or `timeout` has passed.
    pub(crate) fn disconnect(&self, events: &EventQueue, reason: &str, timeout: Duration) {
        let mut state = lock(&self.state);
        if let Some(link) = self.take_down(&mut state, events, reason) {
            // If nobody receives this, the link has ended by itself.
            let _ = link.end.send(timeout);
        }
    }

    /// The driver has taken an event of this neighbour.
    pub(crate) fn event_taken(&self, event: &Event) {
        match event {
            Event::Frame { .. } => self.read_permits.add_permits(1),
            Event::Down { .. } => lock(&self.state).unread_links -= 1,
            Event::Room { .. } => lock(&self.state).room_unread = false,
            Event::Up { .. } | Event::Garbage { .. } | Event::Stranger { .. } => {}
        }
    }

    pub(crate) fn statistics(&self) -> LinkStatistics {
        let state = lock(&self.state);
        let now = state.link.as_ref().map_or(0, |link| link.handle.retransmissions());
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LinkStatistics {
            bytes_sent: count(&self.counts.bytes_sent),
            bytes_received: count(&self.counts.bytes_received),
            frames_sent: count(&self.counts.frames_sent),
            frames_received: count(&self.counts.frames_received),
            retransmissions: state.past_retransmissions + now,
            connections: count(&self.counts.connections),
        }
    }

    // Called while two ends agree on a link.

    /// The last link whose end we saw.
    pub(crate) fn lost(&self) -> LinkName {
        lock(&self.state).lost
    }

    /// True if the link that the decider names is newer than ours.
    pub(crate) fn would_accept(&self, name: LinkName) -> bool {
        let state = lock(&self.state);
        state.is_newer(name) && state.unread_links < MOST_UNREAD_LINKS
    }

    /// Returns when there is no link and none is promised.
    pub(crate) async fn until_free(&self) {
        loop {
            let notified = self.freed.notified();
            {
                let state = lock(&self.state);
                if state.link.is_none() && state.promised.is_none() {
                    return;
                }
            }
            notified.await;
        }
    }

    // Called by links.

    /// Starts the agreed link and ends an older one; `None` if a newer one is up already.
    pub(crate) fn start_link(
        &self,
        events: &EventQueue,
        agreement: Agreement,
        handle: Arc<dyn ConnectionHandle>,
    ) -> Option<LinkChannels> {
        let mut state = lock(&self.state);
        if !state.is_newer(agreement.name) {
            return None;
        }
        // Dropping the old link's channels tells its task to stop at once.
        drop(self.take_down(&mut state, events, "replaced by a newer connection"));
        let (outgoing, frames) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        state.link = Some(LiveLink { agreement, outgoing, waiting: 0, end, handle });
        state.room_wanted = false;
        state.unread_links += 1;
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        events.push(Event::Up { peer: self.peer });
        Some(LinkChannels { outgoing: frames, end: ended })
    }

    /// The link `name` has ended by itself; no effect if it is not the current link.
    pub(crate) fn link_ended(&self, events: &EventQueue, name: LinkName, reason: &str) {
        let mut state = lock(&self.state);
        if state.is_link(name) {
            drop(self.take_down(&mut state, events, reason));
        }
    }

    fn take_down(&self, state: &mut State, events: &EventQueue, reason: &str) -> Option<LiveLink> {
        let link = state.link.take()?;
        state.lost = link.agreement.name;
        state.past_retransmissions += link.handle.retransmissions();
        events.push(Event::Down { peer: self.peer, reason: reason.to_owned() });
        self.freed.notify_waiters();
        Some(link)
    }

    /// Passes an event of the link `name` to the driver; false if it is not the current link.
    pub(crate) fn deliver(&self, events: &EventQueue, name: LinkName, event: Event) -> bool {
        let state = lock(&self.state);
        let current = state.is_link(name);
        if current {
            if let Event::Frame { frame, .. } = &event {
                let bytes = HEADER as u64 + u64::from(frame.header.length);
                self.counts.bytes_received.fetch_add(bytes, Ordering::Relaxed);
                self.counts.frames_received.fetch_add(1, Ordering::Relaxed);
            }
            events.push(event);
        }
        current
    }

    /// A frame of the link `name` has been written.
    pub(crate) fn written(&self, events: &EventQueue, name: LinkName, bytes: u64) {
        self.counts.bytes_sent.fetch_add(bytes, Ordering::Relaxed);
        self.counts.frames_sent.fetch_add(1, Ordering::Relaxed);
        let mut state = lock(&self.state);
        if !state.is_link(name) {
            return;
        }
        if let Some(link) = &mut state.link {
            link.waiting -= 1;
        }
        if std::mem::take(&mut state.room_wanted) && !state.room_unread {
            state.room_unread = true;
            events.push(Event::Room { peer: self.peer });
        }
    }
}

impl State {
    fn is_newer(&self, name: LinkName) -> bool {
        self.link.as_ref().is_none_or(|link| {
            let old = link.agreement.name;
            old.boot != name.boot || old.serial < name.serial
        })
    }

    fn is_link(&self, name: LinkName) -> bool {
        self.link.as_ref().is_some_and(|link| link.agreement.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Preamble;

    struct NoConnection;

    impl ConnectionHandle for NoConnection {
        fn retransmissions(&self) -> u64 {
            2
        }

        fn refusal(&self, _error: &std::io::Error) -> Option<String> {
            None
        }

        fn close(&self, _reason: &str) {}
    }

    const OWN: u64 = 11;

    fn says(boot: u64, lost: LinkName) -> Preamble {
        Preamble { boot, lost }
    }

    /// A link is promised, acknowledged and started.
    fn link(slot: &LinkSlot, events: &EventQueue, preamble: &Preamble) -> (LinkName, LinkChannels) {
        let promise = slot.promise(OWN, preamble).unwrap();
        let agreement = promise.agreement();
        assert!(promise.keep());
        (agreement.name, slot.start_link(events, agreement, Arc::new(NoConnection)).unwrap())
    }

    fn seen(events: &EventQueue) -> String {
        let all = std::iter::from_fn(|| events.pop(Duration::ZERO));
        let short = all.map(|event| match event {
            Event::Up { .. } => "up ",
            Event::Down { .. } => "down ",
            Event::Room { .. } => "room ",
            _ => "other ",
        });
        short.collect()
    }

    #[test]
    fn of_crossing_connections_the_one_promised_first_stays() {
        let (slot, events) = (LinkSlot::new(5), EventQueue::default());
        let none = LinkName::default();
        let promise = slot.promise(OWN, &says(1, none)).unwrap();
        assert!(slot.promise(OWN, &says(1, none)).is_none(), "one is promised");
        drop(promise);
        let (name, _channels) = link(&slot, &events, &says(1, none));
        assert!(slot.promise(OWN, &says(1, none)).is_none(), "one is up");
        let older = LinkName { boot: OWN, serial: name.serial - 1 };
        assert!(slot.promise(OWN, &says(1, older)).is_none(), "only an older one is lost");
        assert_eq!(seen(&events), "up ");
    }

    #[test]
    fn a_restarted_neighbour_and_a_lost_link_replace_what_was() {
        let (slot, events) = (LinkSlot::new(5), EventQueue::default());
        let (name, mut first) = link(&slot, &events, &says(1, LinkName::default()));
        let (name, mut second) = link(&slot, &events, &says(1, name));
        assert!(first.end.try_recv().is_err() && first.outgoing.try_recv().is_err());
        let (newest, _third) = link(&slot, &events, &says(2, LinkName::default()));
        assert!(second.end.try_recv().is_err());
        assert_eq!(seen(&events), "up down up down up ");
        assert_eq!(slot.statistics().retransmissions, 6);
        // Whatever the replaced links still do has no effect.
        slot.link_ended(&events, name, "late");
        assert!(!slot.deliver(&events, name, Event::Room { peer: 5 }));
        assert!(slot.deliver(&events, newest, Event::Room { peer: 5 }));
    }

    #[test]
    fn a_promise_to_an_older_boot_is_not_kept() {
        let slot = LinkSlot::new(5);
        let old = slot.promise(OWN, &says(1, LinkName::default())).unwrap();
        let new = slot.promise(OWN, &says(2, LinkName::default())).unwrap();
        assert!(!old.keep() && new.keep());
    }

    #[test]
    fn the_other_accepts_only_newer_links() {
        let (slot, events) = (LinkSlot::new(5), EventQueue::default());
        let name = |boot, serial| LinkName { boot, serial };
        let agreed = |name| Agreement { name, their_boot: 1 };
        let _channels =
            slot.start_link(&events, agreed(name(1, 2)), Arc::new(NoConnection)).unwrap();
        assert!(!slot.would_accept(name(1, 2)) && !slot.would_accept(name(1, 1)));
        assert!(slot.would_accept(name(1, 3)) && slot.would_accept(name(9, 1)));
        assert!(slot.start_link(&events, agreed(name(1, 1)), Arc::new(NoConnection)).is_none());
    }

    #[test]
    fn a_neighbour_that_comes_and_goes_unseen_is_accepted_only_so_often() {
        let (slot, events) = (LinkSlot::new(5), EventQueue::default());
        for boot in 0..MOST_UNREAD_LINKS as u64 {
            link(&slot, &events, &says(boot, LinkName::default()));
        }
        assert!(slot.promise(OWN, &says(99, LinkName::default())).is_none());
        // The driver sees one end, so one more link may start.
        slot.event_taken(&Event::Down { peer: 5, reason: String::new() });
        assert!(slot.promise(OWN, &says(99, LinkName::default())).is_some());
    }

    #[test]
    fn room_is_reported_once_after_there_was_none() {
        let (slot, events) = (LinkSlot::new(5), EventQueue::default());
        let frame = || {
            Frame::new(
                consort_protocol::Kind::Position,
                0,
                0,
                0,
                0,
                consort_protocol::Body::Nothing,
            )
        };
        assert!(!slot.has_room() && !slot.send(frame()), "no link");
        let (name, mut channels) = link(&slot, &events, &says(1, LinkName::default()));
        for _ in 0..OUTGOING {
            assert!(slot.has_room() && slot.send(frame()));
        }
        assert!(!slot.has_room() && !slot.send(frame()));
        for _ in 0..OUTGOING {
            channels.outgoing.try_recv().unwrap();
            slot.written(&events, name, 40);
        }
        assert!(channels.outgoing.try_recv().is_err(), "what had no room was dropped");
        assert!(slot.has_room());
        assert_eq!(seen(&events), "up room ");
    }
}
