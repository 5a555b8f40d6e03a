//! The laws of push-sum: what it keeps, what it reduces to, and what it is good for on directed
//! graphs, where rows and columns do not both sum to 1.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use consort_algo::{CATALOGUE, Row};
use support::graphs;
use support::losses::Quadratics;
use support::matrix::{Matrix, largest};
use support::methods::every_push_sum_variant;
use support::random::Random;
use support::team::Team;
use support::warm_up_and_decay;

fn start(agents: usize, dimension: usize) -> Matrix {
    Matrix::repeat(agents, Matrix::random(1, dimension, &mut Random::new(4)).row(0))
}

/// The last float of every message: the push-sum weights with which the round began.
fn weights(team: &Team) -> Vec<f64> {
    let sent = team.last_messages();
    (0..sent.rows).map(|i| sent.at(i, sent.cols - 1)).collect()
}

/// The numerators that were sent.
fn sent_models(team: &Team) -> Matrix {
    let sent = team.last_messages();
    Matrix::from_fn(sent.rows, sent.cols - 1, |i, k| sent.at(i, k))
}

#[test]
fn the_catalogue_says_who_divides_by_a_weight() {
    for info in &CATALOGUE {
        assert_eq!(info.id.is_push_sum(), info.name.contains("sgp"), "{}", info.name);
        let refused = info.lost_message.forbids();
        assert!(!info.id.is_push_sum() || refused.unwrap().contains("weight"), "{}", info.name);
    }
}

/// The column that an agent sends with is what it keeps and what the others hear, in `f32`.
#[test]
fn the_columns_sum_to_one_after_rounding() {
    let p = graphs::slowed(&graphs::digraph(12, 20, 1), 0.37);
    let column = |i: usize| (0..12).map(move |j| (j, i));
    let row = |i: usize| {
        let sent: Vec<(usize, f64)> = column(i).map(|(j, i)| (j, p.at(j, i))).collect();
        Row::from_columns(i, p.row(i).iter().copied().enumerate(), sent)
    };
    let rows: Vec<Row> = (0..12).map(row).collect();
    for i in 0..12 {
        let sum: f64 = rows.iter().map(|row| f64::from(row.weights()[i])).sum();
        assert!((sum - 1.0).abs() < 4e-8, "column {i} sums to {sum}"); // half a bit of p_ii
        assert_eq!(rows[i].weights()[rows[i].own()], rows[i].weights()[i]);
    }
}

/// Assran et al., Section 3: column-stochastic weights keep the sum. After 5,000 rounds on an
/// irregular digraph and on three that take turns the weights of 12 agents sum to 12 (measured:
/// 1.0e-6 off), and they are far from 1 (measured: 0.38 to 1.79).
#[test]
fn the_weights_sum_to_the_number_of_agents() {
    let fixed = [graphs::digraph(12, 14, 3)];
    let turns = [3, 4, 5].map(|seed| graphs::digraph(12, 14, seed));
    for phases in [&fixed[..], &turns[..]] {
        for method in ["sgp", "gut-sgp:mu=0.3"] {
            let mut team = Team::on_phases(method, phases, &start(12, 2));
            let losses = Quadratics::new(12, 2, 7);
            let (mut least, mut most) = (1.0_f64, 1.0_f64);
            for _ in 0..5000 {
                team.learn(&losses, 0.05);
                let w = weights(&team);
                assert!((w.iter().sum::<f64>() - 12.0).abs() < 4e-6, "{method}: {w:?}");
                least = w.iter().copied().fold(least, f64::min);
                most = w.iter().copied().fold(most, f64::max);
            }
            assert!(least > 0.1 && least < 0.6 && most > 1.5, "{method}: {least} to {most}");
        }
    }
}

/// Where rows sum to 1 as well, every weight stays exactly 1, and SGP is DSGD bit by bit.
#[test]
fn sgp_on_a_regular_graph_is_dsgd_to_the_bit() {
    for w in [graphs::directed_exponential(16), graphs::directed_ring(9), graphs::ring(7)] {
        for (push, plain) in [("sgp", "dsgd"), ("sgpm", "dsgdm"), ("sgpm-n", "dsgdm-n")] {
            let losses = Quadratics::new(w.rows, 4, 7);
            let mut teams = [push, plain].map(|method| Team::new(method, &w, &start(w.rows, 4)));
            for eta in warm_up_and_decay(500) {
                teams.iter_mut().for_each(|team| team.learn(&losses, eta));
                let [push, plain] = &teams;
                for (a, b) in push.algorithms.iter().zip(&plain.algorithms) {
                    assert_eq!(a.params(), b.params());
                }
            }
            assert!(weights(&teams[0]).iter().all(|&w| w == 1.0));
        }
    }
}

