//! `Wait`: every message of every round is used, so the models are the simulator's.
//!
//! What is numbered here is an exchange; with one exchange a round, it is the round.
//!
//! An agent keeps its own messages until their readers have saved a later state. An agent that
//! was killed continues from its saved state. Its neighbours send again what it had heard since,
//! and it computes the same bits again; the neighbours notice nothing but the delay:
//!
//! ```text
//!   neighbour:  "I am at round 40"             (Position, on every new link)
//!   we (at 57): messages 40, 41, 42, ...       each as soon as the neighbour can accept it
//!               or, if we no longer have message 40 (we were restarted too): roll back to a
//!               saved state of round <= 40, and send our new position
//! ```
//!
//! Saved states are at most `save_every` rounds apart, and neighbours are at most `lookahead`
//! rounds apart, so about twice `save_every` messages are kept at most.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Outgoing, ProtocolError};

use super::{Rounds, receive_once};
use crate::frame::{Body, Header, Kind, PendingFrame};
use crate::note::Note;
use crate::settings::PeerSettings;
use crate::want::Want;

/// The position of one neighbour, as far as we know it.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// The round it is in; `None` until it has said so on this link.
    at: Option<u64>,
    /// The first of our messages that it needs.
    needs: u64,
    /// The next of our rounds to send to it.
    next: u64,
    /// Its last saved round.
    saved: u64,
    /// It has ended all rounds, and may have left.
    finished: bool,
}

/// The rounds of one agent under the policy `Wait`.
#[derive(Debug)]
pub(super) struct Wait {
    /// Our own messages from round `kept_from` on.
    kept: VecDeque<Outgoing>,
    kept_from: u64,
    saved: u64,
    positions: Vec<Position>,
    roll_back: Option<u64>,
    notes: Vec<Note>,
}

impl Wait {
    pub(super) fn new(round: u64, neighbours: usize) -> Self {
        let unknown = Position { at: None, needs: 0, next: 0, saved: 0, finished: false };
        Wait {
            kept: VecDeque::new(),
            kept_from: round,
            saved: round,
            positions: vec![unknown; neighbours],
            roll_back: None,
            notes: Vec::new(),
        }
    }

    /// Neighbour `k` is at the beginning of a round and needs our messages from there on.
    fn hear_position(&mut self, k: usize, header: &Header, agent: &Agent, own: &PeerSettings) {
        let (round, peer) = (header.round, header.sender as usize);
        let next = round.min(agent.exchange());
        let (at, saved, finished) = (Some(round), header.extra, round >= own.end());
        self.positions[k] = Position { at, needs: round, next, saved, finished };
        let lost = (round..self.kept_from).any(|round| own.listens(peer, round));
        if lost {
            self.roll_back = Some(self.roll_back.map_or(round, |other| other.min(round)));
        }
    }

    /// Neighbour `k` is in the round of this frame.
    fn is_at(&mut self, k: usize, header: &Header, agent: &Agent, own: &PeerSettings) {
        let position = &mut self.positions[k];
        let round = header.round;
        position.finished |= round >= own.end();
        // A neighbour that needs our messages repeats a `Position` frame that was lost. One that
        // needs none, or no more, does not, so we do not wait for that frame.
        let needs_none = position.finished || !own.ever_listens(header.sender as usize);
        match position.at {
            Some(known) => position.at = Some(known.max(round)),
            None if needs_none => {
                (position.at, position.needs) = (Some(round), own.end());
                position.next = agent.exchange();
            }
            None => {}
        }
    }

    /// A message arrived.
    fn hear_update(
        &mut self,
        k: usize,
        header: &Header,
        body: Arc<[f32]>,
        agent: &mut Agent,
        own: &PeerSettings,
    ) -> Result<(), ProtocolError> {
        self.is_at(k, header, agent, own);
        self.positions[k].saved = self.positions[k].saved.max(header.extra);
        self.forget(own);
        receive_once(agent, header.sender as usize, header.round, body)
    }

    /// Drops the messages that no reader can need again.
    fn forget(&mut self, own: &PeerSettings) {
        let needed = self.positions.iter().map(|position| position.saved).min().unwrap_or(0);
        while self.kept_from < needed.min(own.end()) && self.kept.pop_front().is_some() {
            self.kept_from += 1;
        }
    }
}

