//! What every transport guarantees, tested with each of them between agents on this machine.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(any(feature = "tls", feature = "iroh"))]

mod support;

use std::sync::Barrier;
use std::time::Duration;

use consort_protocol::{Body, Frame, FrameError, HEADER, Kind};
use consort_transport::{Event, INCOMING, OUTGOING, TransportSettings};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::*;

macro_rules! over_both {
    ($($law:ident),* $(,)?) => {
        #[cfg(feature = "tls")]
        mod tls {
            $(#[test] fn $law() { super::$law::<consort_transport::TlsTransport>() })*
        }
        #[cfg(feature = "iroh")]
        mod iroh {
            $(#[test] fn $law() { super::$law::<consort_transport::IrohTransport>() })*
        }
    };
}

over_both!(
    frames_arrive_whole_and_in_order,
    two_hundred_frames_each_way_at_once,
    a_stranger_is_refused_and_reported,
    a_neighbour_with_another_key_is_refused,
    a_frame_of_another_run_is_garbage,
    an_absurd_length_is_garbage,
    a_number_that_is_not_finite_is_garbage,
    neither_end_grows_if_the_other_does_not_read,
    a_restarted_neighbour_is_back,
    a_link_that_was_ended_is_established_again,
    crossing_dials_leave_one_link,
    what_was_sent_before_close_arrives,
    a_middle_agent_exchanges_with_two,
);

fn frames_arrive_whole_and_in_order<T: Link>() {
    let (mut zero, mut one) = pair::<T>();
    let floats = [0.0, -0.0, f32::MIN_POSITIVE, 1e-45, LARGEST, -LARGEST];
    let mut odd = vec![1.5; MESSAGE as usize];
    odd[..floats.len()].copy_from_slice(&floats);
    let frames = [
        position(0, u64::MAX),
        text(0, ""),
        text(0, "größer als ASCII"),
        text(0, &"x".repeat(256 << 10)),
        Frame::new(Kind::Update, 0, 1, 3, u64::MAX, Body::Floats(odd.into())),
        position(0, 1),
        update(0, 2),
    ];
    for frame in &frames {
        send(&mut zero, 1, frame.clone());
    }
    let mut bytes = 0;
    for frame in &frames {
        let came = until_frame(&mut one);
        assert_eq!(came.header, frame.header);
        assert_eq!(came.body.bytes(), frame.body.bytes(), "bit by bit");
        bytes += HEADER as u64 + u64::from(frame.header.length);
    }
    let (sent, received) = (zero.statistics(1), one.statistics(0));
    assert_eq!((received.bytes_received, received.frames_received), (bytes, 7));
    assert_eq!((received.connections, sent.connections), (1, 1));
    // The last frame counts as sent once the system has all of it, maybe after it has arrived.
    assert!(sent.frames_sent >= 6);
}

fn two_hundred_frames_each_way_at_once<T: Link>() {
    let (zero, one) = pair::<T>();
    let frames = |agent: usize| -> Vec<Frame> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(agent as u64);
        let mut frame = |round: u64| match random.next_u32() % 4 {
            0 => position(agent, round),
            1 => text(agent, &"y".repeat((random.next_u32() % 5000) as usize)),
            2 => Frame::new(
                Kind::Model,
                agent as u32,
                round,
                round,
                0,
                Body::Floats([1.0; 3].into()),
            ),
            _ => update(agent, round),
        };
        (0..200).map(&mut frame).collect()
    };
    let (from_zero, from_one) = (frames(0), frames(1));
    let exchange = |mut own: T, peer: usize, mine: &[Frame], theirs: &[Frame]| {
        let (mut sent, mut received) = (0, 0);
        loop {
            while sent < mine.len() && own.send(peer, mine[sent].clone()) {
                sent += 1;
            }
            if sent == mine.len() && received == theirs.len() {
                break;
            }
            match own.wait(TIMEOUT).expect("an event") {
                Event::Frame { frame, .. } => {
                    assert_eq!(frame, theirs[received]);
                    received += 1;
                }
                Event::Room { .. } => {}
                other => panic!("unexpected {other:?} after {sent} sent, {received} received"),
            }
        }
        own.close(TIMEOUT);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| exchange(zero, 1, &from_zero, &from_one));
        scope.spawn(|| exchange(one, 0, &from_one, &from_zero));
    });
}

fn a_stranger_is_refused_and_reported<T: Link>() {
    let mut honest = T::open(settings(0, vec![neighbour(1, &[])])).unwrap();
    let mut lie = settings(1, vec![neighbour(0, &[honest.at()])]);
    lie.secret = key(100);
    let mut stranger = T::open(lie).unwrap();

    let reason = until(&mut honest, |event| match event {
        Event::Stranger { reason, .. } => Some(reason.clone()),
        other => panic!("unexpected {other:?}"),
    });
    assert!(reason.contains(&key(100).public().unwrap().to_string()), "{reason}");
    // The stranger learns that it is refused, and has no link.
    let reason = until(&mut stranger, |event| match event {
        Event::Stranger { reason, .. } => Some(reason.clone()),
        other => panic!("unexpected {other:?}"),
    });
    assert!(reason.contains("refuses this agent's key"), "{reason}");
    assert!(!stranger.send(0, position(1, 0)) && !honest.has_room(1));
    assert_eq!(honest.statistics(1), Default::default());
}

