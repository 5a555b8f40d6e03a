//! The claims of the paper: exact, short, symmetric, and k neighbours a round at most.

use super::*;

/// The largest distance of an entry of the product of a period to 1/n.
fn distance_to_average(stages: &[MixingMatrix]) -> f64 {
    let agents = stages[0].agents();
    let mut largest = 0.0_f64;
    let mut after = vec![0.0; agents];
    for start in 0..agents {
        let mut x = vec![0.0; agents];
        x[start] = 1.0;
        for w in stages {
            w.multiply(&x, &mut after);
            std::mem::swap(&mut x, &mut after);
        }
        let misses = x.iter().map(|value| (value - 1.0 / agents as f64).abs());
        largest = misses.fold(largest, f64::max);
    }
    largest
}

#[test]
fn a_period_averages_exactly_for_every_number_of_agents() {
    for degree in 1..=4 {
        for agents in 1..=200 {
            let stages = base(agents, degree).unwrap();
            let distance = distance_to_average(&stages);
            assert!(distance < 1e-12, "base:{agents}:{degree}: {distance}");
        }
    }
}

#[test]
fn every_round_is_symmetric_doubly_stochastic_and_sparse() {
    for degree in 1..=4 {
        for agents in 1..=200 {
            for (round, w) in base(agents, degree).unwrap().iter().enumerate() {
                w.require_symmetric().unwrap();
                w.require_doubly_stochastic().unwrap();
                let most = (0..agents).map(|i| w.row(i).count() - 1).max().unwrap();
                assert!(most <= degree, "base:{agents}:{degree}, round {round}: {most}");
            }
        }
    }
}

/// Theorem 1: at most `2 log_{k+1}(n) + 2` rounds.
#[test]
fn a_period_is_as_short_as_promised() {
    for degree in 1..=4 {
        for agents in 2..=200 {
            let rounds = base(agents, degree).unwrap().len() as f64;
            let promised = 2.0 * (agents as f64).ln() / (degree as f64 + 1.0).ln() + 2.0;
            assert!(rounds <= promised + 1e-9, "base:{agents}:{degree}: {rounds}");
        }
    }
}

#[test]
fn known_lengths() {
    for (agents, degree, rounds) in [
        (1, 1, 1), // the identity
        (2, 1, 1),
        (3, 1, 3),
        (5, 1, 5), // 4 + 1: 2 to average the four, 1 to hand over, 2 to average again
        (6, 1, 4), // 3 inside two blocks, 1 across; the simple one has 5
        (8, 1, 3),
        (7, 2, 4), // 6 + 1
        (6, 2, 2), // 3 * 2
        (25, 4, 2),
        (25, 9, 2),
        (25, 24, 1), // the complete graph
        (25, 99, 1),
    ] {
        assert_eq!(base(agents, degree).unwrap().len(), rounds, "base:{agents}:{degree}");
    }
    assert_eq!(simple::stages(6, 1).len(), 5);
}

#[test]
fn impossible_ones_are_refused() {
    assert!(matches!(base(0, 1), Err(GraphError::TooFewAgents { least: 1, got: 0, .. })));
    assert!(matches!(base(5, 0), Err(GraphError::Impossible { kind: "base", .. })));
    assert!(matches!(base(usize::MAX, usize::MAX), Err(GraphError::TooLarge { .. })));
}
