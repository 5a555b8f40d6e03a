//! A neighbour: whether it is linked and welcome, and how late it usually is.

use std::collections::VecDeque;
use std::time::Duration;

use super::MOST_GARBAGE;
use crate::adaptive_timeout::AdaptiveTimeout;
use crate::frame::{Body, Kind, PendingFrame};

/// What every policy needs to know about a neighbour.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub(crate) id: usize,
    /// When the link came up, or when we last greeted over it.
    pub(crate) linked: Option<Duration>,
    /// The neighbour has confirmed that its plan equals ours.
    pub(crate) welcomed: bool,
    /// We have confirmed that our plan equals the neighbour's.
    pub(crate) welcomes: bool,
    /// Both have confirmed it at least once.
    pub(crate) met: bool,
    /// Control frames to send.
    pub(crate) control: VecDeque<PendingFrame>,
    /// The serial number of the newest control frame from it; older ones are late or repeated.
    pub(crate) newest_control: u64,
    /// How many invalid frames it has sent.
    pub(crate) garbage: u32,
    pub(crate) timeout: AdaptiveTimeout,
    /// It said over this link that it leaves, so the end of the link is no news.
    pub(crate) has_left: bool,
    /// Its message of the current round has arrived.
    pub(crate) arrived: bool,
}

impl Neighbour {
    pub(crate) fn new(id: usize) -> Self {
        Neighbour {
            id,
            linked: None,
            welcomed: false,
            welcomes: false,
            met: false,
            control: VecDeque::new(),
            newest_control: 0,
            garbage: 0,
            timeout: AdaptiveTimeout::new(),
            has_left: false,
            arrived: false,
        }
    }

    pub(crate) fn ready(&self) -> bool {
        self.linked.is_some() && self.welcomed && self.welcomes
    }

    /// True if it has sent so many invalid frames that it is ignored for good.
    pub(crate) fn is_banned(&self) -> bool {
        self.garbage >= MOST_GARBAGE
    }

    /// Queues a control frame. It replaces a waiting one of the same kind, so that a neighbour
    /// that does not read costs at most one frame of each kind.
    pub(crate) fn say(&mut self, kind: Kind, round: u64, extra: u64, body: Body) {
        let frame = PendingFrame { kind, round, extra, body };
        match self.control.iter_mut().find(|waiting| waiting.kind == kind) {
            Some(waiting) => *waiting = frame,
            None => self.control.push_back(frame),
        }
    }
}
