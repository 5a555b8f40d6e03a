//! Ten thousand histories of faults against the protocol, each from a seed.
//!
//! A history that fails prints its seed. To see it step by step:
//! `CONSORT_FAULT_SEED=123 cargo test -p consort-protocol --test faults one_history -- --nocapture`

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod fault_world;

use std::collections::BTreeMap;

use consort_protocol::Policy;
use fault_world::{Faults, Shape, World};

const HISTORIES: u64 = 10_000;
const ROUNDS: u64 = 120;

/// Every seed has its own combination of faults, policy, method and graph.
fn faults_of(seed: u64) -> Faults {
    let bit = |k: u32| seed >> k & 1 == 1;
    let (policy, method, graph) = match (seed % 3, seed / 3) {
        (0, k) => waiting(k),
        (_, k) => (
            Policy::Continue,
            ["dsgd", "gut:mu=0.5", "qg-dsgdm", "dsgd"][(k % 4) as usize],
            Shape::Undirected,
        ),
    };
    Faults {
        policy,
        method,
        graph,
        crashes: bit(4),
        lossy: bit(5),
        partitions: bit(6),
        slow: bit(7),
    }
}

/// Under `wait` the bits are the simulator's for every method and graph, even for graphs on which
/// the method would not converge.
fn waiting(k: u64) -> (Policy, &'static str, Shape) {
    const FIXED: [&str; 14] = [
        "dsgd",
        "gut:mu=0.5",
        "qg-dsgdm",
        "gut:mu=0.5,memory=copies",
        "gt",
        "d2",
        "qg-gutm",
        // Coded messages, several gradients, several exchanges, a message for each neighbour.
        "choco:gamma=0.5",
        "comp-cga:codec=random-k/0.5",
        "ngc",
        "ngc:alpha=0",
        "k-gt",
        "led",
        "gut:mu=0.5,steps=3,optimizer=adam",
    ];
    const ANY: [&str; 3] = ["dsgd", "dsgdm", "dsgd:steps=2"];
    const RELAY: [&str; 2] = ["relaysgd", "relaysgdm:missing=start"];
    let (shape, methods) = match k % 8 {
        0 => (Shape::Directed, &ANY[..]),
        1 => (Shape::Changing, &ANY[..]),
        2 => (Shape::Tree, &RELAY[..]),
        3 => (Shape::TwoTrees, &RELAY[..]),
        _ => (Shape::Undirected, &FIXED[..]),
    };
    (Policy::Wait, methods[(k / 8) as usize % methods.len()], shape)
}

fn history(seed: u64, trace: bool) -> Result<World, String> {
    let faults = faults_of(seed);
    let mut world = World::new(seed, faults, ROUNDS);
    world.trace = trace;
    let told = |what: String| {
        format!(
            "{what}\n  {faults:?}\n  replay: CONSORT_FAULT_SEED={seed} cargo test \
             -p consort-protocol --test faults one_history -- --nocapture"
        )
    };
    world.run().map_err(told)?;
    check(&world).map_err(told)?;
    Ok(world)
}

fn check(world: &World) -> Result<(), String> {
    if world.faults.policy == Policy::Wait {
        // Bit by bit the simulator's models, whatever happened.
        for (agent, expected) in world.reference().iter().enumerate() {
            let got = world.model(agent);
            if got != *expected {
                return Err(format!("agent {agent}: expected {expected:?}, got {got:?}"));
            }
        }
        return Ok(());
    }
    let (before, after) = (world.error_at_last_fault, world.error());
    if world.faults.method == "dsgd" {
        // The gradients are zero: only averaging is left.
        if after > 1e-3 && after > 0.5 * before {
            return Err(format!("the models do not agree: error {before} became {after}"));
        }
        // An agent that lost rounds for good, or came back too late, took over another's model.
        let stranded = (0..world.n).any(|id| world.is_stranded(id));
        if !stranded && !world.faults.crashes && !world.notes.contains_key("adopted") {
            for (sum, first) in world.sums().iter().zip(world.first_sums()) {
                if (sum - first).abs() > 1e-4 * world.n as f64 {
                    return Err(format!("the sum of all models was {first}, is {sum}"));
                }
            }
        }
    } else if after.is_nan() || after > 2.0 * world.reference_error() + 0.1 {
        return Err(format!("the models do not agree: error {before} became {after}"));
    }
    Ok(())
}

#[test]
fn ten_thousand_histories() {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let share = |first: u64| {
        let mut failures: Vec<(u64, String)> = Vec::new();
        let mut notes: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in (first..HISTORIES).step_by(threads as usize) {
            match history(seed, false) {
                Ok(world) => {
                    world.notes.iter().for_each(|(k, v)| *notes.entry(k).or_default() += v)
                }
                Err(what) => failures.push((seed, what)),
            }
        }
        (failures, notes)
    };
    let (mut failures, mut notes) = (Vec::new(), BTreeMap::new());
    std::thread::scope(|scope| {
        let shares: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        for (failed, noted) in shares.into_iter().map(|share| share.join().unwrap()) {
            failures.extend(failed);
            noted.iter().for_each(|(k, v)| *notes.entry(*k).or_insert(0) += v);
        }
    });
    failures.sort();
    println!("{notes:?}");
    for (seed, what) in failures.iter() {
        println!("{seed}: {}", what.lines().take(2).collect::<Vec<_>>().join(" "));
    }
    if let Some((seed, what)) = failures.first() {
        panic!("{} of {HISTORIES} histories fail, the first is {seed}: {what}", failures.len());
    }
    // The faults really happened.
    for needed in ["set aside", "joined", "skipped", "adopted", "rolled back", "late", "alone"] {
        assert!(notes.get(needed).is_some_and(|&count| count > 10), "{needed}: {notes:?}");
    }
}

#[test]
fn one_history() {
    let Ok(seed) = std::env::var("CONSORT_FAULT_SEED") else { return };
    let seed = seed.parse().unwrap();
    match history(seed, true) {
        Ok(world) => println!("seed {seed} holds: {:?}", world.notes),
        Err(what) => panic!("{what}"),
    }
}
