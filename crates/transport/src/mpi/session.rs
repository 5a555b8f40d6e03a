//! One run, from the MPI thread's point of view.
//!
//! It loops: take the driver's orders, give frames to MPI, look for arrivals, rest.
//! Requests of the `mpi` crate borrow their memory for a lexical scope, so sending is a scope
//! that lasts until everything started in it is sent ([`send`](super::send)). What arrives
//! meanwhile is received in scopes inside it ([`receive`](super::receive)).

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::Instant;

use consort_protocol::{Frame, FrameError, Header};
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

use super::MpiSettings;
use super::link::LinkCounters;
use super::mpi_thread::ThreadEnd;
use super::pace::Pace;
use super::requests::{Tagged, take_done};
use super::send::Sending;
use crate::{Event, INCOMING, OUTGOING};

/// The tag of a frame's header and of its body.
pub(super) const FRAME: i32 = 1;
/// The tag of an empty message that says: the receiver has room for one more frame.
const CREDIT: i32 = 2;
static NOTHING: [u8; 0] = [];

/// What the driver tells the MPI thread during a run.
pub(super) enum Order {
    /// Send a frame to the neighbour.
    Send { link: usize, frame: Frame },
    /// The driver has taken a frame: the neighbour may send another.
    Taken { link: usize },
    /// Send nothing more to this neighbour.
    End { link: usize },
    /// The driver sends and reads nothing more.
    Close,
}

/// The MPI thread's side of a link.
pub(super) struct Link {
    pub(super) peer: usize,
    pub(super) counters: Arc<LinkCounters>,
    /// Frames to send to this neighbour, in order.
    pub(super) waiting: VecDeque<Frame>,
    /// How many frames the neighbour has room for.
    pub(super) credit: usize,
    /// How many frames the driver has not taken yet.
    pub(super) untaken: usize,
    /// A header whose body has not started to arrive, and when the header arrived.
    pub(super) announced: Option<(Result<Header, FrameError>, Instant)>,
    /// A body is being received; the next frame must wait, to keep the order.
    pub(super) receiving: bool,
}

/// One run, from the first frame until all ranks have closed.
pub(super) struct Session<'c> {
    pub(super) communicator: &'c SimpleCommunicator,
    pub(super) settings: &'c MpiSettings,
    pub(super) links: Vec<Link>,
    orders: Receiver<Order>,
    pub(super) events: Sender<Event>,
    credits_being_sent: Vec<Tagged<'static, (), StaticScope>>,
    pace: Pace,
    pub(super) closing: bool,
    /// The driver has gone without closing.
    abandoned: bool,
}

impl<'c> Session<'c> {
    pub(super) fn new(
        communicator: &'c SimpleCommunicator,
        settings: &'c MpiSettings,
        end: ThreadEnd,
    ) -> Self {
        let link = |(peer, counters)| Link {
            peer,
            counters,
            waiting: VecDeque::new(),
            credit: INCOMING,
            untaken: 0,
            announced: None,
            receiving: false,
        };
        for &(peer, _) in &end.links {
            let _ = end.events.send(Event::Up { peer }); // fails only if the driver is gone
        }
        Session {
            communicator,
            settings,
            links: end.links.into_iter().map(link).collect(),
            orders: end.orders,
            events: end.events,
            credits_being_sent: Vec::new(),
            pace: Pace::new(),
            closing: false,
            abandoned: false,
        }
    }

    /// True if all ranks have closed, false if this driver has gone without closing.
    pub(super) fn run(mut self) -> bool {
        let mut slots: Vec<_> = (0..self.links.len() * OUTGOING).map(|_| OnceCell::new()).collect();
        let mut barrier = None;
        let closed = loop {
            let used = mpi::request::scope(|scope| {
                let mut sending = Sending::new(scope, &slots);
                while self.turn(&mut sending, false) {}
                sending.used()
            });
            slots[..used].iter_mut().for_each(|slot| drop(slot.take()));

            barrier = match barrier {
                None if self.all_arrived() => Some(self.communicator.immediate_barrier()),
                None if self.abandoned && !self.closing => break false,
                None => None,
                Some(barrier) => match Request::test(barrier) {
                    Ok(_) => break true,
                    Err(pending) => Some(pending),
                },
            };
        };
        self.credits_being_sent.drain(..).for_each(|((), credit)| credit.wait_without_status());
        closed
    }

    /// One turn of the loop: orders, sends, arrivals, rest. True while a transfer is pending.
    pub(super) fn turn(&mut self, sending: &mut Sending<'_, '_>, receiving: bool) -> bool {
        let mut moved = self.take_orders();
        moved |= self.collect_credits();
        moved |= sending.advance(self);
        moved |= self.receive(sending);
        let pending = receiving || sending.under_way();
        match moved {
            true => self.pace.wake(),
            false => self.rest(pending || self.links.iter().any(|link| link.announced.is_some())),
        }
        pending
    }

    /// True if the driver wants to end and the neighbours have received everything.
    fn all_arrived(&self) -> bool {
        self.closing
            && self.links.iter().all(|link| link.waiting.is_empty() && link.credit == INCOMING)
    }

    fn take_orders(&mut self) -> bool {
        let mut moved = false;
        loop {
            match self.orders.try_recv() {
                Ok(order) => self.take(order),
                Err(TryRecvError::Empty) => return moved,
                Err(TryRecvError::Disconnected) => {
                    self.abandon();
                    return moved;
                }
            }
            moved = true;
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Send { link, frame } => {
                let link = &mut self.links[link];
                if !link.counters.ended.load(Relaxed) {
                    link.waiting.push_back(frame);
                }
            }
            Order::Taken { link } => self.taken(link),
            Order::End { link } => self.links[link].waiting.clear(),
            Order::Close => {
                self.closing = true;
                // The driver will not read these any more.
                for link in 0..self.links.len() {
                    (0..self.links[link].untaken).for_each(|_| self.taken(link));
                }
            }
        }
    }

    fn taken(&mut self, link: usize) {
        if self.links[link].untaken > 0 {
            self.links[link].untaken -= 1;
            self.give_credit(link);
        }
    }

    fn abandon(&mut self) {
        if !self.abandoned && !self.closing {
            self.links.iter_mut().for_each(|link| link.waiting.clear());
        }
        self.abandoned = true;
    }

    /// Lets the neighbour send one more frame.
    pub(super) fn give_credit(&mut self, link: usize) {
        let peer = self.communicator.process_at_rank(self.links[link].peer as i32);
        let request = peer.immediate_send_with_tag(StaticScope, &NOTHING[..], CREDIT);
        self.credits_being_sent.push(((), request));
    }

    fn collect_credits(&mut self) -> bool {
        let mut moved = take_done(&mut self.credits_being_sent, |()| {});
        let anybody = self.communicator.any_process();
        while let Some((message, status)) = anybody.immediate_matched_probe_with_tag(CREDIT) {
            message.matched_receive_into(&mut [0u8; 0][..]);
            let peer = status.source_rank() as usize;
            if let Ok(link) = self.links.binary_search_by_key(&peer, |link| link.peer) {
                self.links[link].credit = (self.links[link].credit + 1).min(INCOMING);
            }
            moved = true;
        }
        moved
    }

    fn rest(&mut self, in_transfer: bool) {
        let Some(nap) = self.pace.nap(in_transfer) else { return thread::yield_now() };
        if self.abandoned {
            return thread::sleep(nap);
        }
        // An order ends the nap.
        match self.orders.recv_timeout(nap) {
            Ok(order) => {
                self.pace.wake();
                self.take(order);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.abandon(),
        }
    }
}
