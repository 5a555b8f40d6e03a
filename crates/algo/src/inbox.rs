//! What an algorithm mixes: the messages of an exchange, or the models of the neighbourhood.

use alloc::sync::Arc;

use crate::Row;

/// The messages of one exchange with their weights, sorted by sender, the agent's own
/// included. The order is part of the contract: it decides the bits of the sum.
pub trait Inbox {
    /// How many messages there are.
    fn senders(&self) -> usize;
    /// Which of them is the agent's own.
    fn own(&self) -> usize;
    /// The weight `w_ij` of the `k`-th sender.
    fn weight(&self, k: usize) -> f32;
    /// The message of the `k`-th sender.
    fn message(&self, k: usize) -> &[f32];
}

/// A full inbox, as the algorithm sees it. An absent sender has weight 0 and, in place of its
/// message, the agent's own. The averaging rate multiplies the weights of all others, and
/// `own_weight` is what they leave.
pub(crate) struct Received<'a> {
    pub(crate) row: &'a Row,
    pub(crate) slots: &'a [Option<Arc<[f32]>>],
    pub(crate) own_weight: f32,
    pub(crate) rate: f32,
}

impl Inbox for Received<'_> {
    fn senders(&self) -> usize {
        self.slots.len()
    }

    fn own(&self) -> usize {
        self.row.own()
    }

    fn weight(&self, k: usize) -> f32 {
        match &self.slots[k] {
            _ if k == self.row.own() => self.own_weight,
            Some(_) => self.rate * self.row.weights()[k],
            None => 0.0,
        }
    }

    fn message(&self, k: usize) -> &[f32] {
        let slot = self.slots[k].as_deref().or(self.slots[self.row.own()].as_deref());
        slot.unwrap_or(&[]) // never empty: `advance` has checked that the own message is there
    }
}

/// Full models instead of messages, for those neighbours whose models are known.
pub(crate) struct Models<'a> {
    pub(crate) row: &'a Row,
    pub(crate) models: &'a [Option<&'a [f32]>],
    pub(crate) own: &'a [f32],
    pub(crate) own_weight: f32,
}

impl Inbox for Models<'_> {
    fn senders(&self) -> usize {
        self.models.len()
    }

    fn own(&self) -> usize {
        self.row.own()
    }

    fn weight(&self, k: usize) -> f32 {
        match self.models[k] {
            _ if k == self.row.own() => self.own_weight,
            Some(_) => self.row.weights()[k],
            None => 0.0,
        }
    }

    fn message(&self, k: usize) -> &[f32] {
        self.models[k].filter(|_| k != self.row.own()).unwrap_or(self.own)
    }
}
