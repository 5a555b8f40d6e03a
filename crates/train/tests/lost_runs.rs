//! Runs that are lost are told so: a loss that runs away, a network that dies, and what helps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::time::Duration;

use consort_data::DataDir;
use consort_records::{Record, TrialSummary};
use consort_sim::RoundReport;
use consort_train::{
    Config, Control, Ending, Observer, Plan, TrialFolder, TrialObserver, partition_for, run_trial,
};

/// Listens, and lets the trial go on.
#[derive(Default)]
struct Listener {
    told: Vec<String>,
    longest_gradient: f64,
}

impl Observer for Listener {
    fn now(&self) -> Duration {
        Duration::from_secs(1)
    }
    fn recorded(&mut self, _record: &Record) {}
    fn resumed(&mut self, _round: u64, _rounds: u64, _records: &[Record]) {}
    fn tell(&mut self, message: &str) {
        self.told.push(message.into());
    }
}

impl TrialObserver for Listener {
    fn round_done(&mut self, _round: u64, _rounds: u64, report: &RoundReport) -> Control {
        self.longest_gradient = self.longest_gradient.max(report.gradient_norm);
        Control::Continue
    }
}

fn run(overrides: &[&str]) -> (TrialSummary, Listener) {
    let usual = ["graph=ring:4", "model=mlp:16", "methods=dsgd", "epochs=5", "seeds=5"];
    let overrides: Vec<String> = usual.iter().chain(overrides).map(|&pair| pair.into()).collect();
    let config = Config::from_toml("", &overrides).unwrap();
    let plan = Plan::new(&config, &DataDir::find(Some(Path::new("."))).unwrap()).unwrap();
    let temp = tempfile::tempdir().unwrap();
    let folder = TrialFolder::open(temp.path(), "trial", "test").unwrap();
    let partition = partition_for(&plan, 5).unwrap();
    let mut listener = Listener::default();
    let method = &plan.network.methods[0];
    match run_trial(&plan, method, 5, &partition, 1, &folder, &mut listener).unwrap() {
        Ending::Done(summary) => (summary, listener),
        Ending::Stopped => panic!("nobody stopped it"),
    }
}

/// Linear models never give infinite numbers here: the loss alone shows that nothing converges.
#[test]
fn a_loss_that_runs_away_is_divergence_long_before_it_is_infinite() {
    let (summary, _) = run(&["model=softmax", "eta=1e9"]);
    let reason = summary.diverged.unwrap();
    assert!(reason.contains("loss is") && reason.contains("clip-norm"), "{reason}");
    assert!(summary.collapsed.is_none(), "one word is enough");
}

/// A step that is far too long kills the hidden layer; the log says so at once, and the layer.
#[test]
fn a_network_that_dies_is_named_with_its_layer() {
    let (summary, listener) = run(&["eta=30"]);
    assert_eq!(summary.diverged, None);
    let collapsed = summary.collapsed.unwrap();
    assert!(collapsed.contains("at chance level"), "{collapsed}");
    assert!(collapsed.contains("all units of layer 1 (linear) are dead"), "{collapsed}");
    let [told] = &listener.told[..] else { panic!("told once: {:?}", listener.told) };
    assert!(told.contains("after round") && told.contains("warm-up"), "{told}");
}

/// Weights that never move end where they began, at chance, but with every unit alive.
#[test]
fn a_network_that_learned_nothing_is_at_chance_and_not_dead() {
    let (summary, listener) = run(&["eta=1e-9"]);
    let collapsed = summary.collapsed.unwrap();
    assert!(collapsed.contains("at chance level") && !collapsed.contains("dead"), "{collapsed}");
    assert!(listener.told.is_empty(), "{:?}", listener.told);
    let (sound, _) = run(&[]);
    assert_eq!((sound.collapsed, sound.diverged), (None, None));
}

/// The same run with short gradients lives, and a bound that is never met changes no bit.
#[test]
fn clipping_keeps_the_network_alive() {
    let (clipped, listener) = run(&["eta=30", "clip-norm=0.003"]);
    assert_eq!((clipped.collapsed, clipped.diverged), (None, None));
    assert!(listener.longest_gradient <= 0.003 * (1.0 + 1e-6), "{}", listener.longest_gradient);
    let accuracy = |overrides: &[&str]| {
        let (summary, _) = run(overrides);
        (summary.final_accuracy.map(f64::to_bits), summary.final_loss.map(f64::to_bits))
    };
    assert_eq!(accuracy(&["clip-norm=1e6"]), accuracy(&[]));
    assert_ne!(accuracy(&["clip-norm=0.5"]), accuracy(&[]));
}

/// A method's own bound is in the place of the run's.
#[test]
fn a_method_may_have_a_bound_of_its_own() {
    let own = "methods=[{ method = 'dsgd', clip-norm = 0.01 }]";
    let (_, listener) = run(&[own, "clip-norm=100"]);
    assert!(listener.longest_gradient <= 0.01 * (1.0 + 1e-6), "{}", listener.longest_gradient);
}
