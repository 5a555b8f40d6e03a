//! One agent among its neighbours: links, plans and frames. The policy handles the rounds.

mod meeting;
mod neighbour;

use std::time::Duration;

use consort_algo::{Agent, ProtocolError};

use self::neighbour::Neighbour;
use crate::differences::{sentence, sentences};
use crate::frame::{Body, Frame, Kind, PendingFrame};
use crate::note::Note;
use crate::policy::Rounds;
use crate::settings::PeerSettings;
use crate::want::Want;

/// After so many invalid frames a neighbour is ignored for good.
const MOST_GARBAGE: u32 = 3;
/// How long to wait for an answer before the greeting is repeated.
const GREETING: Duration = Duration::from_secs(1);

/// An agent's side of the protocol: frames, link events and the time go in; frames, wants and
/// notes come out. It has no clock, socket or thread.
pub struct Peer {
    agent: Agent,
    settings: PeerSettings,
    neighbours: Vec<Neighbour>,
    rounds: Box<dyn Rounds>,
    serial: u64,
    notes: Vec<Note>,
    failure: Option<String>,
    /// The run has begun: somebody is beyond round 0.
    under_way: bool,
    now: Duration,
    /// When our own message of the round was ready.
    sent_at: Duration,
    /// Since when we want a gradient or a save.
    wanted_since: Option<Duration>,
    /// How long a gradient takes, smoothed.
    work: Duration,
    /// When a timeout last passed in this round.
    overdue_at: Option<Duration>,
    to_cut: Vec<usize>,
    /// The last round that was mixed, and the neighbours whose messages were used.
    mixed: Option<(u64, Vec<usize>)>,
}

impl Peer {
    /// The protocol of `agent`, which is at round 0 or at a saved round.
    pub fn new(agent: Agent, settings: PeerSettings) -> Self {
        let ids = settings.neighbours();
        let refused = settings.policy.refuses(agent.exchanges());
        Peer {
            neighbours: ids.iter().map(|&id| Neighbour::new(id)).collect(),
            rounds: settings.policy.rounds(&agent, &ids),
            serial: 0,
            notes: Vec::new(),
            failure: refused
                .map(|why| format!("this method cannot continue without neighbours: {why}")),
            under_way: agent.round() > 0,
            now: Duration::ZERO,
            sent_at: Duration::ZERO,
            wanted_since: None,
            work: Duration::ZERO,
            overdue_at: None,
            to_cut: Vec::new(),
            mixed: None,
            agent,
            settings,
        }
    }

    /// The agent: its model, its round, the point of the next gradient.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The agent's state, to save it or to restore it for a roll-back.
    pub fn agent_mut(&mut self) -> &mut Agent {
        &mut self.agent
    }

