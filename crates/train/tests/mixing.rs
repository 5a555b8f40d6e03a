//! Mixing over a run: Gossip-PGA, a final merge and changes of graph in whole trials, what they
//! cost, and what is refused with the reason.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use consort_data::DataDir;
use consort_train::{Config, Plan, PlannedNetwork, TrainError, Trial, partition_for};

const AGENTS: u64 = 4;

fn config(overrides: &[&str]) -> Config {
    let usual = ["graph=ring:4", "model=mlp:8", "batch=90", "rounds=12", "seeds=5"];
    let overrides: Vec<String> = usual.iter().chain(overrides).map(|&pair| pair.into()).collect();
    Config::from_toml("", &overrides).unwrap()
}

fn plan(overrides: &[&str]) -> Plan {
    Plan::new(&config(overrides), &DataDir::find(Some(Path::new("."))).unwrap()).unwrap()
}

fn start(plan: &Plan) -> Trial<'_> {
    Trial::start(plan, &plan.network.methods[0], 5, &partition_for(plan, 5).unwrap(), 2).unwrap()
}

fn refusal(overrides: &[&str]) -> String {
    PlannedNetwork::new(&config(overrides)).err().unwrap().to_string()
}

/// The rounds after which all agents have one model.
fn agreements(plan: &Plan) -> Vec<u64> {
    let mut trial = start(plan);
    let mut agreed = Vec::new();
    while trial.rounds_done() < trial.rounds() {
        trial.round().unwrap();
        let average = trial.average();
        if (0..AGENTS as usize).all(|agent| trial.params(agent) == average) {
            agreed.push(trial.rounds_done());
        }
    }
    agreed
}

#[test]
fn agents_agree_exactly_after_exact_averages_and_a_final_merge_and_never_else() {
    for method in ["methods=dsgd", "methods=gut", "methods=qg-gutm", "methods=ed", "methods=cga"] {
        assert_eq!(agreements(&plan(&[method])), [0; 0], "{method}");
        let pga = [method, "schedule.mix.exact-every=5"];
        assert_eq!(agreements(&plan(&pga)), [5, 10], "{method}");
        let merge = [method, "schedule.mix.final-merge=true"];
        assert_eq!(agreements(&plan(&merge)), [12], "{method}");
    }
    assert_eq!(agreements(&plan(&["methods=relaysgd", "schedule.mix.final-merge=true"])), [12]);
}

/// A merge at the end is the average of what there would be without it, and the averaged model is
/// the same; what it gained is measured before.
#[test]
fn a_final_merge_gives_every_agent_the_average() {
    let (with, without) = (plan(&["schedule.mix.final-merge=true"]), plan(&[]));
    let (mut merged, mut apart) = (start(&with), start(&without));
    for _ in 0..12 {
        merged.round().unwrap();
        apart.round().unwrap();
    }
    assert_eq!(merged.params(2), apart.average());
    let (merged, apart) = (merged.evaluate(1.0).unwrap(), apart.evaluate(1.0).unwrap());
    assert_eq!(merged.test_accuracy, apart.test_accuracy);
    assert_eq!(merged.averaging_gain, apart.averaging_gain);
    let gain = apart.test_accuracy.unwrap() - apart.agents.unwrap().mean;
    // All of the few test samples are used for the agents, too.
    assert!((apart.averaging_gain.unwrap() - gain).abs() < 1e-12 && gain != 0.0, "{gain}");
    let own = merged.agents.unwrap();
    assert_eq!((own.min, own.max), (merged.test_accuracy.unwrap(), own.min));
    assert_eq!(merged.consensus_distance, 0.0);
}

/// On a part of the test samples the averaged model is tested on that part.
#[test]
fn what_averaging_gains_is_measured_on_the_samples_of_the_agents() {
    let plan = plan(&["evaluation.agent-samples=50"]);
    let mut trial = start(&plan);
    for _ in 0..12 {
        trial.round().unwrap();
    }
    let record = trial.evaluate(1.0).unwrap();
    let on_fifty = record.averaging_gain.unwrap() + record.agents.unwrap().mean;
    assert!((on_fifty * 50.0 - (on_fifty * 50.0).round()).abs() < 1e-9, "{on_fifty}");
    let none = start(&self::plan(&["evaluation.agent-samples=0"])).evaluate(1.0).unwrap();
    assert_eq!(none.averaging_gain, None);
}

