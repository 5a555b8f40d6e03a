//! `Continue`: a silent neighbour is set aside, and joins again with full models.
//!
//! An edge is *active* or *set aside*. In a round, the two ends of an active edge use each
//! other's message. The weight of an edge that is set aside goes to the own model at both ends,
//! so W is symmetric and doubly stochastic whoever is missing.
//!
//! **Setting aside** (`set_aside.rs`). An end that has waited long enough sends
//! `Position(n, u)`: n is the next round it offers, u is one more than the last round in which it
//! used the other's message; it promises to use none in between. The other end then sets the edge
//! aside too. No deadline can make both ends use the same rounds (the two generals' problem). An
//! end that learns that it used a round alone, which can happen for one round only, retracts that
//! message from its model.
//!
//! **Joining.** When both ends have sent `Position`, the edge is active again from the later of
//! the two rounds on. In that round both send their full model with the message, because a method
//! that rebuilds its neighbours' models from updates has missed some. An agent that is behind
//! skips to the round of the neighbour that is ahead, and tells all others.
//!
//! **Lost state** (`lost_state.rs`). An agent that was killed learns that a neighbour has used
//! rounds that its own saved state does not have. It asks for the neighbours' models and continues
//! from their mean. So does an agent that is far behind when its neighbours are nearly done.
//!
//! An agent without any neighbour pauses: alone it would learn its own data only, and run ahead.

mod edge;
mod lost_state;
mod set_aside;

use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Outgoing, ProtocolError};

use self::edge::{Edge, Used};
use super::{Rounds, receive_once};
use crate::frame::{Body, Header, Kind, PendingFrame};
use crate::note::Note;
use crate::settings::PeerSettings;
use crate::want::Want;

/// The most messages and models that wait for one neighbour. A neighbour that takes part has read
/// all but the last two; one that sends without reading is set aside.
const MOST_UNREAD: usize = 8;

/// The rounds of one agent under the policy `Continue`.
#[derive(Debug)]
pub(super) struct Continue {
    edges: Vec<Edge>,
    /// Frames to send, with the index of the neighbour.
    outgoing: Vec<(usize, PendingFrame)>,
    notes: Vec<Note>,
    /// Our own message of the current round.
    own_message: Option<Arc<[f32]>>,
    /// Our own model of the current round, if a neighbour that joins needs it.
    own_model: Option<Arc<[f32]>>,
    /// The saved round from which this process started, until we know whether it lost rounds.
    restored: Option<u64>,
    /// When we asked for models.
    asked: Option<Duration>,
    asked_at_the_end: bool,
    /// Since when no neighbour takes part.
    alone: Option<Duration>,
    saved: u64,
    /// Since when all rounds are over here.
    finished: Option<Duration>,
    /// The neighbours whose models the method's pull consists of.
    measured: Vec<usize>,
}

impl Continue {
    pub(super) fn new(agent: &Agent, neighbours: &[usize]) -> Self {
        let fresh = agent.round() == 0;
        Continue {
            edges: neighbours.iter().map(|&peer| Edge::new(peer, agent)).collect(),
            outgoing: Vec::new(),
            notes: Vec::new(),
            own_message: None,
            own_model: None,
            restored: Some(agent.round()),
            asked: None,
            asked_at_the_end: false,
            alone: None,
            saved: agent.round(),
            finished: None,
            measured: if fresh { neighbours.to_vec() } else { Vec::new() },
        }
    }

    /// A message arrived.
    fn hear_update(
        &mut self,
        k: usize,
        round: u64,
        body: Arc<[f32]>,
        agent: &mut Agent,
    ) -> Result<(), ProtocolError> {
        if round > agent.round() + 1 {
            self.edges[k].update = Some((round, body)); // kept until this agent has skipped there
            return Ok(());
        }
        receive_once(agent, self.edges[k].peer, round, body)
    }

    /// True if a neighbour takes part in the current round, or will join in a later one.
    fn has_company(&self, agent: &Agent) -> bool {
        self.edges.iter().any(|edge| edge.takes_part(agent.round()) || edge.joins_in().is_some())
    }

    /// At the beginning of a round: renews offers that were for an earlier round.
    fn begin_round(&mut self, agent: &mut Agent) {
        let round = agent.round();
        for k in 0..self.edges.len() {
            let edge = &mut self.edges[k];
            if let Some((_, body)) = edge.update.take_if(|update| update.0 == round) {
                // Length and sender were checked on arrival.
                drop(agent.receive(edge.peer, round, body));
            }
            if edge.closing.is_some() {
                (edge.closing, edge.copy) = (None, None);
            }
            if !edge.active && edge.our_offer < round {
                edge.our_offer = round;
                self.send_position(k);
            }
        }
    }