fn a_neighbour_with_another_key_is_refused<T: Link>() {
    let mut imposter = T::open(settings(1, vec![neighbour(0, &[])])).unwrap();
    let mut pinned = neighbour(1, &[imposter.at()]);
    pinned.key = key(101).public().unwrap();
    let mut dialler = T::open(settings(0, vec![pinned])).unwrap();
    let who = until(&mut dialler, |event| match event {
        Event::Stranger { who, .. } => Some(who.clone()),
        other => panic!("unexpected {other:?}"),
    });
    assert!(who.contains("agent 1"), "{who}");
    assert!(!dialler.has_room(1) && !imposter.has_room(0));
    let up = std::iter::from_fn(|| imposter.wait(Duration::ZERO))
        .any(|event| matches!(event, Event::Up { .. }));
    assert!(!up);
}

/// The error of agent 0 when agent 1 sends `frame` with different settings.
fn garbage_of<T: Link>(change: impl FnOnce(&mut TransportSettings), frame: Frame) -> FrameError {
    let mut honest = T::open(settings(0, vec![neighbour(1, &[])])).unwrap();
    let mut other = settings(1, vec![neighbour(0, &[honest.at()])]);
    change(&mut other);
    let mut other = T::open(other).unwrap();
    until_up(&mut other);
    send(&mut other, 0, frame);
    let error = until(&mut honest, |event| match event {
        Event::Garbage { peer: 1, error } => Some(error.clone()),
        Event::Frame { .. } => panic!("garbage was taken for a frame"),
        _ => None,
    });
    assert_eq!(until_down(&mut honest), error.to_string());
    until_down(&mut other);
    assert_eq!(honest.statistics(1).frames_received, 0);
    error
}

fn a_frame_of_another_run_is_garbage<T: Link>() {
    let error = garbage_of::<T>(|settings| settings.limits.run = 8, position(1, 0));
    assert_eq!(error, FrameError::Run { expected: 7, got: 8 });
}

fn an_absurd_length_is_garbage<T: Link>() {
    let mut frame = position(1, 0);
    frame.header.kind = Kind::Update;
    frame.header.length = u32::MAX;
    let error = garbage_of::<T>(|_| {}, frame);
    assert!(matches!(error, FrameError::Length { got: u32::MAX, .. }), "{error}");
}

fn a_number_that_is_not_finite_is_garbage<T: Link>() {
    let mut floats = vec![0.0; MESSAGE as usize];
    floats[200_001] = f32::NAN;
    let error =
        garbage_of::<T>(|_| {}, Frame::new(Kind::Update, 1, 0, 0, 0, Body::Floats(floats.into())));
    assert!(matches!(error, FrameError::Value { at: 200_001, .. }), "{error}");
}

fn neither_end_grows_if_the_other_does_not_read<T: Link>() {
    // How many frames of 1 MB fit into the system's socket buffers, whose largest sizes on Linux
    // are 4 MB out and 6 MB in by default.
    const SYSTEM: u64 = 32;
    let (mut zero, mut one) = pair::<T>();
    let frame = update(0, 0);
    let mut taken = 0;
    // Ends when the link has had no room for a second. Agent 1 takes no frames.
    loop {
        while zero.send(1, frame.clone()) {
            taken += 1;
            assert!(taken <= (INCOMING + OUTGOING) as u64 + SYSTEM, "the sender grows");
        }
        assert!(!zero.has_room(1));
        match zero.wait(Duration::from_secs(1)) {
            Some(Event::Room { peer: 1 }) => {}
            None => break,
            Some(other) => panic!("unexpected {other:?}"),
        }
    }
    assert!(taken >= OUTGOING as u64);
    // All frames that agent 1 holds, since none has been taken yet.
    assert!(one.statistics(0).frames_received <= INCOMING as u64, "the receiver grows");
    // Once it reads, everything arrives, and the sender has room again.
    for _ in 0..taken {
        assert_eq!(until_frame(&mut one).header, frame.header);
    }
    until(&mut zero, |event| matches!(event, Event::Room { peer: 1 }).then_some(()));
    assert!(zero.has_room(1));
}

