//! A few agents on a complete graph whose frames arrive in order after a millisecond.
//!
//! Nothing fails by itself: a test cuts links, kills or slows down processes, or forges frames.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Method, Row, Site};
use consort_protocol::{Body, Frame, Kind, Note, Peer, PeerSettings, Policy, Want};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;
pub(crate) const LEN: usize = 2;
const WIRE: Duration = Duration::from_millis(1);

/// One process, its disk and the notes to its user.
pub(crate) struct Process {
    pub(crate) peer: Option<Peer>,
    /// How long it takes to compute a gradient.
    pub(crate) work: Duration,
    /// When the gradient being computed is ready.
    ready_at: Option<Duration>,
    saved: Vec<(u64, Vec<Vec<f32>>)>,
    pub(crate) notes: Vec<Note>,
    /// The most messages it ever kept.
    pub(crate) most_kept: usize,
}

struct OnItsWay {
    at: Duration,
    from: usize,
    to: usize,
    frame: Frame,
}

pub(crate) struct World {
    settings: PeerSettings,
    method: &'static str,
    pub(crate) now: Duration,
    pub(crate) processes: Vec<Process>,
    links: Vec<(usize, usize)>,
    wire: VecDeque<OnItsWay>,
}

impl World {
    /// A world of so many agents, none of them started.
    pub(crate) fn new(agents: usize, policy: Policy, rounds: u64) -> Self {
        let settings = PeerSettings {
            exchanges: 1,
            phases_per_round: 1,
            policy,
            rounds,
            shared: Arc::from("run.eta = 0.1\n"),
            save_every: 5,
            listeners: Vec::new(),
            senders: Vec::new(),
            lookahead: 1,
            alone_at_most: Duration::from_secs(600),
        };
        let process = || Process {
            peer: None,
            work: MS(100),
            ready_at: None,
            saved: Vec::new(),
            notes: Vec::new(),
            most_kept: 0,
        };
        let processes = (0..agents).map(|_| process()).collect();
        let (now, links, wire) = (Duration::ZERO, Vec::new(), VecDeque::new());
        World { settings, method: "dsgd", now, processes, links, wire }
    }

    /// The same with all agents started and linked.
    pub(crate) fn started(agents: usize, policy: Policy, rounds: u64) -> Self {
        let mut world = Self::new(agents, policy, rounds);
        (0..agents).for_each(|id| world.start(id));
        world
    }

    pub(crate) fn with_method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn save_every(mut self, rounds: u64) -> Self {
        self.settings.save_every = rounds;
        self
    }

    /// Starts agent `id` from its saved state, and links it to all running agents.
    pub(crate) fn start(&mut self, id: usize) {
        let shared = self.settings.shared.clone();
        self.start_with(id, &shared);
    }

    /// The same with a different plan.
    pub(crate) fn start_with(&mut self, id: usize, shared: &str) {
        let near: Vec<usize> = (0..self.processes.len()).filter(|&other| other != id).collect();
        let mut settings = self.settings.clone();
        settings.shared = shared.into();
        (settings.listeners, settings.senders) = (vec![near.clone()], vec![near.clone()]);
        let mut agent = self.fresh_agent(id);
        if let Some((round, tensors)) = self.processes[id].saved.last() {
            restore(&mut agent, *round, tensors);
        }
        let process = &mut self.processes[id];
        (process.peer, process.ready_at) = (Some(Peer::new(agent, settings)), None);
        for other in near {
            self.link(id, other);
        }
    }

    /// Like `kill -9`: everything that was not saved is lost.
    pub(crate) fn kill(&mut self, id: usize) {
        self.processes[id].peer = None;
        for other in 0..self.processes.len() {
            self.unlink(id, other);
        }
    }

