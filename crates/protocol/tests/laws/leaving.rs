//! What it means to leave: for good, or to return.

use consort_protocol::{Note, Policy};

use crate::small_world::{MS, World};

const WHY: &str = "the disk is full";

#[test]
fn under_wait_one_that_leaves_for_good_ends_the_others_with_its_reason() {
    let mut world = World::started(3, Policy::Wait, 100);
    world.until("they are under way", |world| world.round(0) > 10);
    world.leave(2, WHY, true);
    for id in [0, 1] {
        let words = format!("agent 2 left for good: {WHY}");
        assert_eq!(world.failure(id), Some(words));
        assert!(world.was_told(id, |n| *n == Note::Left(2, WHY.into())));
    }
}

#[test]
fn under_wait_one_that_leaves_to_return_is_waited_for() {
    let mut world = World::started(3, Policy::Wait, 100);
    world.until("they are under way", |world| world.round(0) > 10);
    world.leave(2, WHY, false);
    world.pass(MS(600_000));
    assert!([0, 1].iter().all(|&id| world.failure(id).is_none() && world.round(id) < 20));
    world.start(2);
    world.until("all end", |world| (0..3).all(|id| world.is_done(id)));
    assert_eq!(world.model(2), lockstep(100));
}

#[test]
fn under_wait_one_that_has_finished_stays_for_one_that_left_to_return() {
    let mut world = World::started(2, Policy::Wait, 12);
    world.processes[0].work = MS(20_000);
    // Agent 1 has sent its last message and is stopped; its disk has round 10.
    world.until("it is the last round", |world| world.round(1) == 11);
    world.pass(MS(500));
    world.leave(1, WHY, false);
    world.until("agent 0 has all it needs", |world| world.round(0) == 12);
    world.pass(MS(60_000));
    assert!(!world.is_done(0), "agent 1 needs its messages of rounds 10 and 11");
    world.start(1);
    world.until("both end", |world| world.is_done(0) && world.is_done(1));
}

#[test]
fn under_continue_the_others_go_on_without_one_that_leaves() {
    for for_good in [true, false] {
        let mut world = World::started(3, Policy::Continue, 60);
        world.until("they are under way", |world| world.round(0) > 10);
        let before = world.now;
        world.leave(2, WHY, for_good);
        world.until("the others end", |world| world.is_done(0) && world.is_done(1));
        // 50 rounds of a tenth of a second: nobody was waited for.
        assert!(world.now - before < MS(7_000), "{:?}", world.now - before);
        assert!(world.was_told(0, |n| *n == Note::Left(2, WHY.into())));
    }
}

#[test]
fn the_end_of_a_link_is_called_lost_only_if_it_is() {
    let lost = |world: &World, id: usize, other: usize| {
        world.was_told(id, |note| *note == Note::Lost(other))
    };
    for policy in [Policy::Wait, Policy::Continue] {
        let mut world = World::started(3, policy, 40);
        world.until("they are under way", |world| world.round(0) > 10);
        world.kill(2);
        assert!(lost(&world, 0, 2) && lost(&world, 1, 2), "{policy}: killed");
        world.start(2);
        world.until("it is back", |world| world.round(2) > 15);
        world.leave(1, WHY, false);
        assert!(!lost(&world, 0, 1) && !lost(&world, 2, 1), "{policy}: it said that it leaves");
        world.start(1);
        world.until("agent 0 is done", |world| world.is_done(0));
        world.pass(MS(2)); // its last frames arrive
        world.kill(0);
        for id in [1, 2] {
            assert!(!lost(&world, id, 0), "{policy}: agent 0 had finished");
            assert!(world.was_told(id, |note| *note == Note::Finished(0)), "{policy}");
        }
    }
}

/// The model of agent 2 when nothing happens.
fn lockstep(rounds: u64) -> Vec<f32> {
    let mut world = World::started(3, Policy::Wait, rounds);
    world.until("all end", |world| (0..3).all(|id| world.is_done(id)));
    world.model(2)
}
