//! Setting an edge aside, and what its two ends tell each other about their positions.

use std::time::Duration;

use consort_algo::Agent;

use super::Continue;
use super::edge::{UNKNOWN, Used};
use crate::frame::{Body, Header, Kind, PendingFrame};
use crate::note::Note;
use crate::settings::PeerSettings;

impl Continue {
    /// Neighbour `k` sent its position.
    pub(super) fn hear_position(
        &mut self,
        k: usize,
        header: &Header,
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) {
        let (round, offer, theirs_used) = (agent.round(), header.round, header.extra);
        let edge = &mut self.edges[k];
        edge.newest_position = header.serial;
        edge.their_offer = Some(offer);
        if self.restored.is_some_and(|saved| theirs_used != UNKNOWN && theirs_used > saved) {
            self.ask(now);
        }
        let edge = &mut self.edges[k];
        if theirs_used != UNKNOWN && edge.used != UNKNOWN && edge.used > theirs_used {
            // Not at once if our own message is out: mixing would bring the old model back.
            // And not once all rounds are over: no round would spread the change any more.
            let last = edge.last.take_if(|last| last.round + 1 == edge.used);
            edge.used_alone = last.filter(|_| round < own.rounds);
            edge.used = theirs_used;
            self.retract_used_alone(agent);
        }
        let edge = &mut self.edges[k];
        if edge.active {
            if theirs_used != UNKNOWN && theirs_used == round + 1 && agent.has_gradient() {
                // It used this very round before it set the edge aside: its message is on its way.
                edge.active = false;
                edge.closing = Some(round);
            } else {
                self.set_aside(k, agent);
            }
        }
        if offer < self.edges[k].our_offer {
            self.send_position(k); // it does not know our offer
        }
        self.join_late(k, agent);
        self.catch_up(agent, own, now);
    }

    /// Continues without neighbour `k`, and tells it so.
    pub(super) fn set_aside(&mut self, k: usize, agent: &mut Agent) {
        let edge = &mut self.edges[k];
        agent.forget(edge.peer);
        (edge.active, edge.closing, edge.copy) = (false, None, None);
        edge.our_offer = agent.round() + u64::from(agent.has_gradient());
        // The other end still gets our messages of the rounds that we have used.
        let used = if edge.used == UNKNOWN { 0 } else { edge.used };
        self.outgoing.retain(|(to, frame)| {
            *to != k || frame.round < used || !matches!(frame.kind, Kind::Update | Kind::Model)
        });
        self.send_position(k);
    }

    /// Neighbour `k` is overdue: sets it aside until it makes an offer.
    pub(super) fn give_up(&mut self, k: usize, agent: &mut Agent) {
        self.notes.push(Note::SetAside(self.edges[k].peer, agent.round()));
        let offer = self.edges[k].their_offer.filter(|&offer| offer > agent.round());
        self.set_aside(k, agent);
        self.edges[k].their_offer = offer;
    }

    /// Tells neighbour `k` the position of this agent.
    pub(super) fn send_position(&mut self, k: usize) {
        let (round, extra) = (self.edges[k].our_offer, self.edges[k].used);
        if self.edges[k].ready {
            self.outgoing.retain(|(to, frame)| *to != k || frame.kind != Kind::Position);
            let kind = Kind::Position;
            self.outgoing.push((k, PendingFrame { kind, round, extra, body: Body::Nothing }));
        }
    }

    /// Between two rounds: removes from the model what only this end has used.
    pub(super) fn retract_used_alone(&mut self, agent: &mut Agent) {
        if agent.has_gradient() {
            return;
        }
        for edge in &mut self.edges {
            if let Some(Used { theirs, ours, .. }) = edge.used_alone.take() {
                agent.retract(edge.peer, &theirs, &ours);
            }
        }
    }
}
