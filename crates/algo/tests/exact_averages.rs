//! Exact averages of all models between two rounds: what happens to trackers, corrections and
//! momentum then, and what stays true.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use consort_algo::{Agent, Method};
use support::graphs;
use support::losses::Quadratics;
use support::matrix::{Matrix, largest};
use support::random::Random;
use support::staged_team::StagedTeam;

const DIMENSION: usize = 4;

/// One of each kind of memory, on an undirected graph, with parameters that are stable on `w()`.
const METHODS: [&str; 27] = [
    "dsgd",
    "dsgd:gradient_at=local",
    "dsgdm-n",
    "qg-dsgdm",
    "qg-dsgdm:form=quasi-global",
    "gut:mu=0.5",
    "gut:mu=0.5,memory=copies",
    "gut:mu=0.1,reading=printed",
    "gutm:mu=0.5",
    "exact-gut",
    "qg-gutm",
    "qg-gutm-n",
    "rule-a:mu=0.1",
    "rule-b:mu=0.1",
    "gt",
    "gt:order=awc",
    "mt:beta=0.5",
    "d2",
    "ed",
    "edm",
    "decentlam:beta=0.5",
    "k-gt",
    "led",
    "choco:codec=quantize/4",
    "adagossip:gamma=0.005",
    "cgut:mu=0.5",
    "ngc",
];

/// Slow enough for those that need their smallest eigenvalue above -1/3.
fn w() -> Matrix {
    graphs::slowed(&graphs::ring(12), 0.5)
}

fn x0() -> Vec<f32> {
    Matrix::random(1, DIMENSION, &mut Random::new(4)).row_f32(0)
}

fn team(method: &str, w: &Matrix) -> StagedTeam {
    let method: Method = method.parse().unwrap();
    StagedTeam::new(&method, std::slice::from_ref(w), &x0(), &[DIMENSION])
}

/// The mean over the agents of what is averaged.
fn mean(team: &StagedTeam) -> Vec<f64> {
    Matrix::stack(team.agents.iter().map(Agent::averaged)).mean_row()
}

fn average_exactly(team: &mut StagedTeam) -> Vec<f32> {
    let average: Vec<f32> = mean(team).into_iter().map(|x| x as f32).collect();
    assert!(team.agents.iter_mut().all(|agent| agent.adopt_average(&average)));
    average
}

/// Afterwards nobody is pulled anywhere: the next gradient is taken at the average itself. (The
/// weights of a row sum to 1 within rounding: measured, 6.0e-8.)
#[test]
fn all_models_are_the_average_and_so_is_every_mixed_model() {
    for method in METHODS {
        let mut team = team(method, &w());
        let losses = Quadratics::new(12, DIMENSION, 11);
        (0..20).for_each(|_| team.learn(&losses, 0.05));
        assert!(team.models().disagreement().max_abs() > 1e-4, "{method}: nothing is tested");
        let average = average_exactly(&mut team);
        for agent in &team.agents {
            assert_eq!(agent.params(), average, "{method}");
            let mut at = vec![0.0; DIMENSION];
            agent.probe(&mut at);
            for (at, x) in at.iter().zip(&average) {
                assert!((at - x).abs() < 2.5e-7, "{method}: {at} {x}");
            }
        }
    }
}

/// Gossip-PGA (Chen et al., ICML 2021): `x <- 1/n Σ (x_j - eta g_j)` every H rounds, DSGD otherwise.
/// Measured: 4.8e-7.
#[test]
fn dsgd_with_exact_averages_is_gossip_pga() {
    let (w, losses) = (w(), Quadratics::new(12, DIMENSION, 11));
    let mut team = team("dsgd", &w);
    let mut x = team.models();
    for t in 1..=100 {
        let stepped = &x - f64::from(0.05_f32) * losses.gradients(&x);
        x = if t % 7 == 0 { Matrix::repeat(12, &stepped.mean_row()) } else { &w * &stepped };
        team.learn(&losses, 0.05);
        if t % 7 == 0 {
            average_exactly(&mut team);
        }
        let off = (team.models() - &x).max_abs();
        assert!(off < 2e-6, "round {t}: {off:.1e}");
    }
}

