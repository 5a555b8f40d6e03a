//! One agent whose gradients come from its caller: a training loop in another language.
//!
//! [`run_agent`](crate::run_agent) owns the loop and asks its work for gradients. Here the caller
//! owns the loop:
//!
//! ```text
//!   connect ─► probe ─► caller's gradient ─► step ─┐        step = give the gradient, send,
//!                ▲                                 │               receive, mix, until the next
//!                └─────────────────────────────────┘               gradient is wanted
//! ```
//!
//! Waiting is interruptible: the watcher is asked a few times a second, and a step that was
//! interrupted goes on with the next call. The bits are those of a simulation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use consort_algo::{Agent, GradientError, ProtocolError, Site};
use consort_protocol::{Limits, Note, Peer, Policy, Want};
use consort_train::{CheckpointFiles, PlannedMethod, SinceEvaluation, TrainError};
use consort_transport::{Event, LinkStatistics, Transport};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::neighbourhood::Neighbourhood;

/// Longest sleep while waiting: how fast a wish to interrupt is heard.
const NAP: Duration = Duration::from_millis(50);
/// How long a neighbour that has left may stay away before a round that needs it fails.
const MAY_RETURN: Duration = Duration::from_secs(5);
/// How long frames may take to leave at the end.
const FAREWELL: Duration = Duration::from_secs(5);
/// A run without a given end: far more rounds than any run has.
const ENDLESS: u64 = 1 << 40;
/// Checkpoints that stay: for a neighbour, an agent may have to go back beyond its own last one.
const KEPT: usize = 3;

/// What all agents of a session have in common.
#[derive(Clone)]
pub struct SessionPlan {
    /// The method, with its graph and weights.
    pub method: PlannedMethod,
    /// The lengths of the model's tensors, in their order.
    pub tensors: Vec<usize>,
    /// What happens while a neighbour is away.
    pub policy: Policy,
    /// How many rounds there are; without a number, each agent ends when its caller does.
    pub rounds: Option<u64>,
    /// Rounds between two saved states.
    pub save_every: u64,
    /// More that must be equal on all agents, one `key = value` per line.
    pub more: String,
}

impl SessionPlan {
    /// How many parameters the model has.
    pub fn parameters(&self) -> usize {
        self.tensors.iter().sum()
    }

    /// The text that must be equal on all agents.
    pub fn shared_text(&self) -> String {
        let mut weights = Sha256::new();
        for phase in &self.method.weights {
            for agent in 0..phase.agents() {
                for (from, weight) in phase.row(agent) {
                    weights.update((from as u64).to_le_bytes());
                    weights.update(weight.to_le_bytes());
                }
            }
        }
        let weights: String =
            weights.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let rounds = self.rounds.map_or("open".to_owned(), |rounds| rounds.to_string());
        format!(
            "method = {}\ngraph = {}\nweights = {weights}\ntensors = {:?}\npolicy = {}\n\
             rounds = {rounds}\nsave-every = {}\n{}",
            self.method.method,
            self.method.topology.name(),
            self.tensors,
            self.policy,
            self.save_every,
            self.more
        )
    }

    /// The number of the run, which every frame carries.
    pub fn run_id(&self) -> u64 {
        crate::run_id(&self.shared_text())
    }

    /// The neighbours of agent `id`, ascending.
    pub fn neighbours(&self, id: usize) -> Vec<usize> {
        Neighbourhood::new(&self.method.weights, id).neighbours()
    }

    /// Agent `id` at round 0, with the model `x0`.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn agent(&self, id: usize, x0: &[f32]) -> Result<Agent, TrainError> {
        let place = Neighbourhood::new(&self.method.weights, id);
        let site = Site::new(place.agents(), place.rows()).with_tensors(&self.tensors);
        let algorithm = self.method.method.build_staged(x0, &site)?;
        Ok(Agent::staged(id, place.rows().to_vec(), place.lookahead(), algorithm))
    }

    /// The limits of the frames that `agent` may receive; none if its messages are too long.
    pub fn limits(&self, agent: &Agent) -> Option<Limits> {
        let agents = self.method.topology.agents() as u32;
        Limits::new(self.run_id(), agents, agent.exchanges(), self.parameters() as u32)
    }
}

/// Looks on while a session waits. It alone has a clock.
pub trait SessionWatcher {
    /// The time since the session began.
    fn now(&self) -> Duration;
    /// True if the caller wants to get out of a wait.
    fn interrupted(&mut self) -> bool;
    /// The protocol has something to say.
    fn noted(&mut self, note: &Note);
    /// Nothing happens: these neighbours are waited for.
    fn waiting(&mut self, round: u64, awaited: &[usize]);
}

