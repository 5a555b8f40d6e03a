//! The overhead of a transport over the bare connection, in one run:
//! `cargo bench -p consort-transport --bench links`.
//!
//! Every contestant is measured between processes of its own, which this program starts from
//! itself. In a round each agent sends 1 MB to each neighbour and receives as much. A pair is
//! two agents; in a star, the middle agent has two neighbours. The bare contestants only do
//! `write_all` and `read_exact` into the same memory, round after round. Repetitions are
//! interleaved and the best one counts, since other load on the machine only adds time.
#![allow(clippy::unwrap_used, reason = "a measurement may panic")]

mod bare;
mod ours;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use consort_transport::SecretKey;

/// Floats of a message: 1 MB.
const FLOATS: usize = 250_000;
const BYTES: usize = 4 * FLOATS;
const WARM_UP: usize = 20;
const ROUNDS: usize = 200;
const REPETITIONS: usize = 5;

const CONTESTANTS: [&str; 4] = ["tls bare", "tls ours", "iroh bare", "iroh ours"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, agent, contestant, own, agents] = &arguments[..]
        && agent == "agent"
    {
        return be_agent(contestant, own.parse().unwrap(), agents.parse().unwrap());
    }
    println!("{ROUNDS} rounds of 1 MB each way per link, best of {REPETITIONS}\n");
    println!("shape  contestant    ms/round   MB/s per link and direction   CPU s/GB");
    for (shape, agents) in [("pair", 2), ("star", 3)] {
        let mut best = [Measured { seconds: f64::INFINITY, processor: f64::INFINITY }; 4];
        for _ in 0..REPETITIONS {
            for (best, contestant) in best.iter_mut().zip(CONTESTANTS) {
                let measured = measure(contestant, agents);
                best.seconds = best.seconds.min(measured.seconds);
                best.processor = best.processor.min(measured.processor);
            }
        }
        let moved = (2 * (agents - 1) * BYTES) as f64 / 1e9;
        for (best, contestant) in best.iter().zip(CONTESTANTS) {
            println!(
                "{shape:6} {contestant:10} {:11.2} {:29.0} {:10.2}",
                1e3 * best.seconds,
                BYTES as f64 / 1e6 / best.seconds,
                best.processor / moved,
            );
        }
        for at in [0, 2] {
            let share = 100.0 * best[at].seconds / best[at + 1].seconds;
            println!("{shape:6} {} reaches {share:.0} % of the bare one\n", CONTESTANTS[at + 1]);
        }
    }
}

/// Seconds per round: wall-clock time, and processor time of all processes.
#[derive(Clone, Copy)]
struct Measured {
    seconds: f64,
    processor: f64,
}

/// Runs one contestant: agent 0 is the middle, and all others get its address.
fn measure(contestant: &str, agents: usize) -> Measured {
    let mut children: Vec<Child> = (0..agents).map(|own| spawn(contestant, own, agents)).collect();
    let mut outputs: Vec<_> =
        children.iter_mut().map(|child| BufReader::new(child.stdout.take().unwrap())).collect();
    let address = line(&mut outputs[0]);
    for child in &mut children[1..] {
        writeln!(child.stdin.as_mut().unwrap(), "{address}").unwrap();
    }
    let mut measured = Measured { seconds: 0.0, processor: 0.0 };
    for output in &mut outputs {
        let result = line(output);
        let (seconds, processor) = result.split_once(' ').unwrap();
        measured.seconds = measured.seconds.max(seconds.parse().unwrap());
        measured.processor += processor.parse::<f64>().unwrap();
    }
    for child in &mut children {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    measured
}

fn spawn(contestant: &str, own: usize, agents: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["agent", contestant, &own.to_string(), &agents.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "an agent of the benchmark has failed");
    line.trim().to_owned()
}

/// One agent's process. Agent 0 prints its address, the others read it. All print their figures
/// and close only when told to, so that nobody closes while another agent still measures.
fn be_agent(contestant: &str, own: usize, agents: usize) {
    match contestant {
        "tls bare" => bare::tls(own, agents),
        "tls ours" => ours::tls(own, agents),
        "iroh bare" => bare::iroh(own, agents),
        "iroh ours" => ours::iroh(own, agents),
        other => panic!("no contestant is called {other}"),
    }
}

/// The key of an agent, which the other processes know beforehand.
fn key(agent: usize) -> SecretKey {
    SecretKey::from_bytes([agent as u8 + 1; 32])
}

/// A stopwatch for wall-clock time and processor time.
struct Watch(Instant, f64);

impl Watch {
    #[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
    fn start() -> Self {
        Watch(Instant::now(), processor_seconds())
    }

    fn print(&self) {
        let rounds = ROUNDS as f64;
        let (seconds, processor) = (self.0.elapsed(), processor_seconds() - self.1);
        println!("{} {}", seconds.as_secs_f64() / rounds, processor / rounds);
    }
}

/// Processor time of this process's threads on Linux; elsewhere 0.
fn processor_seconds() -> f64 {
    let of_thread = |thread: std::fs::DirEntry| -> Option<f64> {
        let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        Some(times.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    };
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.filter_map(of_thread).sum()
}

/// The address of agent 0, as the other processes receive it.
fn address_of_zero() -> std::net::SocketAddr {
    line(&mut std::io::stdin().lock()).parse().unwrap()
}

const TIMEOUT: Duration = Duration::from_secs(60);
