//! The driver gives the simulator's bits over links that are channels between threads.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use consort_node::{AgentEnding, AgentFolder, AgentWork, DriveSettings, run_agent};
use consort_protocol::{Frame, Policy};
use consort_transport::{Event, LinkStatistics, OUTGOING, Transport};
use support::{Quiet, data_dir, plan, simulated_files, small_run, text};

/// The network between the agents: frames that have not been taken.
#[derive(Default)]
struct Wires {
    queues: Mutex<HashMap<usize, VecDeque<Event>>>,
    news: Condvar,
}

/// One agent's end.
struct Memory {
    own: usize,
    wires: Arc<Wires>,
}

impl Memory {
    fn new(own: usize, neighbours: &[usize], wires: &Arc<Wires>) -> Self {
        let mut queues = wires.queues.lock().unwrap();
        let queue = queues.entry(own).or_default();
        neighbours.iter().for_each(|&peer| queue.push_front(Event::Up { peer }));
        Memory { own, wires: wires.clone() }
    }
}

impl Transport for Memory {
    fn has_room(&self, peer: usize) -> bool {
        let queues = self.wires.queues.lock().unwrap();
        let from_us =
            |event: &&Event| matches!(event, Event::Frame { peer, .. } if *peer == self.own);
        queues.get(&peer).is_none_or(|queue| queue.iter().filter(from_us).count() < OUTGOING)
    }

    fn send(&mut self, peer: usize, frame: Frame) -> bool {
        let mut queues = self.wires.queues.lock().unwrap();
        let event = Event::Frame { peer: self.own, frame, transfer: Duration::ZERO };
        queues.entry(peer).or_default().push_back(event);
        self.wires.news.notify_all();
        true
    }

    fn wait(&mut self, timeout: Duration) -> Option<Event> {
        let queues = self.wires.queues.lock().unwrap();
        let empty = |queues: &mut HashMap<usize, VecDeque<Event>>| {
            queues.get(&self.own).is_none_or(VecDeque::is_empty)
        };
        let (mut queues, _) = self.wires.news.wait_timeout_while(queues, timeout, empty).unwrap();
        self.wires.news.notify_all(); // there is room again
        queues.get_mut(&self.own)?.pop_front()
    }

    fn disconnect(&mut self, _peer: usize, _reason: &str) {}

    fn statistics(&self, _peer: usize) -> LinkStatistics {
        LinkStatistics::default()
    }

    fn close(&mut self, _timeout: Duration) {}
}

/// Runs all agents in threads until round `stop_after`; returns their final model files.
fn run_all(
    text: &str,
    agents: usize,
    folder: &std::path::Path,
    policy: Policy,
    stop_after: u64,
) -> Vec<Option<Vec<u8>>> {
    let wires = Arc::new(Wires::default());
    std::thread::scope(|scope| {
        let one = |id: usize| {
            let (wires, folder) = (wires.clone(), folder.join(format!("agent-{id}")));
            scope.spawn(move || {
                let mut work = AgentWork::new(&plan(text), id, &data_dir(), 1).unwrap();
                let folder = AgentFolder::open(&folder, work.run_id(), id, 20).unwrap();
                let mut transport = Memory::new(id, &work.neighbours(), &wires);
                let settings = DriveSettings {
                    policy,
                    save_every: 4,
                    save_every_seconds: 0.0,
                    alone_at_most: Duration::from_secs(600),
                    keep_evaluated: false,
                    accepted: None,
                };
                let mut quiet = Quiet::new(stop_after);
                let ending = run_agent(&mut work, &folder, &mut transport, &settings, &mut quiet);
                match ending.unwrap_or_else(|error| panic!("agent {id}: {error} {:?}", quiet.notes))
                {
                    AgentEnding::Done(_) => Some(std::fs::read(folder.model()).unwrap()),
                    AgentEnding::Stopped { .. } => None,
                }
            })
        };
        let all: Vec<_> = (0..agents).map(one).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn driven_agents_end_with_the_bits_of_the_simulator() {
    for (method, graph, agents) in [
        ("gut", "ring:8", 8),
        ("qg-gutm", "ring:8", 8),
        ("dsgd", "exponential:8", 8),
        ("dsgd", "one-peer-exponential:8", 8),
    ] {
        let text = text("", &small_run(method).replace("ring:8", graph), agents);
        let expected = simulated_files(&text, agents);
        let temp = tempfile::tempdir().unwrap();
        let got = run_all(&text, agents, temp.path(), Policy::Wait, u64::MAX);
        for (id, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(got.as_ref() == Some(expected), "{method} on {graph}: agent {id}");
        }
    }
}

#[test]
fn stopped_agents_go_on_to_the_same_bits() {
    // The step size falls after eight rounds, and the averaging rate with it.
    let slower = format!("{}\nschedule.mix.shape = 'step-size'\nsam = 0.05", small_run("gut"));
    for run in [small_run("gut"), slower] {
        let text = text("", &run, 8);
        let expected = simulated_files(&text, 8);
        let temp = tempfile::tempdir().unwrap();
        for stop_after in [3, 8, 9] {
            let ended = run_all(&text, 8, temp.path(), Policy::Wait, stop_after);
            assert!(ended.iter().all(Option::is_none));
        }
        let got = run_all(&text, 8, temp.path(), Policy::Wait, u64::MAX);
        for (id, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(got.as_ref() == Some(expected), "agent {id}: {run}");
        }
    }
}

#[test]
fn without_faults_continuing_gives_the_same_bits_too() {
    let text = text("policy = \"continue\"", &small_run("gut"), 8);
    let temp = tempfile::tempdir().unwrap();
    let got = run_all(&text, 8, temp.path(), Policy::Continue, u64::MAX);
    for (id, (got, expected)) in got.iter().zip(&simulated_files(&text, 8)).enumerate() {
        assert!(got.as_ref() == Some(expected), "agent {id}");
    }
}
