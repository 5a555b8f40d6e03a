//! Agents whose gradients come from their callers, over real TLS links.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "the watcher has the clock")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use consort_algo::{Draw, Oracle};
use consort_node::{Session, SessionError, SessionPlan, SessionWatcher};
use consort_protocol::{Note, Policy};
use consort_sim::{Quadratics, World};
use consort_train::{Config, PlannedNetwork};
use consort_transport::{
    Discovery, Neighbour, NetworkProfile, SecretKey, TlsTransport, TransportSettings,
    free_addresses,
};

const AGENTS: usize = 4;
const DIM: usize = 12;
const ROUNDS: u64 = 30;

/// A watcher with a clock; it interrupts a wait after `interrupt_after`, if that is set.
struct Watch {
    started: Instant,
    interrupt_after: Option<Duration>,
    notes: Vec<Note>,
}

impl Watch {
    fn new() -> Self {
        Watch { started: Instant::now(), interrupt_after: None, notes: Vec::new() }
    }
}

impl SessionWatcher for Watch {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }
    fn interrupted(&mut self) -> bool {
        self.interrupt_after.is_some_and(|after| self.started.elapsed() > after)
    }
    fn noted(&mut self, note: &Note) {
        self.notes.push(note.clone());
    }
    fn waiting(&mut self, _round: u64, _awaited: &[usize]) {}
}

fn problem() -> Quadratics {
    Quadratics::spread_out(AGENTS, DIM, 1.0, 0.3, 2.0)
}

fn plan(method: &str, policy: Policy, rounds: Option<u64>) -> SessionPlan {
    let graph = if method.starts_with("relay") { "chain" } else { "ring" };
    let set = [format!("methods=[{method:?}]"), format!("graph={graph}:{AGENTS}")];
    let network = PlannedNetwork::new(&Config::from_toml("", &set).unwrap()).unwrap();
    SessionPlan {
        method: network.methods[0].clone(),
        tensors: vec![DIM],
        policy,
        rounds,
        save_every: 4,
        more: "seed = 1\n".into(),
    }
}

fn eta(round: u64) -> f32 {
    if round < ROUNDS / 2 { 0.1 } else { 0.05 }
}

fn secret(id: usize) -> SecretKey {
    SecretKey::from_bytes([id as u8 + 1; 32])
}

fn session(
    plan: &SessionPlan,
    id: usize,
    addresses: &[SocketAddr],
    folder: Option<&Path>,
) -> Session {
    let agent = plan.agent(id, &problem().start).unwrap();
    let neighbour = |peer: usize| Neighbour {
        peer,
        key: secret(peer).public().unwrap(),
        addresses: vec![addresses[peer]],
    };
    let transport = TlsTransport::start(TransportSettings {
        own: id,
        secret: secret(id),
        bind: addresses[id],
        neighbours: plan.neighbours(id).into_iter().map(neighbour).collect(),
        limits: plan.limits(&agent).unwrap(),
        largest: 1e6,
        profile: NetworkProfile::Lan,
        discovery: Discovery::default(),
    })
    .unwrap();
    Session::new(plan.clone(), agent, Box::new(transport), folder, &mut |text| panic!("{text}"))
        .unwrap()
}

/// A training loop from where the session stands up to `until`.
fn train(session: &mut Session, until: u64, watch: &mut Watch) -> Result<(), SessionError> {
    let oracle = problem().oracle(1);
    let (mut at, mut grad) = ([0.0; DIM], [0.0; DIM]);
    session.until_gradient(watch)?;
    while session.agent().round() < until {
        let agent = session.agent();
        let draw = Draw { agent: agent.id(), round: agent.round(), step: agent.draw_step() };
        agent.probe(&mut at);
        oracle.loss_and_grad(draw, &at, &mut grad).unwrap();
        session.step(&grad, eta(draw.round), watch)?;
    }
    Ok(())
}

/// The models of a simulation of the same plan.
fn simulated(plan: &SessionPlan) -> Vec<Vec<f32>> {
    let (problem, method) = (problem(), &plan.method);
    let oracle = Arc::new(problem.oracle(1));
    let (graph, weights) = (&method.topology, &method.weights);
    let mut world = World::new(graph, weights, &method.method, &problem.start, oracle, 1).unwrap();
    for round in 0..ROUNDS {
        world.round(eta(round)).unwrap();
    }
    (0..AGENTS).map(|id| world.params(id).to_vec()).collect()
}