    /// All neighbours, ascending.
    pub fn neighbours(&self) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.iter().map(|neighbour| neighbour.id)
    }

    /// The neighbours that are linked and run the same plan.
    pub fn present(&self) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.iter().filter(|n| n.ready()).map(|n| n.id)
    }

    /// The neighbours whose messages the current round waits for.
    pub fn awaited(&self) -> Vec<usize> {
        let ids = self.neighbours.iter().enumerate();
        ids.filter(|&(k, _)| self.awaits(k)).map(|(_, n)| n.id).collect()
    }

    /// The last round that was mixed here, and the neighbours whose messages were used.
    pub fn mixed(&self) -> Option<(u64, &[usize])> {
        self.mixed.as_ref().map(|(round, used)| (*round, &used[..]))
    }

    /// How many own messages are kept for sending again.
    pub fn kept_messages(&self) -> usize {
        self.rounds.kept()
    }

    /// The links over which an invalid frame came, since the last call. The driver closes them,
    /// and the transport connects again.
    pub fn links_to_cut(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.to_cut)
    }

    /// What the user should know, since the last call.
    pub fn notes(&mut self) -> Vec<Note> {
        self.notes.append(&mut self.rounds.notes());
        std::mem::take(&mut self.notes)
    }

    /// The link to `id` is up, and the neighbour has proved its key.
    pub fn link_up(&mut self, now: Duration, id: usize) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        self.unlink(k);
        // Serial numbers order the frames of one link only.
        let neighbour = &mut self.neighbours[k];
        (neighbour.linked, neighbour.newest_control) = (Some(now), 0);
        neighbour.has_left = false;
        self.greet(k);
    }

    /// The link to `id` is gone.
    pub fn link_down(&mut self, now: Duration, id: usize) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        if self.neighbours[k].ready() {
            if self.rounds.has_finished(k, self.settings.end()) {
                self.notes.push(Note::Finished(id));
            } else if !self.neighbours[k].has_left {
                self.notes.push(Note::Lost(id));
            }
        }
        self.unlink(k);
        self.proceed();
    }

    /// `id` sent something that is not a valid frame of this run; its link is to be closed.
    pub fn garbage(&mut self, now: Duration, id: usize, what: String) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        self.notes.push(Note::Garbage(id, what.clone()));
        self.unlink(k);
        self.to_cut.push(id);
        let neighbour = &mut self.neighbours[k];
        neighbour.garbage += 1;
        if !neighbour.is_banned() {
            return;
        }
        if !self.rounds.gone(k, &mut self.agent) {
            let text = format!("agent {id} sent {MOST_GARBAGE} invalid frames, the last: {what}");
            self.failure = Some(text);
        }
        self.proceed();
    }

    /// A frame arrived from `id`.
    pub fn hear(&mut self, now: Duration, id: usize, frame: Frame) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        let (header, neighbour) = (frame.header, &mut self.neighbours[k]);
        if neighbour.linked.is_none() || neighbour.is_banned() {
            return;
        }
        let ordered = !matches!(header.kind, Kind::Update | Kind::Model);
        if ordered && header.serial <= neighbour.newest_control {
            return; // late or repeated
        }
        if ordered {
            neighbour.newest_control = header.serial;
        }
        match (header.kind, frame.body) {
            (Kind::Hello, Body::Text(theirs)) => self.compare(k, &theirs),
            (Kind::Welcome, _) => {
                let known = neighbour.ready();
                neighbour.welcomed = true;
                if !known {
                    self.meet(k);
                }
            }
            (Kind::Refuse, Body::Text(text)) => {
                self.differs(k, sentences(&text));
            }
            (Kind::Leave, Body::Text(why)) if neighbour.ready() => {
                self.left(k, sentence(&why), header.extra == 1);
            }
            (kind, body) if neighbour.ready() => {
                self.under_way |= kind == Kind::Position && header.round > 0;
                let (agent, own) = (&mut self.agent, &self.settings);
                if let Err(error) = self.rounds.hear(k, (header, body), agent, own, now) {
                    self.garbage(now, id, error.to_string());
                }
            }
            _ => {} // sent before the plans were compared
        }
        self.proceed();
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) {
        self.now = now;
        for k in 0..self.neighbours.len() {
            let unanswered = self.neighbours[k].linked.filter(|_| !self.neighbours[k].ready());
            if unanswered.is_some_and(|since| now >= since + GREETING) {
                self.neighbours[k].linked = Some(now);
                self.greet(k);
            }
        }
        self.rounds.tick(&mut self.agent, &self.settings, now);
        if now >= self.deadline() {
            self.overdue();
        }
        self.proceed();
    }

    /// Sets the averaging rates of the current round before its first gradient is taken
    /// ([`Agent::set_averaging_rates`]).
    pub fn set_averaging_rates(&mut self, last: f32, now: f32) {
        self.agent.set_averaging_rates(last, now);
    }

    /// The gradient of the current round and its step size.
    ///
    /// # Errors
    /// If its length differs from the model's, or if it was given before.
    pub fn gradient(&mut self, now: Duration, grad: &[f32], eta: f32) -> Result<(), ProtocolError> {
        let Some(messages) = self.agent.gradient(grad, eta)? else { return Ok(()) };
        let spent = now.saturating_sub(self.wanted_since.take().unwrap_or(now));
        self.work = if self.work.is_zero() { spent } else { (self.work * 7 + spent) / 8 };
        (self.now, self.sent_at, self.overdue_at) = (now, now, None);
        self.rounds.message_ready(&mut self.agent, messages);
        self.proceed();
        Ok(())
    }

    /// The state at the beginning of the current round is on disk.
    pub fn saved(&mut self) {
        self.rounds.saved(self.agent.exchange());
    }

    /// The agent is back at a saved state, as requested.
    pub fn rolled_back(&mut self) {
        self.notes.push(Note::RolledBack(self.agent.round()));
        self.mixed = None;
        self.rounds.rolled_back(&self.agent);
        for k in 0..self.neighbours.len() {
            self.send_position(k);
        }
    }

    /// The agent was put into another state before anything was heard or said: the rounds begin
    /// there.
    pub fn begin_here(&mut self) {
        let ids: Vec<usize> = self.neighbours().collect();
        self.rounds = self.settings.policy.rounds(&self.agent, &ids);
        self.under_way = self.agent.round() > 0;
    }

    /// Tells all neighbours that this agent leaves; `for_good` if it will not return.
    pub fn leave(&mut self, why: &str, for_good: bool) {
        for neighbour in self.neighbours.iter_mut().filter(|n| n.ready()) {
            let body = Body::Text(why.into());
            neighbour.say(Kind::Leave, 0, u64::from(for_good), body);
        }
    }

    /// What the driver should do next.
    pub fn want(&self) -> Want {
        if let Some(why) = &self.failure {
            return Want::Fail(why.clone());
        }
        let wait = Want::Wait { until: self.deadline() };
        if !self.under_way && !self.neighbours.iter().all(|n| n.met || n.is_banned()) {
            return wait; // all plans are compared before round 0
        }
        match self.rounds.want(&self.agent, &self.settings, self.now) {
            // A state is that of the beginning of a round.
            Some(Want::RollBack { at_most }) => {
                Want::RollBack { at_most: at_most / self.settings.exchanges }
            }
            Some(want) => want,
            None if self.agent.round() >= self.settings.rounds && self.may_leave() => Want::Done,
            None => wait,
        }
    }

    /// The next frame for `id`, if the link can take one.
    pub fn frame_for(&mut self, id: usize) -> Option<Frame> {
        let k = self.find(id)?;
        self.neighbours[k].linked?;
        let frame = match self.neighbours[k].control.pop_front() {
            Some(control) => control,
            None if !self.neighbours[k].ready() => return None,
            None => self.rounds.frame_for(k, id, &self.agent, &self.settings)?,
        };
        self.serial += 1;
        let PendingFrame { kind, round, extra, body } = frame;
        let own = self.agent.id() as u32;
        Some(Frame::new(kind, own, self.serial, round, extra, body))
    }

    fn find(&self, id: usize) -> Option<usize> {
        self.neighbours.binary_search_by_key(&id, |neighbour| neighbour.id).ok()
    }

    fn unlink(&mut self, k: usize) {
        let neighbour = &mut self.neighbours[k];
        (neighbour.linked, neighbour.welcomed, neighbour.welcomes) = (None, false, false);
        neighbour.control.clear();
        self.rounds.link_down(k);
    }

    /// Sends this agent's position, unless the policy does so itself.
    fn send_position(&mut self, k: usize) {
        if let Some((round, extra)) = self.rounds.position(&self.agent)
            && self.neighbours[k].ready()
        {
            self.neighbours[k].say(Kind::Position, round, extra, Body::Nothing);
        }
    }

    fn awaits(&self, k: usize) -> bool {
        self.rounds.awaits(k, self.neighbours[k].id, &self.agent)
    }

    /// Ends the exchanges that are complete, and learns how late the neighbours were.
    fn end_exchanges(&mut self) {
        while self.agent.has_gradient() && self.end_exchange() {}
    }

    /// Ends the current exchange if that is possible.
    fn end_exchange(&mut self) -> bool {
        for k in 0..self.neighbours.len() {
            if !self.neighbours[k].arrived && !self.awaits(k) {
                self.neighbours[k].arrived = true;
                let late = self.now.saturating_sub(self.sent_at);
                self.neighbours[k].timeout.arrived(late);
            }
        }
        let round = self.agent.round();
        let used = self.rounds.advance(&mut self.agent, &self.settings, self.now);
        let Some(used) = used else { return false };
        self.mixed = Some((round, used));
        self.neighbours.iter_mut().for_each(|neighbour| neighbour.arrived = false);
        (self.overdue_at, self.under_way) = (None, true);
        if let Some(messages) = self.agent.outgoing() {
            self.sent_at = self.now; // the next exchange of the same round
            self.rounds.message_ready(&mut self.agent, messages);
        }
        true
    }

    /// After every input: ends what is complete, and notes since when we want
    /// something.
    fn proceed(&mut self) {
        self.end_exchanges();
        let wanted = matches!(self.want(), Want::Gradient | Want::Save);
        self.wanted_since = self.wanted_since.or(Some(self.now)).filter(|_| wanted);
    }

    /// When the timeouts of all awaited neighbours have passed.
    fn deadline(&self) -> Duration {
        let since = self.overdue_at.unwrap_or(self.sent_at);
        let awaited = (0..self.neighbours.len()).filter(|&k| self.awaits(k));
        let timeouts = awaited.map(|k| match &self.neighbours[k] {
            linked if linked.linked.is_some() => linked.timeout.duration(self.work),
            unlinked => unlinked.timeout.duration_unlinked(self.work),
        });
        since + timeouts.max().unwrap_or(GREETING)
    }

    /// The deadline has passed.
    fn overdue(&mut self) {
        self.overdue_at = Some(self.now);
        for k in 0..self.neighbours.len() {
            if !self.agent.has_gradient() || !self.awaits(k) {
                continue;
            }
            self.neighbours[k].timeout.missed();
            self.rounds.overdue(k, self.neighbours[k].id, &mut self.agent);
            self.send_position(k); // the neighbour sends again what was lost on the way
        }
        self.rounds.repeat(&self.agent);
        if self.agent.round() >= self.settings.rounds {
            (0..self.neighbours.len()).for_each(|k| self.send_position(k));
        }
    }

    /// True if all neighbours have ended their rounds too, or need nothing.
    fn may_leave(&self) -> bool {
        let timeouts = self.neighbours.iter().map(|n| n.timeout.duration(self.work));
        let timeout = timeouts.max().unwrap_or(GREETING);
        self.rounds.may_leave(self.settings.end(), timeout, self.now)
    }
}
