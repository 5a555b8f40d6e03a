//! What is known of one neighbour, shared by the driver's thread and the network's.
//!
//! All bounds of a link are kept here: frames that wait to leave, frames that wait to be read,
//! beginnings and ends that the driver has not yet been told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_protocol::{Frame, HEADER};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};

use crate::agreement::{Agreement, LinkName, Preamble};
use crate::connection::Grip;
use crate::inbox::{Inbox, lock};
use crate::{Event, INCOMING, LinkStatistics, OUTGOING};

/// Links that began and that the driver has not yet seen the end of; no further one may begin.
const MOST_UNREAD_LIVES: usize = 16;

/// The desk of one neighbour.
pub(crate) struct Desk {
    peer: usize,
    state: Mutex<State>,
    /// Permits to read a frame, given back when the driver takes it.
    pub(crate) incoming: Semaphore,
    /// Rings whenever the link ends or a promise is broken.
    free: Notify,
    counts: Counts,
}

#[derive(Default)]
struct State {
    link: Option<Live>,
    /// The boot and the serial number of a link that waits for its acknowledgement.
    promised: Option<(u64, u64)>,
    serial: u64,
    lost: LinkName,
    /// The driver was told that there is no room: it will be told when there is.
    starved: bool,
    room_unread: bool,
    unread_lives: usize,
    past_retransmissions: u64,
}

/// A link that is up.
struct Live {
    agreement: Agreement,
    outgoing: mpsc::UnboundedSender<Frame>,
    waiting: usize,
    end: oneshot::Sender<Duration>,
    grip: Arc<dyn Grip>,
}

/// The network's ends of a new link.
pub(crate) struct Ends {
    /// Frames to be written; closed when the link is to end.
    pub(crate) outgoing: mpsc::UnboundedReceiver<Frame>,
    /// Resolves to the time there is to see frames off; an error if there is none.
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

impl Desk {
    pub(crate) fn new(peer: usize) -> Self {
        Desk {
            peer,
            state: Mutex::default(),
            incoming: Semaphore::new(INCOMING),
            free: Notify::new(),
            counts: Counts::default(),
        }
    }

    pub(crate) fn peer(&self) -> usize {
        self.peer
    }

    // For the driver.

    pub(crate) fn has_room(&self) -> bool {
        let mut state = lock(&self.state);
        let room = state.link.as_ref().is_some_and(|link| link.waiting < OUTGOING);
        state.starved |= !room;
        room
    }

    pub(crate) fn send(&self, frame: Frame) -> bool {
        let mut state = lock(&self.state);
        let sent = state.link.as_mut().is_some_and(|link| {
            let sent = link.waiting < OUTGOING && link.outgoing.send(frame).is_ok();
            link.waiting += usize::from(sent);
            sent
        });
        state.starved |= !sent;
        sent
    }

    /// Ends the link, if there is one, once its frames are seen off or `patience` has passed.
    pub(crate) fn disconnect(&self, inbox: &Inbox, reason: &str, patience: Duration) {
        let mut state = lock(&self.state);
        if let Some(link) = self.take_down(&mut state, inbox, reason) {
            // If nobody listens any more, it has ended by itself.
            let _ = link.end.send(patience);
        }
    }

    /// The driver took an event of this neighbour.
    pub(crate) fn taken(&self, event: &Event) {
        match event {
            Event::Frame { .. } => self.incoming.add_permits(1),
            Event::Down { .. } => lock(&self.state).unread_lives -= 1,
            Event::Room { .. } => lock(&self.state).room_unread = false,
            Event::Up { .. } | Event::Garbage { .. } | Event::Stranger { .. } => {}
        }
    }

    pub(crate) fn statistics(&self) -> LinkStatistics {
        let state = lock(&self.state);
        let now = state.link.as_ref().map_or(0, |link| link.grip.retransmissions());
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

    // For agreements.

    pub(crate) fn lost(&self) -> LinkName {
        lock(&self.state).lost
    }

    /// The decider's word that this connection will be the link, if it may be.
    pub(crate) fn promise(&self, own_boot: u64, theirs: &Preamble) -> Option<Promise<'_>> {
        let mut state = lock(&self.state);
        let standing = state.link.as_ref().is_some_and(|link| {
            link.agreement.their_boot == theirs.boot && !theirs.has_lost(link.agreement.name)
        });
        let promised = state.promised.is_some_and(|(boot, _)| boot == theirs.boot);
        if standing || promised || state.unread_lives >= MOST_UNREAD_LIVES {
            return None;
        }
        state.serial += 1;
        state.promised = Some((theirs.boot, state.serial));
        let name = LinkName { boot: own_boot, serial: state.serial };
        Some(Promise { desk: self, agreement: Agreement { name, their_boot: theirs.boot } })
    }

