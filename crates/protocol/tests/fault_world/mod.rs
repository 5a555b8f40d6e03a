//! A world of agents whose links, processes and clocks fail, as decided by a seed.
//!
//! Discrete events: a frame arrives, a gradient is ready, a process dies or starts, a link
//! breaks or heals. All randomness comes from one generator, so a seed is a whole history.

mod driver;
mod events;
mod graph;
mod measures;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Method, Row, Site};
use consort_protocol::{Peer, PeerSettings, Policy};
use events::{Event, Happening};
pub(crate) use graph::Shape;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const LEN: usize = 3;

/// What can go wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    pub(crate) policy: Policy,
    pub(crate) method: &'static str,
    pub(crate) graph: Shape,
    pub(crate) crashes: bool,
    /// Frames may be lost, duplicated and reordered although the link is up.
    pub(crate) lossy: bool,
    pub(crate) partitions: bool,
    pub(crate) slow: bool,
}

/// A saved state: round and tensors.
type Saved = (u64, Vec<Vec<f32>>);

pub(crate) struct Process {
    pub(crate) peer: Option<Peer>,
    saved: Vec<Saved>,
    /// Which start of the process this is; events of an earlier one no longer count.
    life: u64,
    working: bool,
    pub(crate) done: bool,
    slowness: u32,
    next_tick: Duration,
}

pub(crate) struct World {
    pub(crate) faults: Faults,
    pub(crate) n: usize,
    pub(crate) rounds: u64,
    /// Per agent and phase of the graph.
    rows: Vec<Vec<Row>>,
    x0: Vec<Vec<f32>>,
    targets: Vec<f32>,
    pub(crate) processes: Vec<Process>,
    /// Per pair: the number of the connection that is up, if any.
    links: BTreeMap<(usize, usize), Option<u64>>,
    connections: u64,
    heap: BinaryHeap<Reverse<Event>>,
    events: u64,
    pub(crate) now: Duration,
    rng: Xoshiro256PlusPlus,
    pub(crate) last_fault: Duration,
    pub(crate) error_at_last_fault: f64,
    pub(crate) trace: bool,
    /// The last round that each agent mixed, and in which life.
    last_mixed: Vec<Option<(u64, u64)>>,
    pub(crate) notes: BTreeMap<&'static str, u64>,
}

const MS: fn(u64) -> Duration = Duration::from_millis;

impl World {
    pub(crate) fn new(seed: u64, faults: Faults, rounds: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n = rng.random_range(2..=6);
        let rows = graph::rows(faults.graph, n, &mut rng);
        let x0: Vec<Vec<f32>> =
            (0..n).map(|_| (0..LEN).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let targets = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let links = graph::pairs(&rows).into_iter().map(|pair| (pair, None)).collect();
        let mut world = World {
            faults,
            n,
            rounds,
            rows,
            x0,
            targets,
            processes: Vec::new(),
            links,
            connections: 0,
            heap: BinaryHeap::new(),
            events: 0,
            now: Duration::ZERO,
            rng,
            last_fault: Duration::ZERO,
            error_at_last_fault: f64::INFINITY,
            trace: false,
            last_mixed: vec![None; n],
            notes: BTreeMap::new(),
        };
        for _ in 0..n {
            let slow = faults.slow && world.rng.random_bool(0.2);
            let slowness = if slow { 50 } else { 1 };
            world.processes.push(Process {
                peer: None,
                saved: Vec::new(),
                life: 0,
                working: false,
                done: false,
                slowness,
                next_tick: Duration::MAX,
            });
        }
        for agent in 0..n {
            let at = MS(world.rng.random_range(0..500));
            world.push(at, Happening::Starts(agent));
        }
        world.plan_faults();
        world
    }

    /// Tracking methods start from equal models; DSGD may start from any.
    fn starts_equal(&self) -> bool {
        self.faults.method != "dsgd" || self.faults.policy == Policy::Wait
    }

    fn first_model(&self, agent: usize) -> Vec<f32> {
        if self.starts_equal() { vec![0.0; LEN] } else { self.x0[agent].clone() }
    }

    fn fresh_agent(&self, id: usize) -> Agent {
        let method: Method = self.faults.method.parse().unwrap();
        let site = Site::new(self.n, &self.rows[id]);
        let algorithm = method.build_staged(&self.first_model(id), &site).unwrap();
        Agent::staged(id, self.rows[id].clone(), self.lookahead(), algorithm)
    }

    /// No sender is ahead by more than a period for every agent on the path to it.
    fn lookahead(&self) -> usize {
        let undirected = matches!(self.faults.graph, Shape::Undirected | Shape::Tree);
        if undirected { 1 } else { self.n * self.rows[0].len() }
    }

    fn settings(&self, id: usize) -> PeerSettings {
        let agent = self.fresh_agent(id);
        PeerSettings {
            exchanges: agent.exchanges().len() as u64,
            phases_per_round: agent.phases_per_round() as u64,
            policy: self.faults.policy,
            rounds: self.rounds,
            shared: Arc::from("plan = 1"),
            save_every: 7,
            listeners: graph::listeners(&self.rows, id),
            senders: graph::senders(&self.rows[id], id),
            lookahead: self.lookahead() as u64,
            alone_at_most: Duration::from_secs(100_000),
        }
    }

    fn push(&mut self, at: Duration, what: Happening) {
        self.events += 1;
        self.heap.push(Reverse(Event { at, number: self.events, what }));
    }

    /// Runs until all agents are done; an error if that takes too long.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        let limit = Duration::from_secs(6 * 3600);
        while let Some(Reverse(event)) = self.heap.pop() {
            self.now = event.at;
            if self.error_at_last_fault.is_infinite() && self.now >= self.last_fault {
                self.error_at_last_fault = self.error();
                self.processes.iter_mut().for_each(|process| process.slowness = 1);
            }
            if self.now > limit {
                return Err(format!("hangs: rounds {:?}, {}", self.round_numbers(), self.wants()));
            }
            self.happen(event.what)?;
            let over = (0..self.n).all(|id| self.processes[id].done || self.is_stranded(id));
            if over && self.now > self.last_fault {
                return Ok(());
            }
        }
        Err(format!("nothing happens: rounds {:?}, {}", self.round_numbers(), self.wants()))
    }