/// Why a session cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The caller wanted to get out; the next call goes on from here.
    #[error("interrupted in round {round}")]
    Interrupted {
        /// The round.
        round: u64,
    },
    /// All rounds are over.
    #[error("all {rounds} rounds are over: no more gradients are wanted")]
    Over {
        /// How many there were.
        rounds: u64,
    },
    /// A state that comes too late.
    #[error(
        "the session has begun and is in round {round}: load a state before the first step, into a \
         new optimizer, and on all agents"
    )]
    Begun {
        /// The round.
        round: u64,
    },
    /// A neighbour's training loop has ended, and this round needs it.
    #[error(
        "agent {agent} has left ({why}), and round {round} of this agent needs it. Give every \
         agent the same number of steps, or use policy = \"continue\""
    )]
    LeftAlone {
        /// The neighbour.
        agent: usize,
        /// What it said.
        why: String,
        /// The round here.
        round: u64,
    },
    /// A neighbour lost rounds, and nothing older is saved here.
    #[error(
        "a neighbour was restarted and needs round {at_most}, but this agent has saved nothing \
         that old. Give every agent a folder for its state"
    )]
    NothingSaved {
        /// The round that is needed.
        at_most: u64,
    },
    /// The protocol cannot go on.
    #[error("{why}")]
    CannotGoOn {
        /// What happened, and to whom.
        why: String,
    },
    /// A gradient that is not finite.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// The caller broke the rules of a round.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// Its files.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// An agent among its neighbours, driven by its caller.
pub struct Session {
    peer: Peer,
    transport: Box<dyn Transport>,
    states: Option<CheckpointFiles>,
    rounds: u64,
    /// The model at the start, to go back to.
    x0: Vec<f32>,
    plan: SessionPlan,
    /// Neighbours that have left: why and when.
    left: BTreeMap<usize, (String, Duration)>,
    /// Something was heard or said.
    begun: bool,
    closed: bool,
}