    /// True if the other's verdict is newer than what there is.
    pub(crate) fn would_obey(&self, name: LinkName) -> bool {
        let state = lock(&self.state);
        state.is_newer(name) && state.unread_lives < MOST_UNREAD_LIVES
    }

    /// Returns when there is no link, nor one about to be.
    pub(crate) async fn until_free(&self) {
        loop {
            let rung = self.free.notified();
            {
                let state = lock(&self.state);
                if state.link.is_none() && state.promised.is_none() {
                    return;
                }
            }
            rung.await;
        }
    }

    // For links.

    /// The agreed link is up and an older one down; `None` if a newer one is up already.
    pub(crate) fn put_up(
        &self,
        inbox: &Inbox,
        agreement: Agreement,
        grip: Arc<dyn Grip>,
    ) -> Option<Ends> {
        let mut state = lock(&self.state);
        if !state.is_newer(agreement.name) {
            return None;
        }
        // Dropping the old link's ends tells its task to stop at once.
        drop(self.take_down(&mut state, inbox, "replaced by a newer connection"));
        let (outgoing, frames) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        state.link = Some(Live { agreement, outgoing, waiting: 0, end, grip });
        state.starved = false;
        state.unread_lives += 1;
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        inbox.push(Event::Up { peer: self.peer });
        Some(Ends { outgoing: frames, end: ended })
    }

    /// The link `name` has ended by itself; nothing happens if it is no longer the link.
    pub(crate) fn put_down(&self, inbox: &Inbox, name: LinkName, reason: &str) {
        let mut state = lock(&self.state);
        if state.is_link(name) {
            drop(self.take_down(&mut state, inbox, reason));
        }
    }

    fn take_down(&self, state: &mut State, inbox: &Inbox, reason: &str) -> Option<Live> {
        let link = state.link.take()?;
        state.lost = link.agreement.name;
        state.past_retransmissions += link.grip.retransmissions();
        inbox.push(Event::Down { peer: self.peer, reason: reason.to_owned() });
        self.free.notify_waiters();
        Some(link)
    }

    /// Hands an event of the link `name` to the driver; false if it is no longer the link.
    pub(crate) fn deliver(&self, inbox: &Inbox, name: LinkName, event: Event) -> bool {
        let state = lock(&self.state);
        let current = state.is_link(name);
        if current {
            if let Event::Frame { frame, .. } = &event {
                let bytes = HEADER as u64 + u64::from(frame.header.length);
                self.counts.bytes_received.fetch_add(bytes, Ordering::Relaxed);
                self.counts.frames_received.fetch_add(1, Ordering::Relaxed);
            }
            inbox.push(event);
        }
        current
    }

