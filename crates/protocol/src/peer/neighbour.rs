//! A neighbour: whether it is linked and welcome, and how late it usually is.

use std::collections::VecDeque;
use std::time::Duration;

use super::FORGIVEN;
use crate::frame::{Body, Kind};
use crate::patience::Patience;

/// A neighbour, as far as every policy needs to know it.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub(crate) id: usize,
    pub(crate) linked: Option<Duration>,
    /// It has said that it runs our plan; we have said so of its plan.
    pub(crate) welcomed: bool,
    pub(crate) welcomes: bool,
    pub(crate) met: bool,
    pub(crate) control: VecDeque<(Kind, u64, u64, Body)>,
    /// Of the newest frame that orders others: older ones are late or repeated.
    pub(crate) newest_control: u64,
    pub(crate) newest_stand: u64,
    pub(crate) garbage: u32,
    pub(crate) patience: Patience,
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
            newest_stand: 0,
            garbage: 0,
            patience: Patience::new(),
            arrived: false,
        }
    }

    pub(crate) fn ready(&self) -> bool {
        self.linked.is_some() && self.welcomed && self.welcomes
    }

    /// True if it sent garbage too often to be heard again.
    pub(crate) fn is_banned(&self) -> bool {
        self.garbage >= FORGIVEN
    }

    /// To be sent; it takes the place of an older one of its kind that has not left, so that a
    /// neighbour which does not read costs no more than one of each.
    pub(crate) fn say(&mut self, kind: Kind, round: u64, extra: u64, body: Body) {
        match self.control.iter_mut().find(|waiting| waiting.0 == kind) {
            Some(waiting) => *waiting = (kind, round, extra, body),
            None => self.control.push_back((kind, round, extra, body)),
        }
    }
}
