//! `Continue`: a silent neighbour is set aside, and joins again with full models.
//!
//! An edge is *active* or *aside*. In a round, the two ends of an active edge use each other's
//! message; the weight of an edge that is aside belongs to the own model at both ends, so W is
//! symmetric and doubly stochastic whoever is missing.
//!
//! **Setting aside.** An end that has waited long enough says `Stand(n, u)`: the next round it
//! offers is n, and the last in which it used the other's message is u; it commits to use
//! nothing in between. The other end sets the edge aside too. No deadline can make both ends
//! use the same rounds (the two generals' problem): an end that learns that it used a round
//! alone, which can be one round only, takes that message back out of its model.
//!
//! **Joining.** Both ends have said `Stand`: the edge is active again from the later of the two
//! rounds on. In that round both send their full model with the message, since a method that
//! rebuilds its neighbours from updates has missed some. An agent that is behind skips to the
//! round of the neighbour that is ahead, and tells all others.
//!
//! **Lost state.** An agent that was killed finds that a neighbour has used rounds which its
//! saved state does not know. It asks for the neighbours' models and goes on from their mean.
//! So does one that is far behind when its neighbours have all but finished.
//!
//! An agent without any neighbour pauses: alone it would learn its own data only, and run ahead.

mod edge;
mod lost_state;

use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, ProtocolError};

use self::edge::{Edge, UNKNOWN, Used};
use super::{Outgoing, Rounds, receive_once};
use crate::frame::{Body, Header, Kind};
use crate::settings::{Note, Settings, Want};

/// Messages and models that wait for one neighbour at most. One that takes part has read all but
/// the last two; one that sends and does not read is set aside.
const MOST_UNREAD: usize = 8;

/// The rounds of one agent under the policy `Continue`.
#[derive(Debug)]
pub(super) struct Continue {
    edges: Vec<Edge>,
    /// Frames to send, by neighbour.
    outgoing: Vec<(usize, Outgoing)>,
    notes: Vec<Note>,
    own_message: Option<Arc<[f32]>>,
    /// The own model beside that message, once a neighbour joins.
    own_model: Option<Arc<[f32]>>,
    /// The saved round that this process went on from, until it is known whether it lost any.
    restored: Option<u64>,
    /// When it asked for models.
    asked: Option<Duration>,
    asked_at_the_end: bool,
    /// Since when there is nobody to learn with.
    alone: Option<Duration>,
    saved: u64,
    finished: Option<Duration>,
    /// Which edges the pull is made of.
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

    /// Neighbour `k` said where it stands.
    fn stands(
        &mut self,
        k: usize,
        header: &Header,
        agent: &mut Agent,
        own: &Settings,
        now: Duration,
    ) {
        let (round, n, theirs_used) = (agent.round(), header.round, header.extra);
        let edge = &mut self.edges[k];
        edge.theirs = Some(n);
        if self.restored.is_some_and(|saved| theirs_used != UNKNOWN && theirs_used > saved) {
            self.ask(now);
        }
        let edge = &mut self.edges[k];
        if theirs_used != UNKNOWN && edge.used != UNKNOWN && edge.used > theirs_used {
            // Not now if the own message is out: mixing would put the old model back.
            // And not once all rounds are over: nothing would spread it any more.
            let last = edge.last.take_if(|last| last.round + 1 == edge.used);
            edge.alone = last.filter(|_| round < own.rounds);
            edge.used = theirs_used;
            self.take_back(agent);
        }
        let edge = &mut self.edges[k];
        if edge.active {
            if theirs_used != UNKNOWN && theirs_used == round + 1 && agent.has_gradient() {
                // It used this very round, then went elsewhere: its message is on its way.
                edge.active = false;
                edge.closing = Some(round);
            } else {
                self.set_aside(k, agent);
            }
        }
        if n < self.edges[k].mine {
            self.stand(k); // it does not know
        }
        self.join_late(k, agent);
        self.catch_up(agent, own, now);
    }

    /// A message came.
    fn update(
        &mut self,
        k: usize,
        round: u64,
        body: Arc<[f32]>,
        agent: &mut Agent,
    ) -> Result<(), ProtocolError> {
        if round > agent.round() + 1 {
            self.edges[k].update = Some((round, body)); // until this agent has skipped there
            return Ok(());
        }
        receive_once(agent, self.edges[k].peer, round, body)
    }

