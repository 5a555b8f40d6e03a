//! Agents driven one by one compute what a simulation of all of them computes, bit by bit.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use consort_algo::{Agent, Outgoing};
use consort_node::{AgentWork, NetworkPlan, NodeError};
use consort_train::{Plan, Trial, partition_for};
use support::{data_dir, every_method, plan, small_run, text};

fn all_works(plan: &NetworkPlan) -> Vec<AgentWork> {
    let work = |id| AgentWork::new(plan, id, &data_dir(), 1 + id % 2).unwrap();
    (0..plan.agents.len()).map(work).collect()
}

/// One round by the driver contract, with the messages delivered in a different order.
fn round(works: &mut [AgentWork], agents: &mut [Agent]) {
    let mut sent: Vec<Outgoing> = Vec::new();
    for (work, agent) in works.iter_mut().zip(agents.iter_mut()) {
        let (mut at, mut grad) = (vec![0.0; work.parameters()], vec![0.0; work.parameters()]);
        let (last, now) = work.averaging_rates(agent.round());
        agent.set_averaging_rates(last, now);
        loop {
            agent.probe(&mut at);
            work.loss_and_grad(agent, &at, &mut grad).unwrap();
            if let Some(messages) = agent.gradient(&grad, work.eta(agent.round())).unwrap() {
                sent.push(messages);
                break;
            }
        }
    }
    while !sent.is_empty() {
        for (from, work) in works.iter().enumerate().rev() {
            for &to in work.receivers_in_phase(agents[from].phase()) {
                let body = sent[from].body_for(to).unwrap().clone();
                agents[to].receive(from, sent[from].exchange, body).unwrap();
            }
        }
        sent.clear();
        assert!(agents.iter_mut().all(Agent::advance));
        sent.extend(agents.iter().filter_map(Agent::outgoing));
    }
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn agents_alone_have_the_bits_of_a_simulation() {
    for (method, graph) in every_method() {
        let run = small_run(method).replace("ring:8", graph);
        let plan = plan(&text("", &run, 8));
        let mut works = all_works(&plan);
        let mut agents: Vec<Agent> = works.iter().map(|work| work.agent().unwrap()).collect();

        let simulated = Plan::new(&plan.run, &data_dir()).unwrap();
        let partition = partition_for(&simulated, plan.seed()).unwrap();
        let first = &simulated.network.methods[0];
        let mut trial = Trial::start(&simulated, first, plan.seed(), &partition, 2).unwrap();
        assert_eq!(works[0].rounds(), trial.rounds());

        while trial.rounds_done() < trial.rounds() {
            trial.round().unwrap();
            round(&mut works, &mut agents);
            for (id, agent) in agents.iter().enumerate() {
                let same = bits(agent.params()) == bits(trial.params(id));
                assert!(same, "{method}: agent {id} after round {}", agent.round());
            }
            let done = trial.rounds_done();
            let due = trial.evaluation_is_due();
            assert!(works.iter().all(|work| work.evaluation_is_due(done) == due), "{done}");
            if due {
                compare_records(&mut trial, &mut works, &agents);
            }
        }
    }
}

/// Also at averaging rates that fall with the step size, and with SAM: both follow from the
/// configuration and the number of the round.
#[test]
fn averaging_rates_and_sam_have_the_bits_of_a_simulation_too() {
    for method in ["dsgd", "gut", "qg-gutm-n", "exact-gut", "choco", "sgp", "edm"] {
        let mix = "sam = 0.05\nschedule.mix.shape = 'step-size'\nschedule.mix.power = 0.5";
        let plan = plan(&text("", &format!("{}\n{mix}", small_run(method)), 8));
        let mut works = all_works(&plan);
        assert_eq!(works[0].averaging_rates(19), (0.1_f64.sqrt() as f32, 0.1_f64.sqrt() as f32));
        let mut agents: Vec<Agent> = works.iter().map(|work| work.agent().unwrap()).collect();
        for _ in 0..works[0].rounds() {
            round(&mut works, &mut agents);
        }
        let simulated = support::simulate(&plan);
        for (agent, simulated) in agents.iter().zip(&simulated) {
            assert!(bits(agent.params()) == bits(simulated), "{method}: agent {}", agent.id());
        }
    }
}

/// The agents together measure what the simulation measures.
fn compare_records(trial: &mut Trial<'_>, works: &mut [AgentWork], agents: &[Agent]) {
    let all = trial.evaluate(1.0).unwrap();
    let each = works.iter_mut().zip(agents);
    let records: Vec<_> = each
        .map(|(work, agent)| work.evaluate(agent.params(), agent.round(), 1.0).unwrap())
        .collect();
    for record in &records {
        assert_eq!((record.round, record.epoch, record.eta), (all.round, all.epoch, all.eta));
        assert!(record.gradient_norm.is_finite() && record.consensus_distance.is_nan());
        assert_eq!((record.test_accuracy, record.test_loss), (None, None), "nobody has all models");
        let own = record.agents.unwrap();
        assert!(own.min == own.mean && own.mean == own.max);
    }
    // On a tree some send more than others.
    let bytes: u64 = records.iter().map(|record| record.bytes_sent).sum();
    assert_eq!(bytes / records.len() as u64, all.bytes_sent);
    let mean = |value: fn(&consort_records::Record) -> f64| {
        records.iter().map(value).sum::<f64>() / records.len() as f64
    };
    let loss = mean(|record| record.train_loss);
    assert!((loss / all.train_loss - 1.0).abs() < 1e-6, "{loss} {}", all.train_loss);
    let own = mean(|record| record.agents.unwrap().mean);
    assert!((own - all.agents.unwrap().mean).abs() < 1e-12);
    let own = mean(|record| record.agents_loss.unwrap().mean);
    assert!((own - all.agents_loss.unwrap().mean).abs() < 1e-6);
}

/// Directed and changing graphs: all hearers of an agent get its messages, and the bits are equal.
#[test]
fn directed_and_changing_graphs_too() {
    for graph in ["exponential:8", "one-peer-exponential:8"] {
        let run = small_run("dsgd").replace("ring:8", graph);
        let plan = plan(&text("", &run, 8));
        let mut works = all_works(&plan);
        let mut agents: Vec<Agent> = works.iter().map(|work| work.agent().unwrap()).collect();
        let simulated = Plan::new(&plan.run, &data_dir()).unwrap();
        let partition = partition_for(&simulated, plan.seed()).unwrap();
        let first = &simulated.network.methods[0];
        let mut trial = Trial::start(&simulated, first, plan.seed(), &partition, 1).unwrap();
        for _ in 0..7 {
            trial.round().unwrap();
            round(&mut works, &mut agents);
        }
        for (id, agent) in agents.iter().enumerate() {
            assert!(bits(agent.params()) == bits(trial.params(id)), "{graph}: agent {id}");
        }
        assert!(works.iter().all(|work| work.lookahead() > 1), "{graph}");
    }
}

/// An agent with data of its own trains on all of them, and does not reveal where they are.
#[test]
fn agents_with_data_of_their_own() {
    let temp = tempfile::tempdir().unwrap();
    let mut own = text(
        "",
        "graph = 'ring:3'\nmodel = 'mlp:4'\nmethods = ['gut']\nseeds = [1]\nrounds = 6\nbatch = 4",
        3,
    );
    for id in 0..3 {
        // Two classes apart by the first number; each agent has another number of samples.
        let row = |k: usize| format!("{},{},{}\n", k % 2 * 3, k % (5 + id), ["no", "yes"][k % 2]);
        let rows: String = (0..40 + 10 * id).map(row).collect();
        let path = temp.path().join(format!("own-{id}.csv"));
        fs::write(&path, format!("a,b,label\n{rows}")).unwrap();
        let address = format!("address = '127.0.0.1:{}'\n", 7400 + id);
        own = own.replace(&address, &format!("{address}data = 'csv:{}'\n", path.display()));
    }
    let plan = plan(&own);
    let mut works = all_works(&plan);
    let text = works[0].shared_text().to_string();
    assert!(!text.contains("own-0.csv") && !text.contains("run.data"), "{text}");
    assert!(works.iter().all(|work| work.shared_text() == text && work.rounds() == 6));
    let epochs: Vec<f64> = works.iter().map(|work| work.rounds_per_epoch()).collect();
    assert!(epochs[0] < epochs[2], "{epochs:?}");
    let mut agents: Vec<Agent> = works.iter().map(|work| work.agent().unwrap()).collect();
    for _ in 0..6 {
        round(&mut works, &mut agents);
    }
    let file = works[1].results(agents[1].params(), None).unwrap().model.unwrap();
    assert!(String::from_utf8_lossy(&file).contains("agent 1"));
}

/// Numbers that are not finite are reported with agent, round and layer.
#[test]
fn a_gradient_that_is_not_finite_says_where() {
    let plan = plan(&text("", &small_run("gut"), 8));
    let mut work = AgentWork::new(&plan, 6, &data_dir(), 1).unwrap();
    let (at, mut grad) = (vec![f32::MAX; work.parameters()], vec![0.0; work.parameters()]);
    let mut agent = work.agent().unwrap();
    agent.restore_round(13);
    let error = work.loss_and_grad(&agent, &at, &mut grad).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("agent 6, round 13") && told.contains("layer"), "{told}");
    assert!(matches!(error, NodeError::Gradient(_)));
    let error = AgentWork::new(&plan, 8, &data_dir(), 1).err().unwrap().to_string();
    assert!(error.contains("no agent 8") && error.contains("0 to 7"), "{error}");
}