    /// A neighbour whose offer arrived after our gradient can still join in this round.
    fn join_late(&mut self, k: usize, agent: &mut Agent) {
        if agent.has_gradient() {
            self.send_to(k, agent);
        }
    }

    /// Sends our messages of the current round to neighbour `k`, once, if it takes part.
    fn send_to(&mut self, k: usize, agent: &mut Agent) {
        let (edge, round) = (&mut self.edges[k], agent.round());
        let Some(message) = self.own_message.clone() else { return };
        if !edge.takes_part(round) || edge.sent == Some(round) {
            return;
        }
        let is_unread = |(to, frame): &(usize, PendingFrame)| {
            *to == k && matches!(frame.kind, Kind::Update | Kind::Model)
        };
        if self.outgoing.iter().filter(|entry| is_unread(entry)).count() >= MOST_UNREAD {
            self.outgoing.retain(|entry| !is_unread(entry));
            return self.give_up(k, agent);
        }
        edge.sent = Some(round);
        if agent.sends_moves() && !edge.active {
            let model = self.own_model.get_or_insert_with(|| agent.params().into()).clone();
            let (kind, body) = (Kind::Model, Body::Floats(model));
            self.outgoing.push((k, PendingFrame { kind, round, extra: 0, body }));
        }
        let (kind, body) = (Kind::Update, Body::Floats(message));
        self.outgoing.push((k, PendingFrame { kind, round, extra: self.saved, body }));
    }

    /// If the edges in use have changed, a method that sends moves recomputes its pull.
    fn measure(&mut self, agent: &mut Agent, used: &[usize]) {
        if agent.sends_moves() && used != self.measured {
            let edges = &self.edges;
            agent.resync_with(|peer| {
                let edge = edges.iter().find(|edge| edge.peer == peer)?;
                edge.copy.as_deref().filter(|_| used.contains(&peer))
            });
        }
        self.measured = used.to_vec();
    }
}

impl Rounds for Continue {
    /// Frames may have been lost with the old link, so both ends set the edge aside and join
    /// again. Only the very first meeting does not need that.
    fn ready(&mut self, k: usize, agent: &mut Agent) {
        let edge = &mut self.edges[k];
        edge.ready = true;
        edge.their_offer = None;
        edge.gone = false;
        let first_meeting = edge.active && agent.round() == 0 && edge.sent.is_none();
        if !first_meeting {
            self.set_aside(k, agent);
        }
    }

    fn link_down(&mut self, k: usize) {
        let edge = &mut self.edges[k];
        edge.ready = false;
        (edge.newest_position, edge.their_offer) = (0, None);
        (edge.model, edge.update, edge.answer) = (None, None, None);
        self.outgoing.retain(|(to, _)| *to != k);
    }

    fn gone(&mut self, k: usize, agent: &mut Agent) -> bool {
        if self.edges[k].active {
            self.set_aside(k, agent);
        }
        self.edges[k].gone = true;
        true
    }

    fn hear(
        &mut self,
        k: usize,
        (header, body): (Header, Body),
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) -> Result<(), ProtocolError> {
        let late = header.serial < self.edges[k].newest_position;
        match (header.kind, body) {
            (Kind::Position, _) => self.hear_position(k, &header, agent, own, now),
            // Its message follows.
            (Kind::Model, Body::Floats(model)) if !late => {
                self.edges[k].model = Some((header.round, model));
            }
            (Kind::Update, Body::Floats(body)) if !late => {
                self.hear_update(k, header.round, body, agent)?;
            }
            (Kind::Ask, _) => self.hear_ask(k, agent, own, now),
            (Kind::Answer, Body::Floats(model)) => self.hear_answer(k, model, agent, own, now),
            _ => {} // late, or a frame of the other policy
        }
        Ok(())
    }

    /// Sends the message to all neighbours that take part.
    fn message_ready(&mut self, agent: &mut Agent, message: Outgoing) {
        // The peer refuses methods whose messages differ between neighbours.
        self.own_message = message.to_all().cloned();
        self.restored = None;
        for k in 0..self.edges.len() {
            self.send_to(k, agent);
        }
    }

    fn frame_for(
        &mut self,
        k: usize,
        _peer: usize,
        _agent: &Agent,
        _own: &PeerSettings,
    ) -> Option<PendingFrame> {
        let first = self.outgoing.iter().position(|(to, _)| *to == k)?;
        Some(self.outgoing.remove(first).1)
    }

