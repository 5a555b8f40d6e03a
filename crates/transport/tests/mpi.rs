//! Links between MPI ranks. Each test starts itself again under `mpirun`, once per rank.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use consort_protocol::{Body, Frame, FrameError, HEADER, Kind, Limits};
use consort_transport::{
    Event, INCOMING, MpiError, MpiJob, MpiSettings, MpiTransport, OUTGOING, Transport,
};

const AGENTS: usize = 4;
const FLOATS: u32 = 1000;
const LARGEST: f32 = 1e30;
/// Far more than any of these tests needs.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Set for the ranks: a folder they share.
const FOLDER: &str = "CONSORT_TEST_MPI_FOLDER";

#[test]
fn a_ring_carries_every_kind_of_frame_in_order_with_the_same_bits() {
    under_mpirun("a_ring_carries_every_kind_of_frame_in_order_with_the_same_bits", |job| {
        exchange_all_kinds(job, &ring(job));
    });
}

#[test]
fn a_complete_graph_does_too() {
    under_mpirun("a_complete_graph_does_too", |job| {
        let others: Vec<usize> = (0..AGENTS).filter(|&peer| peer != job.rank()).collect();
        exchange_all_kinds(job, &others);
    });
}

/// Every rank sends as much as it may before it reads anything.
#[test]
fn ten_megabytes_both_ways_at_once_get_through() {
    under_mpirun("ten_megabytes_both_ways_at_once_get_through", |job| {
        let floats = 2_500_000;
        let mut links = connect(job, &ring(job), floats);
        let body: Arc<[f32]> = (0..floats).map(|i| i as f32 + job.rank() as f32).collect();
        for round in 0..OUTGOING as u64 {
            for peer in ring(job) {
                let body = Body::Floats(body.clone());
                assert!(links.send(peer, frame(job, Kind::Update, round, body)));
            }
        }
        for _ in 0..OUTGOING * 2 {
            let (peer, frame) = next_frame(&mut links);
            let Body::Floats(got) = frame.body else { panic!("floats were sent") };
            let wrong = (0..floats as usize).find(|&i| got[i] != i as f32 + peer as f32);
            assert_eq!((got.len(), wrong), (floats as usize, None), "from {peer}");
        }
        links.close(TIMEOUT);
    });
}

/// The frames are so small that MPI would store any number of them unread.
#[test]
fn a_slow_reader_stops_its_neighbour_and_nobody_else() {
    under_mpirun("a_slow_reader_stops_its_neighbour_and_nobody_else", |job| {
        let mut links = connect(job, &ring(job), FLOATS);
        let position = |round| frame(job, Kind::Position, round, Body::Nothing);
        let stuck = PathBuf::from(std::env::var(FOLDER).unwrap()).join("stuck");
        let most = (INCOMING + OUTGOING) as u64; // wait at the receiver and here
        match job.rank() {
            0 => {
                for round in 0..most {
                    wait_for_room(&mut links, 1);
                    assert!(links.send(1, position(round)));
                }
                for round in 0..50 {
                    assert!(links.send(3, position(round)));
                    assert_eq!(next_frame(&mut links).1.header.round, round);
                    assert!(!links.has_room(1) && !links.send(1, position(most)));
                }
                assert_eq!(links.statistics(1).frames_sent, INCOMING as u64);
                std::fs::write(&stuck, "").unwrap();
                wait_for_room(&mut links, 1);
                assert!(links.send(1, position(most)));
            }
            1 => {
                wait_until(|| stuck.exists());
                for round in 0..=most {
                    assert_eq!(next_frame(&mut links).1.header.round, round);
                }
            }
            3 => {
                for round in 0..50 {
                    assert_eq!(next_frame(&mut links).1.header.round, round);
                    assert!(links.send(0, position(round)));
                }
            }
            _ => {}
        }
        links.close(TIMEOUT);
    });
}

#[test]
fn what_is_not_a_frame_of_the_run_ends_the_link_and_closing_is_clean() {
    under_mpirun("what_is_not_a_frame_of_the_run_ends_the_link_and_closing_is_clean", |job| {
        let mut links = connect(job, &ring(job), FLOATS);
        let bad: Arc<[f32]> = (0..FLOATS).map(|i| if i == 7 { f32::NAN } else { 1.0 }).collect();
        let short: Arc<[f32]> = [1.0; 3].into();
        match job.rank() {
            0 => {
                assert!(links.send(1, frame(job, Kind::Update, 0, Body::Floats(bad))));
                // Discarded there, and still no obstacle to closing.
                assert!(links.send(1, frame(job, Kind::Position, 1, Body::Nothing)));
                assert!(links.send(3, frame(job, Kind::Update, 0, Body::Floats(short))));
            }
            1 => {
                let error = garbage(&mut links, 0);
                assert!(matches!(error, FrameError::Value { at: 7, .. }), "{error}");
                assert!(!links.has_room(0));
                assert!(links.has_room(2));
                assert_eq!(links.statistics(0).frames_received, 0);
            }
            3 => {
                let error = garbage(&mut links, 0);
                assert!(matches!(error, FrameError::Length { got: 12, .. }), "{error}");
            }
            _ => {
                links.disconnect(1, "enough");
                assert!(!links.has_room(1));
            }
        }
        links.close(TIMEOUT);
        assert!(ring(job).into_iter().all(|peer| !links.has_room(peer)));
    });
}

