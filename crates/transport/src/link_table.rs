//! What the driver's thread and the network thread share: a slot per neighbour and the event queue.

use std::time::Duration;

use consort_protocol::Limits;
use tokio::sync::watch;

use crate::connection::Refusal;
use crate::event_queue::EventQueue;
use crate::link_slot::LinkSlot;
use crate::settings::{TransportError, TransportSettings};
use crate::{Event, framing, identity};

/// The slots of all neighbours, in the order of the settings.
pub(crate) struct LinkTable {
    own: usize,
    boot: u64,
    limits: Limits,
    largest: f32,
    slots: Vec<LinkSlot>,
    events: EventQueue,
    closing: watch::Sender<bool>,
}

impl LinkTable {
    pub(crate) fn new(settings: &TransportSettings) -> Result<Self, TransportError> {
        settings.check()?;
        let slots = settings.neighbours.iter().map(|neighbour| LinkSlot::new(neighbour.peer));
        Ok(LinkTable {
            own: settings.own,
            boot: identity::random_number()?,
            limits: settings.limits,
            largest: settings.largest,
            slots: slots.collect(),
            events: EventQueue::default(),
            closing: watch::Sender::new(false),
        })
    }

    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// A random number, drawn at every start.
    pub(crate) fn boot(&self) -> u64 {
        self.boot
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn largest(&self) -> f32 {
        self.largest
    }

    pub(crate) fn events(&self) -> &EventQueue {
        &self.events
    }

    pub(crate) fn slots(&self) -> &[LinkSlot] {
        &self.slots
    }

    /// The slot of the neighbour at this index of the settings.
    pub(crate) fn slot(&self, index: usize) -> &LinkSlot {
        &self.slots[index]
    }

    /// The slot of agent `peer`; `None` if it is not a neighbour.
    pub(crate) fn slot_of(&self, peer: usize) -> Option<&LinkSlot> {
        self.slots.iter().find(|slot| slot.peer() == peer)
    }

    /// True if this agent decides which connection to that neighbour is the link.
    pub(crate) fn decides(&self, index: usize) -> bool {
        self.own < self.slot(index).peer()
    }

    /// Reports somebody who was refused.
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.events.push_stranger(framing::now(), refusal.who, refusal.reason);
    }

    /// Ends all links once their frames are sent or `timeout` has passed; no new links are made.
    pub(crate) fn begin_closing(&self, timeout: Duration) {
        self.closing.send_replace(true);
        for slot in &self.slots {
            slot.disconnect(&self.events, "closed by this agent", timeout);
        }
    }

    /// Returns when the driver has closed the transport.
    pub(crate) async fn closing(&self) {
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }

    /// The next event for the driver.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Event> {
        let event = self.events.pop(timeout)?;
        let peer = match &event {
            Event::Up { peer }
            | Event::Down { peer, .. }
            | Event::Frame { peer, .. }
            | Event::Garbage { peer, .. }
            | Event::Room { peer } => Some(*peer),
            Event::Stranger { .. } => None,
        };
        if let Some(slot) = peer.and_then(|peer| self.slot_of(peer)) {
            slot.event_taken(&event);
        }
        Some(event)
    }
}