    fn awaits(&self, k: usize, _peer: usize, agent: &Agent) -> bool {
        let (edge, round) = (&self.edges[k], agent.round());
        if !edge.takes_part(round) {
            return false;
        }
        let joins = !edge.active && edge.closing != Some(round);
        let model = edge.model.as_ref().is_some_and(|model| model.0 == round);
        agent.message_of(edge.peer).is_none() || (joins && agent.sends_moves() && !model)
    }

    fn advance(
        &mut self,
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) -> Option<Vec<usize>> {
        let round = agent.round();
        let ready = agent.has_gradient()
            && (0..self.edges.len()).all(|k| !self.awaits(k, self.edges[k].peer, agent));
        let ours = self.own_message.clone().filter(|_| ready)?;
        let mut used: Vec<(usize, Arc<[f32]>)> = Vec::new();
        for (k, edge) in self.edges.iter_mut().enumerate() {
            if !edge.takes_part(round) {
                agent.mark_absent(edge.peer);
                continue;
            }
            let joins = !edge.active && edge.closing != Some(round);
            if joins {
                edge.copy = edge.model.take().map(|(_, model)| model.to_vec());
                (edge.active, edge.their_offer) = (true, None);
                self.notes.push(Note::Joined(edge.peer, round));
            }
            let Some(theirs) = agent.message_of(edge.peer) else { continue };
            if let Some(copy) = edge.copy.as_mut().filter(|_| !joins) {
                copy.iter_mut().zip(&theirs[..]).for_each(|(x, moved)| *x += moved);
            }
            used.push((k, theirs));
        }
        if !agent.advance() {
            return None;
        }
        (self.own_message, self.own_model) = (None, None);
        for (k, theirs) in &used {
            let edge = &mut self.edges[*k];
            edge.used = round + 1;
            edge.last = Some(Used { round, theirs: theirs.clone(), ours: ours.clone() });
        }
        self.retract_used_alone(agent);
        let used: Vec<usize> = used.iter().map(|&(k, _)| self.edges[k].peer).collect();
        self.measure(agent, &used);
        self.begin_round(agent);
        self.catch_up(agent, own, now);
        if agent.round() >= own.rounds {
            // Tells those that are still in the last round that no further round follows.
            (0..self.edges.len()).for_each(|k| self.set_aside(k, agent));
        }
        Some(used)
    }

    fn overdue(&mut self, k: usize, _peer: usize, agent: &mut Agent) {
        self.give_up(k, agent);
    }

    /// Sends this agent's position again to those that are set aside.
    fn repeat(&mut self, agent: &Agent) {
        for k in 0..self.edges.len() {
            if !agent.has_gradient() && self.edges[k].ready && !self.edges[k].active {
                self.send_position(k);
            }
        }
    }

    /// Limits how long an agent waits for models, for neighbours, or at the end.
    fn tick(&mut self, agent: &mut Agent, own: &PeerSettings, now: Duration) {
        self.catch_up(agent, own, now);
        if self.finished.is_none() && agent.round() >= own.rounds {
            self.finished = Some(now);
        }
        let paused =
            !agent.has_gradient() && agent.round() < own.rounds && !self.has_company(agent);
        match (paused, self.alone) {
            (true, None) => {
                self.alone = Some(now);
                self.notes.push(Note::Alone(agent.round()));
            }
            (false, Some(_)) => self.alone = None,
            _ => {}
        }
    }

    fn want(&self, agent: &Agent, own: &PeerSettings, now: Duration) -> Option<Want> {
        if agent.has_gradient() {
            return None;
        }
        let due = agent.round() >= self.saved + own.save_every || agent.round() >= own.rounds;
        if due && agent.is_between_rounds() && self.saved != agent.round() {
            return Some(Want::Save);
        }
        if self.alone.is_some_and(|since| now > since + own.alone_at_most) {
            let seconds = own.alone_at_most.as_secs();
            return Some(Want::Fail(format!(
                "no neighbour took part for {seconds} s; start this agent again to continue"
            )));
        }
        let work = agent.round() < own.rounds && self.asked.is_none() && self.has_company(agent);
        work.then_some(Want::Gradient)
    }

    fn saved(&mut self, round: u64) {
        self.saved = round;
    }

    fn may_leave(&self, rounds: u64, timeout: Duration, now: Duration) -> bool {
        let done = |edge: &Edge| {
            !edge.ready || edge.gone || edge.their_offer.is_some_and(|offer| offer >= rounds)
        };
        let waited = self.finished.is_some_and(|since| now > since + timeout);
        self.edges.iter().all(done) || waited
    }

    fn has_finished(&self, k: usize, rounds: u64) -> bool {
        self.edges[k].their_offer.is_some_and(|offer| offer >= rounds)
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
