//! Sending frames.

use std::cell::OnceCell;
use std::sync::atomic::Ordering::Relaxed;

use consort_protocol::{Body, HEADER};
use mpi::request::LocalScope;
use mpi::traits::{Communicator, Destination};

use super::requests::{Tagged, take_done};
use super::session::{FRAME, Link, Session};
use crate::{Event, OUTGOING};

/// The memory that MPI reads while a frame is sent. The body is the driver's own memory.
pub(super) struct PendingSend {
    header: [u8; HEADER],
    body: Body,
}

/// What was sent: the body of a frame, as the index of its link and the number of bytes; `None` for
/// a header.
type Sent = Option<(usize, usize)>;

/// The sends of one scope. Each frame fills a slot, which is emptied after the scope. So the memory
/// that MPI reads stays in place, and frames can be added while others are being sent.
pub(super) struct Sending<'s, 'a> {
    scope: &'s LocalScope<'a>,
    slots: &'a [OnceCell<PendingSend>],
    used: usize,
    requests: Vec<Tagged<'a, Sent, &'s LocalScope<'a>>>,
}

impl<'s, 'a> Sending<'s, 'a> {
    pub(super) fn new(scope: &'s LocalScope<'a>, slots: &'a [OnceCell<PendingSend>]) -> Self {
        Sending { scope, slots, used: 0, requests: Vec::new() }
    }

    /// How many slots hold a frame.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// True until MPI has sent everything it was given.
    pub(super) fn under_way(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Starts to send what can be sent, and counts what has been sent; true if there was any.
    pub(super) fn advance(&mut self, session: &mut Session<'_>) -> bool {
        let mut moved = false;
        for link in 0..session.links.len() {
            while self.begin_next(session, link) {
                moved = true;
            }
        }
        moved
            | take_done(&mut self.requests, |sent| {
                if let Some((link, bytes)) = sent {
                    count_sent(&session.links[link], bytes, session);
                }
            })
    }

    /// Gives the next frame of a link to MPI, if there is one, and a credit and a slot for it.
    fn begin_next(&mut self, session: &mut Session<'_>, to: usize) -> bool {
        let link = &mut session.links[to];
        let Some(slot) = self.slots.get(self.used).filter(|_| link.credit > 0) else {
            return false;
        };
        let Some(frame) = link.waiting.pop_front() else { return false };
        link.credit -= 1;
        self.used += 1;
        let header = frame.header.encode(session.settings.limits.run);
        let pending = slot.get_or_init(|| PendingSend { header, body: frame.body });

        let peer = session.communicator.process_at_rank(link.peer as i32);
        let body = pending.body.bytes();
        let send = |bytes: &'a [u8]| peer.immediate_send_with_tag(self.scope, bytes, FRAME);
        self.requests.push((None, send(&pending.header)));
        self.requests.push((Some((to, body.len())), send(body)));
        true
    }
}

/// A frame has been sent: the link has room for another one.
fn count_sent(link: &Link, bytes: usize, session: &Session<'_>) {
    link.counters.sent(bytes);
    let was_full = link.counters.outgoing.fetch_sub(1, Relaxed) >= OUTGOING;
    if was_full && !link.counters.room_unread.swap(true, Relaxed) {
        let _ = session.events.send(Event::Room { peer: link.peer });
    }
}
