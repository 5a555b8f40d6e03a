//! Gradients of mini-batches: pure functions of the draw, from memory that is used again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use consort_algo::{Draw, Oracle};
use consort_data::{BatchSampler, DataDir};
use consort_train::{Config, GradientRule, MiniBatches, ModelPool, Plan, partition_for};

const AGENTS: usize = 4;

fn plan() -> Plan {
    let overrides = ["graph=ring:4", "model=digits-cnn", "batch=30", "seeds=5"];
    let config = Config::from_toml("", &overrides.map(String::from)).unwrap();
    Plan::new(&config, &DataDir::find(Some(Path::new("."))).unwrap()).unwrap()
}

/// The oracle of these agents.
fn oracle(plan: &Plan, agents: std::ops::Range<usize>, threads: usize) -> MiniBatches {
    let rule = GradientRule { weight_decay: 1e-4, clip_norm: Some(1.0), sam: 0.0 };
    oracle_with(rule, plan, agents, threads)
}

fn oracle_with(
    rule: GradientRule,
    plan: &Plan,
    agents: std::ops::Range<usize>,
    threads: usize,
) -> MiniBatches {
    let partition = partition_for(plan, 5).unwrap();
    let sampler = |agent| BatchSampler::new(partition.share(agent).to_vec(), 30, 5, agent).unwrap();
    let pool = ModelPool::new(&plan.model, &plan.dataset, threads).unwrap();
    MiniBatches::new(Arc::new(pool), agents.map(sampler).collect(), 1, rule)
}

fn bits(oracle: &MiniBatches, draw: Draw, at: &[f32]) -> Vec<u32> {
    let mut grad = vec![f32::NAN; at.len()];
    let loss = oracle.loss_and_grad(draw, at, &mut grad).unwrap();
    grad.into_iter().chain([loss]).map(f32::to_bits).collect()
}

/// Whatever was asked before, of whom, and whoever else is served.
#[test]
fn a_gradient_depends_on_the_draw_alone() {
    let plan = plan();
    let at = plan.parameters.initial(1);
    let all = oracle(&plan, 0..AGENTS, 2);
    let draws: Vec<Draw> =
        (0..40).map(|k| Draw::new(k * 7 % AGENTS, (k * k * 31 % 97) as u64)).collect();
    let first: Vec<_> = draws.iter().map(|&draw| bits(&all, draw, &at)).collect();
    for (&draw, first) in draws.iter().zip(&first).rev() {
        assert_eq!(&bits(&all, draw, &at), first, "{draw}");
        let alone = oracle(&plan, draw.agent..draw.agent + 1, 1);
        assert_eq!(&bits(&alone, draw, &at), first, "{draw}, alone");
    }
}

/// SAM's gradient is the plain one of the same mini-batch, a step of length rho uphill; the loss is
/// that of the model, and so is the weight decay. Both points are asked on one mini-batch.
#[test]
fn sam_takes_the_gradient_uphill_on_the_same_mini_batch() {
    let plan = plan();
    let at = plan.parameters.initial(1);
    let (plain, rho, decay) = (GradientRule::default(), 0.05, 0.01);
    let sam = GradientRule { sam: rho, ..plain };
    let [plain, sam, decayed] = [plain, sam, GradientRule { weight_decay: decay, ..sam }]
        .map(|rule| oracle_with(rule, &plan, 0..AGENTS, 1));
    for draw in [Draw::new(0, 0), Draw::new(3, 41)] {
        let gradient = |oracle: &MiniBatches, at: &[f32]| {
            let mut grad = vec![0.0; at.len()];
            let loss = oracle.loss_and_grad(draw, at, &mut grad).unwrap();
            (loss, grad)
        };
        let (loss, g) = gradient(&plain, &at);
        let norm = g.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        let step = |(&x, &g): (&f32, &f32)| (f64::from(x) + rho / norm * f64::from(g)) as f32;
        let uphill: Vec<f32> = at.iter().zip(&g).map(step).collect();
        let (_, expected) = gradient(&plain, &uphill);
        let (told, got) = gradient(&sam, &at);
        assert!(told == loss && got == expected && got != g, "{draw}");
        let (_, got) = gradient(&decayed, &at);
        let with_decay = |(&g, &x): (&f32, &f32)| g + decay as f32 * x;
        let expected: Vec<f32> = expected.iter().zip(&at).map(with_decay).collect();
        assert_eq!(got, expected, "{draw}");
    }
}

#[test]
fn who_has_no_data_here_is_told() {
    let plan = plan();
    let at = plan.parameters.initial(1);
    let one = oracle(&plan, 2..3, 1);
    for agent in [0, 3, usize::MAX] {
        let told = one.loss_and_grad(Draw::new(agent, 0), &at, &mut at.clone()).unwrap_err();
        assert_eq!(told.to_string(), format!("there are no data of agent {agent} here"));
    }
}

/// Within an epoch, nothing is allocated but what the model itself needs for a step.
#[test]
fn a_mini_batch_uses_the_memory_of_the_one_before() {
    let plan = plan();
    let at = plan.parameters.initial(1);
    let mut grad = vec![0.0; at.len()];
    let oracle = oracle(&plan, 0..1, 1);
    let mut count = |round| {
        let step = || {
            oracle.loss_and_grad(Draw::new(0, round), &at, &mut grad).unwrap();
        };
        allocation_counter::measure(step).count_total
    };
    let first = count(0);
    let later: Vec<u64> = (1..8).map(&mut count).collect();
    assert!(later.iter().all(|&n| n == later[0] && n < first), "{first}, then {later:?}");
}