#[test]
fn ranks_that_do_not_fit_are_told_and_may_try_again() {
    under_mpirun("ranks_that_do_not_fit_are_told_and_may_try_again", |job| {
        let (rank, next, before) =
            (job.rank(), (job.rank() + 1) % AGENTS, (job.rank() + AGENTS - 1) % AGENTS);
        let connect_to = |neighbours, agents| {
            let limits = Limits { agents, ..limits(FLOATS) };
            job.connect(MpiSettings { neighbours, limits, largest: LARGEST }).unwrap_err()
        };
        assert_eq!(connect_to(vec![next, before], 5), MpiError::Ranks { agents: 5, ranks: AGENTS });
        assert_eq!(
            connect_to(vec![9], AGENTS as u32),
            MpiError::Neighbour { agent: rank, neighbour: 9, agents: AGENTS }
        );
        let one_sided = connect_to(vec![next], AGENTS as u32);
        let told = [
            MpiError::OneSided { one: rank, other: next },
            MpiError::OneSided { one: before, other: rank },
        ];
        assert!(told.contains(&one_sided), "{one_sided}");
        let alone = connect_to(if rank == 0 { vec![0] } else { vec![] }, AGENTS as u32);
        let itself = MpiError::Neighbour { agent: 0, neighbour: 0, agents: AGENTS };
        assert_eq!(alone, if rank == 0 { itself } else { MpiError::Elsewhere });
        assert_eq!(MpiJob::join().unwrap_err(), MpiError::Joined);
        for _ in 0..3 {
            exchange_all_kinds(job, &ring(job));
        }
    });
}

/// Processor time, which a busy machine hardly changes. Measured: 0.06 s; MPI's own waiting would
/// take both seconds completely.
#[test]
fn waiting_costs_almost_no_processor_time() {
    under_mpirun("waiting_costs_almost_no_processor_time", |job| {
        let mut links = connect(job, &ring(job), FLOATS);
        let before = processor_seconds();
        assert!(links.wait(Duration::from_secs(1)).is_none());
        if job.rank() == 0 {
            thread::sleep(Duration::from_secs(1)); // the others wait for this one to close
        }
        links.close(TIMEOUT);
        let used = processor_seconds() - before;
        assert!(used < 0.3, "{used} s of processor time in two seconds of waiting");
        println!("rank {}: {used:.2} s", job.rank());
    });
}

/// The others wait for it in `close`, and would wait for ever.
#[test]
fn a_rank_that_fails_ends_the_job() {
    let Some(job) = ranks_of("a_rank_that_fails_ends_the_job", |job| {
        let mut links = connect(job, &ring(job), FLOATS);
        if job.rank() == 2 {
            drop(links);
            panic!("this rank fails");
        }
        links.close(10 * TIMEOUT);
    }) else {
        return;
    };
    assert!(!job.succeeded);
    assert!(job.said.contains("this rank fails"), "{}", job.said);
    assert_eq!(job.passed, 0, "{}", job.said);
}

