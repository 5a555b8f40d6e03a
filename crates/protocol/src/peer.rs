//! One agent among its neighbours: links, plans, frames; the rounds are the policy's.

mod meeting;
mod neighbour;

use std::time::Duration;

use consort_algo::{Agent, ProtocolError};

use self::neighbour::Neighbour;
use crate::differences::{sentence, sentences};
use crate::frame::{Body, Frame, Kind};
use crate::policy::Rounds;
use crate::settings::{Note, Settings, Want};

/// Frames that are no frame, after which a neighbour is not heard any more.
const FORGIVEN: u32 = 3;
/// How often a greeting that was not answered is repeated.
const GREETING: Duration = Duration::from_secs(1);

/// An agent's side of the protocol: frames, links and time go in; frames, wants and notes come
/// out. No clock, socket or thread is in here.
pub struct Peer {
    agent: Agent,
    settings: Settings,
    neighbours: Vec<Neighbour>,
    rounds: Box<dyn Rounds>,
    serial: u64,
    notes: Vec<Note>,
    failure: Option<String>,
    /// Somebody is further than round 0: the run is under way.
    under_way: bool,
    now: Duration,
    /// When the round's own message was ready.
    sent_at: Duration,
    /// Since when a gradient is wanted, and how long one takes, smoothed.
    wanted_since: Option<Duration>,
    work: Duration,
    nudged: Option<Duration>,
    to_cut: Vec<usize>,
    /// The last round that was mixed, and whose messages.
    mixed: Option<(u64, Vec<usize>)>,
}

impl Peer {
    /// The protocol of `agent`, which stands at round 0 or at a saved round.
    pub fn new(agent: Agent, settings: Settings) -> Self {
        let ids = settings.neighbours();
        Peer {
            neighbours: ids.iter().map(|&id| Neighbour::new(id)).collect(),
            rounds: settings.policy.rounds(&agent, &ids),
            serial: 0,
            notes: Vec::new(),
            failure: None,
            under_way: agent.round() > 0,
            now: Duration::ZERO,
            sent_at: Duration::ZERO,
            wanted_since: None,
            work: Duration::ZERO,
            nudged: None,
            to_cut: Vec::new(),
            mixed: None,
            agent,
            settings,
        }
    }

    /// The agent itself: its model, its round, where to take the gradient.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The agent's state, to save it, or to restore it when a roll-back is wanted.
    pub fn agent_mut(&mut self) -> &mut Agent {
        &mut self.agent
    }

