//! Rounds over the MPI transport against a bare exchange of immediate sends and receives into
//! preallocated memory. Every rank sends 1 MB to each neighbour and waits for theirs.
//!
//! `cargo bench -p consort-transport --features mpi --bench mpi`: starts itself under `mpirun`,
//! alternating between the two, and prints the best run of each.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use consort_protocol::{Body, Frame, Kind, Limits};
use consort_transport::{Event, MpiJob, MpiSettings, Transport};
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

const FLOATS: usize = 250_000;
const ROUNDS: u64 = 300;
const REPEATS: usize = 5;
const WAY: &str = "CONSORT_BENCH_MPI";

fn main() {
    match std::env::var(WAY).as_deref() {
        Ok("bare") => bare(),
        Ok(_) => links(),
        Err(_) => compare(),
    }
}

fn compare() {
    println!(
        "1 MB to every neighbour and back, milliseconds per round (MB/s per link and direction)"
    );
    for (ranks, name) in [(2, "2 ranks"), (8, "ring of 8")] {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..REPEATS {
            for (way, best) in ["bare", "links"].into_iter().zip(&mut best) {
                *best = best.min(milliseconds(way, ranks));
            }
        }
        let [bare, ours] = best.map(|ms| format!("{ms:.3} ms ({:.0} MB/s)", 1e3 / ms));
        println!("{name:10} bare {bare}, transport {ours}, ratio {:.2}", best[1] / best[0]);
    }
}

fn milliseconds(way: &str, ranks: usize) -> f64 {
    let output = Command::new("mpirun")
        .args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()])
        .arg(std::env::current_exe().unwrap())
        .env(WAY, way)
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    out.trim().parse().unwrap_or_else(|_| {
        panic!("expected a time, got {out:?}\n{}", String::from_utf8_lossy(&output.stderr))
    })
}

fn neighbours(rank: usize, ranks: usize) -> Vec<usize> {
    let mut neighbours = vec![(rank + 1) % ranks, (rank + ranks - 1) % ranks];
    neighbours.dedup();
    neighbours
}

/// Runs the rounds; rank 0 prints the median.
fn measure(rank: usize, mut round: impl FnMut(u64)) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|number| {
            let begun = Instant::now();
            round(number);
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    if rank == 0 {
        println!("{}", times[times.len() / 2].as_secs_f64() * 1e3);
    }
}

fn bare() {
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let neighbours = neighbours(rank, ranks);
    let out = vec![1.0f32; FLOATS];
    let mut into = vec![vec![0.0f32; FLOATS]; neighbours.len()];
    world.barrier();
    measure(rank, |_| {
        mpi::request::scope(|scope| {
            let peers = || neighbours.iter().map(|&peer| world.process_at_rank(peer as i32));
            let receives: Vec<_> = peers()
                .zip(&mut into)
                .map(|(peer, into)| peer.immediate_receive_into(scope, &mut into[..]))
                .collect();
            let sends: Vec<_> = peers().map(|peer| peer.immediate_send(scope, &out[..])).collect();
            receives.into_iter().chain(sends).for_each(|request| request.wait_without_status());
        });
    });
}

fn links() {
    let job = MpiJob::join().unwrap();
    let neighbours = neighbours(job.rank(), job.agents());
    let floats = FLOATS as u32;
    let limits = Limits::one_exchange(1, job.agents() as u32, floats, floats);
    let settings = MpiSettings { neighbours: neighbours.clone(), limits, largest: 1e30 };
    let mut links = job.connect(settings).unwrap();
    let body: Arc<[f32]> = vec![1.0; FLOATS].into();
    let mut ahead = 0; // frames of the next round: a neighbour is one round ahead at most
    measure(job.rank(), |round| {
        for &peer in &neighbours {
            let body = Body::Floats(body.clone());
            assert!(
                links
                    .send(peer, Frame::new(Kind::Update, job.rank() as u32, round, round, 0, body))
            );
        }
        let mut come = std::mem::take(&mut ahead);
        while come < neighbours.len() {
            match links.wait(Duration::from_secs(60)).unwrap() {
                Event::Frame { frame, .. } if frame.header.round == round => come += 1,
                Event::Frame { .. } => ahead += 1,
                _ => {}
            }
        }
    });
    links.close(Duration::from_secs(60));
    job.leave().unwrap();
}