    pub(crate) fn link(&mut self, a: usize, b: usize) {
        let runs = |id: usize| self.processes[id].peer.is_some();
        if !runs(a) || !runs(b) || self.is_linked(a, b) {
            return;
        }
        self.links.push((a, b));
        let now = self.now;
        self.peer(a).link_up(now, b);
        self.peer(b).link_up(now, a);
        self.serve(a);
        self.serve(b);
    }

    pub(crate) fn unlink(&mut self, a: usize, b: usize) {
        if !self.is_linked(a, b) {
            return;
        }
        self.links.retain(|&link| link != (a, b) && link != (b, a));
        self.wire.retain(|w| (w.from, w.to) != (a, b) && (w.from, w.to) != (b, a));
        let now = self.now;
        for (own, other) in [(a, b), (b, a)] {
            if self.processes[own].peer.is_some() {
                self.peer(own).link_down(now, other);
                self.serve(own);
            }
        }
    }

    fn is_linked(&self, a: usize, b: usize) -> bool {
        self.links.contains(&(a, b)) || self.links.contains(&(b, a))
    }

    /// The running agent `id`.
    pub(crate) fn peer(&mut self, id: usize) -> &mut Peer {
        self.processes[id].peer.as_mut().unwrap()
    }

    pub(crate) fn round(&self, id: usize) -> u64 {
        self.processes[id].peer.as_ref().map_or(0, |peer| peer.agent().round())
    }

    pub(crate) fn model(&self, id: usize) -> Vec<f32> {
        self.processes[id].peer.as_ref().unwrap().agent().params().to_vec()
    }

    pub(crate) fn want(&self, id: usize) -> Want {
        self.processes[id].peer.as_ref().unwrap().want()
    }

    /// Why agent `id` cannot continue.
    pub(crate) fn failure(&self, id: usize) -> Option<String> {
        match self.want(id) {
            Want::Fail(why) => Some(why),
            _ => None,
        }
    }

    pub(crate) fn is_done(&self, id: usize) -> bool {
        self.want(id) == Want::Done
    }

    pub(crate) fn was_told(&self, id: usize, told: impl Fn(&Note) -> bool) -> bool {
        self.processes[id].notes.iter().any(told)
    }

    /// Agent `to` hears a frame that `from` did not send.
    pub(crate) fn forge(
        &mut self,
        from: usize,
        to: usize,
        kind: Kind,
        numbers: [u64; 3],
        body: Body,
    ) {
        let [serial, round, extra] = numbers;
        let (now, frame) = (self.now, Frame::new(kind, from as u32, serial, round, extra, body));
        self.peer(to).hear(now, from, frame);
        self.serve(to);
    }

    /// Agent `id` says that it leaves, and ends.
    pub(crate) fn leave(&mut self, id: usize, why: &str, for_good: bool) {
        self.peer(id).leave(why, for_good);
        self.processes[id].ready_at = None;
        self.serve(id);
        self.pass(2 * WIRE); // its frames arrive
        self.kill(id);
    }

    /// From now on agent `id` computes for ever; its links stay up.
    pub(crate) fn silence(&mut self, id: usize) {
        let process = &mut self.processes[id];
        (process.work, process.ready_at) = (Duration::from_secs(100_000), None);
        self.serve(id);
    }

    /// True if agent `id` has sent its message and no frame is on its way.
    pub(crate) fn is_waiting(&self, id: usize) -> bool {
        let sent = self.processes[id].peer.as_ref().is_some_and(|p| p.agent().has_gradient());
        sent && self.wire.is_empty()
    }