/// The run's mixing is every method's unless it has its own, which replaces it.
#[test]
fn a_method_with_its_own_mixing_leaves_the_runs() {
    let own = "methods=[{ method = 'dsgd', mix = {} }]";
    assert_eq!(agreements(&plan(&[own, "schedule.mix.exact-every=5"])), [0; 0]);
    let own = "methods=[{ method = 'dsgd', mix = { exact-every = 4 } }]";
    assert_eq!(agreements(&plan(&[own, "schedule.mix.exact-every=5"])), [4, 8, 12]);
}

/// On a complete graph with equal weights everybody agrees, up to rounding, after every round.
#[test]
fn from_its_time_on_another_graph_is_in_force() {
    let plan =
        plan(&["methods=dsgd", "schedule.mix.graphs=[{ from = 0.5, graph = 'complete:4' }]"]);
    let mut trial = start(&plan);
    for round in 1..=12 {
        trial.round().unwrap();
        let distance = trial.evaluate(0.0).unwrap().consensus_distance;
        assert_eq!(distance < 1e-6, round > 6, "round {round}: {distance:.1e}");
    }
}

/// What GUT believes to be the mixed model of its neighbours stays that of the graph and the rate in
/// force. Measured: at most 3.2e-8.
#[test]
fn gut_keeps_up_with_graphs_rates_and_exact_averages() {
    for method in ["gut", "qg-gutm", "exact-gut", "rule-a:mu=0.1"] {
        let plan = plan(&[
            &format!("methods={method}"),
            "schedule.mix.shape=milestones",
            "schedule.mix.milestones=[0.2, 0.6]",
            "schedule.mix.factor=0.5",
            "schedule.mix.exact-every=5",
            "schedule.mix.graphs=[{ from = 0.3, graph = 'chain:4' }]",
        ]);
        let mut trial = start(&plan);
        for round in 1..=12 {
            trial.round().unwrap();
            let drift = trial.evaluate(0.0).unwrap().drift;
            assert!(drift < 1.5e-7, "{method}, round {round}: {drift:.1e}");
        }
    }
}

/// An exact average costs 2 (n-1)/n models an agent, a change of graph one model for every new
/// neighbour if messages are moves.
#[test]
fn what_is_sent_is_counted() {
    let bytes = |overrides: &[&str], rounds: u64| {
        let plan = plan(overrides);
        let mut trial = start(&plan);
        for _ in 0..rounds {
            trial.round().unwrap();
        }
        let model = 4 * plan.parameters.len() as u64;
        let sent = trial.evaluate(0.0).unwrap().bytes_sent;
        assert_eq!(sent * AGENTS % model, 0);
        sent * AGENTS / model
    };
    // All agents together, in models: a ring of 4 has 8 messages a round, a chain 6.
    let merge = "schedule.mix.final-merge=true";
    let graphs = "schedule.mix.graphs=[{ from = 0.5, graph = 'chain:4' }]";
    for (method, overrides, rounds, expected) in [
        ("dsgd", &[][..], 12, 96),
        ("dsgd", &[merge], 11, 88),
        ("dsgd", &[merge], 12, 96 + 6),
        ("dsgd", &["schedule.mix.exact-every=6", merge], 12, 96 + 12),
        ("dsgd", &[graphs], 6, 48),
        ("dsgd", &[graphs], 12, 48 + 36),
        ("gut", &[graphs], 7, 48 + 6 + 6),
        ("gut", &[graphs], 12, 48 + 36 + 6),
    ] {
        let method = format!("methods={method}");
        let overrides = [&[method.as_str()], overrides].concat();
        assert_eq!(bytes(&overrides, rounds), expected, "{overrides:?} after {rounds}");
    }
}