    /// True if an agent came back after all its neighbours had finished and left. It waits for
    /// them, says so, and ends after a while.
    pub(crate) fn is_stranded(&self, id: usize) -> bool {
        let mut pairs = self.links.keys().filter(|pair| pair.0 == id || pair.1 == id);
        self.faults.policy == Policy::Continue
            && !self.processes[id].done
            && pairs.all(|pair| self.processes[pair.0 + pair.1 - id].done)
    }

    fn happen(&mut self, what: Happening) -> Result<(), String> {
        match what {
            Happening::Arrives { from, to, link, frame } => {
                let pair = (from.min(to), from.max(to));
                if self.links[&pair] != Some(link) {
                    return Ok(());
                }
                let now = self.now;
                if self.trace {
                    eprintln!("{now:?} {from} -> {to}: {:?}", frame.header);
                }
                if let Some(peer) = &mut self.processes[to].peer {
                    peer.hear(now, from, frame);
                }
                self.serve(to)
            }
            Happening::GradientReady { agent, life } => {
                if self.processes[agent].life != life {
                    return Ok(());
                }
                self.processes[agent].working = false;
                let (now, target) = (self.now, self.targets[agent]);
                let pulls = self.faults.method != "dsgd" || self.faults.policy == Policy::Wait;
                if let Some(peer) = &mut self.processes[agent].peer {
                    let mut at = vec![0.0; LEN];
                    peer.agent().probe(&mut at);
                    let grad: Vec<f32> =
                        at.iter().map(|x| if pulls { x - target } else { 0.0 }).collect();
                    peer.gradient(now, &grad, 0.1).map_err(|error| error.to_string())?;
                }
                self.serve(agent)
            }
            Happening::Tick { agent, life } => {
                if self.processes[agent].life == life {
                    self.processes[agent].next_tick = Duration::MAX;
                    let now = self.now;
                    if let Some(peer) = &mut self.processes[agent].peer {
                        peer.tick(now);
                    }
                    self.serve(agent)?;
                }
                Ok(())
            }
            Happening::Dies(agent) => {
                if self.processes[agent].peer.take().is_some() {
                    let process = &mut self.processes[agent];
                    (process.life, process.working) = (process.life + 1, false);
                    for pair in self.pairs_of(agent) {
                        self.unlink(pair)?;
                    }
                }
                Ok(())
            }
            Happening::Starts(agent) => {
                if self.processes[agent].peer.is_some() {
                    return Ok(());
                }
                let mut fresh = self.fresh_agent(agent);
                if let Some(saved) = self.processes[agent].saved.last() {
                    restore(&mut fresh, saved);
                }
                let peer = Peer::new(fresh, self.settings(agent));
                let process = &mut self.processes[agent];
                (process.life, process.peer) = (process.life + 1, Some(peer));
                process.next_tick = Duration::MAX;
                for pair in self.pairs_of(agent) {
                    self.link(pair)?;
                }
                self.serve(agent)
            }
            Happening::Breaks(a, b) => self.unlink((a, b)),
            Happening::Heals(a, b) => self.link((a, b)),
            Happening::Leaves(agent) => {
                for pair in self.pairs_of(agent) {
                    self.unlink(pair)?;
                }
                Ok(())
            }
        }
    }

    fn pairs_of(&self, agent: usize) -> Vec<(usize, usize)> {
        self.links.keys().copied().filter(|&(a, b)| a == agent || b == agent).collect()
    }

    fn link(&mut self, pair: (usize, usize)) -> Result<(), String> {
        let here = |end: usize| self.processes[end].peer.is_some() && !self.processes[end].done;
        let both = [pair.0, pair.1].map(here);
        if both != [true, true] || self.links[&pair].is_some() {
            return Ok(());
        }
        self.connections += 1;
        self.links.insert(pair, Some(self.connections));
        let now = self.now;
        for (own, other) in [pair, (pair.1, pair.0)] {
            if let Some(peer) = &mut self.processes[own].peer {
                peer.link_up(now, other);
            }
            self.serve(own)?;
        }
        Ok(())
    }

    fn unlink(&mut self, pair: (usize, usize)) -> Result<(), String> {
        if self.links.insert(pair, None).flatten().is_none() {
            return Ok(());
        }
        let now = self.now;
        for (own, other) in [pair, (pair.1, pair.0)] {
            if let Some(peer) = &mut self.processes[own].peer {
                peer.link_down(now, other);
            }
            self.serve(own)?;
        }
        Ok(())
    }

    fn round_numbers(&self) -> Vec<Option<u64>> {
        let round = |process: &Process| process.peer.as_ref().map(|peer| peer.agent().round());
        self.processes.iter().map(round).collect()
    }

    fn wants(&self) -> String {
        let want = |process: &Process| match &process.peer {
            Some(peer) => format!("{:?} of {:?}", peer.want(), peer.awaited()),
            None => "dead".into(),
        };
        self.processes.iter().map(want).collect::<Vec<_>>().join("; ")
    }
}

fn restore(agent: &mut Agent, (round, tensors): &Saved) {
    for (tensor, saved) in agent.tensors().into_iter().zip(tensors) {
        tensor.values.copy_from_slice(saved);
    }
    agent.restore_round(*round);
}
