//! The presets of the program are complete, and agree with the paper.

use std::collections::BTreeSet;

use consort_reproduce::{experiment, experiments, queue};
use consort_train::{Config, Sweep};

/// `experiments/` of the repository.
fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

#[test]
fn every_file_is_a_preset_and_every_cell_a_configuration() {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
    let mut files: BTreeSet<String> = files.map(stem).collect();
    assert!(files.remove("queue"));
    // The same methods on digits, and their tuning: configurations of `consort train`, not presets.
    assert!(files.remove("all-methods") && files.remove("all-methods-tuning"));
    assert!(files.remove("all-methods-fashion-mnist") && files.insert("all-methods".into()));
    let all = experiments().unwrap();
    let names: BTreeSet<String> = all.iter().map(|e| e.name.clone()).collect();
    assert_eq!(files, names);
    for experiment in &all {
        let cells = experiment.cells(1.0).unwrap();
        assert!(!cells.is_empty() || experiment.consensus.is_some(), "{}", experiment.name);
        let paths: BTreeSet<&str> = cells.iter().map(|cell| cell.path.as_str()).collect();
        assert_eq!(paths.len(), cells.len(), "{}: two cells of one name", experiment.name);
    }
}

/// Appendix, hyper-parameters: mu, epochs, batch, weight decay for the IID rows alone.
#[test]
fn table_1_has_the_hyper_parameters_of_the_appendix() {
    let cells = experiment("table-1").unwrap().cells(1.0).unwrap();
    assert_eq!(cells.len(), 4 * (1 + 4 * 3));
    for cell in &cells {
        let config = &cell.config;
        assert_eq!((config.epochs, config.batch, config.eta), (Some(200.0), 32, 0.1));
        let iid = cell.label == "DSGDm (IID)";
        assert_eq!(config.weight_decay, if iid { 1e-4 } else { 0.0 }, "{}", cell.path);
        assert_eq!(config.partition == "iid", iid);
        assert!(cell.paper.is_some(), "{}", cell.path);
    }
    let find = |path: &str| cells.iter().find(|cell| cell.path == path).unwrap();
    let cell = find("vgg11-16/alpha-0.01/qg-gutm");
    assert_eq!((cell.method.as_str(), cell.paper), ("qg-gutm:mu=0.09", Some((78.32, 1.03))));
    let cell = find("resnet20-16/alpha-0.1/qg-gutm");
    assert_eq!((cell.method.as_str(), cell.paper), ("qg-gutm:mu=0.06", Some((86.44, 0.36))));
    assert_eq!(find("resnet20-32/alpha-0.1/gut").method, "gut:mu=0.9");
}

/// Both compare every method of the catalogue, each with its own step size.
#[test]
fn all_methods_are_all_methods() {
    let name = |method: &str| method.split(':').next().unwrap().to_string();
    let all: BTreeSet<String> =
        consort_algo::CATALOGUE.iter().map(|info| info.name.to_string()).collect();
    let cells = experiment("all-methods").unwrap().cells(1.0).unwrap();
    assert_eq!(cells.len(), 2 * all.len());
    assert_eq!(cells.iter().map(|cell| name(&cell.method)).collect::<BTreeSet<_>>(), all);
    for (file, combinations) in [("all-methods.toml", 0), ("all-methods-tuning.toml", 3)] {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        let config = Config::from_toml(&text, &[]).unwrap();
        assert!(config.methods.iter().all(|entry| entry.eta.is_some()), "{file}");
        let methods = config.methods.iter().map(|entry| name(&entry.method));
        assert_eq!(methods.collect::<BTreeSet<_>>(), all, "{file}");
        let tried =
            if config.sweep.is_empty() { 0 } else { Sweep::combinations(&config).unwrap().len() };
        assert_eq!(tried, combinations * all.len(), "{file}: the same budget for every method");
    }
}

/// A number that stands in two tables is one trial: it is run once.
#[test]
fn tables_share_their_trials() {
    let key = |name: &str, path: &str| {
        let cells = experiment(name).unwrap().cells(1.0).unwrap();
        cells.iter().find(|cell| cell.path == path).unwrap().trial(1)
    };
    let gut = key("table-1", "resnet20-16/alpha-0.1/gut");
    assert_eq!(gut, key("table-4", "rules/gut"));
    assert_eq!(gut, key("table-5", "momentum/gut"));
    assert_eq!(gut, key("table-10", "resnet20-16/alpha-0.1/gut"));
    assert_eq!(
        key("table-3", "fashion-mnist/alpha-0.1/qg-gutm"),
        key("auto-mu", "fashion-mnist/alpha-0.1/qg-gutm-mu-of-the-grid")
    );
    let scaled = experiment("table-4").unwrap().cells(0.25).unwrap();
    assert!(scaled.iter().all(|cell| cell.trial(1).hash() != gut.hash()));
}

#[test]
fn every_step_of_the_queue_names_rows_that_there_are() {
    for step in queue().unwrap() {
        let experiment = experiment(&step.experiment).unwrap();
        experiment.cells_of(&step.rows, step.scale).unwrap();
        assert!(step.seeds > 0 && step.scale > 0.0 && step.scale <= 1.0);
    }
}

#[test]
fn a_slip_of_the_finger_is_answered_with_the_name() {
    let told = experiment("table1").unwrap_err().to_string();
    assert!(told.contains("did you mean table-1?"), "{told}");
}