impl Session {
    /// Agent `agent` of `plan` over `transport`. With a folder, its states are saved there, and it
    /// goes on from the newest; `tell` hears of damaged ones.
    ///
    /// # Errors
    /// If the folder cannot be used.
    pub fn new(
        plan: SessionPlan,
        mut agent: Agent,
        transport: Box<dyn Transport>,
        folder: Option<&Path>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Self, SessionError> {
        let shared = plan.shared_text();
        let states = match folder {
            Some(folder) => {
                let identity = format!("session {:016x}, agent {}", plan.run_id(), agent.id());
                std::fs::create_dir_all(folder).map_err(|error| TrainError::Folder {
                    path: PathBuf::from(folder),
                    reason: error.to_string(),
                })?;
                Some(CheckpointFiles::new(folder, identity, KEPT))
            }
            None => None,
        };
        let x0 = agent.params().to_vec();
        if let Some(states) = &states {
            states.restore(&mut agent, u64::MAX, tell)?;
        }
        let rounds = plan.rounds.unwrap_or(ENDLESS);
        let place = Neighbourhood::new(&plan.method.weights, agent.id());
        let settings = place.settings(&agent, plan.policy, rounds, plan.save_every, &shared);
        let (peer, left) = (Peer::new(agent, settings), BTreeMap::new());
        Ok(Session { peer, transport, states, rounds, x0, plan, left, begun: false, closed: false })
    }

    /// The agent: its model, its round, the point of the next gradient.
    pub fn agent(&self) -> &Agent {
        self.peer.agent()
    }

    /// The agent's state, to save it or to restore it between two rounds.
    pub fn agent_mut(&mut self) -> &mut Agent {
        self.peer.agent_mut()
    }

    /// Puts the agent into the state that `write` writes, at the beginning of `round`. All agents
    /// must begin there.
    ///
    /// # Errors
    /// If the session has begun already.
    pub fn begin_at(
        &mut self,
        round: u64,
        write: impl FnOnce(&mut Agent),
    ) -> Result<(), SessionError> {
        if self.begun {
            return Err(SessionError::Begun { round: self.agent().round() });
        }
        write(self.peer.agent_mut());
        self.peer.agent_mut().restore_round(round);
        self.peer.begin_here();
        Ok(())
    }

    /// What the agents have in common.
    pub fn plan(&self) -> &SessionPlan {
        &self.plan
    }

    /// All neighbours, with the traffic on their links, and whether they are there.
    pub fn links(&self) -> Vec<(usize, LinkStatistics, bool)> {
        let present: Vec<usize> = self.peer.present().collect();
        let link = |id| (id, self.transport.statistics(id), present.contains(&id));
        self.peer.neighbours().map(link).collect()
    }

    /// The neighbours whose messages were used in the last round.
    pub fn used(&self) -> &[usize] {
        self.peer.mixed().map_or(&[], |(_, used)| used)
    }

    /// Waits until a gradient is wanted: at the start, until all neighbours are there.
    ///
    /// # Errors
    /// If the caller wants to get out, or the session cannot go on.
    pub fn until_gradient(&mut self, watcher: &mut dyn SessionWatcher) -> Result<(), SessionError> {
        if self.drive(watcher)? {
            return Ok(());
        }
        Err(SessionError::Over { rounds: self.rounds })
    }

    /// Gives the gradient at the probe and ends the round, or the local step.
    ///
    /// # Errors
    /// As [`until_gradient`](Self::until_gradient). After an interruption the gradient has been
    /// taken: the next step begins with the rest of this one.
    pub fn step(
        &mut self,
        grad: &[f32],
        eta: f32,
        watcher: &mut dyn SessionWatcher,
    ) -> Result<(), SessionError> {
        self.until_gradient(watcher)?;
        self.peer.gradient(watcher.now(), grad, eta)?;
        self.drive(watcher).map(drop)
    }

    /// Leaves: sends what is still to be sent, and tells the neighbours why. Twice is once.
    pub fn close(&mut self, why: &str, for_good: bool) {
        if self.closed {
            return;
        }
        self.closed = true;
        self.peer.leave(why, for_good);
        self.send_frames();
        self.transport.close(FAREWELL);
    }

    /// Until a gradient is wanted (true), or all rounds are over (false).
    fn drive(&mut self, watcher: &mut dyn SessionWatcher) -> Result<bool, SessionError> {
        self.begun = true;
        loop {
            self.send_frames();
            for id in self.peer.links_to_cut() {
                self.transport.disconnect(id, "what came was no frame of this run");
            }
            self.hear_notes(watcher);
            match self.peer.want() {
                Want::Gradient => match self.transport.wait(Duration::ZERO) {
                    Some(event) => self.happened(event, watcher),
                    None => return Ok(true),
                },
                Want::Done => return Ok(false),
                Want::Save => self.save()?,
                Want::RollBack { at_most } => self.roll_back(at_most)?,
                Want::Fail(why) => return Err(SessionError::CannotGoOn { why }),
                Want::Wait { until } => self.wait(until, watcher)?,
            }
        }
    }

    fn wait(
        &mut self,
        until: Duration,
        watcher: &mut dyn SessionWatcher,
    ) -> Result<(), SessionError> {
        let now = watcher.now();
        if now >= until {
            self.peer.tick(now);
        }
        if let Some(event) = self.transport.wait(until.saturating_sub(now).min(NAP)) {
            self.happened(event, watcher);
            return Ok(());
        }
        let round = self.agent().round();
        if watcher.interrupted() {
            return Err(SessionError::Interrupted { round });
        }
        let (now, awaited) = (watcher.now(), self.peer.awaited());
        let gone = |id: &&usize| self.left.get(*id).is_some_and(|left| now > left.1 + MAY_RETURN);
        if self.plan.policy == Policy::Wait
            && let Some(&agent) = awaited.iter().find(gone)
        {
            let why = self.left[&agent].0.clone();
            return Err(SessionError::LeftAlone { agent, why, round });
        }
        watcher.waiting(round, &awaited);
        self.peer.tick(now);
        Ok(())
    }

    fn send_frames(&mut self) {
        let neighbours: Vec<usize> = self.peer.neighbours().collect();
        for id in neighbours {
            while self.transport.has_room(id) {
                let Some(frame) = self.peer.frame_for(id) else { break };
                if !self.transport.send(id, frame) {
                    break;
                }
            }
        }
    }

    fn happened(&mut self, event: Event, watcher: &mut dyn SessionWatcher) {
        let now = watcher.now();
        match event {
            Event::Up { peer } => self.peer.link_up(now, peer),
            Event::Down { peer, .. } => self.peer.link_down(now, peer),
            Event::Frame { peer, frame, .. } => self.peer.hear(now, peer, frame),
            Event::Garbage { peer, error } => self.peer.garbage(now, peer, error.to_string()),
            Event::Room { .. } | Event::Stranger { .. } => {}
        }
    }

    fn hear_notes(&mut self, watcher: &mut dyn SessionWatcher) {
        for note in self.peer.notes() {
            match &note {
                Note::Left(id, why) => drop(self.left.insert(*id, (why.clone(), watcher.now()))),
                Note::Met(id) => drop(self.left.remove(id)),
                _ => {}
            }
            watcher.noted(&note);
        }
    }

    fn save(&mut self) -> Result<(), SessionError> {
        if let Some(states) = &self.states {
            states.save(self.peer.agent_mut(), SinceEvaluation::default(), 0.0)?;
        }
        self.peer.saved();
        Ok(())
    }

    /// A neighbour lost rounds that this agent does not keep any more: both do them again.
    fn roll_back(&mut self, at_most: u64) -> Result<(), SessionError> {
        let restored = match &self.states {
            Some(states) => states.restore(self.peer.agent_mut(), at_most, &mut |_| {})?,
            None => return Err(SessionError::NothingSaved { at_most }),
        };
        if restored.is_none() {
            let mut first = self.plan.agent(self.agent().id(), &self.x0)?;
            crate::drive::put_into(&mut first, self.peer.agent_mut());
        }
        self.peer.rolled_back();
        Ok(())
    }
}
