//! Which neighbours an agent waits for, and how long.

use std::time::Duration;

use consort_protocol::{Note, Policy, Want};

use crate::small_world::{MS, World};

fn is_set_aside(world: &World) -> bool {
    world.was_told(0, |note| matches!(note, Note::SetAside(..)))
}

#[test]
fn a_neighbour_that_is_always_two_rounds_late_is_waited_for() {
    let mut world = World::new(2, Policy::Continue, 100);
    world.processes[1].work = MS(300); // agent 0 takes 100
    world.start(0);
    world.start(1);
    world.until("both end", |world| world.is_done(0) && world.is_done(1));
    assert!(!is_set_aside(&world), "{:?}", world.processes[0].notes);
}

#[test]
fn a_neighbour_that_is_two_rounds_late_once_is_waited_for() {
    let mut world = World::started(2, Policy::Continue, 100);
    world.processes.iter_mut().for_each(|process| process.work = MS(2_000));
    world.until("they know each other", |world| world.round(0) == 30);
    world.processes[1].work = MS(5_900);
    world.until("the slow round", |world| world.round(1) == 31);
    world.processes[1].work = MS(2_000);
    world.until("both end", |world| world.is_done(0) && world.is_done(1));
    assert!(!is_set_aside(&world), "{:?}", world.processes[0].notes);
}

/// As in the module `adaptive_timeout`: the mean lateness, plus half a second if four deviations
/// are less. (Measured from up to 2 ms after our own message was ready.)
#[test]
fn a_silent_neighbour_is_set_aside_after_the_learned_timeout_and_not_before() {
    for (late, least, most) in [(0, 497, 510), (1_000, 1_497, 1_600), (4_000, 4_497, 4_800)] {
        let mut world = World::new(2, Policy::Continue, 1_000);
        world.processes[1].work = MS(100 + late);
        world.start(0);
        world.start(1);
        world.until("they know each other", |world| world.round(0) == 60);
        world.silence(1); // though linked
        world.until("agent 0 waits", |world| world.is_waiting(0));
        let sent = world.now;
        let Want::Wait { until } = world.want(0) else { panic!("{:?}", world.want(0)) };
        let timeout = until - sent;
        assert!(timeout >= MS(least) && timeout <= MS(most), "{timeout:?} for {late} ms");
        world.pass(timeout - MS(1));
        assert!(!is_set_aside(&world), "before {timeout:?}");
        world.pass(MS(1));
        assert!(is_set_aside(&world), "after {timeout:?}");
    }
}

#[test]
fn under_wait_a_silent_neighbour_is_reported_and_never_set_aside() {
    let mut world = World::started(2, Policy::Wait, 1_000);
    world.until("they are under way", |world| world.round(0) == 20);
    world.silence(1);
    world.pass(Duration::from_secs(2_000));
    assert!(world.round(0) <= 22 && !is_set_aside(&world));
    assert!(world.was_told(0, |note| matches!(note, Note::Late(1, _))));
}
