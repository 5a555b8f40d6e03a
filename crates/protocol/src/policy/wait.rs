//! `Wait`: every message of every round is used, so the models are the simulator's.
//!
//! An agent keeps its own last messages until their readers have saved a later state. One
//! that was killed goes on from its saved state, is sent again what it had heard since, and
//! computes the same bits again; its neighbours notice nothing but the delay:
//!
//! ```text
//!   neighbour:  "I stand at round 40"          (Stand, on every new link)
//!   we (at 57): messages 40, 41, 42, ...       each once the neighbour is in reach of it
//!               or, if 40 is not kept any more (we were restarted too): roll back to a
//!               saved state of round <= 40, and say where we stand now
//! ```
//!
//! Saved states lie at most `save_every` rounds apart and neighbours keep step within
//! `lookahead` rounds, so at most about twice `save_every` messages are kept.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, ProtocolError};

use super::{Outgoing, Rounds, receive_once};
use crate::frame::{Body, Header, Kind};
use crate::settings::{Note, Settings, Want};

/// Where one neighbour is, as far as it has told.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The round it is in; `None` until it has said so on this link.
    at: Option<u64>,
    /// The first of our messages that it needs.
    needs: u64,
    /// The next round of ours that it is to hear of.
    next: u64,
    /// Its last saved round.
    saved: u64,
    /// It has ended all rounds, and may have left.
    finished: bool,
}

/// The rounds of one agent under the policy `Wait`.
#[derive(Debug)]
pub(super) struct Wait {
    /// Own messages, from `kept_from` on.
    kept: VecDeque<Arc<[f32]>>,
    kept_from: u64,
    saved: u64,
    places: Vec<Place>,
    roll_back: Option<u64>,
    notes: Vec<Note>,
}

impl Wait {
    pub(super) fn new(round: u64, neighbours: usize) -> Self {
        let place = Place { at: None, needs: 0, next: 0, saved: 0, finished: false };
        Wait {
            kept: VecDeque::new(),
            kept_from: round,
            saved: round,
            places: vec![place; neighbours],
            roll_back: None,
            notes: Vec::new(),
        }
    }

    /// Neighbour `k` stands at the beginning of a round and needs messages from there on.
    fn stands(&mut self, k: usize, header: &Header, agent: &Agent, own: &Settings) {
        let (round, peer) = (header.round, header.sender as usize);
        let next = round.min(agent.round());
        let (at, saved, finished) = (Some(round), header.extra, round >= own.rounds);
        self.places[k] = Place { at, needs: round, next, saved, finished };
        let lost = (round..self.kept_from).any(|round| own.listens(peer, round));
        if lost {
            self.roll_back = Some(self.roll_back.map_or(round, |other| other.min(round)));
        }
    }

    /// Neighbour `k`, as a frame of its says, is in a round.
    fn is_at(&mut self, k: usize, header: &Header, agent: &Agent, own: &Settings) {
        let place = &mut self.places[k];
        let round = header.round;
        place.finished |= round >= own.rounds;
        // A `Stand` that was lost is said again by who misses messages of ours. Who needs none, or
        // none any more, misses nothing, and need not have said it.
        let needs_none = place.finished || !own.ever_listens(header.sender as usize);
        match place.at {
            Some(known) => place.at = Some(known.max(round)),
            None if needs_none => {
                (place.at, place.needs, place.next) = (Some(round), own.rounds, agent.round());
            }
            None => {}
        }
    }

    /// A message came.
    fn update(
        &mut self,
        k: usize,
        header: &Header,
        body: Arc<[f32]>,
        agent: &mut Agent,
        own: &Settings,
    ) -> Result<(), ProtocolError> {
        self.is_at(k, header, agent, own);
        self.places[k].saved = self.places[k].saved.max(header.extra);
        self.forget(own);
        receive_once(agent, header.sender as usize, header.round, body)
    }