/// The average moves by eta times the mean gradient in every round, as if nothing had happened:
/// what a method tracks sums to what it did before, and no exact average moves the average. Also at
/// averaging rates that change. Measured: at most 7.9e-7.
#[test]
fn the_average_moves_by_the_mean_gradient_through_exact_averages_and_rates() {
    let digraph = graphs::digraph(12, 15, 3);
    for (method, w) in [
        ("dsgd", w()),
        ("gut:mu=0.5", w()),
        ("gut:mu=0.1,reading=printed", w()),
        ("exact-gut", w()),
        ("gt", w()),
        ("gt:order=awc", w()),
        ("d2", w()),
        ("ed", w()),
        ("choco:codec=quantize/4", w()),
        ("cgut:mu=0.5", w()),
        ("sgp", digraph.clone()),
        ("gut-sgp:mu=0.3", digraph),
    ] {
        let losses = Quadratics::new(12, DIMENSION, 11);
        let mut team = team(method, &w);
        let mut expected = mean(&team);
        for t in 0..200_u32 {
            let eta = if t < 100 { 0.05 } else { 0.01 };
            let rate = |t: u32| 1.0 / (1.0 + 0.01 * t as f32);
            let (last, now) = (rate(t.saturating_sub(1)), rate(t));
            team.agents.iter_mut().for_each(|agent| agent.set_averaging_rates(last, now));
            let mut taken = vec![vec![0.0; DIMENSION]; 12];
            team.round(eta, |agent, at, gradient| {
                losses.gradient_f32(agent, at, gradient);
                taken[agent].copy_from_slice(gradient);
            });
            let g = Matrix::stack(taken.iter().map(Vec::as_slice)).mean_row();
            expected.iter_mut().zip(g).for_each(|(x, g)| *x -= f64::from(eta) * g);
            if t % 7 == 6 {
                average_exactly(&mut team);
            }
            let off: Vec<f64> = mean(&team).iter().zip(&expected).map(|(a, b)| a - b).collect();
            assert!(largest(&off) < 3e-6, "{method}, round {t}: {:.1e}", largest(&off));
        }
    }
}

/// The optimum of all data stays the only fixed point of the exact methods: an exact average changes
/// no tracker and no correction, which there are the agents' own gradients. Measured: 7.6e-6 for
/// GT, at most 3.6e-6 for the others.
#[test]
fn exact_methods_stay_exact() {
    for method in
        ["exact-gut", "gt", "gt:order=awc", "mt:beta=0.5", "d2", "ed", "edm", "k-gt", "led"]
    {
        for every in [1, 3, 10] {
            let losses = Quadratics::new(12, DIMENSION, 7);
            let optimum = Matrix::repeat(12, &losses.optimum());
            let mut team = team(method, &w());
            for t in 1..=1500 {
                team.learn(&losses, 0.02);
                if t % every == 0 {
                    average_exactly(&mut team);
                }
            }
            let off = (team.models() - &optimum).max_abs();
            assert!(off < 3e-5, "{method}, every {every} rounds: {off:.1e}");
        }
    }
}

/// A disagreement that was there once dies out however often models are averaged. Exact diffusion
/// shows why corrections stay: `(1-l) x² + l v²` shrinks by the factor l in every round and when x
/// becomes 0, while a correction that followed the jump would take it for a move and grow. Measured: at
/// most 2.7e-6 is left.
#[test]
fn disagreement_dies_out_between_exact_averages() {
    for method in METHODS {
        // What AdaGossip remembers shortens its steps for long.
        let rounds = if method.starts_with("adagossip") { 4000 } else { 800 };
        for every in [3, 10, 40] {
            let losses = Quadratics::new(12, DIMENSION, 11);
            let mut team = team(method, &w());
            (0..10).for_each(|_| team.learn(&losses, 0.05));
            let spread = |team: &StagedTeam| team.models().disagreement().max_abs();
            let before = spread(&team);
            for t in 0..rounds {
                team.round(0.05, |_, _, gradient| gradient.fill(0.0));
                if t % every == 0 {
                    average_exactly(&mut team);
                }
            }
            let left = spread(&team) / before;
            assert!(left < 1e-5, "{method}, every {every} rounds: {left:.1e} is left");
        }
    }
}

/// On another graph the sum over the new neighbours is right at once, and the average moves on as
/// it did.
#[test]
fn after_a_change_of_graph_the_mixed_model_is_that_of_the_new_neighbours() {
    for method in ["gut:mu=0.5", "exact-gut", "qg-gutm", "rule-b:mu=0.1", "cgut:mu=0.5"] {
        let (before, after) = (w(), graphs::random(12, 9, 3));
        let losses = Quadratics::new(12, DIMENSION, 11);
        let (mut team, there) = (team(method, &before), team(method, &after));
        (0..20).for_each(|_| team.learn(&losses, 0.05));
        let models: Vec<Vec<f32>> =
            team.agents.iter().map(|agent| agent.params().to_vec()).collect();
        for (agent, new) in team.agents.iter_mut().zip(&there.agents) {
            agent.change_graph(vec![row(&after, new.id())]);
            agent.resync_with(|j| Some(&models[j]));
        }
        let expected = &after * &team.models();
        let mut probes = vec![vec![0.0; DIMENSION]; 12];
        team.agents.iter().zip(&mut probes).for_each(|(agent, at)| agent.probe(at));
        let off = (Matrix::stack(probes.iter().map(Vec::as_slice)) - &expected).max_abs();
        assert!(off < 1.5e-7, "{method}: {off:.1e}"); // measured: 3.6e-8
        (0..20).for_each(|_| team.learn(&losses, 0.05));
        assert_eq!(team.agents[0].round(), 40);
    }
}

fn row(w: &Matrix, i: usize) -> consort_algo::Row {
    support::agents::row_of(&"gut".parse().unwrap(), w, i)
}