    /// Goes on without neighbour `k`, and tells it.
    fn set_aside(&mut self, k: usize, agent: &mut Agent) {
        let edge = &mut self.edges[k];
        agent.forget(edge.peer);
        (edge.active, edge.closing, edge.copy) = (false, None, None);
        edge.mine = agent.round() + u64::from(agent.has_gradient());
        // What the other end needs of a round that this end has used is still sent.
        let used = if edge.used == UNKNOWN { 0 } else { edge.used };
        self.outgoing.retain(|&(to, (kind, round, ..))| {
            to != k || round < used || !matches!(kind, Kind::Update | Kind::Model)
        });
        self.stand(k);
    }

    /// It was waited for in vain: it has to speak first.
    fn give_up(&mut self, k: usize, agent: &mut Agent) {
        self.notes.push(Note::SetAside(self.edges[k].peer, agent.round()));
        let offered = self.edges[k].theirs.filter(|&n| n > agent.round());
        self.set_aside(k, agent);
        self.edges[k].theirs = offered;
    }

    /// True if somebody takes part in the round under way.
    fn has_company(&self, agent: &Agent) -> bool {
        self.edges.iter().any(|edge| edge.takes_part(agent.round()) || edge.joint().is_some())
    }

    /// Tells neighbour `k` where this agent stands.
    fn stand(&mut self, k: usize) {
        let (mine, used) = (self.edges[k].mine, self.edges[k].used);
        if self.edges[k].ready {
            self.outgoing.retain(|(to, frame)| *to != k || frame.0 != Kind::Stand);
            self.outgoing.push((k, (Kind::Stand, mine, used, Body::Nothing)));
        }
    }

    /// At the beginning of a round: what was offered for an earlier one is offered for this.
    fn begin_round(&mut self, agent: &mut Agent) {
        let round = agent.round();
        for k in 0..self.edges.len() {
            let edge = &mut self.edges[k];
            if let Some((_, body)) = edge.update.take_if(|update| update.0 == round) {
                // Length and sender were checked when it came in.
                drop(agent.receive(edge.peer, round, body));
            }
            if edge.closing.is_some() {
                (edge.closing, edge.copy) = (None, None);
            }
            if !edge.active && edge.mine < round {
                edge.mine = round;
                self.stand(k);
            }
        }
    }

    /// A neighbour whose offer came after the gradient can still join in this round.
    fn join_late(&mut self, k: usize, agent: &mut Agent) {
        if agent.has_gradient() {
            self.send_to(k, agent);
        }
    }

    /// Sends the messages of the round under way to neighbour `k`, once, if it takes part.
    fn send_to(&mut self, k: usize, agent: &mut Agent) {
        let (edge, round) = (&mut self.edges[k], agent.round());
        let Some(message) = self.own_message.clone() else { return };
        if !edge.takes_part(round) || edge.sent == Some(round) {
            return;
        }
        let unread =
            |to: usize, frame: &Outgoing| to == k && matches!(frame.0, Kind::Update | Kind::Model);
        if self.outgoing.iter().filter(|(to, frame)| unread(*to, frame)).count() >= MOST_UNREAD {
            self.outgoing.retain(|(to, frame)| !unread(*to, frame));
            return self.give_up(k, agent);
        }
        edge.sent = Some(round);
        if agent.sends_moves() && !edge.active {
            let model = self.own_model.get_or_insert_with(|| agent.params().into()).clone();
            self.outgoing.push((k, (Kind::Model, round, 0, Body::Floats(model))));
        }
        self.outgoing.push((k, (Kind::Update, round, self.saved, Body::Floats(message))));
    }

    /// If other edges are in use than before, a method that follows moves measures its
    /// neighbourhood anew.
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
    /// A new link has lost what the old one carried, so
    /// both ends begin the edge anew; only the very first meeting needs nothing.
    fn ready(&mut self, k: usize, agent: &mut Agent) {
        let edge = &mut self.edges[k];
        edge.ready = true;
        edge.theirs = None;
        edge.gone = false;
        let first_meeting = edge.active && agent.round() == 0 && edge.sent.is_none();
        if !first_meeting {
            self.set_aside(k, agent);
        }
    }

