//! Whom an agent listens to: neighbours with the same plan that send valid frames.

use consort_protocol::{Body, Kind, Note, Policy};

use crate::small_world::{LEN, MS, World};

const OTHER_PLAN: &str = "run.eta = 0.2\n";

fn floats() -> Body {
    Body::Floats([9.0; LEN].into())
}

#[test]
fn a_plan_that_differs_is_refused_at_both_ends_with_key_and_values_and_no_round_begins() {
    for policy in [Policy::Wait, Policy::Continue] {
        let mut world = World::new(2, policy, 10);
        world.start(0);
        world.start_with(1, OTHER_PLAN);
        world.pass(MS(100));
        for (id, words) in [
            (0, "agent 1 has a different plan: run.eta: here 0.1, there 0.2"),
            (1, "agent 0 has a different plan: run.eta: here 0.2, there 0.1"),
        ] {
            assert_eq!(world.failure(id).as_deref(), Some(words));
            assert_eq!(world.round(id), 0);
            assert!(!world.peer(id).agent().has_gradient());
        }
    }
}

#[test]
fn one_plan_that_differs_keeps_all_from_beginning() {
    let mut world = World::new(3, Policy::Continue, 10);
    world.start(0);
    world.start(1);
    world.pass(MS(500));
    assert_eq!(world.round(0), 0, "agent 2 is not there yet");
    world.start_with(2, OTHER_PLAN);
    world.pass(MS(500));
    assert!((0..3).all(|id| world.failure(id).is_some_and(|why| why.contains("run.eta"))));
}

#[test]
fn a_plan_changed_under_way_is_refused_and_under_continue_the_others_go_on() {
    let mut world = World::started(3, Policy::Continue, 200);
    world.until("they are under way", |world| world.round(0) > 20);
    world.kill(2);
    world.processes[2] = World::new(1, Policy::Continue, 1).processes.remove(0);
    world.start_with(2, OTHER_PLAN);
    world.until("it is refused", |world| world.failure(2).is_some());
    assert!(world.failure(2).unwrap().contains("run.eta: here 0.2, there 0.1"));
    world.until("the others end", |world| world.is_done(0) && world.is_done(1));
    let differs =
        |note: &Note| *note == Note::Differs(2, vec!["run.eta: here 0.1, there 0.2".into()]);
    assert!(world.was_told(0, differs) && world.was_told(1, differs));
    assert_eq!(world.peer(0).mixed(), Some((199, &[1][..])));
}

#[test]
fn a_plan_changed_under_way_is_refused_and_under_wait_the_others_wait_for_the_right_one() {
    let mut world = World::started(3, Policy::Wait, 60);
    world.until("they are under way", |world| world.round(0) > 20);
    world.kill(2);
    let disk = std::mem::replace(
        &mut world.processes[2],
        World::new(1, Policy::Wait, 1).processes.remove(0),
    );
    world.start_with(2, OTHER_PLAN);
    world.until("it is refused", |world| world.failure(2).is_some());
    let before = world.round(0);
    world.pass(MS(60_000));
    assert!(world.round(0) <= before + 1 && world.failure(0).is_none());
    assert!(world.was_told(0, |note| matches!(note, Note::Differs(2, _))));
    assert!(world.was_told(0, |note| matches!(note, Note::Late(2, _))));
    // Its user starts it again with the right plan.
    world.kill(2);
    world.processes[2] = disk;
    world.start(2);
    world.until("all end", |world| (0..3).all(|id| world.is_done(id)));
}

#[test]
fn a_stranger_has_no_effect() {
    for policy in [Policy::Wait, Policy::Continue] {
        let run = |disturbed: bool| {
            let mut world = World::started(2, policy, 20);
            for step in 0..40 {
                world.pass(MS(50));
                let now = world.now;
                if disturbed {
                    world.peer(0).link_up(now, 7);
                    assert!(world.peer(0).frame_for(7).is_none());
                    for kind in [Kind::Hello, Kind::Refuse, Kind::Leave] {
                        world.forge(7, 0, kind, [step + 1, 0, 1], Body::Text("else = 1".into()));
                    }
                    for kind in [Kind::Update, Kind::Model, Kind::Answer] {
                        world.forge(7, 0, kind, [step + 1, world.round(0), 0], floats());
                    }
                    world.forge(7, 0, Kind::Position, [step + 1, 99, 99], Body::Nothing);
                    (0..4).for_each(|_| world.peer(0).garbage(now, 7, "noise".into()));
                    world.peer(0).link_down(now, 7);
                }
            }
            world.until("both end", |world| world.is_done(0) && world.is_done(1));
            assert!(!world.was_told(0, |note| note.to_string().contains("agent 7")));
            (world.model(0), world.model(1), world.now)
        };
        assert_eq!(run(true), run(false));
    }
}

