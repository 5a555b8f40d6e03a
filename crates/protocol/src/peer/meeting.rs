//! How two agents meet and part: they compare their plans, and say why they leave.

use super::Peer;
use crate::differences::differences;
use crate::frame::{Body, Kind};
use crate::settings::Note;

impl Peer {
    /// Says what this agent runs.
    pub(super) fn greet(&mut self, k: usize) {
        let control = &mut self.neighbours[k].control;
        control.clear();
        control.push_back((Kind::Hello, 0, 0, Body::Text(self.settings.shared.clone())));
    }

    /// A neighbour said what it runs.
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

    /// An agent that has not begun cannot begin; one that is under way goes on without.
    pub(super) fn differs(&mut self, k: usize, what: Vec<String>) {
        let id = self.neighbours[k].id;
        if !self.under_way && self.agent.round() == 0 && !self.agent.has_gradient() {
            let what = what.join("; ");
            self.failure = Some(format!("agent {id} has another plan: {what}"));
        }
        self.notes.push(Note::Differs(id, what));
    }

    /// Once both have welcomed each other, they say where they stand.
    pub(super) fn meet(&mut self, k: usize) {
        if !self.neighbours[k].ready() {
            return;
        }
        let neighbour = &mut self.neighbours[k];
        neighbour.met = true;
        self.notes.push(Note::Met(neighbour.id));
        self.rounds.ready(k, &mut self.agent);
        self.stand(k);
    }

    pub(super) fn left(&mut self, k: usize, why: String, for_good: bool) {
        let id = self.neighbours[k].id;
        let goes_on = self.rounds.gone(k, &mut self.agent);
        // One that returns will need messages that it has not saved.
        if !goes_on && for_good && self.agent.round() < self.settings.rounds {
            self.failure = Some(format!("agent {id} left for good: {why}"));
        }
        self.notes.push(Note::Left(id, why));
    }
}