#[test]
fn what_a_method_cannot_do_is_refused_with_the_reason_and_what_works() {
    let shape = "schedule.mix.shape=step-size";
    let exact = "schedule.mix.exact-every=3";
    let graphs = "schedule.mix.graphs=[{ from = 0.5, graph = 'complete:4' }]";
    let directed = "schedule.mix.graphs=[{ from = 0.5, graph = 'exponential:4' }]";
    for (overrides, parts) in [
        (
            ["methods=relaysgd", shape],
            &["relaysgd", "`shape`", "no averaging rate", "mix = {}"][..],
        ),
        (
            ["methods=relaysgd", exact],
            &["`exact-every`", "still on their way", "final-merge works"],
        ),
        (["methods=relaysgd", graphs], &["`graphs`", "one tree"]),
        (["methods=gut:memory=copies", graphs], &["`graphs`", "copy of every", "memory=sum"]),
        (["methods=comp-cga", graphs], &["comp-cga", "`graphs`", "every neighbour"]),
        (["methods=gut", directed], &["gut needs", "exponential:4 is directed"]),
        (
            ["methods=dsgd", "schedule.mix.graphs=[{ from = 0.5, graph = 'ring:5' }]"],
            &["mix.graphs", "ring:5 has 5 agents, but the run has 4"],
        ),
        (
            ["methods=dsgd", "schedule.mix.graphs=[{ from = 0.5, graph = 'rnig:4' }]"],
            &["rnig:4", "did you mean \"ring\"?"],
        ),
        (
            ["methods=[{ method = 'sgd', mix = { exact-every = 3 } }]", "eta=0.1"],
            &["sgd", "`mix`", "in every round", "dsgd"],
        ),
    ] {
        let told = refusal(&overrides);
        for part in parts {
            assert!(told.contains(part), "{overrides:?}: {told}");
        }
    }
}

/// As it ignores the run's graph, so that one configuration compares it with the others.
#[test]
fn a_centralised_method_ignores_what_the_run_says_of_mixing() {
    let network = PlannedNetwork::new(&config(&[
        "methods=['sgd', 'dsgd']",
        "schedule.mix.shape=step-size",
        "schedule.mix.graphs=[{ from = 0.5, graph = 'chain:4' }]",
    ]));
    let network = network.unwrap();
    assert!(!network.methods[0].mix.changes_rate() && network.methods[1].mix.changes_rate());
}

/// One mu and one gamma serve the whole run, so `auto` chooses those that are stable on all graphs.
#[test]
fn auto_is_stable_on_every_graph_of_the_run() {
    let resolved = |overrides: &[&str]| {
        let network = PlannedNetwork::new(&config(overrides)).unwrap();
        let analysis = &network.methods[0].analysis;
        assert!(analysis.stable, "{}", analysis.verdict);
        (analysis.mu, analysis.gamma)
    };
    let method = "methods=exact-gut";
    let (_, on_ring) = resolved(&["graph=ring:8", method]);
    let (_, on_torus) = resolved(&["graph=torus:2x4", method]);
    assert!(on_torus != on_ring, "{on_ring} {on_torus}");
    let (first, later) =
        ("graph=ring:8", "schedule.mix.graphs=[{ from = 0.5, graph = 'torus:2x4' }]");
    assert_eq!(resolved(&[first, later, method]).1, on_ring.min(on_torus));
    let (first, later) =
        ("graph=torus:2x4", "schedule.mix.graphs=[{ from = 0.5, graph = 'ring:8' }]");
    assert_eq!(resolved(&[first, later, method]).1, on_ring.min(on_torus));
}

/// A method that is stable on the first graph alone is warned of by the name of the other.
#[test]
fn the_verdict_names_the_later_graph_on_which_a_method_diverges() {
    let later = "schedule.mix.graphs=[{ from = 0.5, graph = 'torus:4x8' }]";
    let network =
        PlannedNetwork::new(&config(&["graph=ring:32", "methods=gut:mu=0.9", later])).unwrap();
    let analysis = &network.methods[0].analysis;
    assert!(!analysis.stable && analysis.verdict.contains("on torus:4x8"), "{}", analysis.verdict);
}

#[test]
fn errors_of_mixing_are_errors_of_the_plan() {
    let config = config(&["methods=relaysgd", "schedule.mix.exact-every=3"]);
    assert!(matches!(PlannedNetwork::new(&config), Err(TrainError::Mix { .. })));
}