/// SGP without gradients: every agent finds the mean of what the agents began with (measured:
/// 2e-8 off), on a graph on which plain averaging finds another number (measured: 0.096 off).
#[test]
fn push_sum_finds_the_mean() {
    let p = graphs::digraph(12, 14, 3);
    let x0 = Matrix::random(12, 3, &mut Random::new(8));
    let mean = Matrix::repeat(12, &x0.mean_row());
    let agreed = |method: &str, w: &Matrix| {
        let mut team = Team::new(method, w, &x0);
        (0..300).for_each(|_| team.gossip());
        (team.models() - &mean).max_abs()
    };
    let pushed = agreed("sgp", &p);
    let pulled = agreed("dsgd", &graphs::pulled(&p));
    assert!(pushed < 1e-6, "{pushed:.1e} from the mean");
    assert!(pulled > 0.05, "{pulled:.1e} from the mean");
}

/// How far the average of the models ends up from the optimum of the averaged loss.
fn miss(method: &str, w: &Matrix, eta: f32, rounds: usize) -> (f64, f64) {
    let losses = Quadratics::new(w.rows, 4, 7);
    let mut team = Team::new(method, w, &start(w.rows, 4));
    (0..rounds).for_each(|_| team.learn(&losses, eta));
    let apart = team.models() - Matrix::repeat(w.rows, &losses.optimum());
    (largest(&apart.mean_row()), apart.max_abs())
}

/// Assran et al., Section 4: SGP's agents weigh equally, whoever is heard most. With row-stochastic
/// weights the agents minimise a weighted loss instead, however small the step. Measured on the
/// digraph: from eta = 0.05 to 0.005 SGP's error falls from 7.8e-3 to 8.0e-4, that of averaging
/// stays at 0.14.
#[test]
fn sgp_is_not_biased_where_averaging_is() {
    let p = graphs::digraph(12, 14, 3);
    let w = graphs::pulled(&p);
    let (rough, _) = miss("sgp", &p, 0.05, 4000);
    let (fine, _) = miss("sgp", &p, 0.005, 40_000);
    let (rough_average, _) = miss("dsgd", &w, 0.05, 4000);
    let (fine_average, _) = miss("dsgd", &w, 0.005, 40_000);
    assert!(fine < 1.5e-3 && fine < 0.2 * rough, "sgp: {rough:.1e}, then {fine:.1e}");
    assert!(fine_average > 0.05, "averaging: {rough_average:.1e}, then {fine_average:.1e}");
}

/// Without tracking GUT-SGP is SGP. Measured: 4.2e-7.
#[test]
fn gut_sgp_without_tracking_is_sgp() {
    let p = graphs::digraph(12, 14, 3);
    let losses = Quadratics::new(12, 4, 7);
    let mut teams = ["sgp", "gut-sgp:mu=0"].map(|method| Team::new(method, &p, &start(12, 4)));
    for eta in warm_up_and_decay(400) {
        teams.iter_mut().for_each(|team| team.learn(&losses, eta));
        let apart = (teams[0].models() - teams[1].models()).max_abs();
        assert!(apart < 2e-6, "{apart:.1e} apart");
    }
}

/// On a doubly stochastic graph w = 1, and the mixed model of the method without push-sum is the
/// model of the one with. The step size warms up and decays on the way. Measured: 4.4e-6.
#[test]
fn on_a_regular_graph_push_sum_changes_nothing() {
    let w = graphs::slowed(&graphs::torus(4, 8), 0.5);
    for (push, plain) in [
        ("gut-sgp:mu=0.5", "gut:mu=0.5"),
        ("qg-gutm-sgp:mu=0.05", "qg-gutm:mu=0.05"),
        ("qg-gutm-sgp-n:mu=0.03", "qg-gutm-n:mu=0.03"),
        ("qg-gutm-sgp:mu=0.05,form=quasi-global", "qg-gutm:mu=0.05,form=quasi-global"),
        ("qg-gutm-sgp:mu=0.05,form=own-moves", "qg-gutm:mu=0.05,form=own-moves"),
    ] {
        let losses = Quadratics::new(w.rows, 4, 7);
        let mut teams = [push, plain].map(|method| Team::new(method, &w, &start(w.rows, 4)));
        for eta in warm_up_and_decay(400) {
            teams.iter_mut().for_each(|team| team.learn(&losses, eta));
            let apart = (teams[0].models() - teams[1].next_probes()).max_abs();
            assert!(apart < 1.5e-5, "{push}: {apart:.1e} apart");
        }
    }
}