fn a_restarted_neighbour_is_back<T: Link>() {
    let address = free_address();
    let listening = || {
        let mut settings = settings(0, vec![neighbour(1, &[])]);
        settings.bind = address;
        settings
    };
    let mut zero = T::open(listening()).unwrap();
    for round in 0..3 {
        let mut one = T::open(settings(1, vec![neighbour(0, &[address])])).unwrap();
        until_up(&mut one);
        until_up(&mut zero);
        send(&mut one, 0, position(1, round));
        assert_eq!(until_frame(&mut zero), position(1, round));
        drop(one);
        until_down(&mut zero);
        assert!(!zero.has_room(1));
    }
    // The one that listens is restarted, at the same address.
    let mut one = T::open(settings(1, vec![neighbour(0, &[address])])).unwrap();
    until_up(&mut one);
    drop(zero);
    until_down(&mut one);
    let mut zero = T::open(listening()).unwrap();
    until_up(&mut one);
    until_up(&mut zero);
    send(&mut one, 0, position(1, 9));
    assert_eq!(until_frame(&mut zero), position(1, 9));
}

fn a_link_that_was_ended_is_established_again<T: Link>() {
    let (mut zero, mut one) = pair::<T>();
    // Ended by the decider, then by the follower; frames sent before still arrive.
    zero.send(1, text(0, "goodbye"));
    zero.disconnect(1, "the plans differ");
    assert_eq!(until_down(&mut zero), "the plans differ");
    assert_eq!(until_frame(&mut one), text(0, "goodbye"));
    until_down(&mut one);
    until_up(&mut zero);
    until_up(&mut one);
    one.disconnect(0, "again");
    until_down(&mut one);
    until_down(&mut zero);
    until_up(&mut zero);
    until_up(&mut one);
    send(&mut zero, 1, position(0, 1));
    assert_eq!(until_frame(&mut one), position(0, 1));
    assert_eq!(zero.statistics(1).connections, 3);
}

fn crossing_dials_leave_one_link<T: Link>() {
    for round in 0..100 {
        let (at_zero, at_one) = (free_address(), free_address());
        let start = Barrier::new(2);
        let begin = |own: usize, bind, peer: usize, address| {
            let mut settings = settings(own, vec![neighbour(peer, &[address])]);
            settings.bind = bind;
            start.wait();
            T::open(settings).unwrap()
        };
        let (mut zero, mut one) = std::thread::scope(|scope| {
            let zero = scope.spawn(|| begin(0, at_zero, 1, at_one));
            let one = begin(1, at_one, 0, at_zero);
            (zero.join().unwrap(), one)
        });
        until_up(&mut zero);
        until_up(&mut one);
        assert!(zero.send(1, position(0, round)) && one.send(0, position(1, round)));
        // There is no `Down`: `until_frame` would fail.
        assert_eq!(until_frame(&mut one), position(0, round));
        assert_eq!(until_frame(&mut zero), position(1, round));
        assert!(zero.wait(Duration::from_millis(5)).is_none());
        assert!(one.wait(Duration::from_millis(5)).is_none());
        assert_eq!((zero.statistics(1).connections, one.statistics(0).connections), (1, 1));
    }
}

fn what_was_sent_before_close_arrives<T: Link>() {
    let (mut zero, mut one) = pair::<T>();
    for round in 0..OUTGOING as u64 {
        assert!(zero.send(1, update(0, round)));
    }
    // The other end sends, too: unread bytes must not reset the connection.
    for round in 0..OUTGOING as u64 {
        assert!(one.send(0, update(1, round)));
    }
    let closing = std::thread::spawn(move || zero.close(TIMEOUT));
    for round in 0..OUTGOING as u64 {
        assert_eq!(until_frame(&mut one).header.round, round);
    }
    assert_eq!(until_down(&mut one), "closed by the neighbour");
    closing.join().unwrap();
}

fn a_middle_agent_exchanges_with_two<T: Link>() {
    const ROUNDS: usize = 100;
    let mut middle = T::open(settings(0, vec![neighbour(1, &[]), neighbour(2, &[])])).unwrap();
    let address = middle.at();
    // Each sends an update to all neighbours, then waits for as many. The first of them may arrive
    // before the last link is up.
    let rounds = |own: &mut T, agent: usize, peers: &[usize]| {
        let (mut up, mut came) = (0, 0);
        let next = |own: &mut T| match own.wait(TIMEOUT).expect("an event") {
            Event::Up { .. } => (1, 0),
            Event::Frame { .. } => (0, 1),
            other => panic!("agent {agent}: unexpected {other:?}"),
        };
        while up < peers.len() {
            let (ups, frames) = next(own);
            (up, came) = (up + ups, came + frames);
        }
        for round in 0..ROUNDS {
            for &peer in peers {
                assert!(own.send(peer, update(agent, round as u64)));
            }
            while came < (round + 1) * peers.len() {
                came += next(own).1;
            }
        }
    };
    let outer = |agent: usize| {
        let mut own = T::open(settings(agent, vec![neighbour(0, &[address])])).unwrap();
        rounds(&mut own, agent, &[0]);
        own
    };
    std::thread::scope(|scope| {
        let others = [scope.spawn(|| outer(1)), scope.spawn(|| outer(2))];
        rounds(&mut middle, 0, &[1, 2]);
        // Nobody closes before all have received everything.
        drop(others.map(|other| other.join().unwrap()));
    });
    assert_eq!(middle.statistics(1).connections, 1);
}
