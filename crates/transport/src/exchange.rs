//! What the driver's thread and the network's share: a desk per neighbour and the inbox.

use std::time::Duration;

use consort_protocol::Limits;
use tokio::sync::watch;

use crate::connection::Refusal;
use crate::desk::Desk;
use crate::inbox::Inbox;
use crate::settings::{Settings, TransportError};
use crate::{Event, framing, identity};

/// The desks of all neighbours.
pub(crate) struct Exchange {
    own: usize,
    boot: u64,
    limits: Limits,
    largest: f32,
    desks: Vec<Desk>,
    inbox: Inbox,
    closing: watch::Sender<bool>,
}

impl Exchange {
    pub(crate) fn new(settings: &Settings) -> Result<Self, TransportError> {
        settings.check()?;
        Ok(Exchange {
            own: settings.own,
            boot: identity::random_number()?,
            limits: settings.limits,
            largest: settings.largest,
            desks: settings.neighbours.iter().map(|neighbour| Desk::new(neighbour.peer)).collect(),
            inbox: Inbox::default(),
            closing: watch::Sender::new(false),
        })
    }

    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// Drawn anew at every start.
    pub(crate) fn boot(&self) -> u64 {
        self.boot
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn largest(&self) -> f32 {
        self.largest
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(crate) fn desks(&self) -> &[Desk] {
        &self.desks
    }

    /// The desk of the neighbour in this slot of the settings' list.
    pub(crate) fn desk(&self, slot: usize) -> &Desk {
        &self.desks[slot]
    }

    /// The desk of this agent; `None` if it is no neighbour.
    pub(crate) fn desk_of(&self, peer: usize) -> Option<&Desk> {
        self.desks.iter().find(|desk| desk.peer() == peer)
    }

    /// True if this agent decides which connection with that neighbour is the link.
    pub(crate) fn decides(&self, slot: usize) -> bool {
        self.own < self.desk(slot).peer()
    }

    /// Tells of somebody refused.
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.inbox.stranger(framing::now(), refusal.who, refusal.reason);
    }

    /// Ends all links once their frames are seen off or `patience` has passed; no more are made.
    pub(crate) fn begin_closing(&self, patience: Duration) {
        self.closing.send_replace(true);
        for desk in &self.desks {
            desk.disconnect(&self.inbox, "closed here", patience);
        }
    }

    /// Returns when the driver has closed the transport.
    pub(crate) async fn closing(&self) {
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }

    /// The next event for the driver.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Event> {
        let event = self.inbox.pop(patience)?;
        let peer = match &event {
            Event::Up { peer }
            | Event::Down { peer, .. }
            | Event::Frame { peer, .. }
            | Event::Garbage { peer, .. }
            | Event::Room { peer } => Some(*peer),
            Event::Stranger { .. } => None,
        };
        if let Some(desk) = peer.and_then(|peer| self.desk_of(peer)) {
            desk.taken(&event);
        }
        Some(event)
    }
}
