//! Agents on quadratics in the simulated world.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use consort_algo::Method;
use consort_graph::{GraphSpec, MixingSpec, Spectrum};
use consort_sim::{Quadratics, World};
use consort_theory::{ProblemConstants, Theorem1};

const DIM: usize = 6;

fn centre(agent: usize, k: usize) -> f32 {
    ((agent * 7 + k * 3) % 11) as f32 / 5.0 - 1.0
}

fn curvature(k: usize) -> f32 {
    0.5 + k as f32 / DIM as f32
}

fn problem(agents: usize, noise: f32) -> Quadratics {
    let centres = (0..agents).map(|agent| (0..DIM).map(|k| centre(agent, k)).collect());
    Quadratics {
        curvature: (0..DIM).map(curvature).collect(),
        centres: centres.collect(),
        noise,
        start: vec![0.0; DIM],
    }
}

fn world(graph: &str, method: &str, noise: f32, threads: usize) -> World {
    world_from(0.0, graph, method, noise, threads)
}

/// Every agent starts with `start` in all coordinates.
fn world_from(start: f32, graph: &str, method: &str, noise: f32, threads: usize) -> World {
    let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = MixingSpec::Auto.build_all(&topology).unwrap();
    let method: Method = method.parse().unwrap();
    let oracle = Arc::new(problem(topology.agents(), noise).oracle(1));
    World::new(&topology, &weights, &method, &[start; DIM], oracle, threads).unwrap()
}

/// Same seed, same bits, for any number of threads.
#[test]
fn one_thread_and_two_threads_give_the_same_bits() {
    for method in ["dsgd", "gut:mu=0.5", "qg-gutm", "gt", "exact-gut", "d2", "gutm-n"] {
        let bits = |threads| {
            let mut world = world("ring:16", method, 0.3, threads);
            for _ in 0..50 {
                world.round(0.05).unwrap();
            }
            let all = (0..16).flat_map(|agent| world.params(agent).to_vec());
            all.map(f32::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(bits(1), bits(2), "{method}");
    }
}

/// Directed and time-varying graphs work where the method sends full models.
#[test]
fn dsgd_trains_on_directed_and_time_varying_graphs() {
    for graph in ["exponential:8", "one-peer-exponential:8"] {
        let mut world = world(graph, "dsgd", 0.0, 1);
        for _ in 0..400 {
            world.round(0.05).unwrap();
        }
        let average = world.average();
        for k in 0..DIM {
            let optimum = (0..8).map(|i| f64::from(centre(i, k))).sum::<f64>() / 8.0;
            assert!((average[k] - optimum).abs() < 1e-4, "{graph}: {} {optimum}", average[k]);
        }
    }
}

/// Momentum Tracking from the averaged gradient (Takezawa et al., 2023): after the first round every
/// agent is where SGD on the mean loss is; from zero each went its own way. Measured: 6e-8.
#[test]
fn momentum_tracking_may_start_from_the_mean_of_the_first_gradients() {
    let (agents, eta) = (16, 0.05);
    let moved = |method: &str| -> f64 {
        let mut world = world("ring:16", method, 0.0, 2);
        world.round(eta).unwrap();
        let off = |agent: usize, k: usize| {
            let mean = (0..agents).map(|i| f64::from(centre(i, k))).sum::<f64>() / agents as f64;
            let expected = f64::from(eta) * f64::from(curvature(k)) * mean;
            (f64::from(world.params(agent)[k]) - expected).abs()
        };
        let each = (0..agents).flat_map(|agent| (0..DIM).map(move |k| (agent, k)));
        each.map(|(agent, k)| off(agent, k)).fold(0.0, f64::max)
    };
    for order in ["awc", "atc"] {
        let off = moved(&format!("mt:start=average,order={order}"));
        assert!(off < 2e-7, "{order}: {off:.1e}");
        assert!(moved(&format!("mt:order={order}")) > 1e-2);
    }
}

#[test]
fn a_diverging_run_is_reported_with_agent_and_round() {
    let mut world = world("ring:8", "dsgd", 0.0, 1);
    let failure = (0..2000).find_map(|_| world.round(50.0).err());
    assert!(failure.as_ref().is_some_and(|error| error.is_divergence()), "{failure:?}");
}

/// Theorem 1: inside its limits the mean squared gradient norm of the averaged model
/// is at most its bound. On these quadratics all constants are known exactly. From so far away the
/// way to the optimum is the largest part of the bound, so that who does not move breaks it.
#[test]
fn theorem_1_bounds_the_gradient_of_the_averaged_model() {
    let (agents, rounds, noise, far) = (16, 4000, 0.5_f32, 10.0_f32);
    let topology = "ring:16".parse::<GraphSpec>().unwrap().build(1).unwrap();
    let weights = MixingSpec::Auto.build_all(&topology).unwrap();
    let gap = Spectrum::new(&weights[0]).unwrap().gap;
    let smoothness = f64::from(curvature(DIM - 1));
    let theorem = Theorem1::new(gap, smoothness);
    let (eta, mu) = (theorem.largest_eta, theorem.largest_mu);
    assert!(theorem.covers(eta, mu) && !theorem.covers(1.1 * eta, mu));

    let optimum: Vec<f64> = (0..DIM)
        .map(|k| (0..agents).map(|i| f64::from(centre(i, k))).sum::<f64>() / agents as f64)
        .collect();
    let a = |k: usize| f64::from(curvature(k));
    let far_off = |k: usize| f64::from(far) - optimum[k];
    let start: f64 = (0..DIM).map(|k| 0.5 * a(k) * far_off(k).powi(2)).sum();
    let spread = |i: usize, k: usize| (a(k) * (f64::from(centre(i, k)) - optimum[k])).powi(2);
    let heterogeneity =
        (0..agents).map(|i| (0..DIM).map(|k| spread(i, k)).sum::<f64>()).sum::<f64>()
            / agents as f64;
    let problem = ProblemConstants {
        gap_to_optimum: start,
        noise: DIM as f64 * f64::from(noise).powi(2) / 3.0,
        heterogeneity,
        agents,
    };

    let mut world = world_from(far, "ring:16", &format!("gut:mu={mu}"), noise, 1);
    let mut total = 0.0;
    for _ in 0..rounds {
        let average = world.average();
        total += (0..DIM).map(|k| (a(k) * (average[k] - optimum[k])).powi(2)).sum::<f64>();
        world.round(eta as f32).unwrap();
    }
    let measured = total / rounds as f64;
    let bound = theorem.bound(&problem, eta, mu, rounds);
    assert!(measured <= bound, "measured {measured}, bound {bound}");
    assert!(bound < 100.0 * measured, "bound {bound} says nothing of {measured}");
    let unmoved: f64 = (0..DIM).map(|k| (a(k) * far_off(k)).powi(2)).sum();
    assert!(bound < 0.5 * unmoved, "bound {bound}, without any step {unmoved}");
}
