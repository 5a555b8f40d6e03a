//! An agent that was killed comes back.

use consort_protocol::{Note, Policy};

use crate::small_world::{MS, World};

#[test]
fn under_continue_a_restarted_agent_joins_within_two_rounds_of_its_link() {
    for method in ["dsgd", "gut:mu=0.5", "qg-dsgdm"] {
        // It comes back at various moments of a round.
        for moment in 0..25 {
            let mut world = World::new(3, Policy::Continue, 1_000).with_method(method);
            (0..3).for_each(|id| world.start(id));
            world.until("they are under way", |world| world.round(0) > 20);
            world.kill(2);
            world.pass(MS(5_000 + 7 * moment));
            let there = |world: &World| [0, 1].map(|id| world.round(id));
            let before = there(&world);
            assert!(before[0] > 30, "the others continued");
            (0..3).for_each(|id| world.processes[id].notes.clear());
            world.start(2);
            world.until("it joins", |world| {
                let mut others = [0, 1].into_iter();
                others.all(|id| world.was_told(id, |note| matches!(note, Note::Joined(2, _))))
            });
            for (now, before) in there(&world).into_iter().zip(before) {
                // When it is reported, the round it joined in is over too.
                assert!(now <= before + 3, "{method}, {moment}: from {before} to {now}");
            }
            for (id, before) in [0, 1].into_iter().zip(before) {
                let in_time = |note: &Note| matches!(*note, Note::Joined(2, r) if r <= before + 2);
                assert!(world.was_told(id, in_time), "{method}: {:?}", world.processes[id].notes);
            }
        }
    }
}

#[test]
fn under_wait_a_restarted_agent_ends_with_the_bits_of_a_quiet_run() {
    let run = |killed: &[u64]| {
        let mut world = World::started(3, Policy::Wait, 60);
        for &round in killed {
            world.until("that round", |world| world.round(2) >= round);
            world.kill(2);
            world.pass(MS(1_234));
            world.start(2);
        }
        world.until("all end", |world| (0..3).all(|id| world.is_done(id)));
        [0, 1, 2].map(|id| world.model(id))
    };
    assert_eq!(run(&[3, 17, 18, 59]), run(&[]));
}

/// Each asks all others for a model. Two agents without one do not wait for each other.
#[test]
fn under_continue_two_that_lost_their_state_together_are_back_at_once() {
    let mut world = World::started(4, Policy::Continue, 1_000);
    world.until("they are under way", |world| world.round(0) > 20);
    [2, 3].into_iter().for_each(|id| world.kill(id));
    world.pass(MS(5_000));
    (0..4).for_each(|id| world.processes[id].notes.clear());
    let back = world.now;
    [2, 3].into_iter().for_each(|id| world.start(id));
    let joined = |world: &World, id: usize| {
        world.was_told(0, |note| matches!(note, Note::Joined(joined, _) if *joined == id))
    };
    world.until("both join", |world| joined(world, 2) && joined(world, 3));
    assert!(world.now - back < MS(1_000), "after {:?}", world.now - back);
    for id in [2, 3] {
        assert!(world.was_told(id, |note| matches!(note, Note::Adopted(..))));
    }
}
