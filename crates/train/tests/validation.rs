//! Samples set apart for validation: nobody trains on them, and a sweep measures models on nothing
//! else.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use consort_data::{DataDir, Scheme};
use consort_train::{Config, Plan, PlannedNetwork, Sweep, Trial, load_data, partition_for};

const USUAL: [&str; 5] = ["graph=ring:4", "model=mlp:8", "batch=90", "epochs=20", "methods=dsgd"];

fn data_dir() -> DataDir {
    DataDir::find(Some(Path::new("."))).unwrap()
}

fn config(overrides: &[&str]) -> Config {
    let all = USUAL.iter().chain(overrides).map(|&pair| pair.to_string());
    Config::from_toml("", &all.collect::<Vec<_>>()).unwrap()
}

/// The plan of the first combination of a sweep.
fn first_combination(config: &Config) -> Plan {
    let combination = Sweep::combinations(config).unwrap().remove(0);
    let dataset = Arc::new(load_data(config, &data_dir()).unwrap());
    let network = PlannedNetwork::new(&combination.config).unwrap();
    let scheme: Scheme = combination.config.partition.parse().unwrap();
    Plan::with_dataset(network, scheme, &combination.config, dataset).unwrap()
}

#[test]
fn a_sweep_has_no_test_samples_and_measures_validation_alone() {
    let config = config(&["sweep.eta=[0.5, 0.2]"]);
    let plan = first_combination(&config);
    assert!(plan.dataset.test.is_empty());
    let partition = partition_for(&plan, 5).unwrap();
    assert_eq!(partition.samples(), plan.dataset.train.len(), "agents share what remains");
    let found = |threads| {
        let mut trial =
            Trial::start(&plan, &plan.network.methods[0], 5, &partition, threads).unwrap();
        for _ in 0..trial.rounds() {
            trial.round().unwrap();
        }
        let record = trial.evaluate(0.0).unwrap();
        assert_eq!((record.test_accuracy, record.test_loss, record.agents), (None, None, None));
        assert!(trial.collapse(&record).unwrap().is_none(), "judged by validation samples");
        record.validation.unwrap()
    };
    let one = found(1);
    // Ten classes: a guess has 0.1.
    assert!(one.accuracy > 0.3 && one.loss < 2.3, "{one:?}");
    assert_eq!(found(3), one, "for any number of threads");
}

/// What a sweep finds for a combination is what a run with the same validation samples finds.
#[test]
fn a_run_with_validation_agrees_with_the_sweep_and_measures_the_test_set_too() {
    let swept = first_combination(&config(&["sweep.eta=[0.1]"]));
    let plain = Plan::new(&config(&["validation=0.1", "eta=0.1"]), &data_dir()).unwrap();
    assert_eq!(plain.dataset.test.len(), 359);
    let last = |plan: &Plan| {
        let partition = partition_for(plan, 5).unwrap();
        let mut trial = Trial::start(plan, &plan.network.methods[0], 5, &partition, 1).unwrap();
        for _ in 0..trial.rounds() {
            trial.round().unwrap();
        }
        trial.evaluate(0.0).unwrap()
    };
    let (swept, plain) = (last(&swept), last(&plain));
    assert_eq!(swept.validation, plain.validation);
    assert!(swept.validation.is_some() && plain.test_accuracy.is_some());
}
