//! The round protocol with several gradients and exchanges: saved agents go on to the same bits,
//! any order of delivery gives them, and memory is reused.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::collections::HashSet;

use allocation_counter::measure;
use consort_algo::{Agent, GraphNeeds, Method, Outgoing, Recipients};
use proptest::prelude::*;
use support::agents::{bits, some_eta, some_gradient};
use support::graphs;
use support::matrix::Matrix;
use support::methods::staged_variants;
use support::random::Random;
use support::staged_team::StagedTeam;

const X0: [f32; 5] = [0.5, -0.25, 0.125, 1.0, -0.75];
const ROUNDS: u64 = 8;

/// The graphs on which `text` runs: trees that take turns for what relays.
fn graphs_for(text: &str, agents: usize, seed: u64) -> Vec<Matrix> {
    match text.parse::<Method>().unwrap().info().needs {
        GraphNeeds::Trees => {
            vec![graphs::random(agents, 0, seed), graphs::random(agents, 0, seed ^ 5)]
        }
        _ => vec![graphs::random(agents, 3, seed)],
    }
}

fn team(text: &str, phases: &[Matrix], x0: &[f32]) -> StagedTeam {
    StagedTeam::new(&text.parse().unwrap(), phases, x0, &[2, 3])
}

fn learn(team: &mut StagedTeam, round: u64) {
    team.round(some_eta(round), |i, at, g| g.copy_from_slice(&some_gradient(i, round, at)));
}

/// Every tensor of every agent, by name.
fn save(team: &mut StagedTeam) -> Vec<Vec<(String, Vec<f32>)>> {
    let tensors = |agent: &mut Agent| {
        agent.tensors().iter().map(|t| (t.name.to_string(), t.values.to_vec())).collect()
    };
    team.agents.iter_mut().map(tensors).collect()
}

/// Between two rounds the tensors and the round are all there is.
#[test]
fn a_restored_agent_continues_to_the_same_bits() {
    for text in staged_variants() {
        let phases = graphs_for(&text, 6, 1);
        let mut undisturbed = team(&text, &phases, &X0);
        let mut saved = Vec::new();
        for round in 0..ROUNDS {
            saved.push(save(&mut undisturbed));
            learn(&mut undisturbed, round);
        }
        let expected: Vec<_> = undisturbed.agents.iter_mut().map(bits).collect();
        for (round, saved) in (0..).zip(&saved) {
            // Another model on purpose; x0 itself is part of a run's plan.
            let mut restored = team(&text, &phases, &X0.map(|x| x + 7.0));
            for (agent, saved) in restored.agents.iter_mut().zip(saved) {
                let mut tensors = agent.tensors();
                let names: HashSet<String> = tensors.iter().map(|t| t.name.to_string()).collect();
                assert_eq!(names.len(), tensors.len(), "{text} has two tensors of one name");
                assert_eq!(tensors[0].name, "x", "{text}: the model comes first");
                for tensor in &mut tensors {
                    let (_, values) = saved.iter().find(|(name, _)| *name == tensor.name).unwrap();
                    tensor.values.copy_from_slice(values);
                }
                drop(tensors);
                agent.restore_round(round);
            }
            (round..ROUNDS).for_each(|round| learn(&mut restored, round));
            let got: Vec<_> = restored.agents.iter_mut().map(bits).collect();
            assert_eq!(got, expected, "{text}, restored at round {round}");
        }
    }
}