impl Rounds for Wait {
    fn link_down(&mut self, k: usize) {
        self.positions[k].at = None;
    }

    /// We need every message of every neighbour.
    fn gone(&mut self, _k: usize, _agent: &mut Agent) -> bool {
        false
    }

    fn position(&self, agent: &Agent) -> Option<(u64, u64)> {
        Some((agent.exchange(), self.saved))
    }

    fn hear(
        &mut self,
        k: usize,
        (header, body): (Header, Body),
        agent: &mut Agent,
        own: &PeerSettings,
        _now: Duration,
    ) -> Result<(), ProtocolError> {
        match (header.kind, body) {
            (Kind::Position, _) => self.hear_position(k, &header, agent, own),
            (Kind::Step, _) => self.is_at(k, &header, agent, own),
            (Kind::Update, Body::Floats(body)) => self.hear_update(k, &header, body, agent, own)?,
            _ => {} // frames of the other policy
        }
        Ok(())
    }

    fn message_ready(&mut self, _agent: &mut Agent, message: Outgoing) {
        self.kept.push_back(message);
    }

    fn frame_for(
        &mut self,
        k: usize,
        peer: usize,
        agent: &Agent,
        own: &PeerSettings,
    ) -> Option<PendingFrame> {
        let position = &mut self.positions[k];
        let at = position.at?;
        let round = position.next;
        let finished = agent.exchange() == own.end() && self.saved == own.end();
        let ready = agent.exchange() + u64::from(agent.has_gradient());
        if round >= ready && !(finished && round == own.end()) {
            return None;
        }
        let extra = self.saved;
        if round < position.needs || !own.listens(peer, round) || round == own.end() {
            position.next += 1;
            return Some(PendingFrame { kind: Kind::Step, round, extra, body: Body::Nothing });
        }
        if round > at.saturating_add(own.lookahead) {
            return None;
        }
        let kept = self.kept.get(round.checked_sub(self.kept_from)? as usize)?;
        let body = Body::Floats(kept.body_for(peer)?.clone());
        position.next += 1;
        Some(PendingFrame { kind: Kind::Update, round, extra, body })
    }

    fn awaits(&self, _k: usize, peer: usize, agent: &Agent) -> bool {
        agent.missing().any(|id| id == peer)
    }

    fn advance(
        &mut self,
        agent: &mut Agent,
        own: &PeerSettings,
        _now: Duration,
    ) -> Option<Vec<usize>> {
        let round = agent.exchange();
        agent.advance().then(|| own.heard(round))
    }

    /// The peer sends it our position, and it sends again what was lost.
    fn overdue(&mut self, _k: usize, peer: usize, agent: &mut Agent) {
        self.notes.push(Note::Late(peer, agent.round()));
    }

    fn want(&self, agent: &Agent, own: &PeerSettings, _now: Duration) -> Option<Want> {
        if let Some(at_most) = self.roll_back {
            return Some(Want::RollBack { at_most });
        }
        let due =
            agent.exchange() >= self.saved + own.save_interval() || agent.exchange() == own.end();
        if due && agent.is_between_rounds() && self.saved != agent.exchange() {
            return Some(Want::Save);
        }
        let idle = agent.exchange() < own.end() && !agent.has_gradient();
        idle.then_some(Want::Gradient)
    }

    fn saved(&mut self, round: u64) {
        self.saved = round;
    }

    fn rolled_back(&mut self, agent: &Agent) {
        self.roll_back = None;
        self.kept.clear();
        self.kept_from = agent.exchange();
        self.saved = agent.exchange();
        for position in &mut self.positions {
            position.next = position.next.min(agent.exchange());
        }
    }

    /// All neighbours have ended their rounds too.
    fn may_leave(&self, _rounds: u64, _timeout: Duration, _now: Duration) -> bool {
        self.positions.iter().all(|position| position.finished)
    }

    fn has_finished(&self, k: usize, _rounds: u64) -> bool {
        self.positions[k].finished
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn kept(&self) -> usize {
        self.kept.len()
    }
}