    /// A frame of the link `name` has left.
    pub(crate) fn written(&self, inbox: &Inbox, name: LinkName, bytes: u64) {
        self.counts.bytes_sent.fetch_add(bytes, Ordering::Relaxed);
        self.counts.frames_sent.fetch_add(1, Ordering::Relaxed);
        let mut state = lock(&self.state);
        if !state.is_link(name) {
            return;
        }
        if let Some(link) = &mut state.link {
            link.waiting -= 1;
        }
        if std::mem::take(&mut state.starved) && !state.room_unread {
            state.room_unread = true;
            inbox.push(Event::Room { peer: self.peer });
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

/// The decider's word, broken if it is dropped before the neighbour acknowledges it.
pub(crate) struct Promise<'a> {
    desk: &'a Desk,
    agreement: Agreement,
}

impl Promise<'_> {
    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// True if no newer promise was given meanwhile.
    pub(crate) fn keep(self) -> bool {
        let promised = lock(&self.desk.state).promised;
        promised == Some((self.agreement.their_boot, self.agreement.name.serial))
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        let given = (self.agreement.their_boot, self.agreement.name.serial);
        let mut state = lock(&self.desk.state);
        if state.promised == Some(given) {
            state.promised = None;
            self.desk.free.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Grip for Nothing {
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

    /// A link is promised, acknowledged and put up.
    fn link(desk: &Desk, inbox: &Inbox, preamble: &Preamble) -> (LinkName, Ends) {
        let promise = desk.promise(OWN, preamble).unwrap();
        let agreement = promise.agreement();
        assert!(promise.keep());
        (agreement.name, desk.put_up(inbox, agreement, Arc::new(Nothing)).unwrap())
    }

    fn events(inbox: &Inbox) -> String {
        let events = std::iter::from_fn(|| inbox.pop(Duration::ZERO));
        let short = events.map(|event| match event {
            Event::Up { .. } => "up ",
            Event::Down { .. } => "down ",
            Event::Room { .. } => "room ",
            _ => "other ",
        });
        short.collect()
    }

    #[test]
    fn of_crossing_connections_the_first_promised_stands() {
        let (desk, inbox) = (Desk::new(5), Inbox::default());
        let none = LinkName::default();
        let promise = desk.promise(OWN, &says(1, none)).unwrap();
        assert!(desk.promise(OWN, &says(1, none)).is_none(), "one is about to be");
        drop(promise);
        let (name, _ends) = link(&desk, &inbox, &says(1, none));
        assert!(desk.promise(OWN, &says(1, none)).is_none(), "one is up");
        let older = LinkName { boot: OWN, serial: name.serial - 1 };
        assert!(desk.promise(OWN, &says(1, older)).is_none(), "only an older one is lost");
        assert_eq!(events(&inbox), "up ");
    }

    #[test]
    fn a_restarted_neighbour_and_a_lost_link_replace_what_was() {
        let (desk, inbox) = (Desk::new(5), Inbox::default());
        let (name, mut first) = link(&desk, &inbox, &says(1, LinkName::default()));
        let (name, mut second) = link(&desk, &inbox, &says(1, name));
        assert!(first.end.try_recv().is_err() && first.outgoing.try_recv().is_err());
        let (newest, _third) = link(&desk, &inbox, &says(2, LinkName::default()));
        assert!(second.end.try_recv().is_err());
        assert_eq!(events(&inbox), "up down up down up ");
        assert_eq!(desk.statistics().retransmissions, 6);
        // What the replaced links still do is of no consequence.
        desk.put_down(&inbox, name, "late");
        assert!(!desk.deliver(&inbox, name, Event::Room { peer: 5 }));
        assert!(desk.deliver(&inbox, newest, Event::Room { peer: 5 }));
    }

    #[test]
    fn a_promise_to_an_older_boot_is_not_kept() {
        let desk = Desk::new(5);
        let old = desk.promise(OWN, &says(1, LinkName::default())).unwrap();
        let new = desk.promise(OWN, &says(2, LinkName::default())).unwrap();
        assert!(!old.keep() && new.keep());
    }

    #[test]
    fn the_other_takes_only_newer_links() {
        let (desk, inbox) = (Desk::new(5), Inbox::default());
        let name = |boot, serial| LinkName { boot, serial };
        let agreed = |name| Agreement { name, their_boot: 1 };
        let _ends = desk.put_up(&inbox, agreed(name(1, 2)), Arc::new(Nothing)).unwrap();
        assert!(!desk.would_obey(name(1, 2)) && !desk.would_obey(name(1, 1)));
        assert!(desk.would_obey(name(1, 3)) && desk.would_obey(name(9, 1)));
        assert!(desk.put_up(&inbox, agreed(name(1, 1)), Arc::new(Nothing)).is_none());
    }

    #[test]
    fn a_neighbour_that_comes_and_goes_unseen_is_let_in_only_so_often() {
        let (desk, inbox) = (Desk::new(5), Inbox::default());
        for boot in 0..MOST_UNREAD_LIVES as u64 {
            link(&desk, &inbox, &says(boot, LinkName::default()));
        }
        assert!(desk.promise(OWN, &says(99, LinkName::default())).is_none());
        // The driver takes one end: there is room for one more life.
        desk.taken(&Event::Down { peer: 5, reason: String::new() });
        assert!(desk.promise(OWN, &says(99, LinkName::default())).is_some());
    }

    #[test]
    fn room_is_told_once_after_there_was_none() {
        let (desk, inbox) = (Desk::new(5), Inbox::default());
        let frame = || {
            Frame::new(consort_protocol::Kind::Stand, 0, 0, 0, 0, consort_protocol::Body::Nothing)
        };
        assert!(!desk.has_room() && !desk.send(frame()), "no link");
        let (name, mut ends) = link(&desk, &inbox, &says(1, LinkName::default()));
        for _ in 0..OUTGOING {
            assert!(desk.has_room() && desk.send(frame()));
        }
        assert!(!desk.has_room() && !desk.send(frame()));
        for _ in 0..OUTGOING {
            ends.outgoing.try_recv().unwrap();
            desk.written(&inbox, name, 40);
        }
        assert!(ends.outgoing.try_recv().is_err(), "what had no room was dropped");
        assert!(desk.has_room());
        assert_eq!(events(&inbox), "up room ");
    }
}