/// sum(Y) = sum(G) in every round, across changes of the step size, on an irregular digraph and
/// on three that take turns: the push-sum average moves as in SGD (Lemma 1 without rows that sum
/// to 1). Y is how the sent numerators moved. Measured: 1.3e-5 of the largest
/// gradient, the rounding of a sent model divided by the smallest step size.
#[test]
fn tracking_preserves_the_push_sum_average() {
    let fixed = [graphs::digraph(12, 14, 3)];
    let turns = [3, 4, 5].map(|seed| graphs::digraph(12, 14, seed));
    for phases in [&fixed[..], &turns[..]] {
        let losses = Quadratics::new(12, 4, 11);
        let mut team = Team::on_phases("gut-sgp:mu=0.3", phases, &start(12, 4));
        let mut before = vec![0.0; 4]; // counted from the common start
        for eta in warm_up_and_decay(400) {
            team.learn(&losses, eta);
            let (now, g) = (sent_models(&team).mean_row(), team.last_gradients());
            for k in 0..4 {
                let y = (before[k] - now[k]) / f64::from(eta);
                let gap = (y - g.mean_row()[k]).abs() / g.max_abs();
                assert!(gap < 4e-5, "mean(y) is {gap:.1e} from mean(g)");
            }
            before = now;
        }
    }
}

/// With momentum on the update the sums follow the recursion of QG-GUTm for one agent alone:
/// y = g + mu (d' - g'), m = beta m' + y, x -= eta m. Measured: 5.7e-5 of the largest
/// mean: under this momentum a rounding error is carried over many times.
#[test]
fn the_sums_move_as_one_agent_with_the_sum_of_the_gradients() {
    let (mu, beta) = (0.04, 0.9);
    let p = graphs::slowed(&graphs::digraph(12, 14, 3), 0.02);
    let losses = Quadratics::new(12, 3, 11);
    let mut team = Team::new(&format!("qg-gutm-sgp:mu={mu},beta={beta}"), &p, &start(12, 3));
    let (mut x, mut m, mut bracket) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]);
    let mut largest_x: f64 = 0.0;
    for eta in warm_up_and_decay(400) {
        team.learn(&losses, eta);
        let g = team.last_gradients().mean_row();
        let sent = sent_models(&team).mean_row();
        for k in 0..3 {
            m[k] = beta * m[k] + g[k] + mu * bracket[k];
            x[k] -= f64::from(eta) * m[k];
            bracket[k] = m[k] - g[k];
            largest_x = largest_x.max(x[k].abs());
            let gap = (x[k] - sent[k]).abs() / largest_x;
            assert!(gap < 2e-4, "the mean is {gap:.1e} from where one agent is");
        }
    }
}

/// The common start does not matter: far from the origin, weights that differ must not push the
/// models apart while w finds its values. Measured: 2.9e-6 with x counted from the start.
#[test]
fn agents_that_agree_stay_where_they_are() {
    let p = graphs::digraph(12, 14, 3);
    for method in every_push_sum_variant() {
        let mut team = Team::new(&method, &p, &Matrix::repeat(12, &[10.0, -3.0]));
        for _ in 0..50 {
            team.gossip();
            let apart = (team.models() - Matrix::repeat(12, &[10.0, -3.0])).max_abs();
            assert!(apart < 1e-5, "{method}: moved by {apart:.1e} without any gradient");
        }
    }
}

/// GUT on push-sum converges on directed graphs, and shrinks the disagreement that
/// heterogeneous data force on SGP. On the directed exponential graph with 16 agents, mu = 0.5,
/// gamma = 1, measured: the average ends 8.0e-3 from the optimum with SGP and 4.2e-3 with GUT-SGP,
/// the worst agent 7.5e-2 and 3.9e-2.
#[test]
fn tracking_pays_on_the_directed_exponential_graph() {
    let p = graphs::directed_exponential(16);
    let (plain, plain_worst) = miss("sgp", &p, 0.2, 4000);
    let (tracked, tracked_worst) = miss("gut-sgp:mu=0.5", &p, 0.2, 4000);
    assert!(tracked < 0.75 * plain, "{plain:.1e} without tracking, {tracked:.1e} with");
    assert!(tracked_worst < 0.75 * plain_worst, "{plain_worst:.1e}, {tracked_worst:.1e}");
}

/// The fixed point on any digraph: (I - P) x = -eta (1 - mu) P g, in numerators. Tracking forces
/// (1 - mu) of the disagreement that the same gradients force on SGP. Measured: 7.5e-6.
#[test]
fn gut_sgp_forces_one_minus_mu_of_the_disagreement() {
    let p = graphs::digraph(12, 14, 3);
    let eta = 0.05;
    for mu in [0.0, 0.3, 0.5] {
        let losses = Quadratics::new(12, 4, 11);
        let mut team = Team::new(&format!("gut-sgp:mu={mu}"), &p, &start(12, 4));
        (0..6000).for_each(|_| team.learn(&losses, eta));
        let rows: Vec<Vec<f32>> = (0..12).map(|i| team.tensor(i, "x")).collect();
        let x = Matrix::stack(rows.iter().map(Vec::as_slice));
        let pg = &p * losses.gradients(&team.models());
        let expected = (-f64::from(eta) * (1.0 - mu)) * &pg;
        let off = ((&x - &p * &x) - &expected).max_abs() / expected.max_abs();
        assert!(off < 3e-5, "mu = {mu}: {off:.1e}");
    }
}
