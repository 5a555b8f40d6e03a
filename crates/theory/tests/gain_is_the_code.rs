//! The gain of momentum is what the algorithms of `consort-algo` do: an agent alone is its own
//! average, and a gradient that stays the same moves it by eta times the gain in every round.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod variants;

use consort_algo::{Inbox, Method};
use consort_theory::average_gain;

/// The only message there is.
struct Alone<'a>(&'a [f32]);

impl Inbox for Alone<'_> {
    fn senders(&self) -> usize {
        1
    }
    fn own(&self) -> usize {
        0
    }
    fn weight(&self, _: usize) -> f32 {
        1.0
    }
    fn message(&self, _: usize) -> &[f32] {
        self.0
    }
}

/// How far `method` goes in a round with eta = 1 and a gradient of -1, in the long run.
fn measured(method: &Method) -> f64 {
    let mut algorithm = method.build(&[0.0], 1).unwrap();
    algorithm.resync(&Alone(&[0.0]));
    let mut message = vec![0.0; algorithm.message_len()];
    let mut places = Vec::new();
    // The slowest memory, that of quasi-global momentum, fades by 0.99 a round.
    for _ in 0..2000 {
        algorithm.local_step(&[-1.0], 1.0, &mut message);
        algorithm.mix(&Alone(&message), 1.0);
        places.push(f64::from(algorithm.params()[0]));
    }
    (places[1999] - places[1899]) / 100.0
}

#[test]
fn every_method_moves_by_its_gain() {
    for (name, method, mu) in variants::variants() {
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