/// Runs all agents to the end, one random event at a time; messages overtake each other.
fn run_at_random(agents: &mut [Agent], random: &mut Random) {
    let mut in_flight: Vec<(usize, usize, Outgoing)> = Vec::new();
    let count = agents.len();
    let mut send = |from: usize, sent: Outgoing, agents: &[Agent], random: &mut Random| {
        for to in (0..count).filter(|&to| to != from) {
            // Only whom the row of this exchange names is sent anything.
            if agents[from].hears(to) {
                let at = random.below(in_flight.len() + 1);
                in_flight.insert(at, (from, to, sent.clone()));
            }
        }
        std::mem::take(&mut in_flight)
    };
    let mut flying: Vec<(usize, usize, Outgoing)> = Vec::new();
    let mut idle = 0;
    while agents.iter().any(|agent| agent.round() < ROUNDS) {
        let i = random.below(count);
        idle += 1;
        assert!(idle < 1_000_000, "nobody can go on");
        if !flying.is_empty() && random.below(2) == 0 {
            let (from, to, sent) = flying.swap_remove(random.below(flying.len()));
            let body = sent.body_for(to).unwrap().clone();
            agents[to].receive(from, sent.exchange, body).unwrap();
        } else if agents[i].round() < ROUNDS && !agents[i].has_gradient() {
            let mut at = vec![0.0; X0.len()];
            agents[i].probe(&mut at);
            let round = agents[i].round();
            let g = some_gradient(i, round, &at);
            if let Some(sent) = agents[i].gradient(&g, some_eta(round)).unwrap() {
                flying.extend(send(i, sent, agents, random));
            }
        } else if agents[i].advance()
            && let Some(sent) = agents[i].outgoing()
        {
            flying.extend(send(i, sent, agents, random));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_order_of_delivery_gives_the_same_bits(
        variant in 0..staged_variants().len(),
        agents in 2..7_usize,
        graph_seed in 0..1000_u64,
        schedule_seed: u64,
    ) {
        let text = &staged_variants()[variant];
        // Two trees that take turns let neighbours run further ahead than these agents expect.
        let phases = &graphs_for(text, agents, graph_seed)[..1];
        let mut in_order = team(text, phases, &X0);
        (0..ROUNDS).for_each(|round| learn(&mut in_order, round));
        let mut shuffled = team(text, phases, &X0);
        run_at_random(&mut shuffled.agents, &mut Random::new(schedule_seed));
        for (expected, agent) in in_order.agents.iter_mut().zip(&mut shuffled.agents) {
            prop_assert_eq!(bits(expected), bits(agent), "{}", text);
        }
    }
}

/// With one message to all, a round allocates nothing; a message for each neighbour costs a list of
/// them, twice an exchange, and no new message.
#[test]
fn a_round_allocates_no_message() {
    let x0 = vec![0.25; 700];
    for text in staged_variants() {
        let phases = graphs_for(&text, 5, 3);
        let mut team = team_of(&text, &phases, &x0);
        let exchanges = team.agents[0].exchanges().to_vec();
        let each = exchanges.iter().any(|exchange| exchange.to == Recipients::Each);
        let mut driver = Driver::new(&mut team, x0.len());
        (0..4).for_each(|_| driver.round());
        let counted = measure(|| (0..10).for_each(|_| driver.round()));
        if each {
            // The longest list has five entries of two words.
            assert!(counted.bytes_max < 5_000, "{text}: {} bytes", counted.bytes_max);
        } else {
            assert_eq!(counted.count_total, 0, "{text} allocates in a round");
        }
    }
}

fn team_of(text: &str, phases: &[Matrix], x0: &[f32]) -> StagedTeam {
    StagedTeam::new(&text.parse().unwrap(), phases, x0, &[300, 400])
}

/// A driver that has all its memory before it starts.
struct Driver<'a> {
    agents: &'a mut [Agent],
    at: Vec<f32>,
    gradient: Vec<f32>,
    sent: Vec<Option<Outgoing>>,
}

impl<'a> Driver<'a> {
    fn new(team: &'a mut StagedTeam, len: usize) -> Self {
        let sent = vec![None; team.agents.len()];
        Driver { agents: &mut team.agents, at: vec![0.0; len], gradient: vec![0.0; len], sent }
    }

    fn round(&mut self) {
        for (agent, sent) in self.agents.iter_mut().zip(&mut self.sent) {
            while sent.is_none() {
                agent.probe(&mut self.at);
                for (g, x) in self.gradient.iter_mut().zip(&self.at) {
                    *g = 0.5 * x - agent.id() as f32;
                }
                *sent = agent.gradient(&self.gradient, 0.01).unwrap();
            }
        }
        while self.sent[0].is_some() {
            for i in 0..self.agents.len() {
                for from in 0..self.agents.len() {
                    if from != i && self.agents[i].hears(from) {
                        let sent = self.sent[from].as_ref().unwrap();
                        let body = sent.body_for(i).unwrap().clone();
                        self.agents[i].receive(from, sent.exchange, body).unwrap();
                    }
                }
            }
            self.sent.fill(None);
            for (agent, sent) in self.agents.iter_mut().zip(&mut self.sent) {
                assert!(agent.advance());
                *sent = agent.outgoing();
            }
        }
    }
}
