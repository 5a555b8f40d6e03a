//! The gain of momentum is what the algorithms of `consort-algo` do: an agent alone is its own
//! average, and a gradient that stays the same moves it by eta times the gain in every round.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_algo::{CATALOGUE, Inbox, Method};
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
    let methods = [
        "dsgd",
        "dsgdm",
        "dsgdm-n",
        "gt",
        "d2",
        "rule-a:mu=0.3",
        "rule-b:mu=0.2",
        "qg-dsgdm",
        "qg-dsgdm-n",
        "qg-dsgdm:beta=0.5",
        "qg-dsgdm:form=quasi-global",
        "qg-dsgdm-n:form=quasi-global",
        "qg-dsgdm:form=own-moves",
        "gut:mu=0.5",
        "gut:mu=0.5,reading=printed",
        "gutm",
        "gutm-n",
        "exact-gut",
        "qg-gutm:mu=0.05",
        "qg-gutm:mu=0.01",
        "qg-gutm:mu=0.3,beta=0.5",
        "qg-gutm-n:mu=0.02",
        "qg-gutm:mu=0.5,reading=printed",
        "qg-gutm-n:reading=printed",
        "qg-gutm:reading=printed-pytorch,mu=0.05",
        "qg-gutm-n:reading=printed-pytorch,mu=0.02",
        "qg-gutm:form=quasi-global,mu=0.01",
        "qg-gutm:form=quasi-global,reading=printed,mu=0.01",
        "qg-gutm:form=own-moves,mu=0.2",
        "qg-gutm:form=own-moves,reading=printed,mu=0.2",
    ];
    for info in &CATALOGUE {
        let names = |name: &&str| name.split(':').next() == Some(info.name);
        assert!(methods.iter().any(names), "{} is not among them", info.name);
    }
    for name in methods {
        let method: Method = name.parse().unwrap();
        let consort_algo::Tunable::Value(mu) = method.mu else { panic!("{name} has a mu") };
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