    /// Forgets the messages that no reader can ask for again.
    fn forget(&mut self, own: &Settings) {
        let needed = self.places.iter().map(|place| place.saved).min().unwrap_or(0);
        while self.kept_from < needed.min(own.rounds) && self.kept.pop_front().is_some() {
            self.kept_from += 1;
        }
    }
}

impl Rounds for Wait {
    fn link_down(&mut self, k: usize) {
        self.places[k].at = None;
    }

    /// Every message of every neighbour is needed.
    fn gone(&mut self, _k: usize, _agent: &mut Agent) -> bool {
        false
    }

    fn standing(&self, agent: &Agent) -> Option<(u64, u64)> {
        Some((agent.round(), self.saved))
    }

    fn hear(
        &mut self,
        k: usize,
        (header, body): (Header, Body),
        _late: bool,
        agent: &mut Agent,
        own: &Settings,
        _now: Duration,
    ) -> Result<(), ProtocolError> {
        match (header.kind, body) {
            (Kind::Stand, _) => self.stands(k, &header, agent, own),
            (Kind::Step, _) => self.is_at(k, &header, agent, own),
            (Kind::Update, Body::Floats(body)) => self.update(k, &header, body, agent, own)?,
            _ => {} // of the other policy
        }
        Ok(())
    }

    fn sent(&mut self, _agent: &mut Agent, message: Arc<[f32]>) {
        self.kept.push_back(message);
    }

    fn frame_for(
        &mut self,
        k: usize,
        peer: usize,
        agent: &Agent,
        own: &Settings,
    ) -> Option<Outgoing> {
        let place = &mut self.places[k];
        let at = place.at?;
        let round = place.next;
        let finished = agent.round() == own.rounds && self.saved == own.rounds;
        let under_way = agent.round() + u64::from(agent.has_gradient());
        if round >= under_way && !(finished && round == own.rounds) {
            return None;
        }
        if round < place.needs || !own.listens(peer, round) || round == own.rounds {
            place.next += 1;
            return Some((Kind::Step, round, self.saved, Body::Nothing));
        }
        if round > at.saturating_add(own.lookahead) {
            return None;
        }
        let body = self.kept.get(round.checked_sub(self.kept_from)? as usize)?;
        place.next += 1;
        Some((Kind::Update, round, self.saved, Body::Floats(body.clone())))
    }

    fn misses(&self, _k: usize, peer: usize, agent: &Agent) -> bool {
        agent.missing().any(|id| id == peer)
    }

    fn advance(&mut self, agent: &mut Agent, own: &Settings, _now: Duration) -> Option<Vec<usize>> {
        let round = agent.round();
        agent.advance().then(|| own.heard(round))
    }

    /// It is told where this agent stands, and sends again what was lost.
    fn overdue(&mut self, _k: usize, peer: usize, agent: &mut Agent) {
        self.notes.push(Note::Late(peer, agent.round()));
    }

    fn want(&self, agent: &Agent, own: &Settings, _now: Duration) -> Option<Want> {
        if let Some(at_most) = self.roll_back {
            return Some(Want::RollBack { at_most });
        }
        let due = agent.round() >= self.saved + own.save_every || agent.round() == own.rounds;
        if due && !agent.has_gradient() && self.saved != agent.round() {
            return Some(Want::Save);
        }
        let idle = agent.round() < own.rounds && !agent.has_gradient();
        idle.then_some(Want::Gradient)
    }

    fn saved(&mut self, round: u64) {
        self.saved = round;
    }

    fn rolled_back(&mut self, agent: &Agent) {
        self.roll_back = None;
        self.kept.clear();
        self.kept_from = agent.round();
        self.saved = agent.round();
        for place in &mut self.places {
            place.next = place.next.min(agent.round());
        }
    }

    /// All have ended their rounds too.
    fn may_leave(&self, _rounds: u64, _patience: Duration, _now: Duration) -> bool {
        self.places.iter().all(|place| place.finished)
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn kept(&self) -> usize {
        self.kept.len()
    }
}