/// Runs `one` for every agent on a thread of its own.
fn everywhere<T: Send>(one: impl Fn(usize, &[SocketAddr]) -> T + Sync) -> Vec<T> {
    let addresses = free_addresses(AGENTS).unwrap();
    std::thread::scope(|scope| {
        let spawn = |id| {
            let (one, addresses) = (&one, &addresses);
            scope.spawn(move || one(id, addresses))
        };
        let all: Vec<_> = (0..AGENTS).map(spawn).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// One message a round, a message for each neighbour, several gradients, several exchanges,
/// coded messages; with a known end and without one.
#[test]
fn gradients_from_the_caller_have_the_simulators_bits() {
    for method in ["qg-gutm", "relaysgd", "k-gt:steps=3", "ngc", "choco:codec=sign,gamma=0.4"] {
        for rounds in [Some(ROUNDS), None] {
            let plan = plan(method, Policy::Wait, rounds);
            let expected = simulated(&plan);
            let got = everywhere(|id, addresses| {
                let mut session = session(&plan, id, addresses, None);
                train(&mut session, ROUNDS, &mut Watch::new()).unwrap();
                let x = session.agent().params().to_vec();
                session.close("its training loop has ended", false);
                x
            });
            assert_eq!(got, expected, "{method}, {rounds:?}");
        }
    }
}

/// An agent that is killed, without a word, goes on from its folder. It saves every fourth round,
/// so it repeats two; its neighbours notice nothing but the delay.
#[test]
fn a_killed_agent_goes_on_from_its_folder_to_the_same_bits() {
    let plan = plan("gut", Policy::Wait, Some(ROUNDS));
    let expected = simulated(&plan);
    let folders: Vec<_> = (0..AGENTS).map(|_| tempfile::tempdir().unwrap()).collect();
    let got = everywhere(|id, addresses| {
        let folder = Some(folders[id].path());
        if id == 2 {
            let mut killed = session(&plan, id, addresses, folder);
            train(&mut killed, 14, &mut Watch::new()).unwrap();
            drop(killed);
        }
        let mut session = session(&plan, id, addresses, folder);
        if id == 2 {
            assert_eq!(session.agent().round(), 12);
        }
        train(&mut session, ROUNDS, &mut Watch::new()).unwrap();
        session.agent().params().to_vec()
    });
    assert_eq!(got, expected);
}

/// Neighbours 1 and 3 of agent 2 need it in the round after its last one; agent 0 does not hear it.
#[test]
fn a_neighbour_whose_loop_has_ended_is_named() {
    let plan = plan("dsgd", Policy::Wait, None);
    let errors = everywhere(|id, addresses| {
        let mut session = session(&plan, id, addresses, None);
        let until = if id == 2 { 5 } else { 6 };
        let ended = train(&mut session, until, &mut Watch::new());
        session.close("its training loop has ended", false);
        ended.err().map(|error| error.to_string())
    });
    for id in [1, 3] {
        let error = errors[id].as_ref().unwrap();
        assert!(error.contains("agent 2 has left"), "{error}");
        assert!(error.contains("same number of steps"), "{error}");
    }
    assert_eq!(errors[2], None);
}

#[test]
fn a_wait_can_be_interrupted_and_goes_on_later() {
    let plan = plan("gut", Policy::Wait, Some(ROUNDS));
    let expected = simulated(&plan);
    let got = everywhere(|id, addresses| {
        let mut watch = Watch::new();
        if id == 0 {
            // The neighbours come later than this agent is willing to wait.
            watch.interrupt_after = Some(Duration::from_millis(50));
        } else {
            std::thread::sleep(Duration::from_millis(400));
        }
        let mut session = session(&plan, id, addresses, None);
        if id == 0 {
            let error = session.until_gradient(&mut watch).unwrap_err();
            assert!(matches!(error, SessionError::Interrupted { round: 0 }), "{error}");
            watch.interrupt_after = None;
        }
        train(&mut session, ROUNDS, &mut watch).unwrap();
        session.agent().params().to_vec()
    });
    assert_eq!(got, expected);
}

#[test]
fn agents_with_different_plans_are_told_what_differs() {
    let errors = everywhere(|id, addresses| {
        let mut plan = plan("gut", Policy::Wait, Some(ROUNDS));
        if id == 1 {
            plan.more = "seed = 2\n".into();
        }
        let mut session = session(&plan, id, addresses, None);
        let mut watch = Watch::new();
        watch.interrupt_after = Some(Duration::from_secs(3));
        // Agent 3 hears agents 0 and 2 alone, and finds nothing wrong with them.
        let ended = session.until_gradient(&mut watch);
        session.close("its plan differs", true);
        ended.err().map(|error| error.to_string()).unwrap_or_default()
    });
    // Agent 1 leaves as soon as it has met one of them; the other may not have heard of it.
    let told = |error: &String| error.contains("agent 1") && error.contains("seed");
    assert!([&errors[0], &errors[2]].into_iter().any(told), "{errors:?}");
    assert!(errors[1].contains("seed: here 2, there 1"), "{errors:?}");
}
