//! Memory is bounded, whatever a neighbour sends or does not read.

use consort_protocol::{Body, Frame, Kind, Policy, Want};

use crate::small_world::{LEN, MS, World};

#[test]
fn under_wait_no_more_than_two_saves_and_two_messages_are_kept() {
    for every in [1, 2, 5, 13] {
        let mut world = World::new(3, Policy::Wait, 150).save_every(every);
        (0..3).for_each(|id| world.start(id));
        // First without faults, then with an agent that is killed in various rounds.
        for round in [40, 61, 67, 90] {
            world.until("that round", |world| world.round(1) >= round);
            world.kill(1);
            world.pass(MS(10_000));
            world.start(1);
        }
        world.until("all end", |world| (0..3).all(|id| world.is_done(id)));
        for process in &world.processes {
            let most = 2 * every as usize + 2;
            assert!(process.most_kept <= most, "{} kept, saved every {every}", process.most_kept);
        }
    }
}

/// How many frames wait for a neighbour that does not read.
fn unread(world: &mut World) -> usize {
    std::iter::from_fn(|| world.peer(0).frame_for(1)).count()
}

#[test]
fn questions_that_are_repeated_are_answered_once() {
    let mut world = World::started(2, Policy::Continue, 1_000);
    world.until("they are under way", |world| world.round(0) > 5);
    let (now, mut peer) = (world.now, world.processes[0].peer.take().unwrap());
    let mut hear = |serial: u64, kind, body| {
        peer.hear(now, 1, Frame::new(kind, 1, serial, 0, 0, body));
    };
    for number in 0..1_000 {
        hear((1 << 40) + 2 * number, Kind::Ask, Body::Nothing);
        hear((1 << 40) + 2 * number + 1, Kind::Hello, Body::Text("run.eta = 0.1\n".into()));
    }
    world.processes[0].peer = Some(peer);
    assert!(unread(&mut world) <= 4);
}

#[test]
fn a_greeting_with_another_plan_is_refused_once_for_all_that_were_not_read() {
    let mut world = World::started(2, Policy::Wait, 1_000);
    world.until("they are under way", |world| world.round(0) > 5);
    let (now, mut peer) = (world.now, world.processes[0].peer.take().unwrap());
    for number in 0..1_000 {
        let body = Body::Text("run.eta = 0.2\n".into());
        peer.hear(now, 1, Frame::new(Kind::Hello, 1, (1 << 40) + number, 0, 0, body));
    }
    world.processes[0].peer = Some(peer);
    assert!(unread(&mut world) <= 4);
}

#[test]
fn under_continue_one_that_sends_but_does_not_read_is_not_kept_messages_for() {
    let mut world = World::started(2, Policy::Continue, 1_000);
    world.until("they are under way", |world| world.round(0) > 5);
    let mut peer = world.processes[0].peer.take().unwrap();
    for step in 0..200 {
        let (now, round) = (world.now + MS(100 * step), peer.agent().round());
        if peer.want() == Want::Gradient {
            peer.gradient(now, &[0.0; LEN], 0.1).unwrap();
        }
        if peer.want() == Want::Save {
            peer.saved();
        }
        let body = Body::Floats([0.5; LEN].into());
        let update = Frame::new(Kind::Update, 1, (1 << 40) + step, round, 0, body);
        peer.hear(now, 1, update);
    }
    world.processes[0].peer = Some(peer);
    let count = unread(&mut world);
    assert!(count <= 20, "{count} frames wait");
}

#[test]
fn rounds_beyond_all_numbers_are_taken_calmly() {
    for policy in [Policy::Wait, Policy::Continue] {
        for kind in [Kind::Position, Kind::Step, Kind::Ask] {
            for (round, extra) in [(u64::MAX, 0), (0, u64::MAX), (u64::MAX, u64::MAX)] {
                let mut world = World::started(2, policy, 100);
                world.until("they are under way", |world| world.round(0) > 5);
                world.forge(1, 0, kind, [1 << 40, round, extra], Body::Nothing);
                let body = Body::Floats([0.5; LEN].into());
                world.forge(1, 0, Kind::Update, [1 << 41, round, extra], body);
                world.pass(MS(1_000));
            }
        }
    }
}