/// Every kind of frame to every neighbour, several times, in both directions at once.
fn exchange_all_kinds(job: &MpiJob, neighbours: &[usize]) {
    const TIMES: u64 = 5;
    let mut links = connect(job, neighbours, FLOATS);
    let of = |sender: usize| (0..TIMES).flat_map(move |round| every_kind(sender, round));
    let mut to_send: BTreeMap<usize, _> =
        neighbours.iter().map(|&peer| (peer, of(job.rank()).peekable())).collect();
    let mut to_come: BTreeMap<usize, _> =
        neighbours.iter().map(|&peer| (peer, of(peer).peekable())).collect();
    loop {
        for (&peer, frames) in &mut to_send {
            while links.has_room(peer)
                && let Some(frame) = frames.next()
            {
                assert!(links.send(peer, frame));
            }
        }
        let sent = to_send.values_mut().all(|frames| frames.peek().is_none());
        if sent && to_come.values_mut().all(|frames| frames.peek().is_none()) {
            break;
        }
        match links.wait(TIMEOUT).unwrap() {
            Event::Frame { peer, frame, .. } => {
                let expected = to_come.get_mut(&peer).unwrap().next().unwrap();
                assert_eq!(frame.header, expected.header);
                assert_eq!(frame.body.bytes(), expected.body.bytes(), "bit by bit");
            }
            Event::Room { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    links.close(TIMEOUT);
    let frames = of(job.rank()).count() as u64;
    let bytes = of(job.rank()).map(|frame| (HEADER + frame.body.bytes().len()) as u64).sum();
    for &peer in neighbours {
        let statistics = links.statistics(peer);
        assert_eq!((statistics.frames_sent, statistics.frames_received), (frames, frames));
        assert_eq!((statistics.bytes_sent, statistics.bytes_received), (bytes, bytes));
    }
}

fn every_kind(sender: usize, round: u64) -> Vec<Frame> {
    let floats = |count: u32| {
        // Any bits of magnitude below 2: signed zeros and subnormal numbers are among them.
        let bits = |i: u32| (i.wrapping_mul(0x9e37_79b9) ^ round as u32) & 0xbfff_ffff;
        let ends = [0.0, -0.0, f32::MIN_POSITIVE / 2.0, LARGEST, -LARGEST];
        Body::Floats(
            (0..count)
                .map(|i| ends.get(i as usize).copied().unwrap_or(f32::from_bits(bits(i))))
                .collect(),
        )
    };
    let text = |text: &str| Body::Text(text.into());
    let bodies = [
        (Kind::Hello, text("a plan")),
        (Kind::Welcome, Body::Nothing),
        (Kind::Refuse, text("a different plan: µ = 1")),
        (Kind::Update, floats(FLOATS)),
        (Kind::Model, floats(3 * FLOATS)),
        (Kind::Position, Body::Nothing),
        (Kind::Ask, Body::Nothing),
        (Kind::Answer, floats(3 * FLOATS)),
        (Kind::Leave, text("")),
    ];
    let frame =
        |(kind, body)| Frame::new(kind, sender as u32, round, round, u64::MAX - round, body);
    bodies.into_iter().map(frame).collect()
}

fn frame(job: &MpiJob, kind: Kind, round: u64, body: Body) -> Frame {
    Frame::new(kind, job.rank() as u32, round, round, 0, body)
}

fn limits(floats: u32) -> Limits {
    Limits::one_exchange(0xc0ffee, AGENTS as u32, floats, 3 * floats)
}

/// The neighbours of this rank on a ring.
fn ring(job: &MpiJob) -> Vec<usize> {
    vec![(job.rank() + 1) % AGENTS, (job.rank() + AGENTS - 1) % AGENTS]
}

/// Links that have all come up.
fn connect(job: &MpiJob, neighbours: &[usize], floats: u32) -> MpiTransport {
    assert_eq!(job.agents(), AGENTS);
    let neighbours = neighbours.to_vec();
    let settings = MpiSettings { neighbours, limits: limits(floats), largest: LARGEST };
    let mut peers = settings.neighbours.clone();
    let mut links = job.connect(settings).unwrap();
    while !peers.is_empty() {
        match links.wait(TIMEOUT).unwrap() {
            Event::Up { peer } => peers.retain(|&other| other != peer),
            other => panic!("{other:?}"),
        }
    }
    links
}

fn next_frame(links: &mut MpiTransport) -> (usize, Frame) {
    loop {
        match links.wait(TIMEOUT).unwrap() {
            Event::Frame { peer, frame, .. } => return (peer, frame),
            Event::Room { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

fn wait_for_room(links: &mut MpiTransport, peer: usize) {
    while !links.has_room(peer) {
        assert!(matches!(links.wait(TIMEOUT).unwrap(), Event::Room { .. }));
    }
}

fn garbage(links: &mut MpiTransport, from: usize) -> FrameError {
    match links.wait(TIMEOUT).unwrap() {
        Event::Garbage { peer, error } if peer == from => error,
        other => panic!("{other:?}"),
    }
}

fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..TIMEOUT.as_millis() {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("the condition never held");
}

/// User and system time of this process, all threads.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// Runs `rank` in every rank of a job that consists of this very test; all must pass.
fn under_mpirun(test: &str, rank: fn(&MpiJob)) {
    if let Some(job) = ranks_of(test, rank) {
        assert!(job.succeeded && job.passed == AGENTS, "{}", job.said);
    }
}

/// The outcome of a job.
struct Ended {
    succeeded: bool,
    /// How many ranks passed the test.
    passed: usize,
    said: String,
}

/// The outcome for the process that starts the job; `None` in a rank, and without `mpirun`.
fn ranks_of(test: &str, rank: fn(&MpiJob)) -> Option<Ended> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if std::env::var_os(FOLDER).is_some() {
        let job = MpiJob::join().unwrap();
        rank(&job);
        job.leave().unwrap();
        return None;
    }
    if Command::new("mpirun").arg("--version").output().is_err() {
        println!("skipped: there is no mpirun here (Debian: apt-get install openmpi-bin)");
        return None;
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("mpirun")
        .args(["--allow-run-as-root", "--oversubscribe", "-n", &AGENTS.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .env("MPIEXEC_TIMEOUT", "120")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    let passed = out.matches("1 passed").count();
    let said = format!("{}\n{out}\n{error}", output.status);
    Some(Ended { succeeded: output.status.success(), passed, said })
}