    /// All neighbours, ascending.
    pub fn neighbours(&self) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.iter().map(|neighbour| neighbour.id)
    }

    /// Neighbours that are linked and run the same plan.
    pub fn present(&self) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.iter().filter(|n| n.ready()).map(|n| n.id)
    }

    /// Whose messages of the round under way are waited for.
    pub fn awaited(&self) -> Vec<usize> {
        let ids = self.neighbours.iter().enumerate();
        ids.filter(|&(k, _)| self.misses(k)).map(|(_, n)| n.id).collect()
    }

    /// The last round that was mixed here, and the neighbours whose messages were used.
    pub fn mixed(&self) -> Option<(u64, &[usize])> {
        self.mixed.as_ref().map(|(round, used)| (*round, &used[..]))
    }

    /// Own messages kept to be sent again.
    pub fn kept_messages(&self) -> usize {
        self.rounds.kept()
    }

    /// Links over which nothing good came, since the last call: the driver ends them, and they
    /// are made anew.
    pub fn links_to_cut(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.to_cut)
    }

    /// What the user should know, since the last call.
    pub fn notes(&mut self) -> Vec<Note> {
        self.notes.append(&mut self.rounds.notes());
        std::mem::take(&mut self.notes)
    }

    /// A link to `id` is there, and its key is the right one.
    pub fn link_up(&mut self, now: Duration, id: usize) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        self.unlink(k);
        // Nothing of an older link comes over this one, so its order begins anew.
        let neighbour = &mut self.neighbours[k];
        (neighbour.linked, neighbour.newest_control, neighbour.newest_stand) = (Some(now), 0, 0);
        self.greet(k);
    }

    /// The link to `id` is gone.
    pub fn link_down(&mut self, now: Duration, id: usize) {
        self.now = now;
        let Some(k) = self.find(id) else { return };
        if self.neighbours[k].ready() {
            self.notes.push(Note::Lost(id));
        }
        self.unlink(k);
        self.proceed();
    }

    /// `id` sent something that is no frame of this run; its link is closed.
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
            let text = format!("agent {id} sent garbage {FORGIVEN} times, last: {what}");
            self.failure = Some(text);
        }
        self.proceed();
    }

    /// A frame came from `id`.
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
                if kind == Kind::Stand {
                    neighbour.newest_stand = header.serial;
                    self.under_way |= header.round > 0;
                }
                let late = header.serial < self.neighbours[k].newest_stand;
                let (agent, own) = (&mut self.agent, &self.settings);
                if let Err(error) = self.rounds.hear(k, (header, body), late, agent, own, now) {
                    self.garbage(now, id, error.to_string());
                }
            }
            _ => {} // before the plans were compared
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

    /// The gradient of the round under way, and its step size.
    ///
    /// # Errors
    /// If it has another length than the model, or has been given before.
    pub fn gradient(&mut self, now: Duration, grad: &[f32], eta: f32) -> Result<(), ProtocolError> {
        let message = self.agent.gradient(grad, eta)?;
        let spent = now.saturating_sub(self.wanted_since.take().unwrap_or(now));
        self.work = if self.work.is_zero() { spent } else { (self.work * 7 + spent) / 8 };
        (self.now, self.sent_at, self.nudged) = (now, now, None);
        self.rounds.sent(&mut self.agent, message.body);
        self.proceed();
        Ok(())
    }

    /// The state at the beginning of the round under way is on disk.
    pub fn saved(&mut self) {
        self.rounds.saved(self.agent.round());
    }

    /// The agent stands at a saved state again, as was wanted.
    pub fn rolled_back(&mut self) {
        self.notes.push(Note::RolledBack(self.agent.round()));
        self.mixed = None;
        self.rounds.rolled_back(&self.agent);
        for k in 0..self.neighbours.len() {
            self.stand(k);
        }
    }

    /// Tells all neighbours that this agent leaves; `for_good` if it will not return.
    pub fn leave(&mut self, why: &str, for_good: bool) {
        for neighbour in self.neighbours.iter_mut().filter(|n| n.ready()) {
            let body = Body::Text(why.into());
            neighbour.say(Kind::Leave, 0, u64::from(for_good), body);
        }
    }

    /// What the protocol wants next.
    pub fn want(&self) -> Want {
        if let Some(why) = &self.failure {
            return Want::Fail(why.clone());
        }
        let wait = Want::Wait { until: self.deadline() };
        if !self.under_way && !self.neighbours.iter().all(|n| n.met || n.is_banned()) {
            return wait; // before round 0 all plans are compared
        }
        match self.rounds.want(&self.agent, &self.settings, self.now) {
            Some(want) => want,
            None if self.agent.round() >= self.settings.rounds && self.may_leave() => Want::Done,
            None => wait,
        }
    }

    /// The next frame for `id`, if the link can take one.
    pub fn frame_for(&mut self, id: usize) -> Option<Frame> {
        let k = self.find(id)?;
        self.neighbours[k].linked?;
        let (kind, round, extra, body) = match self.neighbours[k].control.pop_front() {
            Some(control) => control,
            None if !self.neighbours[k].ready() => return None,
            None => self.rounds.frame_for(k, id, &self.agent, &self.settings)?,
        };
        self.serial += 1;
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

    /// Says where this agent stands, if the policy has it said unasked.
    fn stand(&mut self, k: usize) {
        if let Some((round, saved)) = self.rounds.standing(&self.agent)
            && self.neighbours[k].ready()
        {
            self.neighbours[k].say(Kind::Stand, round, saved, Body::Nothing);
        }
    }

    fn misses(&self, k: usize) -> bool {
        self.rounds.misses(k, self.neighbours[k].id, &self.agent)
    }

    /// Ends the round if it can be ended, and learns how late the neighbours were.
    fn end_round(&mut self) {
        if !self.agent.has_gradient() {
            return;
        }
        for k in 0..self.neighbours.len() {
            if !self.neighbours[k].arrived && !self.misses(k) {
                self.neighbours[k].arrived = true;
                let late = self.now.saturating_sub(self.sent_at);
                self.neighbours[k].patience.arrived(late);
            }
        }
        let round = self.agent.round();
        let used = self.rounds.advance(&mut self.agent, &self.settings, self.now);
        if let Some(used) = used {
            self.mixed = Some((round, used));
            self.neighbours.iter_mut().for_each(|neighbour| neighbour.arrived = false);
            (self.nudged, self.under_way) = (None, true);
        }
    }

    /// After every input: ends the round if it can be ended, and looks what is wanted now.
    fn proceed(&mut self) {
        self.end_round();
        let wanted = matches!(self.want(), Want::Gradient | Want::Save);
        self.wanted_since = self.wanted_since.or(Some(self.now)).filter(|_| wanted);
    }

    /// When the patience with those that are waited for ends.
    fn deadline(&self) -> Duration {
        let since = self.nudged.unwrap_or(self.sent_at);
        let awaited = (0..self.neighbours.len()).filter(|&k| self.misses(k));
        let limits = awaited.map(|k| match &self.neighbours[k] {
            linked if linked.linked.is_some() => linked.patience.limit(self.work),
            unlinked => unlinked.patience.limit_unlinked(self.work),
        });
        since + limits.max().unwrap_or(GREETING)
    }

    /// The patience has ended.
    fn overdue(&mut self) {
        self.nudged = Some(self.now);
        for k in 0..self.neighbours.len() {
            if !self.agent.has_gradient() || !self.misses(k) {
                continue;
            }
            self.neighbours[k].patience.missed();
            self.rounds.overdue(k, self.neighbours[k].id, &mut self.agent);
            self.stand(k); // what was lost on the way is sent again
        }
        self.rounds.repeat(&self.agent);
        if self.agent.round() >= self.settings.rounds {
            (0..self.neighbours.len()).for_each(|k| self.stand(k));
        }
    }

    /// True if all neighbours have ended their rounds too, or need nothing.
    fn may_leave(&self) -> bool {
        let limits = self.neighbours.iter().map(|n| n.patience.limit(self.work));
        let patience = limits.max().unwrap_or(GREETING);
        self.rounds.may_leave(self.settings.rounds, patience, self.now)
    }
}