    fn link_down(&mut self, k: usize) {
        let edge = &mut self.edges[k];
        edge.ready = false;
        edge.theirs = None;
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
        late: bool,
        agent: &mut Agent,
        own: &Settings,
        now: Duration,
    ) -> Result<(), ProtocolError> {
        match (header.kind, body) {
            (Kind::Stand, _) => self.stands(k, &header, agent, own, now),
            // Ahead of its message.
            (Kind::Model, Body::Floats(model)) if !late => {
                self.edges[k].model = Some((header.round, model));
            }
            (Kind::Update, Body::Floats(body)) if !late => {
                self.update(k, header.round, body, agent)?;
            }
            (Kind::Ask, _) => self.asks(k, agent, own, now),
            (Kind::Answer, Body::Floats(model)) => self.answers(k, model, agent, own, now),
            _ => {} // late, or of the other policy
        }
        Ok(())
    }

    /// It goes to all that take part.
    fn sent(&mut self, agent: &mut Agent, message: Arc<[f32]>) {
        self.own_message = Some(message);
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
        _own: &Settings,
    ) -> Option<Outgoing> {
        let first = self.outgoing.iter().position(|(to, _)| *to == k)?;
        Some(self.outgoing.remove(first).1)
    }

    fn misses(&self, k: usize, _peer: usize, agent: &Agent) -> bool {
        let (edge, round) = (&self.edges[k], agent.round());
        if !edge.takes_part(round) {
            return false;
        }
        let joins = !edge.active && edge.closing != Some(round);
        let model = edge.model.as_ref().is_some_and(|model| model.0 == round);
        agent.message_of(edge.peer).is_none() || (joins && agent.sends_moves() && !model)
    }

    fn advance(&mut self, agent: &mut Agent, own: &Settings, now: Duration) -> Option<Vec<usize>> {
        let round = agent.round();
        let ready = agent.has_gradient()
            && (0..self.edges.len()).all(|k| !self.misses(k, self.edges[k].peer, agent));
        let ours = self.own_message.clone().filter(|_| ready)?;
        let mut used: Vec<(usize, Arc<[f32]>)> = Vec::new();
        for (k, edge) in self.edges.iter_mut().enumerate() {
            if !edge.takes_part(round) {
                agent.excuse(edge.peer);
                continue;
            }
            let joins = !edge.active && edge.closing != Some(round);
            if joins {
                edge.copy = edge.model.take().map(|(_, model)| model.to_vec());
                (edge.active, edge.theirs) = (true, None);
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
        self.take_back(agent);
        let used: Vec<usize> = used.iter().map(|&(k, _)| self.edges[k].peer).collect();
        self.measure(agent, &used);
        self.begin_round(agent);
        self.catch_up(agent, own, now);
        if agent.round() >= own.rounds {
            // The last round: those that are still in it need to know that no other follows.
            (0..self.edges.len()).for_each(|k| self.set_aside(k, agent));
        }
        Some(used)
    }

    fn overdue(&mut self, k: usize, _peer: usize, agent: &mut Agent) {
        self.give_up(k, agent);
    }

    /// Tells those that are aside again where this agent stands.
    fn repeat(&mut self, agent: &Agent) {
        for k in 0..self.edges.len() {
            if !agent.has_gradient() && self.edges[k].ready && !self.edges[k].active {
                self.stand(k);
            }
        }
    }

    /// An agent that asked for models does not wait for ever, nor one that is
    /// alone or has finished.
    fn tick(&mut self, agent: &mut Agent, own: &Settings, now: Duration) {
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

    fn want(&self, agent: &Agent, own: &Settings, now: Duration) -> Option<Want> {
        if agent.has_gradient() {
            return None;
        }
        let due = agent.round() >= self.saved + own.save_every || agent.round() >= own.rounds;
        if due && self.saved != agent.round() {
            return Some(Want::Save);
        }
        if self.alone.is_some_and(|since| now > since + own.alone_at_most) {
            let seconds = own.alone_at_most.as_secs();
            return Some(Want::Fail(format!(
                "no neighbour was there for {seconds} s; start this agent again to go on"
            )));
        }
        let work = agent.round() < own.rounds && self.asked.is_none() && self.has_company(agent);
        work.then_some(Want::Gradient)
    }

    fn saved(&mut self, round: u64) {
        self.saved = round;
    }

    fn may_leave(&self, rounds: u64, patience: Duration, now: Duration) -> bool {
        let done = |edge: &Edge| {
            !edge.ready || edge.gone || edge.theirs.is_some_and(|theirs| theirs >= rounds)
        };
        let waited = self.finished.is_some_and(|since| now > since + patience);
        self.edges.iter().all(done) || waited
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
