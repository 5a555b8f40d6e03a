//! How two agents meet and part: they compare their plans, and say why they leave.

use super::Peer;
use crate::differences::differences;
use crate::frame::{Body, Kind};
use crate::note::Note;
use crate::want::LEFT_FOR_GOOD;

impl Peer {
    /// Sends our plan.
    pub(super) fn greet(&mut self, k: usize) {
        let body = Body::Text(self.settings.shared.clone());
        let neighbour = &mut self.neighbours[k];
        neighbour.control.clear();
        neighbour.say(Kind::Hello, 0, 0, body);
    }

    /// A neighbour sent its plan.
    pub(super) fn compare(&mut self, k: usize, theirs: &str) {
        if theirs == &*self.settings.shared {
            let neighbour = &mut self.neighbours[k];
            let known = neighbour.ready(); // then our first welcome was lost
            neighbour.say(Kind::Welcome, 0, 0, Body::Nothing);
            neighbour.welcomes = true;
            if !known {
                self.meet(k);
            }
        } else {
            let here = differences(&self.settings.shared, theirs);
            let there = differences(theirs, &self.settings.shared).join("\n");
            self.neighbours[k].say(Kind::Refuse, 0, 0, Body::Text(there.into()));
            self.differs(k, here);
        }
    }

    /// The plans differ. A run that has not begun fails. In a run that has begun, the policy
    /// decides what happens without this neighbour.
    pub(super) fn differs(&mut self, k: usize, what: Vec<String>) {
        let id = self.neighbours[k].id;
        if !self.under_way && self.agent.round() == 0 && !self.agent.has_gradient() {
            let what = what.join("; ");
            self.failure = Some(format!("agent {id} has a different plan: {what}"));
        }
        self.notes.push(Note::Differs(id, what));
    }

    /// Once both have welcomed each other, they send their positions.
    pub(super) fn meet(&mut self, k: usize) {
        if !self.neighbours[k].ready() {
            return;
        }
        let neighbour = &mut self.neighbours[k];
        neighbour.met = true;
        self.notes.push(Note::Met(neighbour.id));
        self.rounds.ready(k, &mut self.agent);
        self.send_position(k);
    }

    /// A neighbour said that it leaves.
    pub(super) fn left(&mut self, k: usize, why: String, for_good: bool) {
        let id = self.neighbours[k].id;
        self.neighbours[k].has_left = true;
        let can_continue = self.rounds.gone(k, &mut self.agent);
        // One that returns will need our messages since its last saved state.
        if !can_continue && for_good && self.agent.round() < self.settings.rounds {
            self.failure = Some(format!("agent {id} {LEFT_FOR_GOOD}: {why}"));
        }
        self.notes.push(Note::Left(id, why));
    }
}
