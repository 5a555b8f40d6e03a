//! What a world measures, and going on from a saved state, for every oracle there is.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use consort_algo::{Draw, Method, Oracle, OracleError};
use consort_graph::{GraphSpec, MixingSpec};
use consort_sim::{Quadratics, World};

use own_model::Logistic;

/// The documented example of an oracle.
#[path = "../examples/own_model.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod own_model;

const DIM: usize = 40;
const AGENTS: usize = 8;

/// Quadratics around a centre of the agent's own, shaken by noise that depends on agent and
/// round alone.
struct Shaken;

fn noise(agent: usize, round: u64, k: usize) -> f32 {
    let seed =
        (agent as u64 * 0x9e37 + round * 0x85eb + k as u64 * 0xc2b2).wrapping_mul(0x27d4_eb2f);
    (seed >> 16 & 0xff) as f32 / 255.0 - 0.5
}

impl Oracle for Shaken {
    fn len(&self) -> usize {
        DIM
    }

    fn loss_and_grad(
        &self,
        Draw { agent, round, .. }: Draw,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<f32, OracleError> {
        for (k, (g, x)) in grad.iter_mut().zip(at).enumerate() {
            *g = x - (agent * k % 5) as f32 + noise(agent, round, k);
        }
        Ok(grad.iter().map(|g| g * g).sum())
    }
}

fn world(method: &str, threads: usize) -> World {
    world_of(Arc::new(Shaken), method, threads)
}

fn world_of(oracle: Arc<dyn Oracle>, method: &str, threads: usize) -> World {
    let topology = "ring:8".parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = MixingSpec::Auto.build_all(&topology).unwrap();
    let method: Method = method.parse().unwrap();
    let x0 = vec![0.5; oracle.len()];
    World::new(&topology, &weights, &method, &x0, oracle, threads).unwrap()
}

fn run(world: &mut World, rounds: u64) {
    for _ in 0..rounds {
        world.round(0.05).unwrap();
    }
}

fn bits(world: &World) -> Vec<u32> {
    (0..AGENTS).flat_map(|agent| world.params(agent).to_vec()).map(f32::to_bits).collect()
}

const METHODS: [&str; 8] = [
    "dsgd",
    "gut",
    "gut:memory=copies",
    "qg-gutm",
    "exact-gut:gamma=0.9",
    "gt",
    "gutm-n",
    "mt:start=average",
];

fn oracles() -> [Arc<dyn Oracle>; 3] {
    let noisy = Quadratics::spread_out(AGENTS, DIM, 1.0, 0.5, 0.5);
    [Arc::new(Shaken), Arc::new(noisy.oracle(3)), Arc::new(Logistic::new(AGENTS))]
}

/// Saving all tensors after any round and putting them into a fresh world goes on in the same
/// bits, on another number of threads, whatever the oracle.
#[test]
fn a_world_goes_on_from_its_tensors_in_the_same_bits() {
    for (k, oracle) in oracles().into_iter().enumerate() {
        for method in METHODS {
            for stop in [0, 1, 7] {
                let mut whole = world_of(oracle.clone(), method, 1);
                run(&mut whole, 20);

                let mut first = world_of(oracle.clone(), method, 2);
                run(&mut first, stop);
                let mut second = world_of(oracle.clone(), method, 3);
                for agent in 0..AGENTS {
                    let saved = first.tensors(agent);
                    let saved: Vec<Vec<f32>> = saved.iter().map(|t| t.values.to_vec()).collect();
                    for (tensor, values) in second.tensors(agent).into_iter().zip(saved) {
                        tensor.values.copy_from_slice(&values);
                    }
                }
                second.restore_round(stop);
                assert_eq!(second.rounds_done(), stop);
                run(&mut second, 20 - stop);
                let same = bits(&whole) == bits(&second);
                assert!(same, "oracle {k}, {method}, stopped after {stop}");
            }
        }
    }
}

/// Mini-batches do differ from round to round: otherwise the law above would prove nothing.
#[test]
fn another_draw_has_another_gradient() {
    for (k, oracle) in oracles().iter().enumerate() {
        let gradient = |agent, round| {
            let mut grad = vec![0.0; oracle.len()];
            let at = vec![0.1; oracle.len()];
            oracle.loss_and_grad(Draw::new(agent, round), &at, &mut grad).unwrap();
            grad
        };
        assert_eq!(gradient(2, 5), gradient(2, 5), "oracle {k}");
        assert_ne!(gradient(2, 5), gradient(2, 6), "oracle {k}");
        assert_ne!(gradient(2, 5), gradient(3, 5), "oracle {k}");
    }
}

/// The consensus distance is `sqrt(1/n Σ |x_i - x̄|²)`, and the average that of the models.
#[test]
fn distances_are_those_of_the_definition() {
    let mut world = world("gut", 2);
    run(&mut world, 5);
    let average = world.average();
    let mut squares = Vec::new();
    for agent in 0..AGENTS {
        let x = world.params(agent).iter().zip(&average);
        squares.push(x.map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum::<f64>());
    }
    for k in 0..DIM {
        let sum: f64 = (0..AGENTS).map(|agent| f64::from(world.params(agent)[k])).sum();
        assert_eq!(average[k], sum / AGENTS as f64);
    }
    let distance = world.consensus_distance(&average);
    let mean = squares.iter().sum::<f64>() / AGENTS as f64;
    assert!((distance - mean.sqrt()).abs() < 1e-12 && distance > 0.01);
}

/// GUT keeps the mixed model of its neighbours from updates alone; in f32 it stays within
/// rounding of the true one (measured after 2,000 rounds: at most 6e-6 of the model).
#[test]
fn the_drift_of_the_mixed_model_is_that_of_rounding() {
    for method in ["gut", "qg-gutm", "exact-gut:gamma=0.9", "gut:memory=copies"] {
        let mut world = world(method, 1);
        run(&mut world, 2000);
        let drift = world.drift();
        assert!(drift < 2e-5, "{method}: {drift}");
    }
    // DSGD takes its gradient at its own model, so what is measured is no drift.
    let mut world = world("dsgd", 1);
    world.round(0.05).unwrap();
    world.round(0.05).unwrap();
    assert!(world.drift() > 1e-3);
}

#[test]
fn a_round_tells_mean_loss_and_gradient_norm() {
    let mut world = world("dsgd", 2);
    let (mut loss, mut square) = (0.0, 0.0);
    for agent in 0..AGENTS {
        let mut grad = [0.0; DIM];
        loss +=
            f64::from(Shaken.loss_and_grad(Draw::new(agent, 0), &[0.5; DIM], &mut grad).unwrap());
        square += grad.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>();
    }
    let report = world.round(0.05).unwrap();
    assert!((f64::from(report.loss) - loss / AGENTS as f64).abs() < 1e-4);
    assert!((report.gradient_norm - (square / AGENTS as f64).sqrt()).abs() < 1e-9);
}
