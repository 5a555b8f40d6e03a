//! Every method over real TLS links between agents has the bits of the simulator: coded messages,
//! several gradients, several exchanges, and a message for each neighbour.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use consort_node::{AgentEnding, AgentFolder, AgentWork, DriveSettings, NetworkPlan, run_agent};
use consort_protocol::{Limits, Policy};
use consort_transport::{
    Discovery, Neighbour, NetworkProfile, SecretKey, TlsTransport, TransportSettings,
    free_addresses,
};
use support::{Quiet, data_dir, every_method, plan, simulated_files, small_run, text};

const AGENTS: usize = 4;

/// The plan of a short run of four agents.
fn text_of(method: &str, graph: &str) -> String {
    let run = small_run(method)
        .replace("ring:8", &graph.replace(":8", &format!(":{AGENTS}")))
        .replace("rounds = 20", "rounds = 7")
        .replace("mlp:16", "mlp:6");
    text("", &run, AGENTS)
}

/// One agent from the first link to the last round; its final model as a file.
fn run_one(plan: &NetworkPlan, id: usize, addresses: &[std::net::SocketAddr]) -> Vec<u8> {
    let mut work = AgentWork::new(plan, id, &data_dir(), 1).unwrap();
    let temp = tempfile::tempdir().unwrap();
    let folder = AgentFolder::open(temp.path(), work.run_id(), id, 20).unwrap();
    let agent = work.agent().unwrap();
    let parameters = work.parameters() as u32;
    let limits = Limits::new(work.run_id(), AGENTS as u32, agent.exchanges(), parameters).unwrap();
    let neighbour = |peer: usize| Neighbour {
        peer,
        key: plan.agents[peer].key,
        addresses: vec![addresses[peer]],
    };
    let mut transport = TlsTransport::start(TransportSettings {
        own: id,
        secret: SecretKey::from_bytes([id as u8 + 1; 32]),
        bind: addresses[id],
        neighbours: work.neighbours().into_iter().map(neighbour).collect(),
        limits,
        largest: plan.largest_update,
        profile: NetworkProfile::Lan,
        discovery: Discovery::default(),
    })
    .unwrap();
    let settings = DriveSettings {
        policy: Policy::Wait,
        save_every: 4,
        save_every_seconds: 0.0,
        alone_at_most: Duration::from_secs(600),
        keep_evaluated: false,
        accepted: None,
    };
    let mut quiet = Quiet::new(u64::MAX);
    match run_agent(&mut work, &folder, &mut transport, &settings, &mut quiet) {
        Ok(AgentEnding::Done(_)) => std::fs::read(folder.model()).unwrap(),
        Ok(AgentEnding::Stopped { .. }) => panic!("agent {id} stopped: {:?}", quiet.notes),
        Err(error) => panic!("agent {id}: {error} {:?}", quiet.notes),
    }
}

#[test]
fn every_method_has_the_simulators_bits_over_tls() {
    for (method, graph) in every_method() {
        let text = text_of(method, graph);
        let expected = simulated_files(&text, AGENTS);
        let (plan, addresses) = (plan(&text), free_addresses(AGENTS).unwrap());
        let got: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let one = |id| {
                let (plan, addresses) = (&plan, &addresses);
                scope.spawn(move || run_one(plan, id, addresses))
            };
            let all: Vec<_> = (0..AGENTS).map(one).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (id, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(got == expected, "{method} on {graph}: agent {id}");
        }
    }
}
