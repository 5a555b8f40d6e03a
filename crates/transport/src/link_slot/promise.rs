//! The decider's side of an agreement: it promises that a connection will be the link, and keeps
//! the promise once the neighbour acknowledges it.

use super::{LinkSlot, MOST_UNREAD_LINKS};
use crate::agreement::{Agreement, LinkName, Preamble};
use crate::event_queue::lock;

/// The decider's promise that a connection will be the link. It is broken if it is dropped before
/// the neighbour acknowledges it.
pub(crate) struct Promise<'a> {
    slot: &'a LinkSlot,
    agreement: Agreement,
}

impl LinkSlot {
    /// Promises that this connection will be the link; `None` if another one is, or will be.
    pub(crate) fn promise(&self, own_boot: u64, theirs: &Preamble) -> Option<Promise<'_>> {
        let mut state = lock(&self.state);
        let still_up = state.link.as_ref().is_some_and(|link| {
            link.agreement.their_boot == theirs.boot && !theirs.has_lost(link.agreement.name)
        });
        let promised = state.promised.is_some_and(|(boot, _)| boot == theirs.boot);
        if still_up || promised || state.unread_links >= MOST_UNREAD_LINKS {
            return None;
        }
        state.serial += 1;
        state.promised = Some((theirs.boot, state.serial));
        let name = LinkName { boot: own_boot, serial: state.serial };
        Some(Promise { slot: self, agreement: Agreement { name, their_boot: theirs.boot } })
    }
}

impl Promise<'_> {
    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// True if no newer promise has replaced this one.
    pub(crate) fn keep(self) -> bool {
        let promised = lock(&self.slot.state).promised;
        promised == Some((self.agreement.their_boot, self.agreement.name.serial))
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        let given = (self.agreement.their_boot, self.agreement.name.serial);
        let mut state = lock(&self.slot.state);
        if state.promised == Some(given) {
            state.promised = None;
            self.slot.freed.notify_waiters();
        }
    }
}