#[test]
fn frames_before_the_welcome_have_no_effect() {
    for policy in [Policy::Wait, Policy::Continue] {
        let mut world = World::new(2, policy, 10);
        world.start(0);
        let now = world.now;
        world.peer(0).link_up(now, 1);
        let mut serial = 0;
        let mut next = || {
            serial += 1;
            serial
        };
        for kind in [Kind::Update, Kind::Model, Kind::Answer] {
            world.forge(1, 0, kind, [next(), 0, 0], floats());
        }
        for kind in [Kind::Position, Kind::Step, Kind::Ask] {
            world.forge(1, 0, kind, [next(), 7, 3], Body::Nothing);
        }
        world.forge(1, 0, Kind::Leave, [next(), 0, 1], Body::Text("forged".into()));
        world.pass(MS(900));
        assert_eq!((world.round(0), world.failure(0)), (0, None));
        assert!(world.processes[0].notes.is_empty(), "{:?}", world.processes[0].notes);
        let agent = world.peer(0).agent();
        assert!(agent.message_of(1).is_none() && !agent.has_gradient());
        // They do not spoil the meeting either: a new link starts afresh.
        world.start(1);
        world.until("both end", |world| world.is_done(0) && world.is_done(1));
        assert_eq!(world.peer(0).mixed(), Some((9, &[1][..])));
    }
}

#[test]
fn garbage_three_times_ends_a_run_that_waits_and_names_the_sender() {
    let mut world = World::started(3, Policy::Wait, 200);
    world.until("they are under way", |world| world.round(0) > 5);
    for time in 1..=3 {
        assert_eq!(world.failure(0), None, "no failure before time {time}");
        let now = world.now;
        world.peer(0).garbage(now, 2, format!("noise {time}"));
        world.unlink(0, 2);
        world.link(0, 2);
        world.pass(MS(500));
    }
    let words = "agent 2 sent 3 invalid frames, the last: noise 3";
    assert_eq!(world.failure(0).as_deref(), Some(words));
}

#[test]
fn garbage_three_times_is_never_heard_again_under_continue() {
    let mut world = World::started(3, Policy::Continue, 200);
    world.until("they are under way", |world| world.round(0) > 5);
    for time in 1..=3 {
        let now = world.now;
        world.peer(0).garbage(now, 2, format!("noise {time}"));
        world.unlink(0, 2);
        world.link(0, 2);
        world.pass(MS(3_000));
        let (_, used) = world.peer(0).mixed().unwrap();
        assert_eq!(used.contains(&2), time < 3, "after time {time}: {used:?}");
    }
    let before = world.round(0);
    world.unlink(0, 2);
    world.link(0, 2);
    world.pass(MS(5_000));
    assert!(world.round(0) > before + 10, "it continues with agent 1");
    assert_eq!(world.peer(0).mixed().unwrap().1, [1]);
    assert_eq!(world.peer(0).present().collect::<Vec<_>>(), [1]);
}

#[test]
fn under_continue_a_run_begins_without_one_that_sent_nothing_but_garbage() {
    let mut world = World::new(3, Policy::Continue, 10);
    world.start(0);
    world.start(1);
    for time in 0..3 {
        let now = world.now;
        for id in [0, 1] {
            world.peer(id).link_up(now, 2);
            world.peer(id).garbage(now, 2, format!("noise {time}"));
        }
    }
    world.until("the others end", |world| world.is_done(0) && world.is_done(1));
}

#[test]
fn what_a_neighbour_writes_reaches_no_terminal_as_it_is() {
    let nasty = format!("\u{1b}]0;owned\u{7}\u{202e}{}", "x".repeat(100_000));
    for (kind, extra) in [(Kind::Refuse, 0), (Kind::Leave, 1)] {
        let mut world = World::started(2, Policy::Wait, 100);
        world.until("they are under way", |world| world.round(0) > 3);
        let lines = vec![nasty.as_str(); 100].join("\n");
        world.forge(1, 0, kind, [1 << 40, 0, extra], Body::Text(lines.into()));
        let mut shown: Vec<String> =
            world.processes[0].notes.iter().map(ToString::to_string).collect();
        shown.extend(world.failure(0));
        let shown = shown.join(" ");
        assert!(shown.contains("owned") && shown.len() < 10_000, "{} bytes", shown.len());
        assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
    }
}