    /// Lets time pass, with everything that happens in it.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.next_event().filter(|&at| at <= end) {
            self.happen(at);
        }
        self.now = end;
    }

    /// Lets time pass until a condition holds; panics if that takes an hour.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            let at = self.next_event().filter(|at| at.as_secs() < 3600);
            let Some(at) = at else { panic!("never: {what}") };
            self.happen(at);
        }
    }

    fn next_event(&self) -> Option<Duration> {
        let arrival = self.wire.front().map(|frame| frame.at);
        let gradients = self.processes.iter().filter_map(|p| p.peer.as_ref().and(p.ready_at));
        let deadlines = self.processes.iter().filter_map(|p| match p.peer.as_ref()?.want() {
            Want::Wait { until } => Some(until.max(self.now + MS(1))),
            _ => None,
        });
        arrival.into_iter().chain(gradients).chain(deadlines).min()
    }

    fn happen(&mut self, at: Duration) {
        self.now = at;
        if self.wire.front().is_some_and(|frame| frame.at <= at) {
            let OnItsWay { from, to, frame, .. } = self.wire.pop_front().unwrap();
            self.peer(to).hear(at, from, frame);
            return self.serve(to);
        }
        for id in 0..self.processes.len() {
            let Process { peer: Some(peer), ready_at, .. } = &mut self.processes[id] else {
                continue;
            };
            if ready_at.is_some_and(|ready| ready <= at) {
                *ready_at = None;
                if peer.want() == Want::Gradient {
                    let mut grad = vec![0.0; LEN];
                    peer.agent().probe(&mut grad);
                    grad.iter_mut().for_each(|x| *x -= id as f32);
                    peer.gradient(at, &grad, 0.1).unwrap();
                }
            } else if matches!(peer.want(), Want::Wait { until } if until <= at) {
                peer.tick(at);
            }
            self.serve(id);
        }
    }

    /// Does what the agent's protocol wants, as a driver would.
    fn serve(&mut self, id: usize) {
        loop {
            for other in 0..self.processes.len() {
                while let Some(frame) = self.peer(id).frame_for(other) {
                    let at = self.now + WIRE;
                    if self.is_linked(id, other) {
                        self.wire.push_back(OnItsWay { at, from: id, to: other, frame });
                    }
                }
            }
            let notes = self.peer(id).notes();
            self.processes[id].notes.extend(notes);
            let kept = self.peer(id).kept_messages();
            let process = &mut self.processes[id];
            process.most_kept = process.most_kept.max(kept);
            match self.peer(id).want() {
                Want::Save => {
                    let agent = self.peer(id).agent_mut();
                    let tensors = agent.tensors().iter().map(|t| t.values.to_vec()).collect();
                    let state = (agent.round(), tensors);
                    self.peer(id).saved();
                    self.processes[id].saved.push(state);
                }
                Want::RollBack { at_most } => {
                    let mut fresh = self.fresh_agent(id);
                    let saved = self.processes[id].saved.iter().rev().find(|s| s.0 <= at_most);
                    if let Some((round, tensors)) = saved {
                        restore(&mut fresh, *round, tensors);
                    }
                    let tensors: Vec<Vec<f32>> =
                        fresh.tensors().iter().map(|t| t.values.to_vec()).collect();
                    restore(self.peer(id).agent_mut(), fresh.round(), &tensors);
                    self.processes[id].ready_at = None;
                    self.peer(id).rolled_back();
                }
                Want::Gradient => {
                    let process = &mut self.processes[id];
                    process.ready_at = process.ready_at.or(Some(self.now + process.work));
                    return;
                }
                _ => return,
            }
        }
    }

    fn fresh_agent(&self, id: usize) -> Agent {
        let agents = self.processes.len();
        let row = Row::new(id, (0..agents).map(|other| (other, 1.0 / agents as f64)));
        let method: Method = self.method.parse().unwrap();
        let rows = vec![row];
        let algorithm = method.build_staged(&[0.0; LEN], &Site::new(agents, &rows)).unwrap();
        Agent::staged(id, rows, 1, algorithm)
    }
}

fn restore(agent: &mut Agent, round: u64, tensors: &[Vec<f32>]) {
    for (tensor, saved) in agent.tensors().into_iter().zip(tensors) {
        tensor.values.copy_from_slice(saved);
    }
    agent.restore_round(round);
}
