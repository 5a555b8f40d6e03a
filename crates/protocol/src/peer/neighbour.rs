//! A neighbour: whether it is linked and welcome, and how late it usually is.

use std::collections::VecDeque;
use std::time::Duration;

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
    pub(crate) ended: bool,
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
            ended: false,
            patience: Patience::new(),
            arrived: false,
        }
    }

    pub(crate) fn ready(&self) -> bool {
        self.linked.is_some() && self.welcomed && self.welcomes
    }
}
