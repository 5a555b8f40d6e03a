//! The gain of momentum is what the algorithms of `consort-algo` do: an agent alone is its own
//! average, and a gradient that stays the same moves it by eta times the gain in every round.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod variants;

use consort_algo::{Agent, Method, Optimizer, Row, Site};
use consort_theory::average_gain;

/// How far `method` goes in a round with eta = 1 and a gradient of -1, in the long run; with local
/// steps, per step.
fn measured(method: &Method) -> f64 {
    let rows = vec![Row::new(0, [])];
    let algorithm = method.build_staged(&[0.0], &Site::new(1, &rows)).unwrap();
    let mut agent = Agent::staged(0, rows, 1, algorithm);
    let mut places = Vec::new();
    // The slowest memory, that of quasi-global momentum, fades by 0.99 a round.
    for _ in 0..2000 {
        while agent.gradient(&[-1.0], 1.0).unwrap().is_none() {}
        while agent.advance() {}
        places.push(f64::from(agent.params()[0]));
    }
    (places[1999] - places[1899]) / 100.0 / f64::from(method.steps)
}

#[test]
fn every_method_moves_by_its_gain() {
    // Adam's directions are as long as they are, whatever the gradient.
    let scales = |method: &Method| method.optimizer == Optimizer::Sgd;
    for (name, method, mu) in variants::variants().into_iter().filter(|v| scales(&v.1)) {
        let (found, told) = (measured(&method), average_gain(&method, mu));
        assert!((found / told - 1.0).abs() < 1e-3, "{name}: {found}, told {told}");
    }
}

/// The averaged model runs away where mu + beta reaches 1, and its gain says so.
#[test]
fn the_gain_ends_where_the_average_runs_away() {
    let method: Method = "qg-gutm".parse().unwrap();
    assert!(average_gain(&method, 0.0999) > 800.0);
    assert!(average_gain(&method, 0.1).is_infinite());
}
